/**
 * The view of a peer: its viewpoints, its team, and what predicates let it see.
 *
 * The viewpoints are those that the host gives, else every object of the peer that has a position, else the last ones:
 * a player that waits for its respawn keeps seeing the place of its death.
 */

import type { PeerId } from '../../base/time.ts'
import { refusePromise } from '../../base/user-code.ts'
import type { Shape } from '../../schema/field.ts'
import type { InterestRule, Seen, Viewer } from '../../schema/interest.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Interest } from './interest.ts'
import { Viewpoints } from './viewpoints.ts'

const NONE = -1

type SightRule = Extract<InterestRule, { readonly kind: 'near' | 'where' }>

export class Eyes implements Viewer {
  peer: PeerId
  team = 0
  readonly points: Viewpoints = new Viewpoints()
  readonly #interest: Interest
  /** The viewpoint that a predicate is asked about. */
  #point = 0

  constructor(interest: Interest, peer: PeerId) {
    this.#interest = interest
    this.peer = peer
  }

  get x(): number { return this.#coordinate(0) }
  get y(): number { return this.#coordinate(1) }
  get z(): number { return this.#coordinate(2) }

  own<S extends Shape>(entity: { readonly schema: Schema<S> }): Seen<S> | null {
    const interest = this.#interest
    for (let index = interest.firstOwned(this.peer); index !== NONE; index = interest.nextOwned[index]) {
      if (
        interest.owners[index] !== this.peer
        || interest.world.stores[interest.kinds[index]].schema !== (entity.schema as Schema)
      )
        continue
      return (interest.seen(index) ?? null) as unknown as Seen<S> | null
    }
    return null
  }

  /** Finds the viewpoints and the team of a peer. @hot */
  look(peer: PeerId): void {
    const interest = this.#interest
    const { teamOf, viewpoint } = interest.options
    const { points } = this
    this.peer = peer
    this.team = teamOf === undefined ? 0 : teamOf(peer)
    const before = points.count
    points.count = 0
    if (viewpoint !== undefined) viewpoint(peer, points)
    if (points.count === 0 && peer !== 0) this.#lookFromOwn()
    if (points.count === 0) points.count = before
  }

  /** Whether a rule lets the peer see an object from any viewpoint. Without viewpoints the rule is asked once. */
  sees(rule: SightRule, index: number): boolean {
    if (this.points.count === 0) return this.seesFrom(rule, index, 0)
    for (let point = 0; point < this.points.count; point++) if (this.seesFrom(rule, index, point)) return true
    return false
  }

  seesFrom(rule: SightRule, index: number, point: number): boolean {
    const object = this.#interest.seen(index)
    this.#point = point
    if (object === undefined) return false
    const isSeen: unknown = rule.sees(this, object as unknown as Seen<Shape>)
    // A promise is truthy: every client would see the object.
    if (typeof isSeen === 'object') refusePromise('where', isSeen)
    return Boolean(isSeen)
  }

  #lookFromOwn(): void {
    const interest = this.#interest
    for (let index = interest.firstOwned(this.peer); index !== NONE; index = interest.nextOwned[index]) {
      if (interest.owners[index] !== this.peer || interest.types[interest.kinds[index]].cells.length === 0) continue
      this.points.addFrom(interest.xyz, 3 * index)
    }
  }

  #coordinate(axis: number): number {
    return this.points.count === 0 ? NaN : this.points.xyz[3 * this.#point + axis]
  }
}
