/**
 * Values drawn from random words, the same for every generator: fractions, whole numbers, normal distributions,
 * shuffles.
 *
 * The number of words that each draw takes is part of the contract, because keyed generators number their words and
 * because a replay must not shift: float 2, gaussian 4, int 1 (rarely more, see there), bool 1.
 */

import { assert } from './assert.ts'
import { cos, log } from './math.ts'

/** Anything that gives uniform 32-bit words. */
export interface RandomWords {
  /** The next word, 0 .. 2^32 - 1, each as likely. */
  nextU32(): number
}

const TWO_32 = 4294967296
const TWO_26 = 67108864
const TWO_MINUS_53 = 1.1102230246251565e-16
const TWO_PI = 6.283185307179586

/** Rejected words before a biased one is accepted: a chance below 2^-64, and the loop always terminates. */
const REJECTIONS_MAX = 64

/** @hot A fraction in [0, 1), all 2^53 multiples of 2^-53 as likely (RNG3). */
export function drawFloat(words: RandomWords): number {
  const high = words.nextU32() >>> 5
  const low = words.nextU32() >>> 6
  return (high * TWO_26 + low) * TWO_MINUS_53
}

/**
 * @hot A whole number from min to max, both included, each exactly as likely (RNG4): words that would favour low values
 * are drawn again. The span may be up to 2^32.
 */
export function drawInt(words: RandomWords, min: number, max: number): number {
  const span = max - min + 1
  const isFair = span >= 1 && span <= TWO_32 && span % 1 === 0 && min % 1 === 0
  assert(isFair, 'nextInt: bounds must be whole, min at most max, and no more than 2^32 apart')
  const fairEnd = TWO_32 - (TWO_32 % span)
  let word = words.nextU32()
  for (let i = 0; word >= fairEnd && i < REJECTIONS_MAX; i++) word = words.nextU32()
  return min + (word % span)
}

/** @hot A normally distributed number, mean 0, deviation 1, by Box and Muller: always 4 words, never more. */
export function drawGaussian(words: RandomWords): number {
  // 1 - [0, 1) is (0, 1]: the logarithm of zero is never computed.
  const radius = Math.sqrt(-2 * log(1 - drawFloat(words)))
  return radius * cos(TWO_PI * drawFloat(words))
}

/** @hot Puts the items in a random order, every order as likely (Fisher and Yates). Takes items.length - 1 ints. */
export function shuffle<T>(words: RandomWords, items: T[]): void {
  for (let last = items.length - 1; last > 0; last--) {
    const other = drawInt(words, 0, last)
    const item = items[last]
    items[last] = items[other]
    items[other] = item
  }
}
