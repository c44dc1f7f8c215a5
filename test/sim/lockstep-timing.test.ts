/** When orders of a lockstep match are executed: clocks, deadlines and what a relay reports about them. */

import { expect, test } from 'vitest'
import { Dice } from 'tickwire/testing'
import { ClockLine } from '../../packages/tickwire/src/core/order-relay/clock-line.ts'
import { FIELD, RelayState } from '../../packages/tickwire/src/core/order-relay/relay-state.ts'
import { readTicks } from '../reference/lockstep-checker.ts'
import { game, Take } from './lockstep-game.ts'
import { LockstepParty } from './lockstep-party.ts'
import { RelayBench } from './relay-bench.ts'
import './unplanned-heals.ts'

const TICK_MS = 1000 / 30

test.each([0, 50, -50, 500])('[LOCK16] a clock minutes apart with a drift of %i ppm is known to 2 ms', (ppm) => {
  const [state, dice] = [new RelayState(1), new Dice(4)]
  const line = new ClockLine(state)
  const wayMs = 40
  state.set(0, FIELD.leastUpMs, wayMs)
  let worst = 0
  for (let sent = 0; sent < 60_000; sent += 50) {
    const stamp = Math.floor((345_678.9 + sent * (1 + ppm / 1e6)) * 16) & 0xffff
    const arrives = sent + wayMs + 20 * dice.fraction() ** 2
    line.sample(arrives as never, 0, stamp)
    // The smallest of 200 samples is 10 seconds old at most: until then the clock may have drifted.
    if (sent > 1000) worst = Math.max(worst, Math.abs(line.clickAt(arrives as never, 0, 0, 8) - sent))
  }
  expect(worst).toBeLessThan(Math.abs(ppm) > 100 ? 6 : 2)
})

test('[LOCK16] an order that claims 100 ms of a far client is moved as that of a near one, and each is counted', () => {
  const bench = new RelayBench({ deadlineMs: 240, deadlineMsMin: 240 })
  bench.leastUpMs[0] = 100
  for (let at = 0; at < 600; at += 20) bench.send(0, at, [], { way: 100 })
  bench.send(0, 610, [100, 100, 0], { way: 100 })
  for (let at = 720; at < 1100; at += 10) bench.relay.tick(at)
  const times = bench.orders().map(({ tick, time }) => (tick - 1) * TICK_MS + time / 1000)
  expect(times).toHaveLength(3)
  // The honest order has the time of its click, the two others are 8 ms before it.
  expect(times[2]! - times[0]!).toBeCloseTo(8, 0)
  expect(times[1]).toBe(times[0])
  expect(bench.relay.counts.clamped).toBe(2)
})

test('[LOCK14, LOCK15] orders of 10 and 15 ms are in a tick with a deadline of 80 ms, one of 280 ms is not', () => {
  const bench = new RelayBench({ late: 'drop', deadlineMs: 80, deadlineMsMin: 80, deadlineMsMax: 80 }, 3)
  const ways = [10, 15, 280]
  ways.forEach((way, slot) => { bench.leastUpMs[slot] = way })
  // All frames in the order of their arrival: each 20 ms, and the orders of all players at 401 ms, in window 13.
  const frames = ways.flatMap((way, slot) =>
    [...Array.from({ length: 20 }, (_, at) => at * 20), 401].map((sent) => ({ slot, sent, way })))
  for (const { slot, sent, way } of frames.sort((a, b) => a.sent + a.way - b.sent - b.way))
    bench.send(slot, sent, sent === 401 ? [0] : [], { way })
  const before = bench.relay.log.newest
  for (let at = 700; at < 1000; at += 10) bench.relay.tick(at)
  expect(bench.relay.log.newest - before).toBeGreaterThan(8)
  expect(bench.orders().map(({ player, tick }) => [player, tick])).toEqual([[1, 13], [2, 13]])
  expect(bench.relay.counts.late).toBe(1)
})

test('[LOCK8, LOCK24] a game has 30 ticks a second, and at 100 ms orders are executed 3 to 4 ticks later', () => {
  expect(game.tickRate).toBe(30)
  const party = new LockstepParty({
    game: game as never, seed: 6, clients: 3, weather: () => ({ latencyMs: 49, jitterMs: 2 }),
  })
  for (const { client } of party.clients) client.feed.drawsPerSecond = 60
  party.run(20_000)
  const { relay } = party.match
  expect(relay.deadline.ms).toBeGreaterThan(2.5 * TICK_MS)
  expect(relay.deadline.ms).toBeLessThan(3.5 * TICK_MS)
  for (let round = 0; round < 20; round++) {
    party.clients[round % 3]!.order(party.clock.now, Take as never, { crate: round })
    party.run(333)
  }
  expect(relay.counts).toMatchObject({ placed: 20, slipped: 0, late: 0 })
  // From the click to the close of its tick.
  const ticks = readTicks(relay.log.bytes.slice(0, relay.log.length))
  const closed = ticks.flatMap((orders, at) => orders.some(({ type }) => type === 1) ? [party.closedAt[at + 1]!] : [])
  expect(closed).toHaveLength(20)
  closed.forEach((at, round) => {
    const delay = (at - (20_000 + round * 333)) / TICK_MS
    expect(delay, `order ${round}`).toBeGreaterThan(1.5)
    expect(delay, `order ${round}`).toBeLessThan(3.5)
  })
})

test('[LOCK24] every 30 ticks a client learns how early its orders arrived, how many were late, and the jitter', () => {
  const party = new LockstepParty({
    game: game as never, seed: 6, clients: 2,
    weather: (client) => client === 0 ? { latencyMs: 20 } : { latencyMs: 40, jitterMs: 30 },
  })
  party.run(5000)
  /** Indexed by client, the ticks in which a new report arrived. */
  const changes = [[0], [0]] as [number[], number[]]
  const before: unknown[] = []
  for (let ms = 0; ms < 10_000; ms += 10) {
    if (ms % 200 === 0) for (const each of party.clients) each.order(party.clock.now, Take as never, { crate: 1 })
    party.run(10)
    party.clients.forEach(({ client }, at) => {
      const { timing } = client.feed.diagnostics()
      if (timing !== before[at]) changes[at]!.push(party.match.relay.log.newest)
      before[at] = timing
    })
  }
  for (const each of changes) {
    const gaps = each.slice(3).map((tick, at) => tick - each[at + 2]!)
    expect(gaps.length).toBeGreaterThan(6)
    for (const gap of gaps) expect(Math.abs(gap - 30)).toBeLessThanOrEqual(3)
  }
  const [near, far] = party.clients.map(({ client }) => client.feed.diagnostics().timing!)
  expect(near!.lateCount).toBe(0)
  // The nearer client has more time left, and less jitter.
  expect(near!.arrivalUs).toBeGreaterThan(far!.arrivalUs + 15_000)
  expect(near!.jitterUs).toBeLessThan(2000)
  expect(far!.jitterUs).toBeGreaterThan(4000)
})
