/**
 * What `world.rewind` hands out: the world as a player saw it, to look at and to shoot at.
 *
 * Only the shape of it stands here, since worlds know nothing of hitboxes and of what was drawn; `rewind/` fills it.
 */

import type { ObjectId, PeerId } from '../base/time.ts'
import type { Xyz } from '../base/vector.ts'
import type { Entity } from '../schema/definition.ts'
import type { ObjectView } from './handle.ts'

/** A place or a direction; z may be left out in two dimensions. */
export type Aim = Readonly<Pick<Xyz, 'x' | 'y'> & Partial<Xyz>>

/** A cast: from where, whereto (of any length), how far, how thick. */
export interface Cast {
  readonly from: Aim
  readonly direction: Aim
  /** How far it goes. Default: endless. */
  readonly reach?: number
  /** Of what flies: 0, the default, is a ray; more is a ball. */
  readonly radius?: number
  /** Whose objects it passes through; usually the shooter's. */
  readonly ignore?: PeerId
}

/** What a cast met first. Valid until the next cast. */
export interface Hit {
  readonly entity: Entity
  readonly id: ObjectId
  /** The name of the hitbox. */
  readonly part: string
  readonly distance: number
  /** Where. */
  readonly x: number
  readonly y: number
  readonly z: number
}

/** The world as somebody saw it, read-only. */
export interface PastView {
  /** Every object of an entity, ascending by id. */
  each<E extends Entity>(entity: E): Iterable<ObjectView<E>>
  /** The object with an id, or null if it is not there. */
  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null
  /** What is hit first, or null. */
  cast(cast: Cast): Hit | null
}

/** Who knows what players saw. */
export interface Rewinding {
  rewind<T>(peer: PeerId, fn: (past: PastView) => T): T
}
