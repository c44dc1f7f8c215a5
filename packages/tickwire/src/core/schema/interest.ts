/**
 * What an entity says of who may know its objects: `near(60)`, `always`, `owner`, `team`, `where(...)`, `anyOf(...)`.
 *
 * Rules are values, checked when the entity is declared. They are the authority's business alone: no bit on the wire
 * is shaped by them, and the fingerprint does not hold them. `replication/interest/` follows them.
 *
 * Whatever a rule says, an owner knows what is his.
 */

import { INTEREST_LEAVE_RATIO, INTEREST_PRIORITY_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId } from '../base/time.ts'
import type { Audience, Shape } from './field.ts'
import type { Layout } from './layout.ts'
import { check, type Leaf } from './leaf.ts'
import type { Schema } from './schema.ts'
import type { ViewOf } from './value-types.ts'

/** An object as a predicate sees it: to be read only. */
export type Seen<S extends Shape> = ViewOf<S> & { readonly id: ObjectId; readonly owner: PeerId }

/** Whoever looks, as a predicate sees him. It is good for the call only. */
export interface Viewer {
  /** Through whose eyes: the client himself, or whom he follows. */
  readonly peer: PeerId
  /** His team; 0 is none. */
  readonly team: number
  /** Where he looks from; NaN when he is nowhere. */
  readonly x: number
  readonly y: number
  readonly z: number
  /** His first object of an entity, or null. */
  own<S extends Shape>(entity: { readonly schema: Schema<S> }): Seen<S> | null
}

/** Whether a viewer may know an object. Must be a function of the state of the tick. */
export type Sight<S extends Shape = Shape> = (viewer: Viewer, object: Seen<S>) => boolean

/** Predicates are methods here, so that rules of any entity are rules: the engine shows each only its own objects. */
interface NearRule<S extends Shape> {
  readonly kind: 'near'
  readonly distance: number
  readonly leave: number
  readonly hasSight: boolean
  sees(viewer: Viewer, object: Seen<S>): boolean
}

interface WhereRule<S extends Shape> {
  readonly kind: 'where'
  sees(viewer: Viewer, object: Seen<S>): boolean
}

/** Who may know the objects of an entity. */
export type InterestRule<S extends Shape = Shape> =
  | { readonly kind: 'always' | 'owner' | 'team' }
  | NearRule<S>
  | WhereRule<S>
  | { readonly kind: 'any-of'; readonly rules: readonly InterestRule<S>[] }

/** Everyone, wherever he is. What an entity without a rule has. */
export const always: { readonly kind: 'always' } = { kind: 'always' }
/** Only the owner. */
export const owner: { readonly kind: 'owner' } = { kind: 'owner' }
/** The owner and his team. */
export const team: { readonly kind: 'team' } = { kind: 'team' }

/** What `near` may say beside the distance. */
export interface NearOptions<S extends Shape> {
  /** Whoever is in view stays until he is farther than this. Default: 1.1 times the distance. */
  readonly leave?: number
  /** Asked of those who are near enough: walls, smoke, stealth. */
  readonly where?: Sight<S>
}

/** Who looks from within a distance. The entity must have a position. */
export function near<S extends Shape = Shape>(distance: number, options: NearOptions<S> = {}): InterestRule<S> {
  const { leave = distance * INTEREST_LEAVE_RATIO, where: sees } = options
  return { kind: 'near', distance, leave, hasSight: sees !== undefined, sees: sees ?? (() => true) }
}

/** Whoever the predicate says; it is asked for every viewer, every tick. With `near(60, { where })`, only of who is near. */
export function where<S extends Shape = Shape>(sees: Sight<S>): InterestRule<S> {
  return { kind: 'where', sees }
}

/** Whoever one of the rules says: `anyOf(team, near(30))`. */
export function anyOf<S extends Shape = Shape>(...rules: readonly InterestRule<S>[]): InterestRule<S> {
  return { kind: 'any-of', rules }
}

/** The numbers that say where an object is: one to three of them, for `who` may hold them; empty when it has none. */
export function positionLeaves(layout: Layout, who: readonly Audience[]): readonly Leaf[] {
  const { leaves, members } = layout
  const positions = members.filter(({ field, audience }) => field.options.role === 'position' && who.includes(audience))
  const found = positions.flatMap(({ firstLeaf, leafCount }) => leaves.slice(firstLeaf, firstLeaf + leafCount))
  return found.length <= 3 ? found : []
}

/** Refuses a wrong rule by the path of its entity. */
export function checkInterest(path: string, rule: InterestRule, layout: Layout): void {
  switch (rule.kind) {
    case 'always': case 'owner': case 'team':
      return
    case 'near':
      check(Number.isFinite(rule.distance) && rule.distance > 0, path, `near(${rule.distance})`, 'Give a distance above 0, in units of the position')
      check(rule.leave >= rule.distance && Number.isFinite(rule.leave), path, `leave ${rule.leave} is nearer than ${rule.distance}`, 'Leave it out, or give more than the distance: objects at the border would come and go')
      check(positionLeaves(layout, ['all']).length > 0, path, `near(${rule.distance}) of who is nowhere`, 'Mark a field of one to three numbers that everyone may hold .position()')
      check(typeof rule.sees === 'function', path, 'near with a `where` that is no function', 'Give (viewer, object) => boolean')
      return
    case 'where':
      check(typeof rule.sees === 'function', path, 'where() without a function', 'Give (viewer, object) => boolean')
      return
    case 'any-of':
      check(rule.rules.length > 0, path, 'anyOf() of nothing', 'Give at least one rule; `owner` is for the owner only')
      for (const each of rule.rules) checkInterest(path, each, layout)
      return
    default:
      rule satisfies never
      check(false, path, 'no rule of interest', 'Use near(60), always, owner, team, where(...) or anyOf(...)')
  }
}

/** Refuses a wrong priority. */
export function checkPriority(path: string, priority: number): void {
  check(priority > 0 && priority <= INTEREST_PRIORITY_MAX, path, `priority ${priority}`, `Give more than 0, at most ${INTEREST_PRIORITY_MAX}; 1 is ordinary`)
}
