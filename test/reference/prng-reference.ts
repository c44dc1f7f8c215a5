/**
 * The generators, slow and clear, in BigInt, written from their published descriptions. Imports nothing from src.
 */

const MASK = 0xffff_ffffn

/** sfc32: (a, b, c, counter) = (0, seed low, seed high, 1), then 12 words thrown away. */
export function* referenceSfc32(seed: bigint): Generator<number> {
  let [a, b, c, counter] = [0n, seed & MASK, (seed >> 32n) & MASK, 1n]
  for (let i = 0; ; i++) {
    const word = (a + b + counter++) & MASK
    a = b ^ (b >> 9n)
    b = (c + (c << 3n)) & MASK
    c = ((((c << 21n) | (c >> 11n)) & MASK) + word) & MASK
    if (i >= 12) yield Number(word)
  }
}

/** Philox4x32-10: the four words of the block at `counter` under `key`. */
export function referencePhilox(counter: readonly bigint[], key: readonly bigint[]): number[] {
  let [c0, c1, c2, c3] = counter as [bigint, bigint, bigint, bigint]
  let [k0, k1] = key as [bigint, bigint]
  for (let round = 0; round < 10; round++) {
    const first = c0 * 0xd2511f53n
    const second = c2 * 0xcd9e8d57n
    ;[c0, c1, c2, c3] = [(second >> 32n) ^ c1 ^ k0, second & MASK, (first >> 32n) ^ c3 ^ k1, first & MASK]
    k0 = (k0 + 0x9e3779b9n) & MASK
    k1 = (k1 + 0xbb67ae85n) & MASK
  }
  return [c0, c1, c2, c3].map(Number)
}

/** The word that belongs to (seed, tick, object, ordinal). */
export function referenceKeyed(seed: number, tick: number, object: number, ordinal: number): number {
  const low = (x: number): bigint => BigInt(x) & MASK
  const high = (x: number): bigint => BigInt(x) >> 32n
  const counter = [BigInt(ordinal) >> 2n, low(object), low(tick), high(tick)]
  return referencePhilox(counter, [low(seed), high(seed)])[ordinal % 4]!
}
