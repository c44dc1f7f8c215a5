import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Prng } from '../../base/prng.ts'
import { IndexSet } from './index-set.ts'
import { Octree } from './octree.ts'
import type { Partition } from './partition.ts'
import { UniformGrid } from './uniform-grid.ts'

const REACH = 10
const OBJECTS = 300

/** Many objects in a cloud, and all partitions that can hold them. */
class Cloud {
  readonly xyz: Float64Array = new Float64Array(3 * OBJECTS)
  readonly inside = new Set<number>()
  readonly partitions: readonly Partition[] = [
    new UniformGrid(this, 3, REACH),
    new UniformGrid(this, 3, REACH, 3),
    new UniformGrid(this, 3, REACH, 45),
    new UniformGrid(this, 2, REACH),
    new Octree(this, REACH),
  ]

  set(index: number, x: number, y: number, z: number): void {
    this.xyz.set([x, y, z], 3 * index)
    for (const partition of this.partitions) this.inside.has(index) ? partition.move(index) : partition.insert(index)
    this.inside.add(index)
  }

  remove(index: number): void {
    if (this.inside.delete(index)) for (const partition of this.partitions) partition.remove(index)
  }

  #distance(index: number, [x, y, z]: readonly [number, number, number]): number {
    const [dx, dy, dz] = [this.xyz[3 * index]! - x, this.xyz[3 * index + 1]! - y, this.xyz[3 * index + 2]! - z]
    return dx * dx + dy * dy + dz * dz
  }

  /** Compares the objects near a place: found by checking all objects, and by each partition. */
  check(point: readonly [number, number, number]): void {
    const wanted = [...this.inside]
      .filter((index) => this.#distance(index, point) <= REACH * REACH)
      .sort((a, b) => a - b)
    for (const partition of this.partitions) {
      const found = [...partition.found.subarray(0, partition.search(Float64Array.from([0, ...point]), 1))]
      expect(new Set(found).size).toBe(found.length)
      const near = found.filter((index) => this.#distance(index, point) <= REACH * REACH).sort((a, b) => a - b)
      expect(near).toEqual(wanted)
      expect(partition.size).toBe(this.inside.size)
    }
  }
}

describe('partitions', () => {
  test('[INT6] grid and octree find the same objects as a full scan, through arrivals, moves and departures', () => {
    const coordinate = fc.oneof(
      { weight: 6, arbitrary: fc.double({ min: -40, max: 40, noNaN: true }) },
      { weight: 2, arbitrary: fc.integer({ min: -4, max: 4 }).map((n) => n * REACH) },
      { weight: 1, arbitrary: fc.constantFrom(0, -0, 1e-300, 2 ** 40, -1e9, 1e15, NaN, Infinity, -Infinity, 1e308) },
    )
    const place = fc.tuple(coordinate, coordinate, coordinate)
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ at: fc.nat(40), place }) },
      { weight: 1, arbitrary: fc.record({ gone: fc.nat(40) }) },
      { weight: 3, arbitrary: fc.record({ look: place }) },
    )
    fc.assert(fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
      const cloud = new Cloud()
      for (const each of steps) {
        if ('at' in each) cloud.set(each.at, ...each.place)
        else if ('gone' in each) cloud.remove(each.gone)
        else cloud.check(each.look)
      }
      cloud.check([0, 0, 0])
    }), { seed: 5, numRuns: 300 })
  })

  test('[INT6] the same for hundreds of moving objects', () => {
    const dice = new Prng(3)
    const cloud = new Cloud()
    for (let round = 0; round < 60; round++) {
      const spread = round < 30 ? 60 : 8
      for (let index = 0; index < OBJECTS; index++) {
        if (dice.nextInt(0, 9) === 0) cloud.remove(index)
        else cloud.set(index, dice.nextFloat() * spread, dice.nextFloat() * spread, dice.nextFloat() * spread)
      }
      for (let look = 0; look < 5; look++)
        cloud.check([dice.nextFloat() * spread, dice.nextFloat() * spread, dice.nextFloat() * spread])
    }
    for (let index = 0; index < OBJECTS; index++) cloud.remove(index)
    const octree = cloud.partitions.at(-1) as Octree
    expect(octree.cubes).toBe(1)
  })

  test('[INT7] a move within a square changes no list, a move into another square changes two', () => {
    const cloud = new Cloud()
    cloud.set(7, 1, 1, 1)
    for (let x = 1; x < 10; x += 0.5) cloud.set(7, x, 9, 1)
    const [grid, , , flat, octree] = cloud.partitions
    expect([grid!.moves, flat!.moves, octree!.moves]).toEqual([0, 0, 0])
    cloud.set(7, 10, 9, 1)
    cloud.set(7, 10.5, 9, 1)
    cloud.set(7, -0.5, 9, 1)
    expect([grid!.moves, flat!.moves]).toEqual([2, 2])
  })

  test('[INT7] a search looks only into the squares of one ring around the viewer', () => {
    const cloud = new Cloud()
    for (let x = 0; x < 9; x++) for (let y = 0; y < 9; y++) cloud.set(9 * x + y, 10 * x + 5, 10 * y + 5, 0)
    const grid = cloud.partitions[0]!
    const found = [...grid.found.subarray(0, grid.search(Float64Array.from([45, 45, 5]), 0))].sort((a, b) => a - b)
    expect(found).toEqual([30, 31, 32, 39, 40, 41, 48, 49, 50])
  })

  test('[INT6] a set of indexes returns them in ascending order, in any order of insertion', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5000)), fc.array(fc.nat(5000)), (some, others) => {
        const [set, other] = [new IndexSet(), new IndexSet()]
        for (const each of [set, other]) each.reserve(5001)
        for (const index of some) set.add(index)
        for (const index of others) other.add(index)
        set.addAll(other)
        const found: number[] = []
        set.words.forEach((word, at) => {
          for (let bit = 0; bit < 32; bit++) if (((word >>> bit) & 1) === 1) found.push(32 * at + bit)
        })
        expect(found).toEqual([...new Set([...some, ...others])].sort((a, b) => a - b))
        set.words.forEach((word, at) => expect((set.summary[at >>> 5]! >>> (at & 31)) & 1).toBe(word === 0 ? 0 : 1))
        expect(set.sizeMax).toBeGreaterThanOrEqual(found.length)
        set.clear()
        expect(Math.max(...set.words, ...set.summary, set.sizeMax)).toBe(0)
      }),
      { seed: 5, numRuns: 50 },
    )
  })
})
