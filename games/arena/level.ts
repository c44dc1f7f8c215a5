/**
 * The level: solid boxes, jump pads, items, spawn points. The simulation, the bots and the picture use the same list.
 *
 * Lengths are metres, y is up, and everything is on multiples of 1/512 m, as positions are, so that a body that stands
 * on a floor stands on it exactly. The level is symmetric under a rotation by 180 degrees: each listed box is built
 * twice.
 */

import { math, type Vec3 } from 'tickwire'

export type Paint = 'floor' | 'wall' | 'deck' | 'block' | 'stair' | 'pillar' | 'unseen'

/** A box that nothing passes through. `side` is the half it is in: -1, 1, or 0 for boxes that both share. */
export interface Solid {
  readonly min: Vec3
  readonly max: Vec3
  readonly paint: Paint
  readonly side: -1 | 0 | 1
}

/** A jump pad: a fighter on it is thrown to its target. */
export interface Pad {
  readonly at: Vec3
  readonly target: Vec3
}

export type ItemKind = 'health' | 'armour' | 'mega' | 'slugs' | 'rockets'

export interface ItemPlace {
  readonly at: Vec3
  readonly kind: ItemKind
}

export interface SpawnPlace {
  readonly at: Vec3
  readonly yaw: number
}

/** Half of the level's width and depth. */
export const HALF = 24
export const GRAVITY = 22
export const PAD_RADIUS = 1.125
const WALL_HEIGHT = 10
const CEILING = 28

const at = (x: number, y: number, z: number): Vec3 => ({ x, y, z })
const turned = ({ x, y, z }: Vec3): Vec3 => ({ x: -x, y, z: -z })

function solid(
  paint: Paint,
  side: Solid['side'],
  x0: number,
  y0: number,
  z0: number,
  x1: number,
  y1: number,
  z1: number,
): Solid {
  return {
    min: at(Math.min(x0, x1), y0, Math.min(z0, z1)),
    max: at(Math.max(x0, x1), y1, Math.max(z0, z1)),
    paint,
    side,
  }
}

/** Boxes that both halves share. */
const MIDDLE: readonly Solid[] = [
  solid('floor', 0, -HALF - 1, -1, -HALF - 1, HALF + 1, 0, HALF + 1),
  solid('block', 0, -4, 0, -4, 4, 2.5, 4),
  solid('deck', 0, -3, 6.375, -3, 3, 6.75, 3),
  solid('unseen', 0, -HALF - 1, CEILING, -HALF - 1, HALF + 1, CEILING + 1, HALF + 1),
]

/** The boxes of one half; the other half is the same, rotated. */
const HALF_SOLIDS: readonly Solid[] = [
  solid('wall', 1, HALF, 0, -HALF - 1, HALF + 1, WALL_HEIGHT, HALF + 1),
  solid('wall', 1, -HALF, 0, -HALF - 1, HALF, WALL_HEIGHT, -HALF),
  solid('unseen', 1, HALF, WALL_HEIGHT, -HALF - 1, HALF + 1, CEILING, HALF + 1),
  solid('unseen', 1, -HALF, WALL_HEIGHT, -HALF - 1, HALF, CEILING, -HALF),
  // Four of these carry the crown over the middle.
  solid('pillar', 1, 2.25, 2.5, -2.75, 2.75, 6.375, -2.25),
  solid('pillar', 1, 2.25, 2.5, 2.25, 2.75, 6.375, 2.75),
  // Blocks for jumping up to the middle from the sides.
  solid('block', 1, 4, 0, -1.25, 5.5, 1.25, 1.25),
  // The balcony and the stairs to it, along the wall.
  solid('deck', 1, 14, 3.5, -24, 24, 4, -12),
  solid('pillar', 1, 14.25, 0, -13, 15, 3.5, -12.25),
  // The walkway from the balcony to the tower.
  solid('deck', 1, -12, 3.5, -24, 14, 4, -20),
  solid('pillar', 1, 4, 0, -20.75, 4.75, 3.5, -20),
  solid('pillar', 1, -8, 0, -20.75, -7.25, 3.5, -20),
  solid('block', 1, 13, 4, -20.5, 14, 5, -19.5),
  // The tower in the other corner: a base to hide behind, and the highest floor of all.
  solid('block', 1, -24, 0, -24, -18, 6.25, -18),
  solid('deck', 1, -24, 6.25, -24, -16, 6.75, -16),
  solid('pillar', 1, -16.75, 0, -16.75, -16, 6.25, -16),
  // Cover on the ground.
  solid('wall', 1, 8, 0, -12, 12, 1.5, -11),
  solid('wall', 1, 11, 0, -11, 12, 3.5, -7),
  solid('block', 1, -12.5, 0, -9, -10, 2.5, -6.5),
  solid('block', 1, -12.5, 0, -6.5, -11, 1.25, -5),
  solid('pillar', 1, 9.5, 0, 4.5, 11, 7, 6),
  solid('wall', 1, 15.5, 0, 3, 19.5, 1.25, 4),
  solid('block', 1, -3.5, 0, -14.5, -1, 1.25, -12),
]

/** Steps as high as a step of the stairs, from one floor up to another. */
function stairs(count: number, step: (index: number, top: number) => Solid): Solid[] {
  return Array.from({ length: count }, (_, index) => step(index, (index + 1) * 0.25))
}

const HALF_STAIRS: readonly Solid[] = [
  // From the wall's foot up to the balcony.
  ...stairs(16, (index, top) => solid('stair', 1, 20, 0, -4 - index * 0.5, 24, top, -4 - (index + 1) * 0.5)),
  // Up to the middle.
  ...stairs(10, (index, top) => solid('stair', 1, -2, 0, -9 + index * 0.5, 2, top, -9 + (index + 1) * 0.5)),
]

export const SOLIDS: readonly Solid[] = [
  ...MIDDLE,
  ...[...HALF_SOLIDS, ...HALF_STAIRS].flatMap((one): Solid[] => {
    const { min, max } = one
    return [one, solid(one.paint, -1, -max.x, min.y, -max.z, -min.x, max.y, -min.z)]
  }),
]

/** The same boxes for collision, six numbers each. */
export const BOXES: Float64Array = Float64Array.from(
  SOLIDS.flatMap(({ min, max }) => [min.x, min.y, min.z, max.x, max.y, max.z]),
)

const both = <T,>(places: readonly T[], turn: (place: T) => T): readonly T[] =>
  places.flatMap((place) => [place, turn(place)])

export const PADS: readonly Pad[] = both([
  { at: at(9.5, 0, 0), target: at(1.5, 6.75, 0) },
  { at: at(-10.5, 4, -22), target: at(-18, 6.75, -20) },
  { at: at(-13.5, 0, -13.5), target: at(-18.5, 6.75, -18.5) },
], (pad) => ({ at: turned(pad.at), target: turned(pad.target) }))

export const ITEMS: readonly ItemPlace[] = [
  { at: at(0, 2.5, 0), kind: 'mega' },
  { at: at(0, 6.75, 0), kind: 'slugs' },
  ...both<ItemPlace>([
    { at: at(19, 4, -18), kind: 'rockets' },
    { at: at(-21, 6.75, -21), kind: 'slugs' },
    { at: at(20, 0, -20), kind: 'armour' },
    { at: at(0, 0, -22), kind: 'health' },
    { at: at(9.5, 0, -9.5), kind: 'health' },
    { at: at(17.5, 0, 6), kind: 'rockets' },
    { at: at(-20.5, 0, -14), kind: 'health' },
    { at: at(1, 4, -22), kind: 'armour' },
  ], ({ at, kind }) => ({ at: turned(at), kind })),
]

/** Spawn points. A fighter spawns facing the middle. */
export const SPAWNS: readonly SpawnPlace[] = both<Vec3>(
  [
    at(21, 0, 10),
    at(16.5, 4, -15),
    at(20, 0, -16),
    at(6, 4, -22),
    at(-14, 0, -20),
    at(-22, 0, -10),
    at(13, 0, 12),
    at(7, 0, -15),
  ],
  turned,
).map((place) => ({ at: place, yaw: math.atan2(place.x, place.z) }))

/** Start positions of the balls. */
export const BALLS: readonly Vec3[] = [at(-7, 0.75, -6), at(7, 0.75, 6), at(14, 4.75, -14), at(-14, 4.75, 14)]
