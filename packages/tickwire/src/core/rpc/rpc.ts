/**
 * A remote call, as a game declares it: what it says, to whom it goes, and what comes back.
 *
 * The target is part of the definition, so it is never on the wire and cannot be forged there: who receives a call
 * knows from its number alone who may have made it. Calls to the authority come from players, all others from the
 * authority.
 */

import { ConfigError } from '../base/assert.ts'
import type { Shape } from '../schema/field.ts'
import { check } from '../schema/leaf.ts'
import { compileSchema, type Schema } from '../schema/schema.ts'

/** Whom a call is for. `server`: the authority. `owner`: who owns the object. `all`: everyone who sees it. `peer`: one player. */
export type RpcTarget = 'server' | 'owner' | 'all' | 'peer'
const TARGETS: readonly RpcTarget[] = ['server', 'owner', 'all', 'peer']

/** How a call travels: see `MessageDelivery`. */
export type RpcDelivery = 'reliable' | 'unordered' | 'unreliable'

/** What a call may say about itself beside its arguments. */
export interface RpcOptions<R extends Shape> {
  readonly to: RpcTarget
  /** How it travels, there and back. Default: `reliable`. */
  readonly delivery?: RpcDelivery
  /** What comes back. With it the call is a request, and `request` waits for its reply. */
  readonly reply?: R
  /** Who may make it, of calls about an object to the authority: anyone who is here, or its owner. Default: `anyone`. */
  readonly by?: 'anyone' | 'owner'
  /** What reports and errors call it. */
  readonly name?: string
}

/** A kind of call. */
export class Rpc<A extends Shape = Shape, R extends Shape = Shape> {
  readonly args: Schema<A>
  readonly reply: Schema<R> | undefined
  readonly target: RpcTarget
  readonly delivery: RpcDelivery
  readonly by: 'anyone' | 'owner'

  constructor(shape: A, options: RpcOptions<R>) {
    const { to, delivery = 'reliable', reply, by = 'anyone', name = 'rpc' } = options
    check(TARGETS.includes(to), `${name}.to`, `${to}`, `Say who is called: '${TARGETS.join("', '")}'`)
    this.args = compileSchema(name, shape)
    this.reply = reply && compileSchema(`${name}.reply`, reply)
    this.target = to
    this.delivery = delivery
    this.by = by
    if (by === 'owner' && to !== 'server') {
      throw new ConfigError(`${name}.by`, `'owner' of a call to ${to}`, 'Only calls to the authority come from players: leave `by` out.')
    }
    if (reply && to === 'all') {
      throw new ConfigError(`${name}.reply`, 'a call to all has no one reply', 'Call each player (`to: \'peer\'`), or leave `reply` out.')
    }
    for (const { path, audience } of [...this.args.members, ...this.reply?.members ?? []]) {
      check(audience === 'all', path, `${audience}() in a call`, 'A call is for its receiver: leave the field out')
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
