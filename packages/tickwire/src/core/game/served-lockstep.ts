/**
 * The rules of a lockstep game under `serve`: the server steps, clients send orders as messages, and the rules of
 * interest decide which objects a client receives.
 *
 * In lockstep every peer has the whole world, so a changed page can show all of it. Here a client has only the objects
 * that it may know. The price is what snapshots cost, and the time that orders and snapshots take to the server and
 * back.
 *
 *   Order   type u8 | the values of the order, as in a lockstep match
 */

import { ORDER_BYTES_MAX, ORDER_TYPES_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { SendResult } from '../channel/channel.ts'
import type { LockstepGame, TickOrders } from '../lockstep/define-lockstep.ts'
import { CheckView } from '../lockstep/check-view.ts'
import type { AnyOrder, CheckedWorld, GivenOrder, Order } from '../lockstep/order.ts'
import { decodeValues, encodeValues } from '../lockstep/order-values.ts'
import { entity, message, type Entity, type Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import { bytes, int, u32 } from '../schema/field-kinds.ts'
import { owner } from '../schema/interest.ts'
import type { Schema } from '../schema/schema.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { ObjectView } from '../world/handle.ts'
import type { World } from '../world/world.ts'
import { defineGame, type Game, type Inputs, type NoJoin } from './define-game.ts'
import type { View } from './view.ts'

/** Options of `served`. */
export interface ServedOptions {
  /** Entities beside those of the game. Default: none. */
  readonly entities?: readonly Entity[]
  /** Runs once, after `onStart` of the game. */
  onStart?(world: World): void
  /** Runs after every `step` of the game: computes what `where` rules of interest read. */
  afterStep?(world: World): void
}

/** The room of a client, as far as orders need it. */
export interface OrderRoom {
  /** The peer id of this client. */
  readonly peer: PeerId
  /** What the client received. */
  readonly view: View
  /** Sends a message to the server. */
  send<S extends Shape>(kind: Message<S>, values: ViewOf<S>): SendResult
}

/** A lockstep game that a server steps. Pass it to `serve` and `connect`. */
export interface ServedGame extends Game<NoJoin> {
  /**
   * Gives an order of the player of a room. Its check runs on what this client knows, and again on the server.
   * 'refused': the check says no. 'too-large': its values need more than 380 bytes. 'full': too many orders wait.
   */
  order<S extends Shape, N extends string>(
    room: OrderRoom, kind: Order<S, N>, values: ViewOf<S>,
  ): 'sent' | 'refused' | 'too-large' | 'full' | 'closed'
}

/** One message for all kinds of orders: those of one player keep their sequence. */
const OrderMessage = message({ type: int(0, ORDER_TYPES_MAX - 1), data: bytes(ORDER_BYTES_MAX) }, 'Order')

/** A world that has this object was started. */
const Started = entity({ at: u32 }, { name: 'Started' })
/** A player of the match. It belongs to the player. */
const Joined = entity({ at: u32 }, { name: 'Joined', interest: owner })

/** The orders of one tick, in the sequence of players. */
class ServedOrders implements TickOrders<AnyOrder> {
  readonly tick: Tick
  readonly players: readonly PeerId[]
  readonly #list: readonly GivenOrder<AnyOrder>[]

  constructor(tick: Tick, players: readonly PeerId[], list: readonly GivenOrder<AnyOrder>[]) {
    this.tick = tick
    this.players = players
    this.#list = list
  }

  get length(): number {
    return this.#list.length
  }

  /** The seat of a lost connection is held by the server, which does not report it to the game. */
  isAway(): boolean {
    return false
  }

  [Symbol.iterator](): Iterator<GivenOrder<AnyOrder>> {
    return this.#list[Symbol.iterator]()
  }
}

/** A client's view, as the check of an order reads it. */
class ViewCheck implements CheckedWorld {
  readonly #view: View

  constructor(view: View) {
    this.#view = view
  }

  get tick(): Tick {
    return this.#view.tick
  }

  each<E extends Entity>(kind: E): Iterable<ObjectView<E>> {
    return this.#view.each(kind)
  }

  get<E extends Entity>(kind: E, id: ObjectId | null): ObjectView<E> | null {
    return this.#view.get(kind, id)
  }

  count(kind: Entity): number {
    return [...this.#view.each(kind)].length
  }
}

/**
 * Makes a game for `serve` out of a lockstep game: the same rules, stepped by the server. Entities say by `interest`
 * and by the audience of their fields what clients receive.
 */
export function served<O extends readonly AnyOrder[]>(
  game: LockstepGame<O>, options: ServedOptions = {},
): ServedGame {
  const start = (world: World): void => {
    if (world.count(Started) > 0) return
    world.spawn(Started, { at: world.tick })
    game.onStart?.(world)
    options.onStart?.(world)
  }
  const made = defineGame({
    tickRate: game.tickRate,
    input: {},
    entities: [...game.entities, ...(options.entities ?? []), Started, Joined],
    messages: [OrderMessage],
    predict: 'none',
    ...(game.external && { external: () => game.external?.() ?? {} as never }),
    onJoin(world, { id }) {
      start(world)
      world.spawn(Joined, { at: world.tick }, id)
      game.onJoin?.(world, id)
    },
    onLeave(world, { id }) {
      game.onLeave?.(world, id, 'left')
    },
    step(world, inputs) {
      start(world)
      game.step(world, ordersOf(game, world, inputs) as unknown as TickOrders<O[number]>)
      options.afterStep?.(world)
    },
  })
  return { ...made, order: (room, kind, values) => give(game, room, kind as unknown as Order, values as never) }
}

function ordersOf(game: LockstepGame, world: World, inputs: Inputs<NoJoin>): ServedOrders {
  const players = [...world.each(Joined)].sort((a, b) => a.at - b.at || a.owner - b.owner).map((each) => each.owner)
  const list: GivenOrder<AnyOrder>[] = []
  const view = new CheckView(world)
  for (const { from, values: { type, data } } of inputs.messages(OrderMessage)) {
    const kind = game.orders[type] as unknown as Order | undefined
    const values = kind && decodeValues(kind.schema as unknown as Schema, data as Uint8Array, 0, data.length)
    if (kind === undefined || values === undefined || !players.includes(from)) continue
    if (kind.check === undefined || kind.check(view, from, values as never))
      list.push({ name: kind.name, by: from, at: 0, values } as GivenOrder<AnyOrder>)
  }
  return new ServedOrders(world.tick, players, list)
}

function give(
  game: LockstepGame, room: OrderRoom, kind: Order, values: Record<string, unknown>,
): 'sent' | 'refused' | 'too-large' | 'full' | 'closed' {
  const type = game.orders.indexOf(kind as unknown as AnyOrder)
  if (type < 0) throw new RangeError(`${kind.name}: not an order of this game. Fix: add it to \`orders\`.`)
  const data = encodeValues(kind.schema as unknown as Schema, values)
  if (data === undefined || data.length > ORDER_BYTES_MAX) return 'too-large'
  const known = decodeValues(kind.schema as unknown as Schema, data, 0, data.length)
  const view = new ViewCheck(room.view)
  if (known === undefined || kind.check?.(view, room.peer, known as never) === false) return 'refused'
  const result = room.send(OrderMessage, { type, data })
  return result === 'queued' ? 'sent' : result
}
