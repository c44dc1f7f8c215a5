/**
 * Equal squares in a hash table: the partition for worlds whose objects are spread out.
 *
 *   +---+---+---+---+       square size = reach, unless set
 *   |   | a | b |   |       a viewer in square (1, 1) searches that square and the ring around it,
 *   +---+---+---+---+       ceil(reach / square size) squares wide: 3 x 3 here, 3 x 3 x 3 in space
 *   | c | V |   |   |
 *   +---+---+---+---+       an object changes its list only when it crosses into a different square
 *   |   |   |   | d |
 *
 * The table has no bounds in space: squares are found by a hash of their coordinates. Each slot of the table is a list
 * through `#next` and `#previous`. Squares that share a slot share the list; the coordinates stored per object tell
 * them apart.
 */

import { GRID_RINGS_MAX } from '../../base/limits.ts'
import { widen } from '../../base/widen.ts'
import { COORDINATE_SLACK, SEARCH_SLACK, type Partition, type Positions } from './partition.ts'

const NONE = -1
/** The number of squares per axis after the first one, in the widest search. */
const SPAN_MAX = 2 * GRID_RINGS_MAX + 2
const PLACES_FIRST = 64
const CAPACITY_FIRST = 64

export class UniformGrid implements Partition {
  found: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  size = 0
  moves = 0
  readonly #positions: Positions
  readonly #dimensions: number
  /** The reach, and the number of squares per unit of length. */
  readonly #reach: number
  readonly #scale: number
  /** Indexed by hash slot: the first object of its list. */
  #first: Int32Array = new Int32Array(PLACES_FIRST).fill(NONE)
  /**
   * Indexed by object index: neighbours in the list, the hash slot (-1: not here), and the three coordinates of the
   * square.
   */
  #next: Int32Array = new Int32Array(CAPACITY_FIRST)
  #previous: Int32Array = new Int32Array(CAPACITY_FIRST)
  #place: Int32Array = new Int32Array(CAPACITY_FIRST).fill(NONE)
  #squares: Int32Array = new Int32Array(3 * CAPACITY_FIRST)
  /** The square of the last `#locate`. */
  readonly #square = new Int32Array(3)
  /** During a search: the first square of each axis, and how many follow it. */
  readonly #from = new Int32Array(3)
  readonly #span = new Int32Array(3)

  constructor(positions: Positions, dimensions: number, reach: number, squareSize: number = reach) {
    this.#positions = positions
    this.#dimensions = dimensions
    this.#reach = reach
    this.#scale = 1 / Math.max(squareSize, reach / GRID_RINGS_MAX)
  }

  /** @hot */
  insert(index: number): void {
    if (index >= this.#place.length) this.#growObjects(index + 1)
    if (this.size >= this.#first.length >>> 1) this.#growPlaces()
    this.size++
    this.#locate(index)
    this.#link(index)
  }

  /** @hot */
  move(index: number): void {
    this.#locate(index)
    const square = this.#square
    const squares = this.#squares
    const at = 3 * index
    if (squares[at] === square[0] && squares[at + 1] === square[1] && squares[at + 2] === square[2]) return
    this.moves++
    this.#unlink(index)
    this.#link(index)
  }

  /** @hot */
  remove(index: number): void {
    this.size--
    this.#unlink(index)
    this.#place[index] = NONE
  }

  /** @hot */
  search(points: Float64Array, at: number): number {
    for (let axis = 0; axis < 3; axis++) {
      const place = points[at + axis]
      const reach = this.#reach * (1 + SEARCH_SLACK) + Math.abs(place) * COORDINATE_SLACK
      const from = axis < this.#dimensions ? Math.floor((place - reach) * this.#scale) : 0
      const to = axis < this.#dimensions ? Math.floor((place + reach) * this.#scale) : 0
      // Coordinates wrap beyond 2^31 squares, for viewers and objects alike; NaN finds nothing. The bound is for places
      // so far out that neighbouring doubles are squares apart.
      this.#from[axis] = from
      this.#span[axis] = to - from >= 0 ? Math.min(to - from, SPAN_MAX) : NONE
    }
    const from = this.#from
    const span = this.#span
    let count = 0
    for (let x = 0; x <= span[0]; x++) {
      for (let y = 0; y <= span[1]; y++) {
        for (let z = 0; z <= span[2]; z++)
          count = this.#collect((from[0] + x) | 0, (from[1] + y) | 0, (from[2] + z) | 0, count)
      }
    }
    return count
  }

  #collect(x: number, y: number, z: number, count: number): number {
    const squares = this.#squares
    for (let index = this.#first[this.#placeOf(x, y, z)]; index !== NONE; index = this.#next[index]) {
      if (squares[3 * index] === x && squares[3 * index + 1] === y && squares[3 * index + 2] === z)
        this.found[count++] = index
    }
    return count
  }

  #locate(index: number): void {
    const { xyz } = this.#positions
    for (let axis = 0; axis < this.#dimensions; axis++)
      this.#square[axis] = Math.floor(xyz[3 * index + axis] * this.#scale)
  }

  #placeOf(x: number, y: number, z: number): number {
    const mixed = Math.imul(x, 0x9e37_79b1) ^ Math.imul(y, 0x85eb_ca77) ^ Math.imul(z, 0xc2b2_ae3d)
    return (mixed ^ (mixed >>> 15)) & (this.#first.length - 1)
  }

  #link(index: number): void {
    for (let axis = 0; axis < 3; axis++) this.#squares[3 * index + axis] = this.#square[axis]
    this.#enlist(index)
  }

  /** Puts an object at the head of the list of its square. */
  #enlist(index: number): void {
    const place = this.#placeOf(this.#squares[3 * index], this.#squares[3 * index + 1], this.#squares[3 * index + 2])
    const next = this.#first[place]
    this.#place[index] = place
    this.#next[index] = next
    this.#previous[index] = NONE
    if (next !== NONE) this.#previous[next] = index
    this.#first[place] = index
  }

  #unlink(index: number): void {
    const next = this.#next[index]
    const previous = this.#previous[index]
    if (previous === NONE) this.#first[this.#place[index]] = next
    else this.#next[previous] = next
    if (next !== NONE) this.#previous[next] = previous
  }

  /** Doubles the number of slots and relinks all objects. */
  #growPlaces(): void {
    this.#first = new Int32Array(this.#first.length * 2).fill(NONE)
    for (let index = 0; index < this.#place.length; index++) if (this.#place[index] !== NONE) this.#enlist(index)
  }

  #growObjects(need: number): void {
    let capacity = this.#place.length
    while (capacity < need) capacity *= 2
    const place = new Int32Array(capacity).fill(NONE)
    place.set(this.#place)
    this.#place = place
    this.#next = widen(this.#next, new Int32Array(capacity))
    this.#previous = widen(this.#previous, new Int32Array(capacity))
    this.#squares = widen(this.#squares, new Int32Array(3 * capacity))
    this.found = new Uint32Array(capacity)
  }
}
