/**
 * The two things a game declares with a schema: entities, which live in the world, and messages, which are said once.
 *
 * A definition is a value. It is a class only so that `world.each(Player)` can tell it apart and types flow from it;
 * nobody extends it.
 */

import type { Field, Shape } from './field.ts'
import { always, checkInterest, checkPriority, type InterestRule } from './interest.ts'
import { check } from './leaf.ts'
import { compileSchema, type Schema } from './schema.ts'
import type { InitOf, ValueOf, ViewOf } from './value-types.ts'

/** Who simulates and writes an object: the server, or whoever owns it. */
export type ObjectAuthority = 'server' | 'shared'

/** What an entity may say about itself beside its fields. Only `authority` is something both sides must agree on. */
export interface EntityOptions<S extends Shape = Shape> {
  /** What reports and errors call it. Default: its place in the game. */
  readonly name?: string
  /** Who may know its objects: `near(60)`, `owner`, `team`, `where(...)`, `anyOf(...)`. Default: `always`. */
  readonly interest?: InterestRule<S>
  /** When not everything fits, an object of priority 2 is told of twice as often as one of 1, the default. */
  readonly priority?: number
  /** `rate(hz)` for every field that is sent and does not say its own. */
  readonly rate?: number
  /** `shared`: each object is simulated and written by its owner, and by the server while it has none. Default: `server`. */
  readonly authority?: ObjectAuthority
  /** What becomes of a shared object whose owner leaves: the server goes on with it, or it goes too. Default: `server`. */
  readonly onOwnerLeave?: 'server' | 'despawn'
}

/** A kind of object. Instances are objects in a world. */
export class Entity<S extends Shape = Shape> {
  readonly schema: Schema<S>
  readonly options: EntityOptions
  readonly interest: InterestRule
  readonly priority: number
  /** Its objects are written by who owns them. */
  readonly isShared: boolean

  constructor(shape: S, options: EntityOptions) {
    const { name = 'entity', interest = always, priority = 1, rate, authority = 'server', onOwnerLeave } = options
    this.schema = compileSchema(name, rate === undefined ? shape : withRate(shape, rate))
    this.options = options
    this.interest = interest
    this.priority = priority
    this.isShared = authority === 'shared'
    check(this.isShared || authority === 'server', `${name}.authority`, `"${String(authority)}"`, "Give 'server' or 'shared'")
    check(this.isShared || onOwnerLeave === undefined, `${name}.onOwnerLeave`, 'of objects that the server writes', "Say authority: 'shared', or leave it out: what a player owns goes with him")
    checkInterest(`${name}.interest`, interest, this.schema)
    checkPriority(`${name}.priority`, priority)
    for (const { name, path } of this.schema.members) {
      check(!HANDLE_NAMES.includes(name), path, `"${name}" is something every object has`, 'Call the field something else')
    }
  }
}

/** What handles say of themselves; a field called so would hide it. Inside structs and messages these are free. */
const HANDLE_NAMES = ['id', 'owner', 'tick', 'isAlive']

/** Every field that is sent and has no rate of its own gets this one. What is no field is left for the schema to refuse. */
function withRate<S extends Shape>(shape: S, hz: number): S {
  const rated = ([name, field]: [string, Field<unknown>]): [string, Field<unknown>] => {
    const isSent = field?.options !== undefined && field.options.audience !== 'local' && field.options.audience !== 'server'
    return [name, isSent && field.options.rateHz === undefined ? field.rate(hz) : field]
  }
  // A rate changes no type: the shape has the same names and kinds as before.
  return Object.fromEntries(Object.entries(shape).map(rated)) as Shape as S
}

/**
 * How a message travels. `reliable`: exactly once, in the order sent. `unordered`: exactly once, each as soon as it can.
 * `latest`: some may be lost, and none comes after a newer one of its kind. `unreliable`: some may be lost or late.
 */
export type MessageDelivery = 'reliable' | 'unordered' | 'latest' | 'unreliable'

/** What a message may say about itself beside its fields. */
export interface MessageOptions {
  /** How it travels. Default: `reliable`. */
  readonly delivery?: MessageDelivery
}

/** A kind of message. */
export class Message<S extends Shape = Shape> {
  readonly schema: Schema<S>
  readonly delivery: MessageDelivery

  constructor(shape: S, name: string, options: MessageOptions = {}) {
    this.schema = compileSchema(name, shape)
    this.delivery = options.delivery ?? 'reliable'
    for (const { path, audience, field } of this.schema.members) {
      check(audience === 'all', path, `${audience}() in a message`, 'A message is for its receiver: leave the field out, or send another message')
      check(field.options.rateHz === undefined, path, 'rate() in a message', 'A message is said once: leave it out')
    }
  }
}

/** Declares a kind of object: `entity({ x: fixed(0, 640, 0.1), hue: u8 })`. */
export function entity<const S extends Shape>(shape: S, options: EntityOptions<S> = {}): Entity<S> {
  return new Entity(shape, options)
}

/** Declares a kind of message: `message({ text: text(140) })`. */
export function message<const S extends Shape>(shape: S, name: string = 'message', options: MessageOptions = {}): Message<S> {
  return new Message(shape, name, options)
}

/** An object of an entity as `step` sees it: `Writable<typeof Player>`. */
export type Writable<D> = D extends { readonly schema: Schema<infer S> } ? ValueOf<S> : never
/** An object of an entity as `draw` sees it. */
export type Viewed<D> = D extends { readonly schema: Schema<infer S> } ? ViewOf<S> : never
/** What a spawn of an entity may say. */
export type Init<D> = D extends { readonly schema: Schema<infer S> } ? InitOf<S> : never
