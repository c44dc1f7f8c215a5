/** Short soaks: the same processes as `npm run soak`, for seconds. */

import { expect, test } from 'vitest'
import { soakAll } from '../soak/all-soak.ts'
import { soakArena } from '../soak/arena-soak.ts'
import { soakSkirmish } from '../soak/skirmish-soak.ts'

test('[SOAK1, SOAK2, SOAK3, SOAK7] players come back to a killed server; killed ones free seats', async () => {
  const { server, players, comeBacks, playersKill } = await soakArena({
    minutes: 0.15,
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
  expect(playersKill).toEqual({ emptyMs: expect.any(Number), backMs: expect.any(Number) })
}, 120_000)

const isLinux = process.platform === 'linux'

test.runIf(isLinux)('[SOAK4, SOAK5] matches of skirmish survive kills of both relays and all players', async () => {
  const { programs, crowds, kills } = await soakSkirmish({
    minutes: 0.1, players: 2, stayMs: 60_000, seed: 1, downMs: 1000,
  })
  expect(Object.keys(programs)).toEqual(['relay 0', 'relay 1'])
  for (const { rssMiB, descriptors } of Object.values(programs))
    expect([rssMiB.last > 20, descriptors.last > 5]).toEqual([true, true])
  expect(kills.map(({ killed, backMs }) => [killed, backMs.length])).toEqual([
    ['relay 0', 2], ['relay 1', 2], ['players 0', 1], ['players 1', 1],
  ])
  expect(Object.values(crowds).flatMap(({ faults }) => faults)).toEqual([])
}, 180_000)

test.runIf(isLinux)('[SOAK4, SOAK6] `tickwire all` is killed, and lists everything again', async () => {
  const { kills, tookMs, crowds } = await soakAll({ minutes: 0.15, players: 4, stayMs: 60_000, seed: 1 })
  expect(kills.map(({ killed, backMs }) => [killed, backMs.length])).toEqual([
    ['all', 2], ['crowd 0', 1], ['crowd 1', 1],
  ])
  expect(tookMs['browse']!.count).toBeGreaterThan(10)
  expect(tookMs['join by code']!.count).toBeGreaterThan(0)
  expect(Object.values(crowds).flatMap(({ faults }) => faults)).toEqual([])
}, 180_000)
