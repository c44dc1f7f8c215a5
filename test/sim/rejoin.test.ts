/** Rejoin: a client that is far behind goes on from the image of another, through the relay. */

import { expect, test } from 'vitest'
import type { LockstepGame } from 'tickwire/lockstep'
import { encodeWorld, WorldEncoder } from '../../packages/tickwire/src/core/world/world-image.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { game, Move, Spawn, Unit } from './lockstep-game.ts'
import { LockstepParty, type PartyClient, type PartyOptions } from './lockstep-party.ts'
import { isSameLog } from './same-log.ts'
import { planDesyncs } from './unplanned-heals.ts'

const LATENCY = { latencyMs: 25, jitterMs: 5 }

/** A match of three players that has lasted for `seconds`. */
function longMatch(seconds: number, options: Partial<PartyOptions> = {}): LockstepParty {
  const party = new LockstepParty({
    game: game as unknown as LockstepGame, seed: 9, clients: 3, weather: () => LATENCY, resumeMs: 60_000, ...options,
  })
  party.run(1500)
  for (let second = 0; second < seconds; second++) {
    const client = party.clients[second % party.clients.length]!
    client.order(party.clock.now, Spawn as never, { count: 2 })
    const units = [...(client.client.runner?.world.each(Unit) ?? [])].slice(0, 5).map(({ id }) => id)
    const to = { x: second % 100, y: 50 }
    if (units.length > 0) client.order(party.clock.now, Move as never, { units, to, isQueued: false })
    party.run(1000)
  }
  return party
}

/** The ticks that a client has stepped. */
function stepped(client: PartyClient): number {
  return client.hashes.filter((hash) => hash !== undefined).length
}

/** Every tick that two clients both stepped has the same hash. */
function expectSame(party: LockstepParty, client: PartyClient): void {
  const [first] = party.clients as [PartyClient]
  const both = client.hashes.map((hash, tick) => [hash, first.hashes[tick], tick] as const)
    .filter(([hash, other]) => hash !== undefined && other !== undefined)
  expect(both.length).toBeGreaterThan(20)
  for (const [hash, other, tick] of both) expect(hash, `tick ${tick}`).toBe(other)
}

test('[REJOIN1] a player that joins a running match goes on from an image, and steps few of its ticks', () => {
  const party = longMatch(60)
  const late = party.add()
  party.run(1500)
  expectSame(party, late)
  expect(party.match.desk.counts).toEqual({ passed: 1, refused: 0 })
  expect(party.match.relay.log.newest - late.client.runner!.tick).toBeLessThan(6)
  expect(stepped(late)).toBeLessThan(party.match.relay.log.newest / 2)
  expect(late.client.feed.log.isWhole).toBe(false)
  late.order(party.clock.now, Spawn as never, { count: 1 })
  party.run(1000)
  expectSame(party, late)
  expect(party.reports).toEqual([])
  expect(party.notices).toEqual([])
})

test('[REJOIN1] the donor is the player with the shortest round trip that steps the newest ticks', () => {
  const rounds = [60, 15, 5, 30]
  const party = longMatch(40, { clients: 4, weather: (client) => ({ latencyMs: rounds[client] ?? 25 }) })
  // The nearest player of all stands still: it has not stepped the newest ticks.
  party.clients[2]!.stuckUntil = Infinity
  party.run(1500)
  party.add()
  expect(party.runUntil(() => [1, 2, 3, 4].some((peer) => party.match.desk.isDonor(peer)), 2000)).toBe(true)
  expect([1, 2, 3, 4].filter((peer) => party.match.desk.isDonor(peer))).toEqual([2])
})

test('[REJOIN2] an image that differs from that of the witness is not passed on; the next donor gives one', () => {
  planDesyncs()
  const party = longMatch(40)
  const [donor] = party.clients as [PartyClient]
  // The nearest player becomes the donor. Its world is changed without a pulse in between.
  party.run(50)
  const late = party.add()
  const isAsked = party.runUntil(() => party.match.desk.isDonor(1), 2000)
  expect(isAsked).toBe(true)
  for (const unit of donor.client.runner!.world.each(Unit)) unit.hp = 1
  party.run(4000)
  expect(party.match.desk.counts.refused).toBeGreaterThan(0)
  expect(party.match.desk.counts.passed).toBe(1)
  expect(party.match.relay.log.newest - late.client.runner!.tick).toBeLessThan(6)
})

test('[REJOIN2] a player that never answers keeps no image back that the other players agree on', () => {
  const party = longMatch(40, { clients: 4, weather: (client) => ({ latencyMs: 5 + 15 * client }) })
  const { desk } = party.match
  const { handleMessage } = desk
  // The second player plays on, but gives neither images nor digests. It is the first witness, and then a donor.
  desk.handleMessage = (now, peer, message) => {
    if (peer !== 2) handleMessage.call(desk, now, peer, message)
  }
  const late = party.add()
  party.run(12_000)
  expect(desk.counts).toEqual({ passed: 1, refused: 2 })
  expect(party.match.relay.log.newest - late.client.runner!.tick).toBeLessThan(6)
})

test('[REJOIN3] a donor that is lost is replaced, and the client is in time', () => {
  const party = longMatch(40)
  const late = party.add()
  expect(party.runUntil(() => party.match.desk.isDonor(1), 2000)).toBe(true)
  party.clients[0]!.frozenUntil = party.clock.now + 60_000
  party.run(9000)
  expect(party.match.desk.counts.passed).toBe(1)
  expect(party.match.relay.log.newest - late.client.runner!.tick).toBeLessThan(6)
})

test('[REJOIN4] alone in a match, a client that returns steps all ticks', () => {
  const party = longMatch(30, { clients: 1 })
  const late = party.add()
  party.run(3000)
  expect(party.match.desk.counts.passed).toBe(1)
  expectSame(party, late)
  const alone = longMatch(30, { clients: 1 })
  alone.clients[0]!.frozenUntil = Infinity
  alone.run(8000)
  const other = alone.add()
  alone.run(4000)
  expect(alone.match.desk.counts.passed).toBe(0)
  expect(other.client.runner!.tick).toBeGreaterThan(900)
  expect(stepped(other)).toBe(other.client.runner!.tick)
})

test('[REJOIN5] a late observer goes on from an image, and never receives a tick before its time', () => {
  const party = longMatch(40, { observerDelayTicks: 90 })
  const observer = party.add({ role: 'spectator' })
  party.run(6000)
  expectSame(party, observer)
  expect(party.match.desk.counts.passed).toBe(1)
  expect(stepped(observer)).toBeLessThan(party.match.relay.log.newest - 300)
  observer.executedAt.forEach((at, tick) => expect(at - party.closedAt[tick]!).toBeGreaterThanOrEqual(90 * 33))
})

test('[REJOIN6] with a seed that the players agreed on, an image is loaded too', () => {
  const party = longMatch(40, { isAgreed: true })
  const late = party.add()
  party.run(2000)
  expectSame(party, late)
  expect(party.match.desk.counts.passed).toBe(1)
  expect(late.client.runner!.world.seed).toBe(party.clients[0]!.client.runner!.world.seed)
})

/** The log of a client has the bytes of the relay's. */
function expectSameLog(party: LockstepParty, { client }: PartyClient): void {
  const { log } = party.match.relay
  const own = client.feed.log
  expect(own.isWhole).toBe(true)
  expect(isSameLog(own, log)).toBe(true)
}

test('[REJOIN7] the ticks before the image follow in pieces, and then the log is that of the relay', () => {
  const party = longMatch(60, { isAgreed: true })
  const late = party.add()
  const { log } = late.client.feed
  expect(party.runUntil(() => !log.isWhole, 3000)).toBe(true)
  // The two ticks of the seed are there at once. The others are asked for when the client has caught up.
  expect([log.has(1), log.has(2), log.has(1500), log.has(log.newest)]).toEqual([true, true, false, false])
  party.run(1500)
  expect(party.match.relay.log.newest - late.client.runner!.tick).toBeLessThan(6)
  expect(log.isWhole).toBe(false)
  expect(party.runUntil(() => log.isWhole, 10_000)).toBe(true)
  expectSameLog(party, late)
})

test('[REJOIN7] a client that had ticks, and one that skips twice, have all of them in the end', () => {
  const party = longMatch(20)
  const [first, second] = party.clients as [PartyClient, PartyClient]
  // Longer than 300 ticks, shorter than the seat is kept.
  for (const outage of [15_000, 25_000]) {
    const before = second.client.feed.log.newest
    second.link.weather = { loss: 1 }
    party.run(outage)
    first.order(party.clock.now, Spawn as never, { count: 1 })
    second.link.weather = LATENCY
    if (second.isClosed) second.connect(party.clock.now, { resume: second.client.seat!.ticket })
    expect(party.runUntil(() => !second.client.feed.log.isWhole, 8000)).toBe(true)
    expect(second.client.feed.log.has(before)).toBe(true)
    party.run(600)
  }
  party.run(12_000)
  expect(party.match.desk.counts.passed).toBe(2)
  expectSameLog(party, second)
  expectSame(party, second)
})

test('[REJOIN4] bytes that are not an image are not loaded: the client steps all ticks when they have arrived', () => {
  const party = longMatch(30, { clients: 1 })
  const late = party.add()
  expect(party.runUntil(() => party.match.desk.isDonor(1), 2000)).toBe(true)
  // The only player lies, and there is no witness.
  const { desk } = party.match
  const { handleMessage } = desk
  desk.handleMessage = (now, peer, message) =>
    handleMessage.call(desk, now, peer, message.kind === 'image' ? { ...message, bytes: new Uint8Array(50) } : message)
  party.run(12_000)
  expect(desk.counts.passed).toBe(1)
  expectSameLog(party, late)
  expectSame(party, late)
  expect(stepped(late)).toBe(late.client.runner!.tick)
})

test('[REJOIN8] a player that does not catch up in 60 seconds is dropped, in one tick, and the others go on', () => {
  const party = longMatch(40)
  const late = party.add()
  expect(party.runUntil(() => !late.client.feed.log.isWhole, 3000)).toBe(true)
  late.stuckUntil = Infinity
  const { player } = late.client
  const from = party.clock.now
  party.run(55_000)
  expect(party.match.relay.slotOf(player)).toBeGreaterThanOrEqual(0)
  expect(party.runUntil(() => party.match.relay.slotOf(player) < 0, 10_000)).toBe(true)
  expect(party.clock.now - from).toBeLessThan(61_000)
  party.run(1000)
  expect(late.closedBy).toBe('kicked')
  const leaves = party.clients.slice(0, 3)
    .map(({ events }) => events.filter(([name, who]) => name === 'leave' && who === player))
  expect(leaves[0]).toHaveLength(1)
  expect(leaves[1]).toEqual(leaves[0])
  expect(leaves[2]).toEqual(leaves[0])
})

test('[REJOIN9] a donor encodes in slices: the same bytes, and little in each tick', () => {
  const world = new World([Unit], { seed: 3 })
  for (let each = 0; each < 5000; each++) world.spawn(Unit, { at: { x: each % 200, y: 7 }, hp: each % 100 })
  world.endTick()
  const encoder = new WorldEncoder(world)
  let slices = 1
  while (!encoder.advance(4096)) slices++
  expect(encoder.image).toEqual(encodeWorld(world))
  expect(slices).toBeGreaterThan(encoder.image!.length / 4096 - 1)
})

test('[REJOIN10] a client that joins takes nothing from the others: their ticks come as before', () => {
  const party = longMatch(40)
  const gapOf = (client: PartyClient, from: number): number =>
    Math.max(...client.executedAt.slice(from).map((at, index, all) => index === 0 ? 0 : at - all[index - 1]!))
  const before = party.clients.map((client) => gapOf(client, 300))
  const from = party.match.relay.log.newest
  party.add()
  party.run(8000)
  expect(party.match.desk.counts.passed).toBe(1)
  party.clients.slice(0, 3).forEach((client, at) => expect(gapOf(client, from)).toBeLessThanOrEqual(before[at]! + 1))
})

test('[REJOIN12] a client is connecting, authorized, downloading, catching up and active, in this order', () => {
  const party = longMatch(40)
  const late = party.add()
  const seen: string[] = []
  for (let ms = 0; ms < 2500; ms += 2) {
    const { status } = late.client
    if (seen.at(-1) !== status) seen.push(status)
    party.run(2)
  }
  expect(seen).toEqual(['connecting', 'authorized', 'downloading', 'catching-up', 'active'])
  expect(party.clients[0]!.client.status).toBe('active')
})

test('[REJOIN5] observers that join one after the other all go on from images', () => {
  const party = longMatch(40, { observerDelayTicks: 90 })
  const observers = [1, 2, 3].map(() => {
    const observer = party.add({ role: 'spectator' })
    party.run(700)
    return observer
  })
  party.run(6000)
  for (const observer of observers)
    expect(party.match.relay.log.newest - observer.client.runner!.tick).toBeLessThan(110)
})
