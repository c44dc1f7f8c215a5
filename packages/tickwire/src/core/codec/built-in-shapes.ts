/**
 * Distributions for residuals without training data, by size and by asymmetry of sign.
 *
 * Sizes fall off geometrically, with a heavy tail for jumps: two thirds at the mean, a quarter at four times the mean,
 * the rest at 64 times. Means double from shape to shape, starting at a tenth of a step.
 */

import { pow } from '../base/math.ts'
import { TOKEN_ESCAPE, TOKEN_OCTAVES, TOKEN_SIZE_MAX, TOKEN_SYMBOLS, tokenSize } from './token.ts'

/** The number of means. With the last, almost everything escapes: that is how a float that is noise takes 33 bits. */
const MEANS = 26
const MEAN_LEAST = 0.1
/** A mean that equals a border up to rounding counts as below it, on every machine. */
const BORDER = 1.5 * (1 + 1e-9)
/**
 * The probability that a residual has the likely sign: when no sign is likely, and when it is the sign of a rounding.
 */
const LIKELY = [0.5, 0.75] as const

/** The largest asymmetry; 0 is none. */
export const LOPSIDED_MAX: number = LIKELY.length - 1

const kept = new Map<number, readonly number[]>()

/** Indexed by shape: its mean. */
export const SHAPE_MEANS: readonly number[] = Array.from({ length: MEANS }, (_, shape) => MEAN_LEAST * pow(2, shape))

/** The frequency of each token when sizes have about this mean. */
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

/** The share of sizes that are at least `size`. */
function atLeast(mean: number, size: number): number {
  return 0.66 * tail(mean, size) + 0.26 * tail(mean * 4, size) + 0.08 * tail(mean * 64, size)
}

function tail(mean: number, size: number): number {
  return pow(mean / (1 + mean), size)
}
