/**
 * The kinds of maps: where rocks stand, and how far from the centre the crystals between two starts lie. Whole numbers
 * and the four operations only, so that every machine makes the same map.
 */

import { cellAt, MIDDLE, RING, SIZE } from './map-cells.ts'

/** Removes or adds rocks in a disc. */
export function fillDisc(rocks: Uint8Array, x: number, y: number, radius: number, value: number): void {
  for (let dy = -radius; dy <= radius; dy++) {
    for (let dx = -radius; dx <= radius; dx++) {
      const isInside = x + dx >= 0 && x + dx < SIZE && y + dy >= 0 && y + dy < SIZE
      if (isInside && dx * dx + dy * dy <= radius * radius) rocks[cellAt(x + dx, y + dy)] = value
    }
  }
}

/** One kind of map. */
export interface Layout {
  readonly name: string
  /** What is different about it, for players. */
  readonly hint: string
  /** The distance of the crystals between two starts from the centre, in cells. */
  readonly fieldRadius: number
  /** Sets the rocks. Starts and the roads from them to the centre are cleared afterwards. */
  raise(rocks: Uint8Array, random: (below: number) => number): void
}

/** A ridge between two starts, from the centre's edge outwards, with a pass in which crystals lie. */
const RIDGE_FROM = 15
const PASS_FROM = 33
const PASS_TO = 40
/** The wall around the centre, in cells from it. The roads of the starts are its gates. */
const WALL_FROM = 23
const WALL_TO = 26

function scatter(rocks: Uint8Array, random: (below: number) => number, count: number, radiusMax: number): void {
  for (let rock = 0; rock < count; rock++) fillDisc(rocks, random(SIZE), random(SIZE), 1 + random(radiusMax), 1)
}

/** Indexed by kind of map. */
export const LAYOUTS: readonly Layout[] = [
  {
    name: 'Boulders', hint: 'open ground: an attack can come from anywhere', fieldRadius: 24,
    raise: (rocks, random) => scatter(rocks, random, 150, 4),
  },
  {
    name: 'Canyons', hint: 'eight valleys with passes between them, and crystals in the passes', fieldRadius: 36,
    raise(rocks, random) {
      scatter(rocks, random, 50, 2)
      RING.forEach(([dx, dy], seat) => {
        const [nextX, nextY] = RING[(seat + 1) % RING.length]!
        // Halfway between two starts. Both have a length of about 48.
        const [x, y] = [(dx + nextX) / 89, (dy + nextY) / 89]
        for (let out = RIDGE_FROM; out < SIZE; out++) {
          if (out >= PASS_FROM && out <= PASS_TO) continue
          const radius = (out > PASS_TO ? 2 : 1) + random(2)
          fillDisc(rocks, Math.round(MIDDLE + x * out), Math.round(MIDDLE + y * out), radius, 1)
        }
      })
    },
  },
  {
    name: 'Citadel', hint: 'a wall with eight gates around the richest crystals', fieldRadius: 14,
    raise(rocks, random) {
      scatter(rocks, random, 90, 3)
      for (let y = 0; y < SIZE; y++) {
        for (let x = 0; x < SIZE; x++) {
          const square = (x - MIDDLE) * (x - MIDDLE) + (y - MIDDLE) * (y - MIDDLE)
          if (square > WALL_TO * WALL_TO) continue
          rocks[cellAt(x, y)] = square >= WALL_FROM * WALL_FROM ? 1 : 0
        }
      }
    },
  },
]
