/**
 * When something is on: episodes of a fault, one after the other, with calm between them, as far as anyone looks.
 *
 * ```
 * ──── calm ────┤ start  on  end ├── calm ──┤ …
 * ```
 *
 * Invariant: the episodes depend on the seed, the key and the fault's numbers, and on nothing that happens: traffic and
 * other faults cannot move them.
 */

import { log } from '../core/base/math.ts'
import type { KeyedPrng } from '../core/base/keyed-prng.ts'
import type { Millis } from '../core/base/time.ts'

/** How often, and how long. */
export interface EpisodeNumbers {
  /** Mean of the calm between; 0: on for ever. */
  readonly everyMs: number
  /** The longest. */
  readonly lastsMs: number
}

/** 1 - e^-4: how much of an exponential lies before four times its mean. */
const PART_BEFORE_CUT = 0.981_684_361_111_265_8

/** Episodes of one fault. Time is asked for in order. */
export class Episodes {
  /** The episode that is on, or the next. */
  start: Millis
  end: Millis
  /** When the one before it ended; -Infinity when there was none. */
  endedAt: Millis = -Infinity
  /** Number of `start`'s episode, from 0. */
  count: number = 0
  #chance: KeyedPrng
  #key: number
  #numbers: EpisodeNumbers

  /** The first calm begins at `from`. */
  constructor(chance: KeyedPrng, key: number, numbers: EpisodeNumbers, from: Millis) {
    this.#chance = chance
    this.#key = key
    this.#numbers = numbers
    this.start = from
    this.end = from
    if (numbers.everyMs === 0) this.end = Infinity
    else this.#draw(from)
  }

  /** Whether an episode is on. `now` never goes back. */
  isOn(now: Millis): boolean {
    while (now >= this.end) this.next()
    return now >= this.start
  }

  /** Leaves this episode behind. */
  next(): void {
    this.endedAt = this.end
    this.count++
    this.#draw(this.end)
  }

  #draw(from: Millis): void {
    const { everyMs, lastsMs } = this.#numbers
    const chance = this.#chance.at(this.count, this.#key)
    this.start = from - log(1 - chance.nextFloat()) * everyMs
    this.end = this.start + cutExponential(chance.nextFloat()) * lastsMs
    // However short, an episode ends after it began: time must move.
    if (this.end <= from) this.end = from + 1e-3
  }
}

/** From a fraction in [0, 1) to one that is exponentially distributed with mean 1/4, cut off at 1; its mean is 0.2313. */
export function cutExponential(fraction: number): number {
  return -log(1 - fraction * PART_BEFORE_CUT) / 4
}
