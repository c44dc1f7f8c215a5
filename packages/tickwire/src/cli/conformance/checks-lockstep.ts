/**
 * Checks of a relay of lockstep matches: docs/wire/LOCKSTEP.md. The relay never learns that its client steps no game.
 */

import { randomBytes } from 'node:crypto'
import { NotLetIn, type Check, type Lab } from './check.ts'
import { Follower } from './follower.ts'
import { pause, until } from './line.ts'
import { EVENT, LOCKSTEP, playerOf, type Order } from './ticks.ts'

const TICKS = 'LOCKSTEP.md, Ticks'
const ORDERS = 'LOCKSTEP.md, Frame 11: orders'
const FRAME = 'LOCKSTEP.md, Frame 12: ticks'
const EVENTS = 'LOCKSTEP.md, Tick events'
/** How long to listen to a relay. */
const LISTEN_MS = 1500
const TICKS_MIN = 3
const TICK_PACKET_MAX = 476
const TICK_BYTES_MAX = 400
/** A type that every game with orders has. */
const FIRST_TYPE = 0
const ORDER_COUNT = 6
const VALUE_BYTES = 12

/** A client in a match whose ticks arrive. */
async function follow(lab: Lab): Promise<Follower> {
  const follower = new Follower(await lab.enter())
  if (!await follower.grows(TICKS_MIN, lab.target.answerMs * 3)) throw new NotLetIn('no ticks arrive')
  return follower
}

/** Waits for what `find` looks for in the log. */
async function findIn(
  follower: Follower, find: (orders: readonly Order[]) => boolean, ms: number,
): Promise<boolean> {
  return await until(() => find(follower.log.orders), ms)
}

const isIn = (orders: readonly Order[], values: Buffer): readonly Order[] =>
  orders.filter((order) => order.values.equals(values))

export const LOCKSTEP_CHECKS: readonly Check[] = [
  {
    id: 'ticks-log', section: TICKS, needsEntry: true,
    says: 'the log is ticks without gaps, each as described, and the frames count them',
    async run(lab) {
      const follower = await follow(lab)
      await pause(LISTEN_MS)
      const { ticks, fault } = follower.log
      if (fault !== undefined) return fault
      // The last tick may be cut, or still to come.
      if (ticks < follower.newest || ticks > follower.newest + 1)
        return `the frames end with tick ${follower.newest}, the log has ${ticks}`
      return follower.faults[0] ?? follower.session.faults[0]
    },
  },
  {
    id: 'ticks-frame', section: FRAME, needsEntry: true,
    says: 'a packet with ticks has at most 476 bytes, 400 of them bytes of the log, and no frame of a lane',
    async run(lab) {
      const follower = await follow(lab)
      await follower.give(FIRST_TYPE, ...Array.from({ length: ORDER_COUNT }, () => randomBytes(VALUE_BYTES * 30)))
      await pause(LISTEN_MS)
      for (const { frames, datagram } of follower.session.received) {
        if (!frames.some(({ kind }) => kind === LOCKSTEP.ticks)) continue
        if (datagram.length > TICK_PACKET_MAX) return `a packet of ${datagram.length} bytes`
        if (frames.some(({ kind }) => kind === LOCKSTEP.lanes)) return 'a packet has ticks and a lane'
      }
      const longest = Math.max(...follower.frames.map(({ bytes }) => bytes.length))
      return longest > TICK_BYTES_MAX ? `${longest} bytes of the log in a frame` : follower.faults[0]
    },
  },
  {
    id: 'ticks-again', section: FRAME, says: 'the bytes of a packet that is not acknowledged are sent again',
    needsEntry: true,
    async run(lab) {
      const follower = await follow(lab)
      follower.refusesNext = true
      await until(() => !follower.refusesNext, lab.target.answerMs * 2)
      return await follower.grows(TICKS_MIN, lab.target.answerMs * 3) ? follower.faults[0] : 'they do not come again'
    },
  },
  {
    id: 'ticks-same', section: TICKS, says: 'every client of a match receives the same bytes', needsEntry: true,
    async run(lab) {
      const one = await follow(lab)
      const other = await follow(lab)
      const isTogether = await findIn(
        one, (orders) => orders.some((order) => order.type === EVENT.join && playerOf(order) === other.player),
        lab.target.answerMs,
      )
      if (!isTogether) throw new NotLetIn('two clients are in two matches')
      await one.give(FIRST_TYPE, randomBytes(VALUE_BYTES))
      await pause(LISTEN_MS)
      const length = Math.min(one.bytes.length, other.bytes.length)
      return one.bytes.subarray(0, length).equals(other.bytes.subarray(0, length))
        ? one.faults[0] ?? other.faults[0] : 'two clients have different logs'
    },
  },
  {
    id: 'events-join', section: EVENTS, needsEntry: true,
    says: 'a tick has the join of a player, before the first order of that player',
    async run(lab) {
      const follower = await follow(lab)
      const values = randomBytes(VALUE_BYTES)
      await follower.give(FIRST_TYPE, values)
      await findIn(follower, (orders) => isIn(orders, values).length > 0, lab.target.answerMs * 2)
      const { orders } = follower.log
      const joinAt = orders.findIndex((order) => order.type === EVENT.join && playerOf(order) === follower.player)
      if (joinAt < 0) return `no join of player ${follower.player}`
      const orderAt = orders.findIndex(({ player }) => player === follower.player)
      return orderAt >= 0 && orderAt < joinAt ? 'an order comes before it' : undefined
    },
  },
  {
    id: 'events-forged', section: EVENTS, says: 'a client cannot give an event: it is in no tick', needsEntry: true,
    async run(lab) {
      const follower = await follow(lab)
      for (const type of [EVENT.away, EVENT.leave, EVENT.end]) await follower.give(type, Buffer.of(follower.player, 2))
      await follower.grows(TICKS_MIN, lab.target.answerMs * 2)
      await pause(LISTEN_MS)
      const { orders, fault } = follower.log
      const taken = orders.find(({ type, values }) =>
        [EVENT.away, EVENT.leave, EVENT.end].some((event) => event === type)
          && (type === EVENT.end || values[0] === follower.player))
      if (taken !== undefined) return `an event ${taken.type.toString(16)} of a client is in tick ${taken.tick}`
      return fault ?? (follower.session.goodbye === undefined ? undefined : `it says ${follower.session.goodbye}`)
    },
  },
  {
    id: 'order-once', section: ORDERS, needsEntry: true,
    says: 'an order that arrives three times is in one tick, with its player, type and values',
    async run(lab) {
      const follower = await follow(lab)
      const values = randomBytes(VALUE_BYTES)
      await follower.give(FIRST_TYPE, values)
      await findIn(follower, (orders) => isIn(orders, values).length > 0, lab.target.answerMs * 2)
      await pause(LISTEN_MS / 3)
      const [order, ...more] = isIn(follower.log.orders, values)
      if (order === undefined) return 'it is in no tick'
      if (more.length > 0) return `it is in the log ${more.length + 1} times`
      if (order.type !== FIRST_TYPE) return `it has type ${order.type}`
      return order.player === follower.player ? undefined : `it is of player ${order.player}`
    },
  },
  {
    id: 'order-sequence', section: TICKS, says: 'orders of a player are in the log as the player gave them',
    needsEntry: true,
    async run(lab) {
      const follower = await follow(lab)
      const given = Array.from({ length: ORDER_COUNT }, () => randomBytes(VALUE_BYTES))
      await follower.give(FIRST_TYPE, ...given)
      const mine = (): readonly Order[] => follower.log.orders.filter(({ player }) => player === follower.player)
      await until(() => mine().length >= given.length, lab.target.answerMs * 2)
      const found = mine()
      if (found.length !== given.length) return `of ${given.length} orders the log has ${found.length}`
      return given.every((values, index) => found[index]?.values.equals(values))
        ? undefined : 'they are in another sequence'
    },
  },
  {
    id: 'order-missing', section: ORDERS, needsEntry: true,
    says: 'an order whose predecessor is missing waits for it',
    async run(lab) {
      const follower = await follow(lab)
      const [first, second] = [randomBytes(VALUE_BYTES), randomBytes(VALUE_BYTES)]
      await follower.giveLate(FIRST_TYPE, first, second, lab.target.silenceMs)
      await findIn(follower, (orders) => isIn(orders, second).length > 0, lab.target.answerMs * 2)
      const found = follower.log.orders.filter(({ player }) => player === follower.player).map(({ values }) => values)
      if (found.length !== 2) return `of two orders the log has ${found.length}`
      return found[0]?.equals(first) === true ? undefined : 'it is in the log before its predecessor'
    },
  },
  {
    id: 'order-broken', section: ORDERS, says: 'an invalid frame of orders ends the connection with "broken"',
    needsEntry: true,
    async run(lab) {
      const { session } = await follow(lab)
      session.fallSilent()
      session.send([{ kind: LOCKSTEP.orders, body: Buffer.alloc(9, 0xff) }])
      await until(() => session.goodbye !== undefined, lab.target.answerMs * 2)
      return session.goodbye === 'broken' ? undefined : `it says ${session.goodbye ?? 'nothing'}`
    },
  },
]
