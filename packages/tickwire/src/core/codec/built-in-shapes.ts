/**
 * Distributions that fit residuals nobody has seen: how large, how lopsided.
 *
 * Sizes fall off geometrically, with a heavy tail for the day something jumps: two thirds at the mean, a quarter at four
 * times it, the rest at 64 times. Means double from shape to shape, from a tenth of a step up.
 */

import { pow } from '../base/math.ts'
import { TOKEN_ESCAPE, TOKEN_OCTAVES, TOKEN_SIZE_MAX, TOKEN_SYMBOLS, tokenSize } from './token.ts'

/** How many means there are: with the last, almost everything escapes, which is how a float that is noise takes 33 bits. */
const MEANS = 26
const MEAN_LEAST = 0.1
/** A mean that is a border up to roundings lies below it, on every machine. */
const BORDER = 1.5 * (1 + 1e-9)
/** How likely a residual has the sign it is expected to have. */
const LIKELY = [0.5, 0.75, 0.93] as const

/** The largest lopsidedness, of 0 (none) upwards. */
export const LOPSIDED_MAX: number = LIKELY.length - 1

const kept = new Map<number, readonly number[]>()

/** The mean of each shape. */
export const SHAPE_MEANS: readonly number[] = Array.from({ length: MEANS }, (_, shape) => MEAN_LEAST * pow(2, shape))

/** How often each token occurs when sizes have about this mean. */
export function tokenFrequencies(mean: number, lopsided: number): readonly number[] {
  let shape = 0
  for (let next = MEAN_LEAST * BORDER; next < mean && shape < MEANS - 1; next *= 2) shape++
  const key = shape * LIKELY.length + lopsided
  let found = kept.get(key)
  if (found === undefined) kept.set(key, (found = frequencies(SHAPE_MEANS[shape], LIKELY[lopsided])))
  return found
}

function frequencies(mean: number, likely: number): number[] {
  const result = new Array<number>(TOKEN_SYMBOLS).fill(0)
  for (let symbol = 0; symbol < TOKEN_OCTAVES; symbol += 2) {
    const share = atLeast(mean, tokenSize(symbol)) - atLeast(mean, tokenSize(symbol + 2))
    result[symbol] = share * likely
    result[symbol + 1] = share * (1 - likely)
  }
  for (let symbol = TOKEN_OCTAVES; symbol < TOKEN_ESCAPE; symbol++) {
    result[symbol] = atLeast(mean, tokenSize(symbol)) - atLeast(mean, tokenSize(symbol) * 2)
  }
  result[TOKEN_ESCAPE] = atLeast(mean, TOKEN_SIZE_MAX)
  return result
}

/** The share of sizes of at least so many. */
function atLeast(mean: number, size: number): number {
  return 0.66 * tail(mean, size) + 0.26 * tail(mean * 4, size) + 0.08 * tail(mean * 64, size)
}

function tail(mean: number, size: number): number {
  return pow(mean / (1 + mean), size)
}
