import { describe, expect, test } from 'vitest'
import { INPUT_AHEAD_MAX } from '../base/limits.ts'
import {
  checkRate, completeSettings, connectionTimers, NET_SETTINGS, predictionTicks, type NetSettings,
} from './settings.ts'

describe('settings of a game', () => {
  test('have defaults, with at most one snapshot per tick', () => {
    expect(completeSettings(60, {})).toEqual(NET_SETTINGS)
    expect(completeSettings(20, {})).toEqual({ ...NET_SETTINGS, snapshotRate: 20 })
    expect(completeSettings(60, { leadTicks: 5 }).leadTicks).toBe(5)
  })

  test.each<readonly [Partial<NetSettings>, string]>([
    [{ snapshotRate: 61 }, 'net.snapshotRate: invalid rate (got 61). Fix: give 1 to 60'],
    [{ nudge: 0.2 }, 'net.nudge: too large'],
    [{ inputRedundancy: 0 }, 'net.inputRedundancy: invalid number'],
    [{ rewindsPerTick: 0.5 }, 'net.rewindsPerTick: invalid number'],
    [{ replayTicksMax: 0 }, 'net.replayTicksMax: invalid number'],
    [{ predictionMs: 1e6 }, `net.predictionMs: more than ${INPUT_AHEAD_MAX} ticks`],
    [{ predictionMs: 10 }, 'net.predictionMs: shorter than the lead'],
    [{ interpolationMs: 300 }, 'net.interpolationMs: outside of 0 to 250'],
    [{ rewindMs: 1001 }, 'net.rewindMs: longer than the history of 1000'],
    [{ heartbeatMs: 6000 }, 'net.heartbeatMs: too long for a timeout of 10000'],
    [{ goodbyeMs: 0 }, 'net.goodbyeMs: invalid time'],
    [{ connectRetryMs: 20_000 }, 'net.connectRetryMs: longer than connectMs'],
    [{ rtoMsMin: 2000 }, 'net.rtoMsMin: above rtoMsMax'],
    [{ datagramBytesMax: 1501 }, 'net.datagramBytesMax: invalid size'],
    [{ teleport: NaN }, 'net.teleport: invalid number (expected 0 or more, got NaN)'],
    [{ ledTicks: 2 } as never, 'net.ledTicks: unknown setting'],
  ])('[GAME5] %j is refused', (net, problem) => {
    expect(() => completeSettings(60, net)).toThrow(problem)
  })
})

test('the endpoint of several games has the shortest heartbeat and the longest of all other times', () => {
  const timers = connectionTimers([
    NET_SETTINGS,
    { ...NET_SETTINGS, heartbeatMs: 500, timeoutMs: 20_000, connectRetryMs: 100, rtoMsMin: 20 },
  ])
  expect(timers).toMatchObject({
    keepaliveMs: 500, timeoutMs: 20_000, retryMsMin: 200, retryMsMax: 250, rtoMsMin: 20, rtoMsMax: 1000,
  })
})

test('a client predicts at least two ticks and at most what the server keeps', () => {
  expect([predictionTicks(60, 1000), predictionTicks(20, 1), predictionTicks(128, 1e9)]).toEqual(
    [60, 2, INPUT_AHEAD_MAX],
  )
})

test('[GAME9] a rate of snapshots is above 0', () => {
  expect(checkRate(Infinity)).toBe(Infinity)
  for (const rate of [0, -1, NaN]) expect(() => checkRate(rate)).toThrow('bytesPerSecond: invalid rate')
})
