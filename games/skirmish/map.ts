/**
 * The map: 128 x 128 cells with rocks, eight starts on a ring, and where the crystals are. A function of the seed and
 * of the kind that the players chose.
 *
 * Every start has a free disc, and a free road to the centre: so every start can be reached from every other.
 */

import { fillDisc, LAYOUTS } from './layouts.ts'
import { CELLS, cellAt, columnOf, MIDDLE, RING, rowOf, SIZE } from './map-cells.ts'

const START_RADIUS = 10
/** The deposits of a start, from its headquarters: an arc behind it, seen from the centre. */
const HOME_DEPOSITS = 8
/** The deposits of a field between two starts. */
const OUTER_DEPOSITS = 5

/** A map. */
export interface GameMap {
  /** 1: rock. Indexed by cell. */
  readonly rocks: Uint8Array
  /** 1: units can go there. Some free cells are enclosed by rocks. Indexed by cell. */
  readonly ground: Uint8Array
  /** The cells of the headquarters' centres. Indexed by seat. */
  readonly starts: readonly number[]
  /** The cells of all deposits. */
  readonly deposits: readonly number[]
}

/** A sequence of random whole numbers from a seed. The map does not use the world's: it is made again after a load. */
function randomFrom(seed: number): (below: number) => number {
  let state = (seed % 4_294_967_296) >>> 0
  return (below) => {
    state = (state + 0x9e37_79b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0_aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below
  }
}

/** Makes the map of a seed. `kind`: the index in `LAYOUTS`. */
export function makeMap(seed: number, kind: number = 0): GameMap {
  const random = randomFrom(seed)
  const rocks = new Uint8Array(CELLS)
  const layout = LAYOUTS[kind]!
  layout.raise(rocks, random)
  const starts = RING.map(([dx, dy]) => cellAt(MIDDLE + dx, MIDDLE + dy))
  for (const start of starts) {
    fillDisc(rocks, columnOf(start), rowOf(start), START_RADIUS, 0)
    clearRoad(rocks, start)
  }
  const deposits = placeDeposits(rocks, layout.fieldRadius)
  for (let at = 0; at < SIZE; at++) {
    for (const edge of [cellAt(at, 0), cellAt(at, SIZE - 1), cellAt(0, at), cellAt(SIZE - 1, at)]) rocks[edge] = 1
  }
  return { rocks, ground: groundOf(rocks, starts[0]!), starts, deposits }
}

/** The cells that can be reached from a cell, by steps to the sides. The map has an edge of rocks. */
function groundOf(rocks: Uint8Array, from: number): Uint8Array {
  const ground = new Uint8Array(CELLS)
  ground[from] = 1
  const waiting = [from]
  for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) {
    for (const next of [cell + 1, cell - 1, cell + SIZE, cell - SIZE]) {
      if (rocks[next] !== 0 || ground[next] !== 0) continue
      ground[next] = 1
      waiting.push(next)
    }
  }
  return ground
}

/** Removes the rocks between a start and the centre. */
function clearRoad(rocks: Uint8Array, start: number): void {
  for (let step = 0; step <= SIZE; step++) {
    const x = Math.round(columnOf(start) + ((MIDDLE - columnOf(start)) * step) / SIZE)
    const y = Math.round(rowOf(start) + ((MIDDLE - rowOf(start)) * step) / SIZE)
    fillDisc(rocks, x, y, 3, 0)
  }
}

/** The same for every seat, so that no start is better than another. */
function placeDeposits(rocks: Uint8Array, fieldRadius: number): number[] {
  const deposits: number[] = []
  const place = (x: number, y: number): void => {
    fillDisc(rocks, x, y, 1, 0)
    deposits.push(cellAt(x, y))
  }
  RING.forEach(([dx, dy], seat) => {
    // Across: a right angle to the direction from the centre. Both have a length of about 48.
    const [outX, outY, acrossX, acrossY] = [dx / 48, dy / 48, -dy / 48, dx / 48]
    for (let each = 0; each < HOME_DEPOSITS; each++) {
      const [out, across] = [7 - Math.abs(each - 3.5) / 2, (each - 3.5) * 1.5]
      place(Math.round(MIDDLE + dx + outX * out + acrossX * across),
        Math.round(MIDDLE + dy + outY * out + acrossY * across))
    }
    const [nextX, nextY] = RING[(seat + 1) % RING.length] ?? [0, 0]
    const [x, y] = [(dx + nextX) / 96, (dy + nextY) / 96]
    for (let each = 0; each < OUTER_DEPOSITS; each++) {
      const [out, across] = [fieldRadius + (each % 2), (each - 2) * 1.5]
      place(Math.round(MIDDLE + x * out - y * across), Math.round(MIDDLE + y * out + x * across))
    }
  })
  // lint-ok: in the order of an array
  return [...new Set(deposits)]
}
