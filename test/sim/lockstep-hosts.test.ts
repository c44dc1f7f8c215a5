import { expect, test } from 'vitest'
import { LockstepRunner, playedMatch, ReplayFeed } from 'tickwire/lockstep'
import { readTicks } from '../reference/lockstep-checker.ts'
import { game, Spawn, Take } from './lockstep-game.ts'
import { LockstepParty } from './lockstep-party.ts'
import './unplanned-heals.ts'

test('[LOCK27] the log of a relay, played as a replay, has the hashes that every client had', () => {
  const weather = (): object => ({ latencyMs: 30, loss: 0.05 })
  const party = new LockstepParty({ game: game as never, seed: 9, clients: 3, weather })
  for (let at = 0; at < 60; at++) {
    party.run(80)
    party.clients[at % 3]!.order(party.clock.now, Spawn as never, { count: 1 })
  }
  const { relay, seed } = party.match
  const feed = new ReplayFeed(playedMatch(relay.log, game.tickRate, seed))
  feed.speed = Infinity
  const hashes: string[] = []
  const runner = new LockstepRunner(game, feed, {
    onTick: (tick, low, high) => { hashes[tick] = `${high.toString(16)}.${low.toString(16)}` },
  })
  while (runner.update(0) > 0);
  for (const client of party.clients) {
    expect(client.hashes.length).toBeGreaterThan(100)
    expect(hashes.slice(0, client.hashes.length)).toEqual(client.hashes)
  }
})

test('[LOCK27] a player in the process of the relay has no advantage: the earlier click of a far player wins', () => {
  const weather = (client: number): object => ({ latencyMs: client === 0 ? 0 : 40 })
  const party = new LockstepParty({ game: game as never, seed: 9, clients: 2, weather })
  party.run(5000)
  const [host, guest] = party.clients
  for (let round = 0; round < 10; round++) {
    guest!.order(party.clock.now, Take as never, { crate: 2 })
    party.run(20)
    host!.order(party.clock.now, Take as never, { crate: 1 })
    party.run(400)
  }
  const { log } = party.match.relay
  const orders = readTicks(log.bytes.slice(0, log.length)).flat()
  const players = orders.filter(({ type, player }) => type === 1 && player > 0)
  expect(players).toHaveLength(20)
  players.forEach(({ player }, at) => expect(player).toBe((at % 2 === 0 ? guest! : host!).client.player))
})

test('[LOCK29] a client that lost its seat plays on in a new one: as another player, with the same hashes', () => {
  const weather = (): object => ({ latencyMs: 20, loss: 0.02 })
  const party = new LockstepParty({ game: game as never, seed: 11, clients: 3, weather, resumeMs: 1000 })
  const [lost, other] = party.clients
  for (let at = 0; at < 30; at++) {
    party.run(100)
    lost!.order(party.clock.now, Spawn as never, { count: 1 })
  }
  const before = lost!.client.player
  lost!.link.weather = { loss: 1 }
  party.run(12_000)
  lost!.link.weather = { latencyMs: 20 }
  lost!.connect(party.clock.now)
  party.run(5000)
  for (let at = 0; at < 3; at++) expect(lost!.order(party.clock.now, Spawn as never, { count: 1 })).toBe('sent')
  party.run(4000)
  const { player, runner, feed } = lost!.client
  expect(player).not.toBe(before)
  expect(runner!.roster.players).toContain(player)
  expect(runner!.roster.players).not.toContain(before)
  expect(feed.orders.waitingCount).toBe(0)
  const { log } = party.match.relay
  const orders = readTicks(log.bytes.slice(0, log.length)).flat()
  expect(orders.filter((each) => each.player === player)).toHaveLength(3)
  expect(lost!.hashes.length).toBeGreaterThan(650)
  const both = lost!.hashes.map((hash, tick) => [hash, other!.hashes[tick]] as const)
    .filter(([hash, expected]) => hash !== undefined && expected !== undefined)
  expect(both.length).toBeGreaterThan(200)
  for (const [hash, expected] of both) expect(hash).toBe(expected)
})
