/**
 * Nested cubes: the partition for large, sparse space, where most squares of a grid would be empty.
 *
 *   root: the smallest cube around the origin, doubled from the reach, that contains all objects
 *   a cube with more than 8 objects has 8 children, unless it is smaller than half the reach;
 *   children with no more than 4 objects in total are merged into one cube
 *
 * An object is relinked only when it leaves its cube. For positions in a plane the tree is in effect a quadtree. An
 * object whose position is not finite is near nothing, and is not in the tree.
 */

import { widen } from '../../base/widen.ts'
import { COORDINATE_SLACK, SEARCH_SLACK, type Partition, type Positions } from './partition.ts'

const NONE = -1
/** In place of a cube: counted, but without a finite position. */
const NOWHERE = -2
const ROOT = 0
const SPLIT_ABOVE = 8
const MERGE_AT = 4
const CAPACITY_FIRST = 64
/** A cube doubles fewer times than this from the reach to the largest double: the greatest depth of a search. */
const DEPTH_MAX = 2100

export class Octree implements Partition {
  found: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  size = 0
  moves = 0
  readonly #positions: Positions
  readonly #reach: number
  /**
   * Indexed by cube: first child of eight (-1: none), parent, first object, and the number of objects in the whole
   * cube.
   */
  #child: Int32Array = new Int32Array(CAPACITY_FIRST).fill(NONE)
  #parent: Int32Array = new Int32Array(CAPACITY_FIRST).fill(NONE)
  #first: Int32Array = new Int32Array(CAPACITY_FIRST).fill(NONE)
  #count: Int32Array = new Int32Array(CAPACITY_FIRST)
  /** Indexed by 4 * cube: its centre, and half its side. */
  #boxes: Float64Array = new Float64Array(4 * CAPACITY_FIRST)
  #cubes = 1
  /** Unused blocks of eight cubes, linked by the parent of their first cube. */
  #free = NONE
  /** Indexed by object index: neighbours in the list of its cube, and the cube. */
  #next: Int32Array = new Int32Array(CAPACITY_FIRST)
  #previous: Int32Array = new Int32Array(CAPACITY_FIRST)
  #cube: Int32Array = new Int32Array(CAPACITY_FIRST).fill(NONE)
  /** Cubes that a search has yet to visit: at most seven per level, and eight of the last. */
  #stack: Int32Array = new Int32Array(7 * DEPTH_MAX + 8)

  constructor(positions: Positions, reach: number) {
    this.#positions = positions
    this.#reach = reach
    this.#boxes[3] = reach
  }

  /** The number of cubes in use, for measurements. */
  get cubes(): number {
    let free = 0
    for (let block = this.#free; block !== NONE; block = this.#parent[block]) free += 8
    return this.#cubes - free
  }

  /** @hot */
  insert(index: number): void {
    if (index >= this.#cube.length) this.#growObjects(index + 1)
    this.size++
    this.#place(index)
  }

  /** @hot */
  move(index: number): void {
    const cube = this.#cube[index]
    if (cube === NOWHERE ? !this.#isSomewhere(index) : this.#isInside(index, cube)) return
    this.moves++
    this.#take(index)
    this.#place(index)
  }

  /** @hot */
  remove(index: number): void {
    this.size--
    this.#take(index)
    this.#cube[index] = NONE
  }

  /** @hot */
  search(points: Float64Array, at: number): number {
    const boxes = this.#boxes
    const stack = this.#stack
    const slack = (Math.abs(points[at]) + Math.abs(points[at + 1]) + Math.abs(points[at + 2])) * COORDINATE_SLACK
    const reach = this.#reach * (1 + SEARCH_SLACK) + slack
    const limit = reach * reach
    let count = 0
    let height = 1
    stack[0] = ROOT
    while (height > 0) {
      const cube = stack[--height]
      if (this.#count[cube] === 0) continue
      const box = 4 * cube
      const half = boxes[box + 3]
      const x = Math.max(Math.abs(points[at] - boxes[box]) - half, 0)
      const y = Math.max(Math.abs(points[at + 1] - boxes[box + 1]) - half, 0)
      const z = Math.max(Math.abs(points[at + 2] - boxes[box + 2]) - half, 0)
      if (!(x * x + y * y + z * z <= limit)) continue
      const child = this.#child[cube]
      if (child === NONE) {
        for (let index = this.#first[cube]; index !== NONE; index = this.#next[index]) this.found[count++] = index
      } else {
        for (let each = 0; each < 8; each++) stack[height++] = child + each
      }
    }
    return count
  }

  #isSomewhere(index: number): boolean {
    const { xyz } = this.#positions
    const sum = xyz[3 * index] + xyz[3 * index + 1] + xyz[3 * index + 2]
    return sum - sum === 0
  }

  #isInside(index: number, cube: number): boolean {
    const { xyz } = this.#positions
    const half = this.#boxes[4 * cube + 3]
    for (let axis = 0; axis < 3; axis++) {
      const offset = xyz[3 * index + axis] - this.#boxes[4 * cube + axis]
      if (!(offset >= -half && offset < half)) return false
    }
    return true
  }

  /** Puts an object into the smallest cube around it, after making the root large enough. */
  #place(index: number): void {
    if (!this.#isSomewhere(index)) {
      this.#cube[index] = NOWHERE
      return
    }
    if (!this.#isInside(index, ROOT)) this.#growRoot(index)
    this.#descend(index, ROOT)
  }

  #descend(index: number, from: number): void {
    let cube = from
    while (this.#child[cube] !== NONE) {
      this.#count[cube]++
      cube = this.#child[cube] + this.#octant(index, cube)
    }
    this.#count[cube]++
    this.#enlist(index, cube)
    const side = 2 * this.#boxes[4 * cube + 3]
    if (this.#count[cube] > SPLIT_ABOVE && 2 * side > this.#reach && side < Infinity) this.#split(cube)
  }

  #octant(index: number, cube: number): number {
    const { xyz } = this.#positions
    const box = 4 * cube
    return (xyz[3 * index] >= this.#boxes[box] ? 1 : 0) + (xyz[3 * index + 1] >= this.#boxes[box + 1] ? 2 : 0) +
      (xyz[3 * index + 2] >= this.#boxes[box + 2] ? 4 : 0)
  }

  #enlist(index: number, cube: number): void {
    const next = this.#first[cube]
    this.#cube[index] = cube
    this.#next[index] = next
    this.#previous[index] = NONE
    if (next !== NONE) this.#previous[next] = index
    this.#first[cube] = index
  }

  /** Removes an object from its cube, and merges cubes that have become too empty. */
  #take(index: number): void {
    const cube = this.#cube[index]
    if (cube === NOWHERE) return
    const next = this.#next[index]
    const previous = this.#previous[index]
    if (previous === NONE) this.#first[cube] = next
    else this.#next[previous] = next
    if (next !== NONE) this.#previous[next] = previous
    let merged = NONE
    for (let each = cube; each !== NONE; each = this.#parent[each]) {
      if (--this.#count[each] <= MERGE_AT && this.#child[each] !== NONE) merged = each
    }
    if (merged !== NONE) this.#merge(merged, merged)
  }

  /**
   * Creates eight children and moves each object into the one around it. A child that becomes too full splits on that
   * arrival.
   */
  #split(cube: number): void {
    const child = this.#takeBlock()
    const half = this.#boxes[4 * cube + 3] / 2
    for (let each = 0; each < 8; each++) {
      const box = 4 * (child + each)
      this.#boxes[box] = this.#boxes[4 * cube] + ((each & 1) === 0 ? -half : half)
      this.#boxes[box + 1] = this.#boxes[4 * cube + 1] + ((each & 2) === 0 ? -half : half)
      this.#boxes[box + 2] = this.#boxes[4 * cube + 2] + ((each & 4) === 0 ? -half : half)
      this.#boxes[box + 3] = half
      this.#child[child + each] = NONE
      this.#parent[child + each] = cube
      this.#first[child + each] = NONE
      this.#count[child + each] = 0
    }
    let index = this.#first[cube]
    this.#first[cube] = NONE
    this.#child[cube] = child
    while (index !== NONE) {
      const next = this.#next[index]
      this.#descend(index, child + this.#octant(index, cube))
      index = next
    }
  }

  /** Links all objects below a cube into `into`, and frees the cubes below. */
  #merge(cube: number, into: number): void {
    const child = this.#child[cube]
    if (child === NONE) return
    for (let each = child; each < child + 8; each++) {
      this.#merge(each, into)
      let index = this.#first[each]
      while (index !== NONE) {
        const next = this.#next[index]
        this.#enlist(index, into)
        index = next
      }
    }
    this.#child[cube] = NONE
    this.#parent[child] = this.#free
    this.#free = child
  }

  /** Doubles the root until it contains an object, and inserts all objects again. */
  #growRoot(index: number): void {
    const everyone = this.#count[ROOT]
    this.#merge(ROOT, ROOT)
    let each = this.#first[ROOT]
    this.#first[ROOT] = NONE
    this.#count[ROOT] = 0
    while (!this.#isInside(index, ROOT)) this.#boxes[3] *= 2
    for (let rest = everyone; rest > 0; rest--) {
      const next = this.#next[each]
      this.#descend(each, ROOT)
      each = next
    }
  }

  #takeBlock(): number {
    const block = this.#free
    if (block !== NONE) {
      this.#free = this.#parent[block]
      return block
    }
    if (this.#cubes + 8 > this.#child.length) this.#growCubes()
    this.#cubes += 8
    return this.#cubes - 8
  }

  #growCubes(): void {
    const capacity = this.#child.length * 2
    this.#child = widen(this.#child, new Int32Array(capacity))
    this.#parent = widen(this.#parent, new Int32Array(capacity))
    this.#first = widen(this.#first, new Int32Array(capacity))
    this.#count = widen(this.#count, new Int32Array(capacity))
    this.#boxes = widen(this.#boxes, new Float64Array(4 * capacity))
  }

  #growObjects(need: number): void {
    let capacity = this.#cube.length
    while (capacity < need) capacity *= 2
    this.#cube = widen(this.#cube, new Int32Array(capacity).fill(NONE))
    this.#next = widen(this.#next, new Int32Array(capacity))
    this.#previous = widen(this.#previous, new Int32Array(capacity))
    this.found = new Uint32Array(capacity)
  }
}
