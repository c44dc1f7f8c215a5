import { expect, test } from 'vitest'
import type { LockstepRunner } from 'tickwire/lockstep'
import { readTicks } from '../reference/lockstep-checker.ts'
import { game, makeLockstepGame, Spawn, Take } from './lockstep-game.ts'
import { MeshParty, type MeshPartyOptions } from './mesh-party.ts'

function makeParty(options: Partial<MeshPartyOptions> = {}): MeshParty {
  return new MeshParty({ game: game as never, seed: 7, players: 3, weather: { latencyMs: 20 }, ...options })
}

function play(party: MeshParty, rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    party.run(50)
    const member = party.members[round % party.members.length]!
    member.order(party.clock.now, Spawn as never, { count: 1 })
    member.order(party.clock.now, Take as never, { crate: round })
  }
  party.run(500)
}

/** All members have stepped at least `least` ticks, with the same hashes. */
function expectEqual(party: MeshParty, members = party.members, least = 60): void {
  const last = Math.min(...members.map(({ tick }) => tick))
  expect(last).toBeGreaterThan(least)
  const [first, ...others] = members.map(({ hashes }) => hashes.slice(0, last + 1))
  for (const hashes of others) expect(hashes).toEqual(first)
  const logs = members.map(({ client: { feed: { log } } }) => log.bytes.slice(0, log.endOf(last)).join())
  expect(new Set(logs).size).toBe(1)
}

test.each([2, 3])('[LOCK65] %i peers step the same ticks without a relay', (players) => {
  const party = makeParty({ players })
  play(party, 60)
  expectEqual(party, party.members, 80)
  for (const { client, largestDatagram } of party.members) {
    expect(client.runner!.roster.players).toEqual(Array.from({ length: players }, (_, at) => at + 1))
    expect(client.runner!.skipped).toBe(0)
    expect(largestDatagram).toBeLessThanOrEqual(1200)
  }
  const { log } = party.member(1).client.feed
  const orders = readTicks(log.bytes.slice(0, log.endOf(log.newest))).flat().filter(({ player }) => player > 0)
  expect(orders).toHaveLength(120)
})

test('[LOCK65] loss, jitter and drifting clocks change no tick, and few are late', () => {
  const party = makeParty({ weather: { latencyMs: 30, jitterMs: 20, loss: 0.1, duplication: 0.05 } })
  party.members.forEach((member, at) => {
    member.offsetMs = 5000 * at
    member.drift = 1 + (at - 1) / 2000
  })
  play(party, 200)
  expectEqual(party, party.members, 280)
  // Ticks go on at their rate.
  for (const { executedAt } of party.members) {
    const gaps = executedAt.slice(100).map((at, tick, all) => tick === 0 ? 33 : at - all[tick - 1]!)
    expect(Math.max(...gaps)).toBeLessThan(200)
    expect(gaps.filter((gap) => gap > 70).length).toBeLessThan(gaps.length * 0.03)
  }
})

test('[LOCK66] the earlier click wins, at equal times the lower player, whatever arrives first', () => {
  const party = makeParty()
  party.run(3000)
  for (let round = 0; round < 8; round++) {
    party.member(3).order(party.clock.now, Take as never, { crate: 3 })
    party.run(15)
    party.member(1).order(party.clock.now, Take as never, { crate: 1 })
    party.run(400)
  }
  const { log } = party.member(2).client.feed
  const orders = readTicks(log.bytes.slice(0, log.endOf(log.newest))).flat().filter(({ player }) => player > 0)
  expect(orders.map(({ player }) => player)).toEqual(Array.from({ length: 16 }, (_, at) => at % 2 === 0 ? 3 : 1))
})

test('[LOCK66] the deadline is the same on all peers, and follows the slowest line', () => {
  const party = makeParty({ weather: { latencyMs: 10 } })
  party.run(20_000)
  const ofAll = (): number[] => party.members.map(({ client }) => client.runner!.roster.deadlineMs)
  const [near] = ofAll() as [number]
  expect(near).toBeLessThan(90)
  party.cable(2, 3).weather = { latencyMs: 120 }
  party.run(10_000)
  const [far, ...others] = ofAll() as [number, number, number]
  expect(far).toBeGreaterThan(140)
  expect(others).toEqual([far, far])
  expectEqual(party)
})

test('[LOCK67] while one line is cut, the third peer forwards: ticks go on, and no player is blamed', () => {
  const party = makeParty()
  play(party, 20)
  party.cable(1, 2).weather = { loss: 1 }
  const before = party.member(1).tick
  play(party, 160)
  party.cable(1, 2).weather = { latencyMs: 20 }
  play(party, 40)
  expectEqual(party, party.members, before + 260)
  for (const { client, events, executedAt } of party.members) {
    expect(client.runner!.roster.players).toEqual([1, 2, 3])
    expect(events.filter(([name]) => name === 'leave')).toEqual([])
    const gaps = executedAt.slice(before).map((at, tick, all) => tick === 0 ? 0 : at - all[tick - 1]!)
    expect(Math.max(...gaps)).toBeLessThan(1300)
  }
})

test.each([1, 2, 3])('[LOCK67] player %i, which no peer receives, leaves in the same tick for the others', (gone) => {
  const party = makeParty()
  play(party, 30)
  const rest = [1, 2, 3].filter((player) => player !== gone)
  // Its last packets reach only one of the others.
  party.cable(gone, rest[0]!).weather = { loss: 1 }
  party.run(120)
  party.cable(gone, rest[1]!).weather = { loss: 1 }
  const before = party.member(rest[0]!).tick
  play(party, 250)
  const survivors = rest.map((player) => party.member(player))
  expectEqual(party, survivors, before + 100)
  const leaves = survivors.map(({ events }) => events.filter(([name]) => name === 'leave'))
  expect(leaves[0]).toHaveLength(1)
  expect(leaves[0]![0]!.slice(0, 3)).toEqual(['leave', gone, 1])
  expect(leaves[1]).toEqual(leaves[0])
  const { ended } = party.member(gone).client.feed
  expect(ended).toBe('line-lost')
})

test('[LOCK67] of two players neither is blamed: both end with line-lost', () => {
  const party = makeParty({ players: 2 })
  play(party, 20)
  party.cable(1, 2).weather = { loss: 1 }
  party.run(4000)
  expect(party.members.map(({ client }) => client.feed.ended)).toEqual([undefined, undefined])
  party.run(2500)
  expect(party.members.map(({ client }) => client.feed.ended)).toEqual(['line-lost', 'line-lost'])
  expect(party.member(1).order(party.clock.now, Take as never, { crate: 1 })).toBe('closed')
})

test('[LOCK67] a short outage of two players stops the match and ends nothing', () => {
  const party = makeParty({ players: 2 })
  play(party, 20)
  party.cable(1, 2).weather = { loss: 1 }
  const before = party.member(1).tick
  party.run(3000)
  expect(party.member(1).tick).toBeLessThan(before + 12)
  party.cable(1, 2).weather = { latencyMs: 20 }
  play(party, 60)
  expectEqual(party, party.members, before + 60)
  // The delay of orders does not grow by the stop.
  const clicked = party.clock.now
  party.member(2).order(clicked, Take as never, { crate: 9 })
  const tick = party.member(1).tick
  party.run(400)
  const { log } = party.member(1).client.feed
  const ticks = readTicks(log.bytes.slice(0, log.endOf(log.newest)))
  const at = ticks.findIndex((orders) => orders.some(({ type, data }) => type === 1 && data.startsWith('09')), tick)
  expect(party.member(1).executedAt[at + 1]! - clicked).toBeLessThan(220)
})

test('[LOCK67] a peer that sends frames but no batches is removed when all others have waited for long', () => {
  const party = makeParty({ options: () => ({ stuckMs: 8000 }) })
  play(party, 20)
  party.member(2).stuckUntil = Infinity
  party.run(6000)
  expect(party.member(1).client.runner!.roster.players).toEqual([1, 2, 3])
  party.run(6000)
  const leaves = [1, 3].map((player) => party.member(player).events.filter(([name]) => name === 'leave'))
  expect(leaves[0]!.map(([, player, reason]) => [player, reason])).toEqual([[2, 3]])
  expect(leaves[1]).toEqual(leaves[0])
  expectEqual(party, [party.member(1), party.member(3)])
})

test('[LOCK68] a player that leaves is gone in the same tick everywhere, and the others play on', () => {
  const party = makeParty()
  play(party, 20)
  party.member(1).client.leave(party.member(1).localTime(party.clock.now))
  party.member(1).poke(party.clock.now)
  const before = party.member(2).tick
  play(party, 60)
  expect(party.member(1).client.feed.ended).toBe('left')
  expectEqual(party, [party.member(2), party.member(3)], before + 60)
  const leaves = [2, 3].map((player) => party.member(player).events.filter(([name]) => name === 'leave'))
  expect(leaves[0]!.map(([, player, reason]) => [player, reason])).toEqual([[1, 0]])
  expect(leaves[1]).toEqual(leaves[0])
})

test('[LOCK68] pause, resume and speed happen in the same tick on every peer', () => {
  const party = makeParty()
  play(party, 20)
  const now = (): number => party.clock.now
  const ask = (player: number, what: (runner: LockstepRunner, at: number) => void): void => {
    const member = party.member(player)
    what(member.client.runner!, member.localTime(now()))
    member.poke(now())
  }
  ask(2, (runner, at) => runner.pause(at))
  party.run(1000)
  const paused = party.members.map(({ tick }) => tick)
  expect(new Set(paused).size).toBe(1)
  party.run(20_000)
  expect(party.members.map(({ tick }) => tick)).toEqual(paused)
  ask(3, (runner, at) => runner.resume(at))
  party.run(1000)
  for (const { tick } of party.members) expect(tick).toBeGreaterThan(paused[0]! + 20)
  ask(1, (runner, at) => runner.setSpeed(at, 2))
  party.run(500)
  const before = party.member(1).tick
  party.run(1000)
  expect(party.member(1).tick - before).toBeGreaterThan(55)
  expectEqual(party)
  const events = party.members.map((member) => member.events.filter(([name]) => name !== 'deadline'))
  expect(events[0]!.map(([name]) => name)).toEqual(['join', 'join', 'join', 'pause', 'resume', 'speed'])
  expect(events[1]).toEqual(events[0])
  expect(events[2]).toEqual(events[0])
})

test('[LOCK68] a peer whose state is another is seen by all others, with the tick', () => {
  const impure = { count: 0 }
  const party = makeParty({
    gameOf: (player) => (player === 3 ? makeLockstepGame(() => Number(impure.count++ > 3)) : game) as never,
  })
  play(party, 400)
  const [first, second] = party.members.map(({ differing }) => differing)
  expect(first!.map(([player]) => player)).toEqual([3])
  expect(second!.map(([player]) => player)).toEqual([3])
  expect(Math.abs(first![0]![1] - second![0]![1])).toBeLessThan(10)
})

test('[LOCK69] a mesh has two or three players: more are refused, with the fix', () => {
  for (const players of [1, 4, 8])
    expect(() => makeParty({ players })).toThrow(/mesh\.peers: .*expected 2 to 3.*hosting/)
})

test('[LOCK69] a peer with another secret is refused', () => {
  const secretOf = (player: number): Uint8Array => Uint8Array.of(1, 2, player === 2 ? 9 : 3)
  const party = makeParty({ players: 2, options: (player) => ({ secret: secretOf(player) }) })
  party.run(3000)
  expect(party.members.map(({ client }) => client.isOpen)).toEqual([false, false])
})
