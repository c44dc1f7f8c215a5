/**
 * Limits how often an origin may guess the password of a room: some tries at once, then one in ten seconds.
 *
 * A correct password counts too, so that the limit reveals nothing about the password.
 */

import type { Entropy } from '../base/entropy.ts'
import { PASSWORD_TRIES_PER_ORIGIN, PASSWORD_TRY_MS } from '../base/limits-doors.ts'
import type { Millis } from '../base/time.ts'
import { OriginKey } from './origin-key.ts'
import { limitedOrigin, type OriginLimits, PREFIXES, RateTable, takeAll } from './origin-limits.ts'

/** Counts the guesses of each origin. */
export class GuessLimit {
  readonly #limits: OriginLimits
  readonly #tables: readonly RateTable[]
  readonly #key: OriginKey = new OriginKey()

  constructor(limits: OriginLimits, entropy: Entropy) {
    this.#limits = limits
    this.#tables = PREFIXES.map(({ mask, times }) =>
      new RateTable((1000 / PASSWORD_TRY_MS) * times, mask, entropy, PASSWORD_TRIES_PER_ORIGIN * times))
  }

  /** Whether a guess from `address`, which is proven, is compared at all. */
  mayGuess(now: Millis, address: string): boolean {
    const key = limitedOrigin(this.#limits, address, this.#key)
    return key === undefined || takeAll(this.#tables, now, key)
  }
}
