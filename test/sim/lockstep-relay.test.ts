import { expect, test } from 'vitest'
import { OrderRelay } from '../../packages/tickwire/src/core/order-relay/order-relay.ts'
import { DEFAULT_FILTERS, type RelayFilter } from '../../packages/tickwire/src/core/order-relay/relay-filter.ts'
import { RANKED_RELAY } from 'tickwire/lockstep'
import { Dice } from 'tickwire/testing'
import { readTicks } from '../reference/lockstep-checker.ts'
import { game, makeLockstepGame, Move, Take, Unit } from './lockstep-game.ts'
import { LockstepParty, type PartyOptions } from './lockstep-party.ts'
import { RelayBench } from './relay-bench.ts'
import { planDesyncs } from './unplanned-heals.ts'

const TICK_MS = 1000 / 30

/** Plays a party with random orders, and checks that all clients have equal hashes. */
function playParty(
  options: Partial<PartyOptions>,
  seconds: number,
  each?: (party: LockstepParty, ms: number) => void,
): LockstepParty {
  const party = new LockstepParty({ game: game as never, seed: 5, clients: 4, ...options })
  const dice = new Dice(1)
  for (let ms = 0; ms < seconds * 1000; ms += 50) {
    party.run(50)
    each?.(party, ms)
    for (const client of party.clients) {
      if (dice.chance(0.1)) client.order(party.clock.now, Take as never, { crate: 1 })
      const { runner, player } = client.client
      if (runner === undefined || !dice.chance(0.1)) continue
      const units = [...runner.world.each(Unit)].filter(({ owner }) => owner === player).map(({ id }) => id)
      client.order(party.clock.now, Move as never, { units, to: { x: dice.fraction() * 256, y: 9 } })
    }
  }
  party.run(1500)
  return party
}

function expectEqual(party: LockstepParty): void {
  const [first, ...others] = party.clients
  const newest = Math.min(...party.clients.map(({ hashes }) => hashes.length)) - 1
  expect(newest).toBeGreaterThan(30)
  for (const other of others) expect(other.hashes.slice(1, newest + 1)).toEqual(first!.hashes.slice(1, newest + 1))
  for (const other of others) {
    const [a, b] = [first!.client.feed.log, other.client.feed.log]
    const length = Math.min(a.length, b.length)
    expect(b.bytes.slice(0, length)).toEqual(a.bytes.slice(0, length))
  }
}

test('[LOCK13] four clients at 100 ms and 5 % loss have the same bytes and hashes in every tick', () => {
  const party = playParty({ weather: () => ({ latencyMs: 50, jitterMs: 20, loss: 0.05, duplication: 0.02 }) }, 12)
  expectEqual(party)
  expect(party.match.relay.counts.placed).toBeGreaterThan(50)
  expect(party.clients[0]!.hashes.length).toBeGreaterThan(350)
  expect(party.largestDatagram).toBeLessThanOrEqual(476)
  expect(party.notices).toEqual([])
})

test('[LOCK14] ticks close at their planned time whatever a client does: one is mute, one stands still', () => {
  const party = playParty({ weather: () => ({ latencyMs: 25, jitterMs: 5, loss: 0.05 }) }, 10, ({ clients }, ms) => {
    if (ms === 3000) clients[0]!.link.weather = { loss: 1 }
    if (ms === 3000) clients[1]!.frozenUntil = 6000
  })
  for (let tick = 3; tick < party.closedAt.length; tick++) {
    const gap = party.closedAt[tick]! - party.closedAt[tick - 1]!
    expect(gap).toBeGreaterThan(TICK_MS * 0.9)
    expect(gap).toBeLessThan(TICK_MS * 1.1)
  }
  const [, , ...others] = party.clients
  expect(others[0]!.hashes.slice(1, 300)).toEqual(others[1]!.hashes.slice(1, 300))
})

test('[LOCK15] a late order slips into the next open tick at time 0, at most 8 ticks, or is dropped', () => {
  for (const late of ['slip', 'drop'] as const) {
    const bench = new RelayBench({ late, deadlineMs: 100, deadlineMsMin: 100, deadlineMsMax: 100, claimMs: 1000 })
    for (let at = 0; at < 400; at += 20) {
      bench.send(0, at, [])
      bench.send(1, at, [])
    }
    bench.send(0, 400, [5])
    bench.send(1, 401, [150])
    bench.send(1, 402, [900])
    for (let at = 410; at < 1000; at += 10) bench.relay.tick(at)
    const { placed, slipped, late: dropped } = bench.relay.counts
    expect([placed, slipped, dropped]).toEqual(late === 'slip' ? [2, 1, 1] : [1, 0, 2])
    // Window 11 begins at 333 ms and closes at 433 ms: at 401 ms, window 10 is the next to close.
    if (late === 'slip') expect(bench.orders().map(({ tick, time }) => [tick, time])[0]).toEqual([11, 0])
  }
})

test.each([
  ['', (_slot: number, at: number) => at],
  [', also with clocks that are minutes apart and drift',
    (slot: number, at: number) => slot === 0 ? at : 345_678.9 + at * 1.0005],
] as const)('[LOCK16] the earlier click wins, though it arrives later%s', (_name, clockOf) => {
  const bench = new RelayBench()
  bench.clockOf = clockOf
  bench.leastUpMs.fill(40)
  for (let at = 0; at < 600; at += 20) {
    bench.send(0, at, [], { way: 40 })
    bench.send(1, at, [], { way: 40 })
  }
  // Both are clicked in the same window: player 2 at 605, player 1 at 620. The packet of player 2 needs 25 ms more.
  bench.send(0, 620, [0], { way: 40, bytes: [1] })
  bench.send(1, 605, [0], { way: 65, bytes: [2] })
  for (let at = 680; at < 1000; at += 10) bench.relay.tick(at)
  const [first, second] = bench.orders()
  expect([first!.player, second!.player]).toEqual([2, 1])
  if (first!.tick === second!.tick) expect(second!.time - first!.time).toBeCloseTo(15_000, -3)
})

test('[LOCK16] an order that claims to be old is moved by 8 ms at most, and counted', () => {
  const bench = new RelayBench({ deadlineMs: 200, deadlineMsMin: 200 })
  for (let at = 0; at < 600; at += 20) bench.send(0, at, [])
  bench.send(0, 610, [0])
  bench.send(1, 610, [60])
  for (let at = 610; at < 1000; at += 10) bench.relay.tick(at)
  const timeOf = ({ tick, time }: { tick: number; time: number }): number => tick * TICK_MS + time / 1000
  const [liar, honest] = bench.orders()
  expect([liar!.player, honest!.player]).toEqual([2, 1])
  expect(timeOf(honest!) - timeOf(liar!)).toBeCloseTo(8, 0)
  expect(bench.relay.counts.clamped).toBe(1)
})

test('[LOCK17] budgets: a burst of 128 passes, then 16 a tick; 8,192 bytes at once; 256 in a tick', () => {
  const bench = new RelayBench()
  bench.send(0, 10, Array.from({ length: 100 }, () => 0))
  bench.send(0, 11, Array.from({ length: 100 }, () => 0))
  expect(bench.relay.counts).toMatchObject({ placed: 128, filtered: 72 })
  for (let tick = 0; tick < 20; tick++) bench.send(0, 200 + tick * TICK_MS, Array.from({ length: 50 }, () => 0))
  const sustained = bench.relay.counts.placed
  for (let tick = 20; tick < 40; tick++) bench.send(0, 200 + tick * TICK_MS, Array.from({ length: 50 }, () => 0))
  expect(bench.relay.counts.placed - sustained).toBe(20 * 16)
  const large = new RelayBench({}, 1)
  const bytes = Array.from({ length: 300 }, () => 7)
  for (let count = 0; count < 60; count++) large.send(0, 10 + count / 10, [0], { bytes })
  expect(large.relay.counts.placed).toBe(Math.floor(8192 / 300))
  const many = new RelayBench({ ordersBurst: 10_000, bytesBurst: 100_000 }, 1)
  for (let count = 0; count < 3; count++) many.send(0, 10 + count, Array.from({ length: 100 }, () => 0))
  expect(many.relay.counts.placed).toBe(256)
  // After ten seconds of silence the budget is full again, and no fuller.
  for (let at = 1600; at < 11_600; at += 30) bench.relay.tick(at)
  const before = bench.relay.counts.placed
  bench.send(0, 11_600, Array.from({ length: 130 }, () => 0))
  expect(bench.relay.counts.placed - before).toBe(128)
})

test('[LOCK17] filters come from configuration: a custom one drops orders of a type and sees every tick', () => {
  let ticks = 0
  const noTypeTwo: RelayFilter = {
    name: 'no-two', onOrder: ({ type }) => type === 2 ? 'drop' : 'pass', onTick: () => { ticks++ },
  }
  const bench = new RelayBench({ filters: [noTypeTwo, ...DEFAULT_FILTERS] })
  bench.send(0, 10, [0], { type: 2 })
  bench.send(0, 11, [0], { type: 1 })
  bench.relay.tick(200)
  expect(bench.orders().map(({ type }) => type)).toEqual([1])
  expect(ticks).toBe(bench.relay.log.newest)
  // In the other order the dropped orders cost budget.
  const placedWith = (filters: readonly RelayFilter[]): number => {
    const ordered = new RelayBench({ filters })
    for (const type of [2, 1]) ordered.send(0, 10 + type, Array.from({ length: 100 }, () => 0), { type })
    return ordered.relay.counts.placed
  }
  expect([placedWith([noTypeTwo, ...DEFAULT_FILTERS]), placedWith([...DEFAULT_FILTERS, noTypeTwo])]).toEqual([100, 28])
  const open = new RelayBench({ filters: [] })
  for (let count = 0; count < 4; count++) open.send(0, 10 + count, Array.from({ length: 100 }, () => 0))
  expect(open.relay.counts.placed).toBe(400)
})

test('[LOCK18] a client that sends and does not step is frozen, then away, and back when it steps again', () => {
  const party = playParty({ clients: 3, weather: () => ({ latencyMs: 20 }) }, 12, ({ clients }, ms) => {
    if (ms === 2000) clients[0]!.stuckUntil = 9000
  })
  const { player } = party.clients[0]!.client
  expect(party.notices.filter(({ kind }) => kind === 'frozen').every(({ peer }) => peer === player)).toBe(true)
  expect(party.notices.some(({ kind }) => kind === 'frozen')).toBe(true)
  const events = party.clients[1]!.events.filter(([name]) => name === 'away' || name === 'back')
  expect(events.map(([name, who]) => [name, who])).toEqual([['away', player], ['back', player]])
  expectEqual(party)
  // A slow line is not frozen.
  const slow = playParty({ clients: 2, weather: () => ({ latencyMs: 300, jitterMs: 50 }) }, 5)
  expect(slow.notices).toEqual([])
})

test('[LOCK19] a lost connection is away and back in the same tick everywhere, and no order is executed twice', () => {
  const weather = (): object => ({ latencyMs: 20, loss: 0.05 })
  const party = playParty({ clients: 3, weather, resumeMs: 20_000 }, 20, ({ clients, clock }, ms) => {
    const [lost] = clients
    if (ms === 3000) lost!.link.weather = { loss: 1 }
    if (ms === 9500) {
      lost!.link.weather = { latencyMs: 20 }
      lost!.connect(clock.now, { resume: lost!.client.seat!.ticket })
    }
  })
  const { player } = party.clients[0]!.client
  const ofPlayer = party.clients[1]!.events.filter(([, who]) => who === player)
  expect(ofPlayer.map(([name]) => name)).toEqual(['join', 'away', 'back'])
  expect(party.clients[1]!.events).toEqual(party.clients[2]!.events)
  expect(party.clients[0]!.events).toEqual(party.clients[1]!.events)
  expectEqual(party)
})

test('[LOCK19] a player that leaves is gone in the same tick on every peer', () => {
  const party = playParty({ clients: 3, weather: () => ({ latencyMs: 20 }) }, 5, ({ clients, clock }, ms) => {
    if (ms === 2000) clients[0]!.client.close(clock.now)
  })
  const [, a, b] = party.clients
  expect(a!.events).toEqual(b!.events)
  const last = a!.events.filter(([name]) => name !== 'deadline').at(-1)!
  expect(last.slice(0, 2)).toEqual(['leave', party.clients[0]!.client.player])
  expect(a!.hashes.slice(1, 150)).toEqual(b!.hashes.slice(1, 150))
})

test('[LOCK19] a client that resumes before its first tick does not give its orders twice', () => {
  const bench = new RelayBench()
  expect(bench.send(0, 40, [0, 0])).toBe('ok')
  // The first of these connections is lost before its first packet.
  for (const now of [50, 60]) {
    bench.relay.away(1)
    bench.relay.back(now, 1)
  }
  bench.isContinued[0] = true
  bench.next[0] = 1
  expect(bench.send(0, 70, [30, 30, 0])).toBe('ok')
  for (let now = 80; now < 400; now += 10) bench.relay.tick(now)
  expect(bench.orders()).toHaveLength(3)
})

test('[LOCK19] a new process that resumes a seat numbers its orders from 1, and none is taken for an old one', () => {
  const bench = new RelayBench()
  expect(bench.send(0, 40, [0, 0])).toBe('ok')
  bench.relay.away(1)
  bench.relay.back(50, 1)
  bench.next[0] = 1
  for (let now = 60; now < 200; now += 10) bench.relay.tick(now)
  // Its first packets are lost: it has already stepped a tick when one arrives.
  expect(bench.send(0, 200, [0], { executed: 1 })).toBe('ok')
  for (let now = 210; now < 500; now += 10) bench.relay.tick(now)
  expect(bench.orders()).toHaveLength(3)
})

test('[LOCK19] orders that wait when their player leaves are not given by the next player of its slot', () => {
  const bench = new RelayBench()
  expect(bench.send(1, 40, [0, 0])).toBe('ok')
  bench.relay.leave(2, 'left')
  expect(bench.relay.join(41, 3)).toBe(1)
  expect(bench.send(0, 42, [0])).toBe('ok')
  for (let now = 50; now < 400; now += 10) bench.relay.tick(now)
  expect(bench.orders().map(({ player }) => player)).toEqual([1])
})

test('[LOCK20] an observer receives ticks later, on the relay, and never in time', () => {
  const party = playParty({ clients: 2, observerDelayTicks: 60 }, 6, (playing, ms) => {
    if (ms === 1000) playing.add({ role: 'spectator' })
  })
  const [player, , observer] = party.clients
  expect(observer!.client.player).toBe(0)
  expect(observer!.client.runner!.tick).toBeGreaterThan(60)
  for (let tick = 1; tick < observer!.hashes.length; tick++) {
    expect(observer!.hashes[tick]).toBe(player!.hashes[tick])
    expect(observer!.executedAt[tick]! - party.closedAt[tick]!).toBeGreaterThan(59 * TICK_MS)
  }
})

test('[LOCK21] a world that differs is noticed within a second, by the player that differs', () => {
  planDesyncs()
  const party = playParty({
    clients: 4, weather: () => ({ latencyMs: 20 }),
    gameOf: (client) => (client === 2 ? makeLockstepGame(() => 1) : game) as never,
  }, 12)
  const { player } = party.clients[2]!.client
  const found = party.notices.filter(({ kind }) => kind === 'differs')
  expect(found.length).toBeGreaterThan(0)
  expect(found.every(({ peer }) => peer === player)).toBe(true)
  const first = party.clients[0]!.hashes.findIndex((hash, tick) => tick > 0 && hash !== party.clients[2]!.hashes[tick])
  expect(found[0]!.tick - first).toBeLessThan(30)
})

test('[LOCK22] a player that joins after a minute is in time a second later: catching up is not jitter', () => {
  const party = new LockstepParty({ game: game as never, seed: 5, clients: 1, weather: () => ({ latencyMs: 10 }) })
  party.run(60_000)
  const late = party.add()
  party.run(1000)
  expect(party.match.relay.log.newest - late.client.runner!.tick).toBeLessThan(4)
  expect(late.client.feed.diagnostics().holdMs).toBeLessThan(30)
})

test('[LOCK22] an order in the first packet of a player is executed, and so are those after it', () => {
  const party = new LockstepParty({ game: game as never, seed: 5, clients: 1 })
  party.run(500)
  const late = party.add()
  // Packets without the order are dropped: the first one that arrives has the order.
  late.onSend = (bytes, length) => {
    if (late.client.endpoint.connections[0]?.state === 'connected') bytes.fill(0, 0, length)
  }
  expect(party.runUntil(() => late.client.runner !== undefined, 500)).toBe(true)
  expect(late.order(party.clock.now, Take as never, { crate: 1 })).toBe('sent')
  late.onSend = () => {}
  party.run(300)
  expect(late.order(party.clock.now, Take as never, { crate: 2 })).toBe('sent')
  party.run(500)
  expect(late.client.feed.orders.waitingCount).toBe(0)
  const { log } = party.match.relay
  const orders = readTicks(log.bytes.slice(0, log.length)).flat().filter(({ player }) => player === 2)
  expect(orders.map(({ data }) => data)).toEqual(['0100', '0200'])
})

test('[LOCK22] a player that joins late steps all ticks so far, and then those of the match', () => {
  const party = playParty({ clients: 2, weather: () => ({ latencyMs: 30, loss: 0.02 }) }, 15, (playing, ms) => {
    if (ms === 8000) playing.add()
  })
  expectEqual(party)
  expect(party.clients[2]!.client.runner!.tick).toBeGreaterThan(party.match.relay.log.newest - 10)
  expect(party.clients[0]!.events.filter(([name]) => name === 'join')).toHaveLength(3)
})

test('[LOCK23] pause, resume and speed happen in the same tick, and a pause stops time', () => {
  const party = playParty({ clients: 2, weather: () => ({ latencyMs: 20 }) }, 12, ({ clients, clock }, ms) => {
    const [{ client }] = clients as [(typeof clients)[0]]
    if (ms === 2000) client.runner!.pause(clock.now)
    if (ms === 4000) client.runner!.resume(clock.now)
    if (ms === 9000) client.runner!.setSpeed(clock.now, 2)
  })
  expectEqual(party)
  const events = party.clients[0]!.events.filter(([name]) => name !== 'join' && name !== 'deadline')
  expect(events.map(([name]) => name)).toEqual(['pause', 'resume', 'speed'])
  expect(party.clients[1]!.events).toEqual(party.clients[0]!.events)
  const [pause, resume, speed] = events.map(([, , tick]) => tick) as [number, number, number]
  expect(resume).toBe(pause + 1)
  expect(party.closedAt[resume]! - party.closedAt[pause]!).toBeGreaterThan(4900)
  expect(party.closedAt[speed + 20]! - party.closedAt[speed + 10]!).toBeCloseTo(5 * TICK_MS, -1)
})

test('[LOCK24] the deadline follows the players that are near, and one far player does not slow the others', () => {
  const near = playParty({ clients: 4, weather: () => ({ latencyMs: 25, jitterMs: 5 }) }, 15)
  const far = playParty({ clients: 4, weather: (client) => ({ latencyMs: client === 0 ? 200 : 25, jitterMs: 5 }) }, 15)
  const all = playParty({
    clients: 4, relay: RANKED_RELAY, weather: (client) => ({ latencyMs: client === 0 ? 200 : 25, jitterMs: 5 }),
  }, 15)
  expect(near.match.relay.deadline.ms).toBeLessThan(85)
  expect(far.match.relay.deadline.ms).toBeLessThan(near.match.relay.deadline.ms + 10)
  expect(all.match.relay.deadline.ms).toBeGreaterThan(200)
  expect(far.match.relay.counts.slipped).toBeGreaterThan(0)
})

test('[LOCK24] players that draw 15 frames a second have more time for their orders', () => {
  const weather = () => ({ latencyMs: 25, jitterMs: 5 })
  const fast = playParty({ weather }, 10)
  const slow = playParty({ weather }, 10, ({ clients }) => {
    for (const { client } of clients) client.feed.drawsPerSecond = 15
  })
  expect(slow.match.relay.deadline.ms).toBeGreaterThan(fast.match.relay.deadline.ms + 40)
  for (const { events } of slow.clients) expect(events).toEqual(slow.clients[0]!.events)
})

test('[LOCK25] the state of a relay for eight players is one buffer, at most 10,240 bytes with its first ticks', () => {
  const relay = new OrderRelay({ tickRate: 30, players: 8, secret: 1 })
  expect(relay.state.buffer.byteLength + relay.log.bytes.byteLength + 64 * 4).toBeLessThanOrEqual(10_240)
})
