/**
 * The rules of an entity for which clients may know its objects: `near(60)`, `always`, `owner`, `team`, `where(...)`,
 * `anyOf(...)`.
 *
 * Rules are values, checked when the entity is declared. Only the authority uses them: they shape no bit on the wire,
 * and are not in the fingerprint. `replication/interest/` evaluates them.
 *
 * Whatever a rule says, an owner always knows its own objects.
 */

import { INTEREST_LEAVE_RATIO, INTEREST_PRIORITY_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId } from '../base/time.ts'
import type { Audience, Shape } from './field.ts'
import type { Layout } from './layout.ts'
import { check, type Leaf } from './leaf.ts'
import type { Schema } from './schema.ts'
import type { ViewOf } from './value-types.ts'

/** An object as a predicate sees it: read-only. */
export type Seen<S extends Shape> = ViewOf<S> & { readonly id: ObjectId; readonly owner: PeerId }

/** The viewer, as a predicate sees it. Valid only during the call. */
export interface Viewer {
  /** The peer whose view it is: the client itself, or the player that it follows. */
  readonly peer: PeerId
  /** The viewer's team; 0 is none. */
  readonly team: number
  /** The viewpoint; NaN when there is none. */
  readonly x: number
  /** The viewpoint; NaN when there is none. */
  readonly y: number
  /** The viewpoint; NaN when there is none. */
  readonly z: number
  /** The viewer's first object of an entity, or null. */
  own<S extends Shape>(entity: { readonly schema: Schema<S> }): Seen<S> | null
}

/** Whether a viewer may know an object. Must be a function of the state of the tick. */
export type Sight<S extends Shape = Shape> = (viewer: Viewer, object: Seen<S>) => boolean

/**
 * Predicates are methods here, so that rules of any entity are rules: the engine calls each only with its own objects.
 */
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

/** Which clients may know the objects of an entity. */
export type InterestRule<S extends Shape = Shape> =
  | { readonly kind: 'always' | 'owner' | 'team' }
  | NearRule<S>
  | WhereRule<S>
  | { readonly kind: 'any-of'; readonly rules: readonly InterestRule<S>[] }

/** Every client, at any distance. The default of an entity without a rule. */
export const always: { readonly kind: 'always' } = { kind: 'always' }
/** Only the owner. */
export const owner: { readonly kind: 'owner' } = { kind: 'owner' }
/** The owner and its team. */
export const team: { readonly kind: 'team' } = { kind: 'team' }

/** Options of `near` beside the distance. */
export interface NearOptions<S extends Shape> {
  /** An object in view stays in view until it is farther than this. Default: 1.1 times the distance. */
  readonly leave?: number
  /** Called for objects that are near enough: walls, smoke, stealth. Default: all of them. */
  readonly where?: Sight<S>
}

/** Viewers within a distance. The entity must have a position. */
export function near<S extends Shape = Shape>(distance: number, options: NearOptions<S> = {}): InterestRule<S> {
  const { leave = distance * INTEREST_LEAVE_RATIO, where: sees } = options
  return { kind: 'near', distance, leave, hasSight: sees !== undefined, sees: sees ?? (() => true) }
}

/**
 * Viewers that the predicate accepts; it is called for every viewer, every tick. With `near(60, { where })`, only for
 * near objects.
 */
export function where<S extends Shape = Shape>(sees: Sight<S>): InterestRule<S> {
  return { kind: 'where', sees }
}

/** Viewers that one of the rules accepts: `anyOf(team, near(30))`. */
export function anyOf<S extends Shape = Shape>(...rules: readonly InterestRule<S>[]): InterestRule<S> {
  return { kind: 'any-of', rules }
}

/** The leaves of an object's position: one to three, for audiences in `who`; empty when it has none. */
export function positionLeaves(layout: Layout, who: readonly Audience[]): readonly Leaf[] {
  const { leaves, members } = layout
  const positions = members.filter(({ field, audience }) => field.options.role === 'position' && who.includes(audience))
  const found = positions.flatMap(({ firstLeaf, leafCount }) => leaves.slice(firstLeaf, firstLeaf + leafCount))
  return found.length <= 3 ? found : []
}

/** Refuses an invalid rule, with the path of its entity. */
export function checkInterest(path: string, rule: InterestRule, layout: Layout): void {
  switch (rule.kind) {
    case 'always': case 'owner': case 'team':
      return
    case 'near':
      check(
        Number.isFinite(rule.distance) && rule.distance > 0,
        path,
        `invalid distance of near() (expected above 0, got ${rule.distance})`,
        'give a distance above 0, in the unit of the position',
      )
      check(
        rule.leave >= rule.distance && Number.isFinite(rule.leave),
        path,
        `leave ${rule.leave} is less than the distance ${rule.distance}`,
        'leave it out, or give more than the distance: else objects at the border enter and leave all the time',
      )
      check(
        positionLeaves(layout, ['all']).length > 0,
        path,
        `near(${rule.distance}) without a position`,
        'mark a field of one to three numbers, with the audience all, as .position()',
      )
      check(
        typeof rule.sees === 'function',
        path,
        '`where` of near() is not a function',
        'give (viewer, object) => boolean',
      )
      return
    case 'where':
      check(typeof rule.sees === 'function', path, 'where() without a function', 'give (viewer, object) => boolean')
      return
    case 'any-of':
      check(
        rule.rules.length > 0,
        path,
        'anyOf() without rules',
        'give at least one rule; `owner` is for the owner only',
      )
      for (const each of rule.rules) checkInterest(path, each, layout)
      return
    default:
      rule satisfies never
      check(false, path, 'not a rule of interest', 'use near(60), always, owner, team, where(...) or anyOf(...)')
  }
}

/** Refuses an invalid priority. */
export function checkPriority(path: string, priority: number): void {
  check(
    priority > 0 && priority <= INTEREST_PRIORITY_MAX,
    path,
    `invalid priority (expected above 0 and at most ${INTEREST_PRIORITY_MAX}, got ${priority})`,
    'give a priority in this range; 1 is ordinary',
  )
}
