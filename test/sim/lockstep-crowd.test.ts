import { expect, test } from 'vitest'
import { defineLockstep } from 'tickwire/lockstep'
import { game, Spawn } from './lockstep-game.ts'
import { LockstepParty } from './lockstep-party.ts'
import './unplanned-heals.ts'

test.each([2, 4, 8, 16])('[LOCK74] %i players have equal hashes, and know how long orders take', (players) => {
  const crowd = defineLockstep({ ...game, players: [players, 16] })
  const weather = (client: number): object => ({ latencyMs: 10 + 4 * client, loss: 0.01 })
  const party = new LockstepParty({ game: crowd as never, seed: players, clients: players, weather })
  for (let round = 0; round < 40; round++) {
    party.run(100)
    for (let client = round % 4; client < players; client += 4)
      party.clients[client]!.order(party.clock.now, Spawn as never, { count: 1 })
  }
  party.run(500)
  const last = Math.min(...party.clients.map(({ hashes }) => hashes.length - 1))
  expect(last).toBeGreaterThan(100)
  const [first, ...others] = party.clients.map(({ hashes }) => hashes.slice(1, last + 1))
  for (const hashes of others) expect(hashes).toEqual(first)
  const deadlines = party.clients.map(({ client }) => client.runner!.roster.deadlineMs)
  expect(new Set(deadlines).size).toBe(1)
  // The deadline follows the slowest player that counts: it grows with the number of players, and stays below the cap.
  expect(deadlines[0]).toBeGreaterThan(40)
  expect(deadlines[0]).toBeLessThanOrEqual(250)
  // The datagrams per client do not grow with the number of players, so the work of the relay is linear.
  expect(party.sentDatagrams / players / last).toBeLessThan(3)
  for (const { client } of party.clients) expect(client.runner!.roster.players).toHaveLength(players)
})
