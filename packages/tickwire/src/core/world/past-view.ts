/**
 * The interface of what `world.rewind` returns: the world as a player saw it, to look at and to shoot at.
 *
 * Only the interface is here, because a world does not depend on hitboxes or drawing. `rewind/` implements it.
 */

import type { ObjectId, PeerId } from '../base/time.ts'
import type { Xyz } from '../base/vector.ts'
import type { Entity } from '../schema/definition.ts'
import type { ObjectView } from './handle.ts'

/** A point or a direction. z may be left out in two dimensions. */
export type Aim = Readonly<Pick<Xyz, 'x' | 'y'> & Partial<Xyz>>

/** A cast: its start, direction (of any length), reach and thickness. */
export interface Cast {
  /** The start. */
  readonly from: Aim
  /** The direction. Its length does not matter. */
  readonly direction: Aim
  /** How far it goes. Default: no limit. */
  readonly reach?: number
  /** The radius of the projectile: 0, the default, is a ray; more is a ball. */
  readonly radius?: number
  /** The owner whose objects it passes through; usually the shooter. Default: none. */
  readonly ignore?: PeerId
}

/** The first hit of a cast. Valid until the next cast. */
export interface Hit {
  /** The entity of the object that was hit. */
  readonly entity: Entity
  /** The object that was hit. */
  readonly id: ObjectId
  /** The name of the hitbox. */
  readonly part: string
  /** The distance from the start of the cast, in the unit of positions. */
  readonly distance: number
  /** The point of the hit. */
  readonly x: number
  /** The point of the hit. */
  readonly y: number
  /** The point of the hit. 0 in two dimensions. */
  readonly z: number
}

/** The world as a player saw it, read-only. */
export interface PastView {
  /** Every object of an entity, ascending by id. */
  each<E extends Entity>(entity: E): Iterable<ObjectView<E>>
  /** The object with an id, or null if it does not exist. */
  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null
  /** The first hit, or null. */
  cast(cast: Cast): Hit | null
}

/** Reconstructs what players saw. */
export interface Rewinding {
  /** Calls `fn` with the world as the peer saw it, and returns its result. */
  rewind<T>(peer: PeerId, fn: (past: PastView) => T): T
}
