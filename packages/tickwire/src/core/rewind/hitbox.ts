/**
 * The parts of an object that can be hit: shapes that take their position and rotation from its fields.
 *
 *   sphere(0.25, { name: 'head', offset: { x: 0, y: 1.6, z: 0 } })
 *   capsule(0.9, 0.4)                       half the height between the caps, and their radius; along y
 *   box({ x: 0.5, y: 1, z: 0.5 }, { turn: 'yaw' })
 *
 * A game declares them once, for every entity that can be shot at. In two dimensions z is 0, and a box without z is
 * infinite along z. A turn is a rotation, or an angle around `axis` (default y; in two dimensions z). This file only
 * plans: `past.ts` casts.
 */

import { ConfigError } from '../base/assert.ts'
import type { Xyz } from '../base/vector.ts'
import type { Entity } from '../schema/definition.ts'
import type { Member } from '../schema/layout.ts'
import type { Schema } from '../schema/schema.ts'

/** Where a hitbox is on its object. */
export interface HitboxPlace {
  /** The name that a hit reports; default 'body'. */
  readonly name?: string
  /** The field with its position; default: the field marked `position`. */
  readonly at?: string
  /** The offset from that position, turned with the hitbox. Default: none. */
  readonly offset?: Readonly<Xyz>
  /** The angle or rotation it turns with; default: none. */
  readonly turn?: string
  /** The axis of an angle. Default: `z` in two dimensions, else `y`. */
  readonly axis?: 'x' | 'y' | 'z'
}

/** Three numbers per shape: a sphere's radius; a capsule's half height and radius; a box's half sizes. */
export interface Hitbox extends HitboxPlace {
  /** The shape. */
  readonly kind: 'sphere' | 'capsule' | 'box'
  /** Its size, in the unit of positions. */
  readonly size: readonly [number, number, number]
}

/** The hitboxes of each entity that can be hit. */
export type Hitboxes = readonly (readonly [entity: Entity, boxes: readonly Hitbox[]])[]

/** A sphere around the object's position. */
export function sphere(radius: number, place: HitboxPlace = {}): Hitbox {
  return { ...place, kind: 'sphere', size: [radius, 0, 0] }
}

/** A capsule along y. `half` is the half length of its straight part, without the caps. */
export function capsule(half: number, radius: number, place: HitboxPlace = {}): Hitbox {
  return { ...place, kind: 'capsule', size: [half, radius, 0] }
}

/** A box with these half sizes. Without z it is infinitely deep, for games in two dimensions. */
export function box(
  half: { readonly x: number; readonly y: number; readonly z?: number },
  place: HitboxPlace = {},
): Hitbox {
  return { ...place, kind: 'box', size: [half.x, half.y, half.z ?? Infinity] }
}

/** A hitbox, resolved to cells of its entity. */
export interface HitboxPlan {
  readonly name: string
  readonly kind: Hitbox['kind']
  readonly size: readonly [number, number, number]
  /** The largest distance of any of its points from the position field. */
  readonly reach: number
  readonly offset: Readonly<Xyz>
  /** Cells of x, y, z; -1: none, and the coordinate is 0. */
  readonly cells: readonly [number, number, number]
  /** The first cell of its turn field; -1: none. */
  readonly turnCell: number
  readonly isQuat: boolean
  readonly axis: 0 | 1 | 2
}

/** Plans a hitbox. Throws a ConfigError that names the entity and the fix. */
export function planHitbox(schema: Schema, hitbox: Hitbox): HitboxPlan {
  const { kind, size, name = 'body', offset = { x: 0, y: 0, z: 0 } } = hitbox
  const path = `${schema.name} hitbox ${name}`
  if (!size.every((each) => each >= 0) || !(size[0] > 0))
    throw new ConfigError(
      path,
      `invalid size of a ${kind} (expected above 0, got ${size.join(', ')})`,
      'give sizes above 0.',
    )
  const at = positionOf(schema, path, hitbox.at)
  const cells = at.map((member) => schema.leaves[member].cell)
  const turn = hitbox.turn === undefined ? undefined : schema.members.find((member) => member.name === hitbox.turn)
  const turnKind = turn?.field.spec.kind
  if (hitbox.turn !== undefined && turnKind !== 'angle' && turnKind !== 'quat') {
    throw new ConfigError(
      path,
      `turn "${hitbox.turn}" is not an angle or a rotation of ${schema.name}`,
      'name a field made with angle() or quat().',
    )
  }
  const axis = hitbox.axis ?? (cells.length === 2 ? 'z' : 'y')
  const far = kind === 'box' ? Math.sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2]) : size[0] + size[1]
  return {
    name, kind, size, offset,
    reach: far + Math.sqrt(offset.x * offset.x + offset.y * offset.y + offset.z * offset.z),
    cells: [cells[0], cells[1] ?? -1, cells[2] ?? -1],
    turnCell: turn === undefined ? -1 : schema.leaves[turn.firstLeaf].cell,
    isQuat: turnKind === 'quat',
    axis: axis === 'x' ? 0 : axis === 'y' ? 1 : 2,
  }
}

/** The leaves of the position of a hitbox. */
function positionOf({ members, name }: Schema, path: string, at: string | undefined): readonly number[] {
  const isIt = (member: Member): boolean =>
    at === undefined ? member.field.options.role === 'position' : member.name === at
  const found = members.filter(isIt)
  if (found.length === 1 && found[0].leafCount > 1)
    return Array.from({ length: Math.min(found[0].leafCount, 3) }, (_, leaf) => found[0].firstLeaf + leaf)
  // Two or three single numbers, each marked `position`, are a position too.
  if (at === undefined && found.length >= 2 && found.length <= 3 && found.every(({ leafCount }) => leafCount === 1))
    return found.map(({ firstLeaf }) => firstLeaf)
  throw new ConfigError(
    path,
    at === undefined ? `${name} has no field marked position` : `"${at}" is not a vector of ${name}`,
    "name the vec2 or vec3 of its position: { at: 'position' }.",
  )
}
