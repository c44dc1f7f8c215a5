/**
 * A kind of order: a command of a player, such as moving units or selling a building.
 *
 * Orders are the only input of a lockstep game. Their values are quantised and bounded as those of messages are.
 */

import { ConfigError } from '../base/assert.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import { compileSchema, orNothing, type Schema } from '../schema/schema.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { ObjectView } from '../world/handle.ts'

/** The world as `check` sees it: read-only, and without random numbers. */
export interface CheckedWorld {
  /** The tick that was stepped last. */
  readonly tick: Tick
  /** Every object of an entity, ascending by id. */
  each<E extends Entity>(entity: E): Iterable<ObjectView<E>>
  /** The object with an id, or null if there is none of this entity. */
  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null
  /** How many objects of an entity are alive. */
  count(entity: Entity): number
}

/** Options of an order beside its fields. */
export interface OrderOptions<S extends Shape> {
  /**
   * Whether the order is allowed. Runs when the player gives it, for an answer at once, and on every peer before it is
   * executed. An order that is not allowed is skipped. Default: all are allowed.
   */
  check?(world: CheckedWorld, by: PeerId, values: ViewOf<S>): boolean
}

/** A kind of order. */
export class Order<S extends Shape = Shape, N extends string = string> {
  /** Its name: `order.name` in `step`. */
  readonly name: N
  /** The compiled fields. */
  readonly schema: Schema<S>
  /** Whether an order of this kind is allowed. */
  readonly check: OrderOptions<S>['check'] | undefined

  constructor(shape: S, name: N, { check }: OrderOptions<S> = {}) {
    if (typeof name !== 'string' || name === '') {
      throw new ConfigError('order', 'no name', "give it one: order(shape, 'Move').")
    }
    this.name = name
    this.schema = compileSchema(name, orNothing(shape))
    this.check = check
    for (const { path, audience } of this.schema.members) {
      if (audience === 'all') continue
      throw new ConfigError(path, `${audience}() in an order`, 'leave it out: every peer executes every order.')
    }
  }
}

/** Declares a kind of order: `order({ units: ids(250), to: vec2(0, 256, 1 / 16) }, 'Move')`. */
export function order<const S extends Shape, const N extends string>(
  shape: S,
  name: N,
  options: OrderOptions<S> = {},
): Order<S, N> {
  return new Order(shape, name, options)
}

/** Any kind of order, whatever its fields. */
export type AnyOrder = Order<Shape, string>

/** An order as `step` sees it. `O` is a kind of order, or a union of kinds: then `name` narrows `values`. */
export type GivenOrder<O> = O extends Order<infer S, infer N>
  ? {
      /** The name of the kind. */
      readonly name: N
      /** The player that gave it. */
      readonly by: PeerId
      /** When it was given: microseconds from the start of the tick's window. */
      readonly at: number
      /** Its values. */
      readonly values: ViewOf<S>
    }
  : never
