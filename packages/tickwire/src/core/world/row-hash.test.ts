import { describe, expect, test } from 'vitest'
import { Prng } from '../base/prng.ts'
import { entity } from '../schema/definition.ts'
import { i32Word } from '../schema/field-kinds.ts'
import { ObjectHasher } from './object-hash.ts'
import { World } from './world.ts'

const LANE_COUNT = 11

/** A store with one object, whose row the tests write themselves. */
function makeHasher(): (row: ArrayLike<number>, id: number, owner: number) => readonly [low: number, high: number] {
  const Thing = entity(Object.fromEntries(Array.from({ length: LANE_COUNT }, (_, at) => [`f${at}`, i32Word])))
  const world = new World([Thing])
  world.spawn(Thing, {})
  const [store] = world.stores
  const hasher = new ObjectHasher(world.stores)
  const out = new Uint32Array(2)
  return (row, id, owner) => {
    store!.rows.set(row, LANE_COUNT)
    hasher.hashObject(store!, 1, Uint32Array.of(id, owner), 0, out, 0)
    return [out[0]!, out[1]!]
  }
}

function bitCount(word: number): number {
  let bits = word
  let count = 0
  for (; bits !== 0; bits &= bits - 1) count++
  return count
}

describe('the hash of an object', () => {
  test('[STATE4] every bit of id, owner and row reaches every bit of it', () => {
    const hash = makeHasher()
    const dice = new Prng(1)
    const flips = new Float64Array((LANE_COUNT + 2) * 32)
    const ROUNDS = 60
    for (let round = 0; round < ROUNDS; round++) {
      const words = Int32Array.from({ length: LANE_COUNT + 2 }, () => dice.nextU32() >>> dice.nextInt(0, 31))
      const of = (): readonly [number, number] => hash(words.subarray(2), words[0]! >>> 0, words[1]! >>> 0)
      const [low, high] = of()
      for (let bit = 0; bit < flips.length; bit++) {
        words[bit >> 5]! ^= 1 << (bit & 31)
        const [otherLow, otherHigh] = of()
        flips[bit]! += bitCount(low ^ otherLow) + bitCount(high ^ otherHigh)
        words[bit >> 5]! ^= 1 << (bit & 31)
      }
    }
    // Half of 64 bits, give or take four deviations of a fair coin.
    const deviation = Math.sqrt(64 * ROUNDS) / 2 / ROUNDS
    for (const sum of flips) expect(Math.abs(sum / ROUNDS - 32)).toBeLessThan(5 * deviation)
  })

  test('[STATE4] rows as games have them, small numbers that change together, do not collide', () => {
    const hash = makeHasher()
    const seen = new Set<string>()
    const halves = [new Set<number>(), new Set<number>()]
    const row = new Int32Array(LANE_COUNT)
    let count = 0
    // Two fields at a time, by small steps in either direction: such changes cancel in a weak hash.
    for (let first = 0; first < LANE_COUNT; first++) {
      for (let second = first + 1; second < LANE_COUNT; second++) {
        for (let x = -16; x < 16; x++) {
          for (let y = -16; y < 16; y++) {
            if (x === 0 || y === 0) continue
            row.fill(100)
            row[first]! += x
            row[second]! += y
            const [low, high] = hash(row, 65_537, 1)
            seen.add(`${high} ${low}`)
            halves[0]!.add(low)
            halves[1]!.add(high)
            count++
          }
        }
      }
    }
    expect(seen.size).toBe(count)
    // Some halves of 32 bits collide by chance: count squared over 2^33, here a third of a collision.
    for (const half of halves) expect(half.size).toBeGreaterThanOrEqual(count - 5)
  })
})
