/**
 * The two things that a game declares with a schema: entities, which exist in the world, and messages, which are sent
 * once.
 *
 * A definition is a value. It is a class only so that `world.each(Player)` can identify it and types can be inferred;
 * it is not meant to be extended.
 */

import type { Field, Shape } from './field.ts'
import { always, checkInterest, checkPriority, type InterestRule } from './interest.ts'
import { check } from './leaf.ts'
import { compileSchema, orNothing, type Schema } from './schema.ts'
import { checkValueSizes } from './value-sizes.ts'
import type { InitOf, ValueOf, ViewOf } from './value-types.ts'

/** Which peer simulates and writes an object: the server, or the object's owner. */
export type ObjectAuthority = 'server' | 'shared'

/** Options of an entity beside its fields. Both sides must agree only on `authority`. */
export interface EntityOptions<S extends Shape = Shape> {
  /** Its name in reports and errors. Default: its position in the game. */
  readonly name?: string
  /** Which clients may know its objects: `near(60)`, `owner`, `team`, `where(...)`, `anyOf(...)`. Default: `always`. */
  readonly interest?: InterestRule<S>
  /** When not everything fits, an object of priority 2 is sent twice as often as one of 1, the default. */
  readonly priority?: number
  /** `rate(hz)` for every sent field without a rate of its own. */
  readonly rate?: number
  /**
   * `shared`: each object is simulated and written by its owner, and by the server while it has none. Default:
   * `server`.
   */
  readonly authority?: ObjectAuthority
  /** When the owner of a shared object leaves: the server takes it over, or it is despawned. Default: `server`. */
  readonly onOwnerLeave?: 'server' | 'despawn'
}

/** A kind of object. Instances are objects in a world. */
export class Entity<S extends Shape = Shape> {
  /** The compiled fields. */
  readonly schema: Schema<S>
  /** The options that it was declared with. */
  readonly options: EntityOptions
  /** Which clients may know its objects. */
  readonly interest: InterestRule
  /** How urgent its objects are. Default: 1. */
  readonly priority: number
  /** Whether its objects are written by their owners. */
  readonly isShared: boolean

  constructor(shape: S, options: EntityOptions) {
    const { name = 'entity', interest = always, priority = 1, rate, authority = 'server', onOwnerLeave } = options
    this.schema = compileSchema(name, rate === undefined ? shape : withRate(shape, rate))
    checkValueSizes(this.schema, 'an entity')
    this.options = options
    this.interest = interest
    this.priority = priority
    this.isShared = authority === 'shared'
    check(
      this.isShared || authority === 'server',
      `${name}.authority`,
      `unknown authority "${String(authority)}"`,
      "write 'server' or 'shared'",
    )
    check(
      this.isShared || onOwnerLeave === undefined,
      `${name}.onOwnerLeave`,
      'only for shared objects, and the server writes these',
      "write authority: 'shared', or leave it out: objects of a player who leaves are despawned",
    )
    checkInterest(`${name}.interest`, interest, this.schema)
    checkPriority(`${name}.priority`, priority)
    for (const { name, path } of this.schema.members) {
      check(!HANDLE_NAMES.includes(name), path, `"${name}" is a member of every object`, 'give the field another name')
    }
  }
}

/**
 * Names of properties of handles; a field with such a name would hide one. Inside structs and messages they are free.
 */
const HANDLE_NAMES = ['id', 'owner', 'tick', 'isAlive']

/** Gives this rate to every sent field without one. Values that are not fields are left for the schema to refuse. */
function withRate<S extends Shape>(shape: S, hz: number): S {
  const rated = ([name, field]: [string, Field<unknown>]): [string, Field<unknown>] => {
    const isSent =
      field?.options !== undefined && field.options.audience !== 'local' && field.options.audience !== 'server'
    return [name, isSent && field.options.rateHz === undefined ? field.rate(hz) : field]
  }
  // A rate changes no type: the shape has the same names and kinds as before.
  return Object.fromEntries(Object.entries(shape).map(rated)) as Shape as S
}

/**
 * How a message is delivered. `reliable`: exactly once, in the order sent. `unordered`: exactly once, each as soon as
 * possible. `latest`: some may be lost, and none arrives after a newer one of its kind. `unreliable`: some may be lost
 * or late.
 */
export type MessageDelivery = 'reliable' | 'unordered' | 'latest' | 'unreliable'

/** Options of a message beside its fields. */
export interface MessageOptions {
  /** How it is delivered. Default: `reliable`. */
  readonly delivery?: MessageDelivery
}

/** A kind of message. */
export class Message<S extends Shape = Shape> {
  /** The compiled fields. */
  readonly schema: Schema<S>
  /** How it is delivered. */
  readonly delivery: MessageDelivery

  constructor(shape: S, name: string, options: MessageOptions = {}) {
    this.schema = compileSchema(name, orNothing(shape))
    this.delivery = options.delivery ?? 'reliable'
    checkValueSizes(
      this.schema,
      this.delivery === 'reliable' || this.delivery === 'unordered'
        ? undefined
        : `a message with delivery '${this.delivery}'`,
    )
    for (const { path, audience, field } of this.schema.members) {
      check(
        audience === 'all',
        path,
        `${audience}() in a message`,
        'leave the field out, or send another message: a message is for its receiver',
      )
      check(field.options.rateHz === undefined, path, 'rate() in a message', 'leave it out: a message is sent once')
    }
  }
}

/** Declares a kind of object: `entity({ x: fixed(0, 640, 0.1), hue: u8 })`. */
export function entity<const S extends Shape>(shape: S, options: EntityOptions<S> = {}): Entity<S> {
  return new Entity(shape, options)
}

/** Declares a kind of message: `message({ text: text(140) })`. */
export function message<const S extends Shape>(
  shape: S,
  name: string = 'message',
  options: MessageOptions = {},
): Message<S> {
  return new Message(shape, name, options)
}

/** An object of an entity as `step` sees it: `Writable<typeof Player>`. */
export type Writable<D> = D extends { readonly schema: Schema<infer S> } ? ValueOf<S> : never
/** An object of an entity as `draw` sees it. */
export type Viewed<D> = D extends { readonly schema: Schema<infer S> } ? ViewOf<S> : never
/** The values that a spawn of an entity may give. */
export type Init<D> = D extends { readonly schema: Schema<infer S> } ? InitOf<S> : never
