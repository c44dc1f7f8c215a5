/**
 * The parts of an object that can be hit: shapes that take their position and rotation from its fields.
 *
 *   sphere(0.25, { name: 'head', offset: { x: 0, y: 1.6, z: 0 } })
 *   capsule(0.9, 0.4)                       half the height between the caps, and their radius; along y
 *   box({ x: 0.5, y: 1, z: 0.5 }, { turn: 'yaw' })
 *
 * A game declares them once, for every entity that can be shot at. In two dimensions z is 0, and a box without z is
 * infinite along z. A turn is a rotation, or an angle around `axis` (default y; in two dimensions z).
 *
 * Each hitbox brings the code that casts against it (`hitbox-caster.ts`), so that other pages do not contain it.
 */

import { createCaster } from './hitbox-caster.ts'
import type { Hitbox, HitboxPlace } from './hitbox-shape.ts'

/** A sphere around the object's position. */
export function sphere(radius: number, place: HitboxPlace = {}): Hitbox {
  return { ...place, kind: 'sphere', size: [radius, 0, 0], createCaster }
}

/** A capsule along y. `half` is the half length of its straight part, without the caps. */
export function capsule(half: number, radius: number, place: HitboxPlace = {}): Hitbox {
  return { ...place, kind: 'capsule', size: [half, radius, 0], createCaster }
}

/** A box with these half sizes. Without z it is infinitely deep, for games in two dimensions. */
export function box(
  half: { readonly x: number; readonly y: number; readonly z?: number },
  place: HitboxPlace = {},
): Hitbox {
  return { ...place, kind: 'box', size: [half.x, half.y, half.z ?? Infinity], createCaster }
}
