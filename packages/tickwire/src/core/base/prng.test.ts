import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { avalanche, battery, SCORE_MAX, type Words } from '../../../../../test/reference/prng-battery.ts'
import { referenceSfc32 } from '../../../../../test/reference/prng-reference.ts'
import { shuffle } from './prng-draws.ts'
import { Prng } from './prng.ts'

interface Vectors {
  streaming: { cases: { seed: number; words: string }[] }
}
const vectors = JSON.parse(
  readFileSync(new URL('../../../../../test/vectors/prng.json', import.meta.url), 'utf8'),
) as Vectors
const hex = (word: number): string => word.toString(16).padStart(8, '0')

const failures = (next: Words): string[] =>
  Object.entries(battery(next)).filter(([, score]) => !(Math.abs(score) < SCORE_MAX)).map(([name]) => name)

describe('the stream', () => {
  test('[RNG1] begins with the golden words', () => {
    for (const { seed, words } of vectors.streaming.cases) {
      const prng = new Prng(seed)
      expect(Array.from({ length: 16 }, () => hex(prng.nextU32())).join(' ')).toBe(words)
    }
  })
  test('[RNG1] equals the slow twin for long', () => {
    const prng = new Prng(0xdecade)
    const twin = referenceSfc32(0xdecaden)
    for (let i = 0; i < 5000; i++) if (prng.nextU32() !== twin.next().value) expect.fail(`at word ${i}`)
  })
  test('[RNG2] a copied state has the same future', () => {
    const prng = new Prng(9)
    for (let i = 0; i < 100; i++) prng.nextU32()
    const saved = prng.state.slice()
    const future = Array.from({ length: 50 }, () => prng.nextGaussian())
    prng.state.set(saved)
    expect(Array.from({ length: 50 }, () => prng.nextGaussian())).toEqual(future)
    prng.reseed(9)
    expect(prng.nextU32()).toBe(new Prng(9).nextU32())
  })
})

describe('quality', () => {
  test('[RNG6] the stream passes the battery, from a small seed and a large one', () => {
    for (const seed of [1, 2 ** 52 + 12345]) {
      const prng = new Prng(seed)
      expect(failures(() => prng.nextU32())).toEqual([])
    }
  })
  test('[RNG6] the first words of seeds 0, 1, 2 ... pass it too', () => {
    const prng = new Prng(0)
    let seed = 0
    const next = (): number => {
      prng.reseed(seed++)
      return prng.nextU32()
    }
    expect(failures(next)).toEqual([])
  })
  test('[RNG6] each bit of the seed flips each bit of the first word half of the time', () => {
    const prng = new Prng(0)
    const first = (seed: number): number => {
      prng.reseed(seed)
      return prng.nextU32()
    }
    const seedOf = (sample: number): number => sample * 4_398_046_511
    // Flips one bit: adds it if it is clear, subtracts it if it is set.
    const flipped = (seed: number, bit: number): number =>
      Math.floor(seed / 2 ** bit) % 2 === 0 ? seed + 2 ** bit : seed - 2 ** bit
    const score = avalanche(53, 1000, (sample, bit) => first(seedOf(sample)) ^ first(flipped(seedOf(sample), bit)))
    expect(score).toBeLessThan(SCORE_MAX)
  })
  test('[RNG6] the battery catches generators known to be bad', () => {
    let shifted = 1
    const xorshift = (): number => {
      shifted ^= shifted << 13
      shifted ^= shifted >>> 17
      shifted ^= shifted << 5
      return shifted >>> 0
    }
    let linear = 1
    const congruential = (): number => (linear = (Math.imul(linear, 1664525) + 1013904223) >>> 0)
    let count = 0
    const counter = (): number => Math.imul(count++, 0x9e3779b9) >>> 0
    expect(failures(xorshift)).toContain('matrix ranks')
    expect(failures(congruential)).toContain('pairs of low bytes')
    expect(failures(counter).length).toBeGreaterThan(5)
  })
})

describe('draws', () => {
  test('[RNG3] a float is two words, 53 bits, below 1', () => {
    const words = [0xffff_ffff, 0xffff_ffff, 0, 0, 0x8000_0000, 0, 0, 64]
    const prng = { nextU32: () => words.shift()! }
    const draw = (): number => Prng.prototype.nextFloat.call(prng as never)
    expect([draw(), draw(), draw(), draw()]).toEqual([1 - 2 ** -53, 0, 0.5, 2 ** -53])
    expect(words).toEqual([])
  })
  test('[RNG4] an int does not favour low values', () => {
    // A span of three quarters of 2^32: plain remainders would make the first third twice as likely.
    const prng = new Prng(5)
    const span = 3 * 2 ** 30
    let low = 0
    for (let i = 0; i < 30_000; i++) if (prng.nextInt(0, span - 1) < 2 ** 30) low++
    expect(Math.abs(low - 10_000) / Math.sqrt(30_000 * (1 / 3) * (2 / 3))).toBeLessThan(SCORE_MAX)
  })
  test('[RNG4] an int covers its bounds and nothing else, negative ones too', () => {
    const prng = new Prng(6)
    const seen = new Set(Array.from({ length: 1000 }, () => prng.nextInt(-3, 3)))
    expect([...seen].sort((a, b) => a - b)).toEqual([-3, -2, -1, 0, 1, 2, 3])
    expect(prng.nextInt(7, 7)).toBe(7)
    expect(prng.nextInt(-(2 ** 31), 2 ** 31 - 1)).toBeLessThan(2 ** 31)
    expect(() => prng.nextInt(1, 0)).toThrow('nextInt')
    expect(() => prng.nextInt(0, 0.5)).toThrow('nextInt')
    expect(() => prng.nextInt(0, NaN)).toThrow('nextInt')
  })
  test('[RNG8] a gaussian is four words, mean 0, deviation 1, with honest tails', () => {
    const prng = new Prng(8)
    const count = 100_000
    let [sum, squares, beyond2, beyond4] = [0, 0, 0, 0]
    for (let i = 0; i < count; i++) {
      const x = prng.nextGaussian()
      sum += x
      squares += x * x
      if (Math.abs(x) > 2) beyond2++
      if (Math.abs(x) > 4) beyond4++
    }
    expect(prng.state[3]).toBe(1 + 12 + 4 * count)
    expect(Math.abs(sum / Math.sqrt(count))).toBeLessThan(SCORE_MAX)
    expect(Math.abs((squares - count) / Math.sqrt(2 * count))).toBeLessThan(SCORE_MAX)
    expect(Math.abs(beyond2 - 0.0455 * count) / Math.sqrt(0.0455 * count)).toBeLessThan(SCORE_MAX)
    expect(beyond4).toBeGreaterThan(0)
  })
  test('[RNG9] every order of a shuffle is as likely', () => {
    const prng = new Prng(10)
    const counts = new Map<string, number>()
    for (let i = 0; i < 24_000; i++) {
      const items = ['a', 'b', 'c', 'd']
      shuffle(prng, items)
      counts.set(items.join(''), (counts.get(items.join('')) ?? 0) + 1)
    }
    expect(counts.size).toBe(24)
    for (const count of counts.values()) expect(Math.abs(count - 1000) / Math.sqrt(1000)).toBeLessThan(SCORE_MAX)
  })
})
