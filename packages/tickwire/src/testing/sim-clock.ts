/**
 * Discrete-event time: it jumps from one deadline to the next.
 *
 * Actors report their next deadline; the clock advances to the earliest and wakes those actors. Idle time costs
 * nothing.
 *
 * Invariant: time never goes backwards. Of several actors that are due at the same time, the one added first runs
 * first.
 */

import { InvariantError } from '../core/base/assert.ts'
import type { Millis } from '../core/base/time.ts'

/** Something that runs in simulated time. */
export interface SimActor {
  /** Its next deadline; Infinity if it has none. */
  nextAt(): Millis
  /** Called at its deadline. It may change the deadlines of others. */
  wake(now: Millis): void
}

/** An actor that is due this often at one moment is stuck: others settle after a few rounds. */
const ROUNDS_PER_MOMENT_MAX = 10_000

/** Simulated monotonic time. */
export class SimClock {
  #now: Millis
  #actors: SimActor[] = []

  constructor(startMs: Millis = 0) {
    this.#now = startMs
  }

  /** The simulated time, in ms. */
  get now(): Millis {
    return this.#now
  }

  /** Adds an actor, which is woken at its deadlines. */
  add(actor: SimActor): void {
    this.#actors.push(actor)
  }

  /** Removes an actor. */
  remove(actor: SimActor): void {
    this.#actors = this.#actors.filter((other) => other !== actor)
  }

  /** Lets `ms` pass. */
  drive(ms: Millis): void {
    this.driveUntil(() => false, ms)
  }

  /** Lets time pass until `isDone`, which is checked after every moment, or for `msMax`. Returns whether it is done. */
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
      if (rounds > ROUNDS_PER_MOMENT_MAX) throw new InvariantError(`an actor is due again and again at ${this.#now} ms`)
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
