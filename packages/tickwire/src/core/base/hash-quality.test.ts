import { describe, expect, test } from 'vitest'
import { avalanche, battery, SCORE_MAX } from '../../../../../test/reference/prng-battery.ts'
import { hashCombine, hashWords } from './hash.ts'

const out = new Uint32Array(2)

/** Collisions among `count` hashes: of all 64 bits, and how far those of either half are from what chance allows. */
function collisions(count: number, hash: (i: number, out: Uint32Array) => void): { whole: number; halves: number } {
  const wholes = new BigUint64Array(count)
  const lows = new Uint32Array(count)
  const highs = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    hash(i, out)
    lows[i] = out[0]!
    highs[i] = out[1]!
    wholes[i] = (BigInt(out[1]!) << 32n) | BigInt(out[0]!)
  }
  const equalNeighbours = (sorted: BigUint64Array | Uint32Array): number => {
    let equal = 0
    for (let i = 1; i < count; i++) if (sorted[i] === sorted[i - 1]) equal++
    return equal
  }
  const expected = (count * (count - 1)) / 2 ** 33
  const score = (half: Uint32Array): number =>
    Math.abs(equalNeighbours(half.sort()) - expected) / Math.sqrt(expected + 1)
  return { whole: equalNeighbours(wholes.sort()), halves: Math.max(score(lows), score(highs)) }
}
function expectSpread(found: { whole: number; halves: number }): void {
  expect(found.whole).toBe(0)
  expect(found.halves).toBeLessThan(SCORE_MAX)
}

describe('states of typical games do not collide', () => {
  const row = new Int32Array(64)
  const hashRow = (size: number, out: Uint32Array): void => hashWords(row, 0, size, 0, out, 0)

  test('[HASH7] whole numbers in a row, alone and after a common beginning', () => {
    expectSpread(collisions(500_000, (i, out) => {
      row[0] = i
      hashRow(1, out)
    }))
    row.fill(77)
    expectSpread(collisions(500_000, (i, out) => {
      row[20] = i
      hashRow(21, out)
    }))
  })

  test('[HASH7] small positions on a grid, with small ids and velocities', () => {
    row.fill(0)
    expectSpread(collisions(600_000, (i, out) => {
      row[0] = i % 6
      row[1] = Math.floor(i / 6) % 100
      row[2] = Math.floor(i / 600) % 100
      row[3] = Math.floor(i / 60_000) - 5
      hashRow(4, out)
    }))
  })

  test('[HASH7] zeros with one, two or three bits set', () => {
    const places: number[][] = []
    for (let a = 0; a < 512; a++) {
      places.push([a])
      for (let b = 0; b < a; b++) {
        places.push([a, b])
        if (a < 128) for (let c = 0; c < b; c++) places.push([a, b, c])
      }
    }
    row.fill(0)
    expectSpread(collisions(places.length, (i, out) => {
      for (const bit of places[i]!) row[bit >> 5]! ^= 1 << (bit & 31)
      hashRow(16, out)
      for (const bit of places[i]!) row[bit >> 5]! ^= 1 << (bit & 31)
    }))
  })

  test('[HASH7] the same words in another order', () => {
    const pairs: [number, number][] = []
    for (let a = 0; a < 64; a++) for (let b = 0; b < a; b++) pairs.push([a, b])
    expectSpread(collisions(pairs.length * 64, (i, out) => {
      const [a, b] = pairs[i % pairs.length]!
      const first = Math.floor(i / pairs.length)
      for (let at = 0; at < 64; at++) row[at] = first + at
      row[a] = first + b
      row[b] = first + a
      hashRow(64, out)
    }))
  })

  test('[HASH7] trees of hashes: parts moved, repeated, left out', () => {
    expectSpread(collisions(300_000, (i, out) => {
      out.fill(0)
      for (let rest = i + 1; rest > 0; rest = Math.floor(rest / 4)) hashCombine(out, 0, rest % 4, 0)
    }))
  })
})

describe('as random numbers', () => {
  test('[HASH8] each bit of the content flips each bit of either half, half of the time', () => {
    const row = new Int32Array(7)
    for (const half of [0, 1]) {
      const score = avalanche(7 * 32, 500, (sample, bit) => {
        for (let i = 0; i < 7; i++) row[i] = Math.imul(sample * 7 + i, 0x9e3779b9)
        hashWords(row, 0, 7, 0, out, 0)
        const before = out[half]!
        row[bit >> 5]! ^= 1 << (bit & 31)
        hashWords(row, 0, 7, 0, out, 0)
        return before ^ out[half]!
      })
      expect(score).toBeLessThan(SCORE_MAX)
    }
  })

  test('[HASH8] hashes of 0, 1, 2 ... pass the battery for generators, in either half', () => {
    for (const half of [0, 1]) {
      const row = new Int32Array(1)
      const scores = battery(() => {
        row[0]!++
        hashWords(row, 0, 1, 0, out, 0)
        return out[half]!
      })
      for (const [name, score] of Object.entries(scores)) expect(Math.abs(score), name).toBeLessThan(SCORE_MAX)
    }
  })

  test('[HASH8] each bit of the seed flips each bit of the hash, half of the time', () => {
    const row = Int32Array.of(1, 2, 3, 4, 5)
    const score = avalanche(32, 500, (sample, bit) => {
      const seed = Math.imul(sample, 0x9e3779b9)
      hashWords(row, 0, 5, seed, out, 0)
      const before = out[0]!
      hashWords(row, 0, 5, seed ^ (1 << bit), out, 0)
      return before ^ out[0]!
    })
    expect(score).toBeLessThan(SCORE_MAX)
  })
})
