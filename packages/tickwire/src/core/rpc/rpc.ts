/**
 * A remote call, as a game declares it: its arguments, its target, and its reply.
 *
 * The target is part of the definition, so it is never on the wire and cannot be forged there: the receiver of a call
 * knows from its number alone which side may have made it. Calls to the authority come from players, all others from
 * the authority.
 */

import { ConfigError } from '../base/assert.ts'
import type { Shape } from '../schema/field.ts'
import { check } from '../schema/leaf.ts'
import { compileSchema, orNothing, type Schema } from '../schema/schema.ts'
import { checkValueSizes } from '../schema/value-sizes.ts'

/**
 * The target of a call. `server`: the authority. `owner`: the owner of the object. `all`: every client that sees it.
 * `peer`: one player.
 */
export type RpcTarget = 'server' | 'owner' | 'all' | 'peer'
const TARGETS: readonly RpcTarget[] = ['server', 'owner', 'all', 'peer']

/** How a call is delivered: see `MessageDelivery`. */
export type RpcDelivery = 'reliable' | 'unordered' | 'unreliable'

/** The options of a call. */
export interface RpcOptions<R extends Shape> {
  /** The target of the call. It also decides which side may make it. */
  readonly to: RpcTarget
  /** The delivery of the call and its reply. Default: `reliable`. */
  readonly delivery?: RpcDelivery
  /** The fields of the reply. With them the call is a request, and `request` waits for its reply. Default: no reply. */
  readonly reply?: R
  /**
   * For calls to the authority about an object: `anyone` in the match may make it, or only its owner. Default:
   * `anyone`.
   */
  readonly by?: 'anyone' | 'owner'
  /** The name in reports and errors. Default: `rpc`. */
  readonly name?: string
}

/** A kind of call. */
export class Rpc<A extends Shape = Shape, R extends Shape = Shape> {
  /** The fields of the arguments. */
  readonly args: Schema<A>
  /** The fields of the reply. Undefined for a call without one. */
  readonly reply: Schema<R> | undefined
  /** The target of the call. */
  readonly target: RpcTarget
  /** How it is delivered. */
  readonly delivery: RpcDelivery
  /** Which clients may make it about an object. */
  readonly by: 'anyone' | 'owner'

  constructor(shape: A, options: RpcOptions<R>) {
    const { to, delivery = 'reliable', reply, by = 'anyone', name = 'rpc' } = options
    check(
      TARGETS.includes(to),
      `${name}.to`,
      `unknown target "${to}"`,
      `write who is called: '${TARGETS.join("', '")}'`,
    )
    this.args = compileSchema(name, orNothing(shape))
    this.reply = reply && compileSchema(`${name}.reply`, orNothing(reply))
    this.target = to
    this.delivery = delivery
    this.by = by
    for (const schema of [this.args, ...this.reply === undefined ? [] : [this.reply]]) {
      checkValueSizes(schema, delivery === 'unreliable' ? "a call with delivery 'unreliable'" : undefined)
    }
    if (by === 'owner' && to !== 'server') {
      throw new ConfigError(
        `${name}.by`,
        `'owner' for a call to ${to}`,
        'leave `by` out: only calls to the authority come from players.',
      )
    }
    if (reply && to === 'all') {
      throw new ConfigError(
        `${name}.reply`,
        'a call to all has no single reply',
        "call each player (`to: 'peer'`), or leave `reply` out.",
      )
    }
    for (const { path, audience } of [...this.args.members, ...this.reply?.members ?? []]) {
      check(audience === 'all', path, `${audience}() in a call`, 'leave the field out: a call is for its receiver')
    }
  }

  /** Everything two builds must agree on, as text. */
  get text(): string {
    const reply = this.reply === undefined ? '' : ` reply ${this.reply.text}`
    return `${this.args.text} to ${this.target} ${this.delivery}${this.by === 'owner' ? ' by owner' : ''}${reply}`
  }
}

/** Declares a call: `rpc({ seat: u8 }, { to: 'server', reply: { isYours: bool } })`. */
export function rpc<const A extends Shape, const R extends Shape = never>(shape: A, options: RpcOptions<R>): Rpc<A, R> {
  return new Rpc(shape, options)
}
