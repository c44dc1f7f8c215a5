/**
 * Sends the Disconnect of a closing connection: several times within the grace period, or once in answer to the peer's.
 *
 * The copies are spread in time, so that a burst of loss does not swallow all of them. An answer is sent once and
 * without a grace period: if it is lost, the peer repeats its own Disconnect and is answered by a reset.
 *
 * Invariant: it is over once all copies are sent and the grace period, if any, has passed, and not before.
 */

import type { Millis } from '../base/time.ts'

/** At least this many copies, and one for each `COPY_MS` of a longer grace period. */
const COPIES_MIN = 3
const COPY_MS = 100

/** Times the copies of a Disconnect. */
export class Farewell {
  #copiesLeft: number = 0
  #sayAt: Millis = Infinity
  #gapMs: number = 0
  #endsAt: Millis = Infinity

  /** Starts. `isAnswer`: the peer sent its Disconnect first. */
  begin(now: Millis, isAnswer: boolean, graceMs: number): void {
    const copies = Math.max(COPIES_MIN, Math.floor(graceMs / COPY_MS))
    this.#copiesLeft = isAnswer ? 1 : copies
    this.#sayAt = now
    this.#gapMs = graceMs / (copies + 1)
    this.#endsAt = isAnswer ? now : now + graceMs
  }

  /** Whether a copy must be sent now. Schedules the next copy. */
  take(now: Millis): boolean {
    if (this.#copiesLeft === 0 || now < this.#sayAt) return false
    this.#copiesLeft--
    this.#sayAt = now + this.#gapMs
    return true
  }

  isOver(now: Millis): boolean {
    return this.#copiesLeft === 0 && now >= this.#endsAt
  }

  /** When `take` or the end is next due. */
  get nextAt(): Millis {
    return this.#copiesLeft > 0 ? this.#sayAt : this.#endsAt
  }
}
