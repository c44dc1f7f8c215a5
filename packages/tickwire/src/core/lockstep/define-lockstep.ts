/**
 * A lockstep game: entities, orders, and a `step` that every peer runs with the same orders.
 *
 * Every peer has the whole world. `step` must depend only on its arguments, and use only exact numbers: if one engine
 * computes a different result, the worlds differ.
 */

import { ConfigError } from '../base/assert.ts'
import { LOCKSTEP_PLAYERS_MAX, ORDER_TYPES_MAX, TICK_RATE_MAX } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import { fingerprintBytes } from '../order/lockstep-card.ts'
import type { EndReason } from '../order/tick-event.ts'
import type { Entity } from '../schema/definition.ts'
import type { External } from '../world/external.ts'
import type { World } from '../world/world.ts'
import type { AnyOrder, GivenOrder } from './order.ts'

/** The orders of one tick, by (time, player, number). `O` is the union of the game's orders. */
export interface TickOrders<O> extends Iterable<GivenOrder<O>> {
  /** The tick that they belong to. */
  readonly tick: Tick
  /** How many there are. */
  readonly length: number
  /** The players of the match in this tick, in the order of joining. */
  readonly players: readonly PeerId[]
  /** Whether a player's connection is lost in this tick. The same on every peer. */
  isAway(player: PeerId): boolean
}

/** A cache that follows from the world: a grid, a field of ways. */
export interface Derived {
  /** Its name, for errors. */
  readonly name: string
  /** Makes it again from the world. */
  rebuild(world: World): void
  /** A number that differs when the cache does. */
  hash(world: World): number
}

/** The argument of `defineLockstep`. */
export interface LockstepDefinition<O extends readonly AnyOrder[]> {
  /** Ticks per second. Default: 30. */
  readonly tickRate?: number
  /** The least and the most players. The match starts with the least. Default: [1, 8]. */
  readonly players?: readonly [number, number]
  /** The kinds of orders. Their order determines the numbers on the wire. */
  readonly orders: O
  /** The kinds of objects. Their order determines the numbers on the wire. */
  readonly entities: readonly Entity[]
  /** State that `step` keeps outside the schema. Created for every world that is stepped. */
  external?(): External
  /** Caches that follow from the world. Repairs and jumps rebuild them; debug level 2 checks them. Default: none. */
  readonly derived?: readonly Derived[]
  /** Before the first tick, on every peer: makes the map. */
  onStart?(world: World): void
  /** A player has joined, in the same tick on every peer. */
  onJoin?(world: World, player: PeerId): void
  /** A player has left, in the same tick on every peer. */
  onLeave?(world: World, player: PeerId, reason: EndReason): void
  /** A player's connection is lost. The seat is held. */
  onAway?(world: World, player: PeerId): void
  /** The player is connected again. */
  onBack?(world: World, player: PeerId): void
  /** Advances the world by one tick. */
  step(world: World, orders: TickOrders<O[number]>): void
}

/** A lockstep game that was checked. */
export interface LockstepGame<O extends readonly AnyOrder[] = readonly AnyOrder[]> extends LockstepDefinition<O> {
  readonly tickRate: number
  readonly players: readonly [number, number]
  /** Everything that two builds must agree on, as text. */
  readonly text: string
  /** Eight bytes of that text. The handshake compares them. */
  readonly fingerprint: Uint8Array
}

const TICK_RATE = 30
const PLAYERS: readonly [number, number] = [1, 8]

/** Checks a lockstep game. Throws a ConfigError that names the path and the fix. */
export function defineLockstep<const O extends readonly AnyOrder[]>(
  definition: LockstepDefinition<O>,
): LockstepGame<O> {
  const { tickRate = TICK_RATE, players = PLAYERS, orders, entities } = definition
  if (!Number.isInteger(tickRate) || tickRate < 1 || tickRate > TICK_RATE_MAX) {
    throw new ConfigError(
      'tickRate',
      `invalid rate (expected an integer from 1 to ${TICK_RATE_MAX}, got ${tickRate})`,
      'give ticks a second.',
    )
  }
  const [least, most] = players
  if (!(Number.isInteger(least) && Number.isInteger(most) && least >= 1 && least <= most)
    || most > LOCKSTEP_PLAYERS_MAX) {
    throw new ConfigError(
      'players',
      `invalid numbers (expected [least, most] from 1 to ${LOCKSTEP_PLAYERS_MAX}, got [${players.join(', ')}])`,
      'write players: [2, 8].',
    )
  }
  checkOrders(orders)
  checkEntities(entities)
  const text = [
    `lockstep ${tickRate}`,
    ...orders.map(({ schema }, type) => `order ${type} ${schema.text}`),
    ...entities.map(({ schema }, type) => `entity ${type} ${schema.text}`),
  ].join('\n')
  return { ...definition, tickRate, players, text, fingerprint: fingerprintBytes(text) }
}

function checkOrders(orders: readonly AnyOrder[]): void {
  if (orders.length > ORDER_TYPES_MAX) {
    throw new ConfigError(
      'orders',
      `too many (expected at most ${ORDER_TYPES_MAX}, got ${orders.length})`,
      'merge some.',
    )
  }
  const names = orders.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new ConfigError('orders', `two orders named ${twice}`, 'give each its own name.')
}

function checkEntities(entities: readonly Entity[]): void {
  if (new Set(entities).size !== entities.length)
    throw new ConfigError('entities', 'the same definition twice', 'list each definition once.')
  for (const { schema, isShared } of entities) {
    if (isShared) {
      throw new ConfigError(
        `${schema.name}.authority`,
        "'shared' in a lockstep game",
        'leave it out: every peer steps every object.',
      )
    }
    const hidden = schema.members.find(({ audience }) => audience === 'server')
    if (hidden !== undefined)
      throw new ConfigError(hidden.path, 'server() in a lockstep game', 'leave it out: every peer has every field.')
  }
}
