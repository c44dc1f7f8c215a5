/**
 * Flow fields: the way to one goal, from every cell of the map.
 *
 * A field is a function of the map and the goal. Costs are whole numbers, and cells of equal cost are handled in the
 * sequence in which they were found, so every peer finds the same way. Dial's algorithm: cells wait in buckets by cost.
 */

import { CELLS, SIZE } from './map-cells.ts'

/** The direction of a cell from which the goal cannot be reached, and of the goal itself. */
export const NO_WAY = 8

const STRAIGHT = 10
const DIAGONAL = 14
/** More buckets than the most expensive step, a power of two. */
const BUCKETS = 16

/** Indexed by direction: east, and on by eighths of a turn. */
export const STEP_X: readonly number[] = [1, 1, 0, -1, -1, -1, 0, 1]
export const STEP_Y: readonly number[] = [0, 1, 1, 1, 0, -1, -1, -1]

/** Computes fields, with memory that is used again. */
export class FlowFinder {
  readonly #rocks: Uint8Array
  readonly #cost = new Int32Array(CELLS)
  /** Indexed by bucket: cells that wait. A cell may wait more than once; only the cheapest counts. */
  readonly #buckets = Array.from({ length: BUCKETS }, () => new Uint16Array(CELLS * 2))
  readonly #counts = new Int32Array(BUCKETS)

  constructor(rocks: Uint8Array) {
    this.#rocks = rocks
  }

  /** Writes the direction of every cell. */
  find(goal: number, directions: Uint8Array): void {
    const cost = this.#cost
    const rocks = this.#rocks
    cost.fill(0x7fff_ffff)
    directions.fill(NO_WAY)
    this.#counts.fill(0)
    cost[goal] = 0
    this.#push(goal, 0)
    for (let [now, idle] = [0, 0]; idle < BUCKETS; now++) {
      const bucket = this.#buckets[now & (BUCKETS - 1)]!
      const count = this.#counts[now & (BUCKETS - 1)]!
      idle = count === 0 ? idle + 1 : 0
      this.#counts[now & (BUCKETS - 1)] = 0
      for (let each = 0; each < count; each++) {
        const cell = bucket[each]!
        if (cost[cell] === now) this.#spread(cell, now, cost, rocks, directions)
      }
    }
  }

  #push(cell: number, cost: number): void {
    const bucket = cost & (BUCKETS - 1)
    this.#buckets[bucket]![this.#counts[bucket]!++] = cell
  }

  /** Offers the way over a cell to its neighbours. The map has an edge of rocks, so none is outside. */
  #spread(cell: number, now: number, cost: Int32Array, rocks: Uint8Array, directions: Uint8Array): void {
    for (let way = 0; way < 8; way++) {
      const [dx, dy] = [STEP_X[way]!, STEP_Y[way]!]
      const to = cell + dx + dy * SIZE
      if (rocks[to] !== 0) continue
      const isDiagonal = (way & 1) === 1
      // A diagonal step needs both cells beside it free: units do not cut corners.
      if (isDiagonal && (rocks[cell + dx] !== 0 || rocks[cell + dy * SIZE] !== 0)) continue
      const total = now + (isDiagonal ? DIAGONAL : STRAIGHT)
      if (total >= cost[to]!) continue
      cost[to] = total
      directions[to] = (way + 4) & 7
      this.#push(to, total)
    }
  }
}

/** Whether a straight line between two points touches no rock. */
export function isClear(rocks: Uint8Array, x: number, y: number, toX: number, toY: number): boolean {
  const [dx, dy] = [toX - x, toY - y]
  const steps = Math.ceil(Math.max(Math.abs(dx), Math.abs(dy)) * 2)
  for (let step = 1; step < steps; step++) {
    const [atX, atY] = [Math.floor(x + (dx * step) / steps), Math.floor(y + (dy * step) / steps)]
    if (rocks[atY * SIZE + atX] !== 0) return false
  }
  return true
}
