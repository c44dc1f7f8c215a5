/**
 * The last words of a connection: said three times within the grace time, or once in answer to the peer's.
 *
 * A burst of loss must not swallow all of them, so they are spread. An answer waits for nothing: whoever said goodbye
 * first repeats himself if it gets lost, and is answered by a reset.
 *
 * Invariant: it is over once everything is said and the grace time has passed, and not before.
 */

import type { Millis } from '../base/time.ts'

const COPIES = 3

/** When to say goodbye. */
export class Farewell {
  #copiesLeft: number = 0
  #sayAt: Millis = Infinity
  #gapMs: number = 0
  #endsAt: Millis = Infinity

  /** It begins. `isAnswer`: the peer said it first. */
  begin(now: Millis, isAnswer: boolean, graceMs: number): void {
    this.#copiesLeft = isAnswer ? 1 : COPIES
    this.#sayAt = now
    this.#gapMs = graceMs / (COPIES + 1)
    this.#endsAt = isAnswer ? now : now + graceMs
  }

  /** Whether it must be said now; the next time is later. */
  take(now: Millis): boolean {
    if (this.#copiesLeft === 0 || now < this.#sayAt) return false
    this.#copiesLeft--
    this.#sayAt = now + this.#gapMs
    return true
  }

  isOver(now: Millis): boolean {
    return this.#copiesLeft === 0 && now >= this.#endsAt
  }

  /** When there is something to do. */
  get nextAt(): Millis {
    return this.#copiesLeft > 0 ? this.#sayAt : this.#endsAt
  }
}
