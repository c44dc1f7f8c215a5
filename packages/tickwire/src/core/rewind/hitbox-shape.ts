/**
 * The declaration of the parts of an object that can be hit. `hitbox.ts` has the functions that make them.
 */

import type { Xyz } from '../base/vector.ts'
import type { Entity } from '../schema/definition.ts'
import type { Cast, Hit } from '../world/past-view.ts'
import type { World } from '../world/world.ts'

/** Casts against the hitboxes of a world. */
export interface Caster {
  /** The nearest hit, or null. The same object is returned each time. */
  cast(cast: Cast): Hit | null
}

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
  /** Creates the code that casts against hitboxes. A page without hitboxes does not contain this code. */
  readonly createCaster: (world: World, hitboxes: Hitboxes) => Caster
}

/** The hitboxes of each entity that can be hit. */
export type Hitboxes = readonly (readonly [entity: Entity, boxes: readonly Hitbox[]])[]
