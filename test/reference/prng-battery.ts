/**
 * Statistical tests for streams of 32-bit words. Each gives a score in standard deviations: a good generator stays
 * within a few, a bad one is out by tens or thousands. Streams are seeded, so a score never changes between runs.
 *
 * The battery finds bad generators and proves nothing about good ones. It finds a linear congruential generator,
 * xorshift32 and a plain counter (tests run it on those too). The published generators passed far larger batteries.
 */

export type Words = () => number

/** A score above this fails. With about 100 scores in all, the probability that a perfect generator fails is 6e-5. */
export const SCORE_MAX = 5

const BITS = Array.from({ length: 32 }, (_, bit) => bit)

/** A chi-square value as standard deviations, by Wilson and Hilferty. */
function chiSquareScore(counts: ArrayLike<number>, expected: (cell: number) => number): number {
  let chi = 0
  for (let cell = 0; cell < counts.length; cell++) chi += (counts[cell]! - expected(cell)) ** 2 / expected(cell)
  const spread = 2 / (9 * (counts.length - 1))
  return (Math.cbrt(chi / (counts.length - 1)) - (1 - spread)) / Math.sqrt(spread)
}

/** Every byte value as often, in each of the four bytes of a word. */
function bytes(next: Words, count: number): number {
  const counts = new Float64Array(1024)
  for (let i = 0; i < count; i++) {
    const word = next()
    for (let byte = 0; byte < 4; byte++) counts[byte * 256 + ((word >>> (byte * 8)) & 255)]!++
  }
  return chiSquareScore(counts, () => count / 256)
}

/** Pairs of neighbours fill the square evenly, by their high and by their low bytes. */
function pairs(next: Words, count: number, shift: number): number {
  const counts = new Float64Array(65536)
  for (let i = 0; i < count; i++) counts[((next() >>> shift) & 255) * 256 + ((next() >>> shift) & 255)]!++
  return chiSquareScore(counts, () => count / 65536)
}

/** The bit that is most out of balance. */
function bitBalance(next: Words, count: number): number {
  const ones = new Float64Array(32)
  for (let i = 0; i < count; i++) {
    const word = next()
    for (const bit of BITS) ones[bit]! += (word >>> bit) & 1
  }
  return Math.max(...BITS.map((bit) => Math.abs(ones[bit]! - count / 2) / Math.sqrt(count / 4)))
}

/** The strongest correlation between a number and one of the eight that follow it. */
function serialCorrelation(next: Words, count: number): number {
  const values = Float64Array.from({ length: count }, () => next() / 2 ** 32 - 0.5)
  const scores = [1, 2, 3, 4, 5, 6, 7, 8].map((lag) => {
    let sum = 0
    for (let i = lag; i < count; i++) sum += values[i]! * values[i - lag]!
    return Math.abs(sum * 12) / Math.sqrt(count - lag)
  })
  return Math.max(...scores)
}

/** Words between two that fall in the lowest eighth: lengths must be geometric. */
function gaps(next: Words, count: number): number {
  const longest = 40
  const counts = new Float64Array(longest + 1)
  // Eight words a gap are expected; a stream that needs far more is broken, and the missing gaps show in the score.
  for (let drawn = 0, found = 0, gap = 0; found < count && drawn < count * 100; drawn++, gap++) {
    if (next() >= 0x2000_0000) continue
    counts[Math.min(gap, longest)]!++
    found++
    gap = -1
  }
  return chiSquareScore(counts, (gap) => count * (gap < longest ? 0.875 ** gap / 8 : 0.875 ** longest))
}

/** Marsaglia's birthday spacings: 512 birthdays in 2^24 days, equal spacings are Poisson with mean 2. */
function birthdaySpacings(next: Words, years: number, shift: number): number {
  const days = new Float64Array(512)
  let equal = 0
  for (let year = 0; year < years; year++) {
    for (let i = 0; i < 512; i++) days[i] = (next() >>> shift) & 0xffffff
    days.sort()
    const spacings = days.map((day, i) => (i === 0 ? day : day - days[i - 1]!)).sort()
    for (let i = 1; i < 512; i++) if (spacings[i] === spacings[i - 1]) equal++
  }
  return (equal - 2 * years) / Math.sqrt(2 * years)
}

/** Ranks of 32 x 32 matrices of bits: they show generators that are linear over bits, which other tests hardly find. */
function matrixRanks(next: Words, count: number): number {
  const counts = new Float64Array(3)
  for (let i = 0; i < count; i++) counts[Math.min(2, 32 - rankOf(Array.from(BITS, next)))]!++
  const chance = [0.2887880951538411, 0.5775761901732049, 0.1336357146729540]
  return chiSquareScore(counts, (cell) => count * chance[cell]!)
}
function rankOf(rows: number[]): number {
  let rank = 0
  for (const bit of BITS) {
    const pivot = rows.findIndex((row, i) => i >= rank && (row >>> bit) & 1)
    if (pivot < 0) continue
    ;[rows[rank], rows[pivot]] = [rows[pivot]!, rows[rank]!]
    for (let i = rank + 1; i < 32; i++) if ((rows[i]! >>> bit) & 1) rows[i] = rows[i]! ^ rows[rank]!
    rank++
  }
  return rank
}

/** Every test with its score for this stream. */
export function battery(next: Words): Record<string, number> {
  return {
    bytes: bytes(next, 1 << 16),
    'pairs of high bytes': pairs(next, 1 << 17, 24),
    'pairs of low bytes': pairs(next, 1 << 17, 0),
    'bit balance': bitBalance(next, 1 << 16),
    'serial correlation': serialCorrelation(next, 1 << 16),
    gaps: gaps(next, 1 << 14),
    'birthday spacings, high bits': birthdaySpacings(next, 150, 8),
    'birthday spacings, low bits': birthdaySpacings(next, 150, 0),
    'matrix ranks': matrixRanks(next, 1500),
  }
}

/**
 * How far the chance that output bit o flips with input bit i is from one half, for the worst pair, in deviations.
 * `flip` gives the exclusive or of the outputs before and after flipping input bit i of the n-th sample.
 */
export function avalanche(inputBits: number, samples: number, flip: (sample: number, bit: number) => number): number {
  let worst = 0
  for (let input = 0; input < inputBits; input++) {
    const flips = new Float64Array(32)
    for (let sample = 0; sample < samples; sample++) {
      const changed = flip(sample, input)
      for (const bit of BITS) flips[bit]! += (changed >>> bit) & 1
    }
    for (const bit of BITS) worst = Math.max(worst, Math.abs(flips[bit]! - samples / 2) / Math.sqrt(samples / 4))
  }
  return worst
}
