/**
 * Time that leaps: from one deadline to the next, with nothing in between.
 *
 * Actors say when they next have something to do; the clock goes there and lets them. An hour in which nothing
 * happens costs nothing.
 *
 * Invariant: time never goes back, and of several actors due at one moment the one added first goes first.
 */

import { InvariantError } from '../core/base/assert.ts'
import type { Millis } from '../core/base/time.ts'

/** Whoever lives in simulated time. */
export interface SimActor {
  /** When it next has something to do; Infinity = when others do. */
  nextAt(): Millis
  /** Its time has come. It may change what others have to do. */
  wake(now: Millis): void
}

/** An actor that is due at one moment this often is stuck: real ones settle after a few rounds. */
const ROUNDS_PER_MOMENT_MAX = 10_000

/** Simulated monotonic time. */
export class SimClock {
  #now: Millis
  #actors: SimActor[] = []

  constructor(startMs: Millis = 0) {
    this.#now = startMs
  }

  get now(): Millis {
    return this.#now
  }

  add(actor: SimActor): void {
    this.#actors.push(actor)
  }

  remove(actor: SimActor): void {
    this.#actors = this.#actors.filter((other) => other !== actor)
  }

  /** Lets `ms` pass. */
  drive(ms: Millis): void {
    this.driveUntil(() => false, ms)
  }

  /** Lets time pass until `isDone`, asked after every moment, or for `msMax`. Says whether it was. */
  driveUntil(isDone: () => boolean, msMax: Millis): boolean {
    const end = this.#now + msMax
    let rounds = 0
    while (!isDone()) {
      const next = this.#earliest()
      if (next > end) {
        this.#now = end
        return false
      }
      rounds = next > this.#now ? 0 : rounds + 1
      if (rounds > ROUNDS_PER_MOMENT_MAX) throw new InvariantError(`an actor is due for ever at ${this.#now} ms`)
      if (next > this.#now) this.#now = next
      for (const actor of this.#actors) if (actor.nextAt() <= this.#now) actor.wake(this.#now)
    }
    return true
  }

  #earliest(): Millis {
    let earliest = Infinity
    for (const actor of this.#actors) earliest = Math.min(earliest, actor.nextAt())
    return earliest
  }
}
