/**
 * Equal cells in a hash table: the partition of worlds whose objects are spread out.
 *
 *   +---+---+---+---+       cell size = reach, unless said otherwise
 *   |   | a | b |   |       a viewer in cell (1, 1) looks into that and the ring around it,
 *   +---+---+---+---+       ceil(reach / cell size) cells wide: 3 x 3 here, 3 x 3 x 3 in space
 *   | c | V |   |   |
 *   +---+---+---+---+       an object is moved to another list only when it crosses into another cell
 *   |   |   |   | d |
 *
 * The table has no bounds in space: cells are found by a hash of their coordinates. Each place of the table is a list through
 * `#next` and `#previous`; cells that share a place share the list, and are told apart by the coordinates kept by object.
 */

import { GRID_RINGS_MAX } from '../../base/limits.ts'
import { COORDINATE_SLACK, SEARCH_SLACK, type Partition, type Positions } from './partition.ts'

const NONE = -1
/** Cells of an axis after the first one, in the widest search. */
const SPAN_MAX = 2 * GRID_RINGS_MAX + 2
const PLACES_FIRST = 64
const CAPACITY_FIRST = 64

export class UniformGrid implements Partition {
  found: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  size = 0
  moves = 0
  readonly #positions: Positions
  readonly #dimensions: number
  /** Reach, and cells a unit. */
  readonly #reach: number
  readonly #scale: number
  /** By place: the first of its list. */
  #first: Int32Array = new Int32Array(PLACES_FIRST).fill(NONE)
  /** By object index: neighbours in the list, the place (-1: not here), and the three coordinates of the cell. */
  #next: Int32Array = new Int32Array(CAPACITY_FIRST)
  #previous: Int32Array = new Int32Array(CAPACITY_FIRST)
  #place: Int32Array = new Int32Array(CAPACITY_FIRST).fill(NONE)
  #cells: Int32Array = new Int32Array(3 * CAPACITY_FIRST)
  /** The cell of the last `#locate`. */
  readonly #cell = new Int32Array(3)
  /** Of a search: the first cell of each axis, and how many follow it. */
  readonly #from = new Int32Array(3)
  readonly #span = new Int32Array(3)

  constructor(positions: Positions, dimensions: number, reach: number, cellSize: number = reach) {
    this.#positions = positions
    this.#dimensions = dimensions
    this.#reach = reach
    this.#scale = 1 / Math.max(cellSize, reach / GRID_RINGS_MAX)
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
    const cell = this.#cell
    const cells = this.#cells
    if (cells[3 * index] === cell[0] && cells[3 * index + 1] === cell[1] && cells[3 * index + 2] === cell[2]) return
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
      // Coordinates wrap beyond 2^31 cells, the same for who is searched as for who searches; NaN finds nobody. The bound
      // is for places so far out that neighbouring doubles are cells apart.
      this.#from[axis] = from
      this.#span[axis] = to - from >= 0 ? Math.min(to - from, SPAN_MAX) : NONE
    }
    const from = this.#from
    const span = this.#span
    let count = 0
    for (let x = 0; x <= span[0]; x++) {
      for (let y = 0; y <= span[1]; y++) {
        for (let z = 0; z <= span[2]; z++) count = this.#collect((from[0] + x) | 0, (from[1] + y) | 0, (from[2] + z) | 0, count)
      }
    }
    return count
  }

  #collect(x: number, y: number, z: number, count: number): number {
    const cells = this.#cells
    for (let index = this.#first[this.#placeOf(x, y, z)]; index !== NONE; index = this.#next[index]) {
      if (cells[3 * index] === x && cells[3 * index + 1] === y && cells[3 * index + 2] === z) this.found[count++] = index
    }
    return count
  }

  #locate(index: number): void {
    const { xyz } = this.#positions
    for (let axis = 0; axis < this.#dimensions; axis++) this.#cell[axis] = Math.floor(xyz[3 * index + axis] * this.#scale)
  }

  #placeOf(x: number, y: number, z: number): number {
    const mixed = Math.imul(x, 0x9e37_79b1) ^ Math.imul(y, 0x85eb_ca77) ^ Math.imul(z, 0xc2b2_ae3d)
    return (mixed ^ (mixed >>> 15)) & (this.#first.length - 1)
  }

  #link(index: number): void {
    for (let axis = 0; axis < 3; axis++) this.#cells[3 * index + axis] = this.#cell[axis]
    this.#enlist(index)
  }

  /** Puts an object at the head of the list of its cell. */
  #enlist(index: number): void {
    const place = this.#placeOf(this.#cells[3 * index], this.#cells[3 * index + 1], this.#cells[3 * index + 2])
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

  /** Twice the places; everyone is listed anew. */
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
    this.#next = widen(this.#next, capacity)
    this.#previous = widen(this.#previous, capacity)
    this.#cells = widen(this.#cells, 3 * capacity)
    this.found = new Uint32Array(capacity)
  }
}

function widen(from: Int32Array, length: number): Int32Array {
  const to = new Int32Array(length)
  to.set(from)
  return to
}
