/**
 * Lockstep through an order relay: the delay of a click, the share of late ticks, which of two clicks is first, and the
 * CPU time of a relay.
 *
 * Delays, losses and bytes are measured in simulated time, with real packets: clicks at random moments, 60 draws a
 * second, bytes including the headers of IP and UDP. `relay_logic_us_per_tick` is CPU time of the relay alone, without
 * packets and sockets; `relay_all_us_per_tick` has both: sealed UDP, with the players in another process. The size of
 * orders is that of ten minutes of skirmish with eight bots. Figures of the ranked settings are beside the others.
 */

import { parseArgs } from 'node:util'
import { RANKED_RELAY, type TickLog } from 'tickwire/lockstep'
import { Dice, type Weather } from 'tickwire/testing'
import { BitReader } from '../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { OrderCursor, OrdersHead } from '../packages/tickwire/src/core/order/orders-frame.ts'
import { OrderRelay } from '../packages/tickwire/src/core/order-relay/order-relay.ts'
import { readTicks } from '../test/reference/lockstep-checker.ts'
import { game, Move, Take, Unit } from '../test/sim/lockstep-game.ts'
import { LockstepParty, type PartyOptions } from '../test/sim/lockstep-party.ts'
import { relayAllUs } from './lockstep/relay-cost.ts'
import { skirmishTrace } from './lockstep/skirmish-trace.ts'
import { collect, type Bench, type BenchResult, type Figure } from './harness.ts'

const PLAYERS = 8
const TICK_MS = 1000 / game.tickRate
const TAKE = game.orders.indexOf(Take)
const ORDERS_PER_SECOND = 1.5
const WARM_MS = 8000
const RTT_50: Weather = { latencyMs: 22.5, jitterMs: 5 }

export const bench: Bench = {
  name: 'lockstep',
  summary: 'click to executed, late orders, fairness, bytes and the cost of an order relay',
  options: ['--seconds N    simulated seconds of each scene (default 60)'],
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { seconds: { type: 'string', default: '60' } } })
    return await run(Number(values.seconds))
  },
}

interface Click {
  readonly client: number
  readonly at: number
  executedAt: number
}

/** A scene: a match with random clicks. */
class Scene {
  readonly party: LockstepParty
  readonly clicks: Click[] = []
  readonly seconds: number
  downBytes = 0
  upBytes = 0

  constructor(options: Partial<PartyOptions>, seconds: number, muted = -1, liar = -1) {
    const dice = new Dice(11)
    this.seconds = seconds
    this.party = new LockstepParty({ game: game as never, seed: 21, clients: PLAYERS, ...options })
    const { party } = this
    party.runUntil(() => party.clients.every(({ client }) => client.runner !== undefined), 5000)
    party.clients.forEach((each, client) => {
      each.client.feed.drawsPerSecond = 60
      const waiting: Click[] = []
      each.client.runner!.onOrder(Take as never, (_values, state) => {
        if (state === 'issued') waiting.push(this.clicks.at(-1)!)
        else if (state === 'executed') waiting.shift()!.executedAt = party.clock.now
        else waiting.shift()
      })
      void client
    })
    party.run(WARM_MS)
    if (muted >= 0) party.clients[muted]!.link.weather = { loss: 1 }
    this.#counts(-1)
    const end = party.clock.now + seconds * 1000
    while (party.clock.now < end) {
      // The next click of any player: exponential waits.
      party.run(-Math.log(1 - dice.fraction()) * 1000 / (ORDERS_PER_SECOND * PLAYERS))
      const client = Math.floor(dice.fraction() * PLAYERS)
      if (client !== muted) this.#click(client, dice, client === liar)
    }
    this.#counts(1)
    party.run(1500)
  }

  #counts(sign: number): void {
    this.downBytes += (sign * this.party.sentBytes) / PLAYERS
    this.upBytes += (sign * this.party.clients.reduce((sum, { sentBytes }) => sum + sentBytes, 0)) / PLAYERS
  }

  #click(client: number, dice: Dice, isLiar: boolean): void {
    const { party } = this
    const { now } = party.clock
    const each = party.clients[client]!
    if (dice.chance(0.5) && !isLiar) {
      const { runner, player } = each.client
      const own = [...runner!.world.each(Unit)].filter(({ owner }) => owner === player).map(({ id }) => id)
      each.order(now, Move as never, { units: own, to: { x: 256 * dice.fraction(), y: 256 * dice.fraction() } })
      return
    }
    this.clicks.push({ client, at: now, executedAt: NaN })
    each.order(isLiar ? now - 500 : now, Take as never, { crate: this.clicks.length % 65_536 })
  }

  /** The mean time from a click to its execution at the player that clicked, for some players. */
  mean(isCounted: (client: number) => boolean = () => true): number {
    const done = this.clicks.filter(({ client, executedAt }) => isCounted(client) && executedAt > 0)
    return done.reduce((sum, { at, executedAt }) => sum + executedAt - at, 0) / done.length
  }

  /** For each click: its number in the stream, and its time on the relay's clock. */
  placed(): { readonly click: Click; readonly place: number; readonly timeMs: number }[] {
    const { log } = this.party.match.relay
    const start = this.party.closedAt[1]! - 120
    return readTicks(log.bytes.slice(0, log.length)).flatMap((orders, at) =>
      orders.filter(({ player, type }) => player > 0 && type === TAKE).map(({ data, time }) => {
        const serial = Number.parseInt(data.slice(2) + data.slice(0, 2), 16)
        return { click: this.clicks[serial - 1]!, timeMs: start + at * TICK_MS + time / 1000 }
      }),
    ).map((each, place) => ({ ...each, place }))
  }

  lateShare(): number {
    const { placed, slipped, late } = this.party.match.relay.counts
    return (slipped + late) / (placed + late)
  }

  /** Ticks that the relay closed more than one tick later than planned. */
  relayStalledShare(): number {
    const gaps = this.party.closedAt.slice(1).map((at, index) => at - (this.party.closedAt[index] ?? at))
    return gaps.filter((gap) => gap > 2 * TICK_MS).length / gaps.length
  }

  /**
   * The share of ticks that a client stepped more than one tick after its plan: the closing time, the one-way delay and
   * the playout delay.
   */
  stalledShare({ latencyMs = 0 }: Weather, muted: number): number {
    let [stalled, count] = [0, 0]
    const from = Math.ceil(WARM_MS / TICK_MS)
    this.party.clients.forEach(({ executedAt, heldMs }, client) => {
      if (client === muted) return
      for (let tick = from; tick < executedAt.length; tick++) {
        const plannedAt = this.party.closedAt[tick]! + latencyMs + heldMs[tick]!
        if (executedAt[tick]! - plannedAt > TICK_MS) stalled++
        count++
      }
    })
    return stalled / count
  }
}

/** Of two clicks of different players, 15 to 60 ms apart: how often the earlier is first in the stream. */
function earlierWins(scene: Scene): number {
  const placed = scene.placed().sort((a, b) => a.click.at - b.click.at)
  let [won, count] = [0, 0]
  placed.forEach((first, at) => {
    for (const second of placed.slice(at + 1)) {
      const apart = second.click.at - first.click.at
      if (apart > 60) break
      if (apart < 15 || first.click.client === second.click.client) continue
      count++
      if (first.place < second.place) won++
    }
  })
  return won / count
}

/** How often an order that claims the earliest allowed time is placed within 10 ms of its true time. */
function spoofedWithin(scene: Scene, liar: number): number {
  const lies = scene.placed().filter(({ click }) => click.client === liar)
  return lies.filter(({ click, timeMs }) => Math.abs(timeMs - click.at) <= 10).length / lies.length
}

/** Bytes of a log against structs of fixed width for every tick and player, empty ones too. */
function tlvRatio(log: TickLog): number {
  const HEAD = 16
  const ticks = readTicks(log.bytes.slice(0, log.length))
  const orders = ticks.flat().reduce((sum, { data }) => sum + 12 + data.length / 2, 0)
  return log.length / (ticks.length * PLAYERS * HEAD + orders)
}

/** Processor time of a relay per tick: eight players at 10 packets a second each, 1.5 orders a second each. */
function relayLogicUs(): number {
  const relay = new OrderRelay({ tickRate: 30, players: PLAYERS, secret: 3 })
  for (let player = 1; player <= PLAYERS; player++) relay.join(0, player)
  relay.start(0)
  const dice = new Dice(5)
  const numbers = Array.from({ length: PLAYERS }, () => 0)
  const [head, cursor, out] = [new OrdersHead(), new OrderCursor(), new BitWriter(new Uint8Array(400))]
  const reader = new BitReader(new Uint8Array(0))
  const frame = (slot: number, now: number, executed: number): Uint8Array => {
    out.reset(out.bytes)
    const hasOrder = dice.chance(0.15)
    head.stamp = Math.floor((now - 25 - 5 * dice.fraction()) * 16) & 0xffff
    head.executed = executed
    head.token = executed === 0 ? 0 : relay.token(slot, executed)
    head.pulseCount = Math.min(executed, 6)
    const first = executed - head.pulseCount + 1
    for (let each = 0; each < head.pulseCount; each++) head.pulses[each] = (first + each) & 0xffff
    head.count = hasOrder ? 1 : 0
    if (hasOrder) head.first = ++numbers[slot]!
    head.write(out)
    cursor.begin()
    if (hasOrder) cursor.write(out, 0, 1, new Uint8Array(20), 0, 20)
    return out.bytes.slice(0, out.finish())
  }
  let total = 0
  let counted = 0
  const BATCH = 60
  for (let tick = 0; tick < 30_000; tick += BATCH) {
    const frames: [number, number, Uint8Array][] = []
    for (let each = 0; each < BATCH; each++) {
      const now = (tick + each) * TICK_MS + 10
      for (let slot = 0; slot < PLAYERS; slot++)
        if ((each + slot) % 3 === 0) frames.push([now, slot, frame(slot, now, Math.max(0, tick + each - 6))])
    }
    const before = process.cpuUsage()
    for (const [now, slot, bytes] of frames) {
      relay.tick(now)
      reader.reset(bytes)
      relay.handleOrders(now, slot, reader)
    }
    const { user, system } = process.cpuUsage(before)
    if (tick < 3000) continue
    total += user + system
    counted += BATCH
  }
  return total / counted
}

function heapBytesPerGame(): number {
  const GAMES = 1000
  const used = (): number => {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = used()
  const relays = Array.from({ length: GAMES }, (_, secret) => {
    const relay = new OrderRelay({ tickRate: 30, players: PLAYERS, secret })
    for (let player = 1; player <= PLAYERS; player++) relay.join(0, player)
    relay.start(0)
    for (let now = 0; now < 1000; now += 30) relay.tick(now)
    return relay
  })
  const bytes = (used() - before) / relays.length
  return bytes
}

/** The figures of matches in simulated time, with the settings of a relay. */
function scenes(seconds: number, relay: NonNullable<PartyOptions['relay']>): Record<string, number> {
  const at = (weather: Weather) => ({ weather: () => weather, relay })
  const LOSSY: Weather = { ...RTT_50, loss: 0.05 }
  const JITTERY: Weather = { latencyMs: 25, jitterMs: 20, loss: 0.02 }
  const isNear = (client: number): boolean => client !== 0
  const base = new Scene(at(RTT_50), seconds)
  const weather = (client: number): Weather => client === 0 ? { latencyMs: 200, jitterMs: 5 } : RTT_50
  const far = new Scene({ weather, relay }, seconds)
  const lossy = new Scene(at(LOSSY), seconds, 1)
  return {
    click_to_executed_ms_mean: base.mean(),
    click_to_executed_ms_mean_loss_5: lossy.mean(),
    others_slowdown_one_at_400: far.mean(isNear) / base.mean(isNear),
    ticks_stalled: lossy.stalledShare(LOSSY, 1),
    relay_ticks_stalled: lossy.relayStalledShare(),
    late_orders_share: new Scene(at(JITTERY), seconds).lateShare(),
    earlier_click_wins_share: earlierWins(base),
    spoofed_within_10ms_share: spoofedWithin(new Scene(at(RTT_50), seconds, -1, 2), 2),
    wire_bytes_per_s_down: base.downBytes / seconds,
    wire_bytes_per_s_up: base.upBytes / seconds,
  }
}

/** Units and bars of the figures of `scenes`. */
const BARS: Readonly<Record<string, readonly [unit: string, bound: Partial<Figure>]>> = {
  click_to_executed_ms_mean: ['ms', { atMost: 110 }],
  click_to_executed_ms_mean_loss_5: ['ms', {}],
  others_slowdown_one_at_400: ['x', { atMost: 1.1 }],
  ticks_stalled: ['share', { atMost: 0.001 }],
  relay_ticks_stalled: ['share', { atMost: 0 }],
  late_orders_share: ['share', { atMost: 0.001 }],
  earlier_click_wins_share: ['share', { atLeast: 0.99 }],
  spoofed_within_10ms_share: ['share', { atLeast: 0.9 }],
  wire_bytes_per_s_down: ['B/s', { atMost: 2800 }],
  wire_bytes_per_s_up: ['B/s', { atMost: 1500 }],
}

async function run(seconds: number): Promise<BenchResult> {
  const heapBytes = heapBytesPerGame()
  const [casual, ranked] = [scenes(seconds, {}), scenes(seconds, RANKED_RELAY)]
  const relay = new OrderRelay({ tickRate: 30, players: PLAYERS, secret: 1 })
  const coreBytes = relay.state.buffer.byteLength + relay.log.bytes.byteLength + 256
  const allUs = await relayAllUs()
  const figure = (name: string, value: number, unit: string, bound: Partial<Figure> = {}): Figure =>
    ({ name, value, unit, against: null, ...bound })
  const figures = [
    ...Object.entries(BARS).flatMap(([name, [unit, bound]]) => [
      figure(name, casual[name] ?? NaN, unit, bound), figure(`${name}_ranked`, ranked[name] ?? NaN, unit),
    ]),
    figure('tlv_ratio_naive', tlvRatio(skirmishTrace()), 'x', { atMost: 0.2, against: 'structs of a fixed size' }),
    figure('relay_logic_us_per_tick', relayLogicUs(), 'us', { atMost: 5 }),
    figure('relay_core_bytes', coreBytes, 'B', { atMost: 10_240 }),
    figure('relay_heap_bytes_per_game', heapBytes, 'B', { atMost: 16_384 }),
    figure('relay_all_us_per_tick', allUs, 'us'),
    figure('relay_games_per_core', (1000 * TICK_MS) / allUs, 'games'),
  ]
  return {
    tables: [{
      title: `lockstep: ${PLAYERS} players at ${game.tickRate} Hz, ${seconds} s a scene`,
      columns: ['figure', 'value', 'unit', 'bound'],
      rows: figures.map(({ name, value, unit, atMost, atLeast }) =>
        [name, value, unit, atMost !== undefined ? `<= ${atMost}` : atLeast !== undefined ? `>= ${atLeast}` : '']),
    }],
    figures,
  }
}
