/** A short soak: the same processes as `npm run soak`, for seconds. */

import { expect, test } from 'vitest'
import { soak } from '../soak/soak.ts'

test('[SOAK1, SOAK2, SOAK3] players on a bad link survive new keys and a killed server', async () => {
  const { server, players, comeBacks } = await soak({
    minutes: 0.25,
    players: 4,
    spectators: 1,
    kills: 1,
    rekeyMs: 1_500,
    stayMs: 10_000,
    seed: 1,
  })
  expect(players.joins).toBeGreaterThanOrEqual(5)
  expect(players.lost).toBeGreaterThan(0)
  expect(server.rekeys).toBeGreaterThan(0)
  for (const reason of ['forged', 'malformed', 'unknownFrame', 'dishonestAck', 'epoch', 'flood'])
    expect(server.drops[reason], reason).toBe(0)
  // Only the long run checks how fast players resume: here the machine may be busy.
  expect(comeBacks).toHaveLength(1)
  expect(comeBacks[0]!.ends).toHaveProperty('reset')
}, 120_000)
