/** Rejoin: a client that is far behind goes on from the image of another, through the relay. */

import { expect, test } from 'vitest'
import type { LockstepGame } from 'tickwire/lockstep'
import { game, Move, Spawn, Unit } from './lockstep-game.ts'
import { LockstepParty, type PartyClient, type PartyOptions } from './lockstep-party.ts'

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
  // Its log is whole: its replay is that of the others.
  expect(late.client.feed.log.newest).toBeGreaterThan(1800)
  late.order(party.clock.now, Spawn as never, { count: 1 })
  party.run(1000)
  expectSame(party, late)
  expect(party.reports).toEqual([])
  expect(party.notices).toEqual([])
})

test('[REJOIN2] an image that differs from that of the witness is not passed on; the next donor gives one', () => {
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
