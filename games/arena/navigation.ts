/**
 * Where bots can walk: a grid of spots, computed from the level, and the links between them.
 *
 * It is built once, for the first bot. It is not part of the simulation.
 */

import type { Vec3 } from 'tickwire'
import { solidAt } from './collision.ts'
import { HALF, PADS, SOLIDS } from './level.ts'

const GRID = 1.5
const STEP = 0.5625
/** The highest rise and the deepest drop of a link, in metres. No floor of the level is higher than the drop. */
const JUMP = 1.3125
const DROP_MAX = 7

export interface Spot {
  readonly at: Vec3
  readonly links: Link[]
}

export interface Link {
  readonly to: number
  readonly cost: number
  readonly needsJump: boolean
}

/** Spots, links, and the search for paths. */
export class Navigation {
  readonly spots: readonly Spot[]
  // State of the current search, indexed by spot. Reused, because the arrays are large and bots search often.
  readonly #costs: Float64Array
  readonly #guesses: Float64Array
  readonly #cameFrom: Int32Array
  readonly #isOpen: Uint8Array

  constructor() {
    this.spots = findSpots()
    const { length } = this.spots
    this.#costs = new Float64Array(length)
    this.#guesses = new Float64Array(length)
    this.#cameFrom = new Int32Array(length)
    this.#isOpen = new Uint8Array(length)
    this.spots.forEach((spot) => this.#link(spot))
    for (const { at, target } of PADS) {
      const from = this.spots[this.nearest(at)]!
      from.links.push({ to: this.nearest(target), cost: 4, needsJump: false })
    }
  }

  /** The spot nearest to a place; spots on the same floor come first. */
  nearest(place: Readonly<Vec3>): number {
    let best = 0
    let bestCost = Infinity
    this.spots.forEach(({ at }, index) => {
      const cost = Math.abs(at.x - place.x) + Math.abs(at.z - place.z) + Math.abs(at.y - place.y) * 3
      if (cost < bestCost) [best, bestCost] = [index, cost]
    })
    return best
  }

  /** The spots of a path, from the first after `from` to `to`; empty when there is no path. */
  path(from: number, to: number): number[] {
    const costs = this.#costs.fill(Infinity)
    // Lower bound of the cost of a path through a spot. Cached, because it is read far more often than it changes.
    const guesses = this.#guesses
    const cameFrom = this.#cameFrom.fill(-1)
    const isOpen = this.#isOpen.fill(0)
    const open = [from]
    const goal = this.spots[to]!.at
    costs[from] = 0
    guesses[from] = distance(this.spots[from]!.at, goal)
    while (open.length > 0) {
      let at = 0
      for (let index = 1; index < open.length; index++) if (guesses[open[index]!]! < guesses[open[at]!]!) at = index
      const here = open.splice(at, 1)[0]!
      isOpen[here] = 0
      if (here === to) break
      for (const { to: next, cost } of this.spots[here]!.links) {
        const total = costs[here]! + cost
        if (total >= costs[next]!) continue
        costs[next] = total
        guesses[next] = total + distance(this.spots[next]!.at, goal)
        cameFrom[next] = here
        if (isOpen[next] === 1) continue
        isOpen[next] = 1
        open.push(next)
      }
    }
    const way: number[] = []
    for (let index = to; index !== from && index >= 0; index = cameFrom[index]!) way.unshift(index)
    return cameFrom[to]! < 0 ? [] : way
  }

  #link(spot: Spot): void {
    this.spots.forEach((other, to) => {
      const [x, z] = [other.at.x - spot.at.x, other.at.z - spot.at.z]
      if (other === spot || Math.abs(x) > GRID * 1.1 || Math.abs(z) > GRID * 1.1) return
      const rise = other.at.y - spot.at.y
      if (rise > JUMP || rise < -DROP_MAX || !isFree(spot.at, other.at)) return
      // The grid is coarser than stairs: a rise of several steps between two spots is not a jump.
      const needsJump = rise > STEP && !isStaircase(spot.at, other.at)
      const cost = Math.sqrt(x * x + z * z) + (needsJump ? 3 : 0) + (rise < -STEP ? 1 : 0)
      spot.links.push({ to, cost, needsJump })
    })
  }
}

function findSpots(): Spot[] {
  const spots: Spot[] = []
  for (let x = -HALF + 0.75; x < HALF; x += GRID) {
    for (let z = -HALF + 0.75; z < HALF; z += GRID) {
      const floors = SOLIDS.filter(
        ({ min, max, paint }) => paint !== 'unseen' && x > min.x && x < max.x && z > min.z && z < max.z,
      )
      const heights = new Set(floors.map(({ max, paint }) => (paint === 'stair' ? standingHeight(x, max.y, z) : max.y)))
      for (const y of heights) if (y < 9 && solidAt(x, y, z) < 0) spots.push({ at: { x, y, z }, links: [] })
    }
  }
  return spots
}

/** The height on a stair: that of the highest step under the body. */
function standingHeight(x: number, y: number, z: number): number {
  for (let step = 0; step < 3; step++) if (solidAt(x, y + step * 0.25, z) < 0) return y + step * 0.25
  return y
}

/** Whether a body can move from one place to another, at the height of the higher one. */
function isFree(from: Vec3, to: Vec3): boolean {
  const y = Math.max(from.y, to.y)
  for (let share = 0; share <= 1; share += 0.125) {
    if (solidAt(from.x + (to.x - from.x) * share, y, from.z + (to.z - from.z) * share) >= 0) return false
  }
  return true
}

function isStaircase(from: Vec3, to: Vec3): boolean {
  let y = from.y
  for (let share = 0; share <= 1; share += 0.0625) {
    const [x, z] = [from.x + (to.x - from.x) * share, from.z + (to.z - from.z) * share]
    const box = solidAt(x, y, z)
    if (box < 0) continue
    let top = y
    while (top - y <= STEP && solidAt(x, top, z) >= 0) top += 0.0625
    if (top - y > STEP) return false
    y = top
  }
  return true
}

function distance(a: Vec3, b: Vec3): number {
  return Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z)
}
