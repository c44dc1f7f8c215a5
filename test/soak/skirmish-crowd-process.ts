/**
 * Players of skirmish at an order relay: they give orders, leave, join running matches, and begin new ones.
 *
 *   skirmish-crowd-process.ts RELAY_URL PLAYERS STAY_MS SEED
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { relay, type LockstepRoom } from 'tickwire/lockstep'
import { connect } from 'tickwire/node'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { Match, Seat, Unit } from '../../games/skirmish/definitions.ts'
import { skirmishGame } from '../../games/skirmish/game.ts'
import { CELLS } from '../../games/skirmish/map-cells.ts'
import { Advance, type ORDERS } from '../../games/skirmish/orders.ts'
import { CrowdReport, type CrowdOrder } from './program-messages.ts'

type Room = LockstepRoom<typeof ORDERS>

const [url = '', players = '1', stayMs = '60000', seed = '1'] = process.argv.slice(2)
const game = skirmishGame()
const dice = new Prng(Number(seed))
const report = new CrowdReport()
const ORDER_MS = 1000
/** After the end of a match, before the next one. */
const RESULT_MS = 2000
const LOOK_MS = 50
/** The ticks that prove that a match goes on. */
const PROOF_TICKS = 15

/** Rooms that were playing when a program was killed, with their last tick then. */
let absent = new Map<Room, number>()
let killedAt = 0
const rooms = new Set<Room>()

for (let index = 0; index < Number(players); index++) void live()

/** One player: it joins, plays, leaves and joins again, without end. */
async function live(): Promise<void> {
  for (;;) {
    const startedAt = performance.now()
    try {
      const room = await connect(game, relay(url), {
        join: { quick: 'skirmish' }, onDesync: ({ tick }) => report.fault(`a desync at tick ${tick}`),
      })
      report.took('join', performance.now() - startedAt)
      await stay(room)
    } catch (error) {
      report.ended(String((error as { code?: string }).code ?? error))
    }
    await sleep(500 + dice.nextFloat() * 1500)
  }
}

/** Until the player leaves, or the match is over. */
async function stay(room: Room): Promise<void> {
  report.joins++
  report.active++
  rooms.add(room)
  const stayUntil = performance.now() - Math.log(1 - dice.nextFloat()) * Number(stayMs)
  let isLeaving = false
  let overAt = Infinity
  let movedAt = performance.now()
  let tick = room.tick
  const orders = setInterval(() => giveOrder(room), ORDER_MS)
  const looks = setInterval(() => {
    const now = performance.now()
    if (room.tick !== tick) {
      report.took('tick gap', now - movedAt)
      movedAt = now
      tick = room.tick
    }
    const [match] = room.world.each(Match)
    if (match !== undefined && match.winner !== 0 && overAt === Infinity) overAt = now + RESULT_MS
    if (!isLeaving && absent.size === 0 && now > Math.min(stayUntil, overAt)) {
      isLeaving = true
      room.leave()
    }
    const before = absent.get(room)
    if (before !== undefined && room.tick >= before + PROOF_TICKS && !room.isAway) settle(room)
  }, LOOK_MS)
  const { code } = await room.closed
  clearInterval(orders)
  clearInterval(looks)
  report.active--
  rooms.delete(room)
  if (isLeaving) report.leaves++
  else report.ended(code)
  if (absent.has(room)) {
    report.fault(`a match ended with ${code} after a kill`)
    settle(room)
  }
}

/** Some units of the own seat attack somewhere. */
function giveOrder(room: Room): void {
  const seat = [...room.world.each(Seat)].find(({ player }) => player === room.player)
  if (seat === undefined || seat.isOut) return
  const units = [...room.world.each(Unit)].filter((unit) => unit.seat === seat.number).map(({ id }) => id)
  const chosen = units.filter(() => dice.nextFloat() < 0.3).sort((a, b) => a - b)
  if (chosen.length > 0)
    room.order(Advance, { units: chosen, to: Math.floor(dice.nextFloat() * CELLS), isQueued: false })
}

function settle(room: Room): void {
  if (absent.delete(room) && absent.size === 0) report.back(performance.now() - killedAt)
}

process.on('message', (order: CrowdOrder) => {
  if (order !== 'killed') return
  killedAt = performance.now()
  absent = new Map([...rooms].map((room) => [room, room.tick]))
  if (absent.size === 0) report.back(0)
})
