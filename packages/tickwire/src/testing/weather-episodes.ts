/**
 * Episodes of a fault, one after the other, with calm between them, generated on demand.
 *
 * ```
 * ──── calm ────┤ start  on  end ├── calm ──┤ …
 * ```
 *
 * Invariant: the episodes depend only on the seed, the key and the fault's numbers. Traffic and other faults cannot
 * move them.
 */

import { log } from '../core/base/math.ts'
import type { KeyedPrng } from '../core/base/keyed-prng.ts'
import type { Millis } from '../core/base/time.ts'

/** How often episodes occur, and how long they last. */
export interface EpisodeNumbers {
  /** Mean length of the calm between episodes; 0: always on. */
  readonly everyMs: number
  /** The longest episode. */
  readonly lastsMs: number
  /** The shortest episode. Default: 0. */
  readonly leastMs?: number
}

/** 1 - e^-4: the part of an exponential distribution below four times its mean. */
const PART_BEFORE_CUT = 0.981_684_361_111_265_8

/** Episodes of one fault. Queries must be in order of time. */
export class Episodes {
  /** The current episode, or the next one. */
  start: Millis
  end: Millis
  /** When the previous episode ended; -Infinity when there was none. */
  endedAt: Millis = -Infinity
  /** Number of the episode at `start`, from 0. */
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

  /** Whether an episode is on. `now` never goes backwards. */
  isOn(now: Millis): boolean {
    while (now >= this.end) this.next()
    return now >= this.start
  }

  /** Advances to the next episode. */
  next(): void {
    this.endedAt = this.end
    this.count++
    this.#draw(this.end)
  }

  #draw(from: Millis): void {
    const { everyMs, lastsMs, leastMs = 0 } = this.#numbers
    const chance = this.#chance.at(this.count, this.#key)
    this.start = from - log(1 - chance.nextFloat()) * everyMs
    this.end = this.start + leastMs + cutExponential(chance.nextFloat()) * (lastsMs - leastMs)
    // An episode must end after it began, however short it is, so that time advances.
    if (this.end <= from) this.end = from + 1e-3
  }
}

/** Maps a fraction in [0, 1) to an exponential distribution with mean 1/4, cut off at 1; its mean is 0.2313. */
export function cutExponential(fraction: number): number {
  return -log(1 - fraction * PART_BEFORE_CUT) / 4
}
