/**
 * Hosts of a simulated match that stop for a while, as if their main thread were busy.
 */

import type { Millis } from '../core/base/time.ts'
import type { SimActor } from './sim-clock.ts'
import { Dice } from './sim-entropy.ts'

/** A host that stops at random: its clock continues, datagrams wait, and everything that was due is done afterwards. */
export interface StallOptions {
  /** Mean time from the end of a stall to the start of the next, in ms. */
  readonly everyMs: number
  /** The longest stall, in ms. Lengths are uniform from 0 up to it. */
  readonly lastsMs: number
}

/** A host that can be stopped for a while, as if its main thread were busy. */
export abstract class StallingActor implements SimActor {
  /** The host does nothing before this moment. */
  #stalledUntil: Millis = 0

  /** Stops the host from `now` on. A stall within a stall extends it if it ends later. */
  stall(now: Millis, ms: Millis): void {
    this.#stalledUntil = Math.max(this.#stalledUntil, now + ms)
  }

  /** The host goes on at once. */
  protected endStall(): void {
    this.#stalledUntil = 0
  }

  /** When something that is due at a time can be done. */
  afterStall(at: Millis): Millis {
    return Math.max(at, this.#stalledUntil)
  }

  nextAt(): Millis {
    return this.afterStall(this.dueAt())
  }

  /** When there is something to do. */
  protected abstract dueAt(): Millis
  abstract wake(now: Millis): void
}

/** Stops a host at random, again and again. */
export class SimStalls implements SimActor {
  readonly #host: StallingActor
  readonly #dice: Dice
  readonly #options: StallOptions
  #nextAt: Millis

  constructor(host: StallingActor, now: Millis, seed: number, options: StallOptions) {
    this.#host = host
    this.#dice = new Dice(seed)
    this.#options = options
    this.#nextAt = this.#calmUntil(now)
  }

  nextAt(): Millis {
    return this.#nextAt
  }

  wake(now: Millis): void {
    const ms = this.#options.lastsMs * this.#dice.fraction()
    this.#host.stall(now, ms)
    this.#nextAt = this.#calmUntil(now + ms)
  }

  #calmUntil(now: Millis): Millis {
    return now + 2 * this.#options.everyMs * this.#dice.fraction()
  }
}
