/**
 * The scenarios of the synchronisation strategy, in their own words: delivery by kind of message, and stale updates.
 */

import { describe, expect, test } from 'vitest'
import type { ChannelSpec } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { LANES } from '../../packages/tickwire/src/core/channel/lane.ts'
import { type DeliveryPolicy, PolicyMap, StaleFilter } from '../../packages/tickwire/src/core/channel/policy.ts'
import { type ChannelsPair, connectChannels, numberOf, numbered, received } from './channels-pair.ts'

type Kind = 'MoveInput' | 'PlayerState' | 'ShootInput' | 'CombatEvent' | 'Login' | 'Logout' | 'Heartbeat'

const CHANNELS: readonly ChannelSpec[] = [
  { promise: 'ordered', lane: LANES.control },
  { promise: 'sequenced', lane: LANES.state },
  { promise: 'ordered', lane: LANES.orders },
]
const CONTROL: DeliveryPolicy = { channel: 0, isLatestWins: false }
const SYNC: DeliveryPolicy = { channel: 1, isLatestWins: true }
const EVENTS: DeliveryPolicy = { channel: 2, isLatestWins: false }

/** The map of an arena: both ends have the same. */
const arena = (): PolicyMap<Kind> => new PolicyMap<Kind>(CONTROL, [
  ['MoveInput', SYNC], ['PlayerState', SYNC], ['ShootInput', EVENTS], ['CombatEvent', EVENTS],
])

/** Sends as a runtime does: the policy is resolved when it sends. */
const send = (run: ChannelsPair, from: 'client' | 'server', map: PolicyMap<Kind>, kind: Kind, message: Uint8Array) =>
  run[from].send(map.resolve(kind).channel, message)

const sentBytes = (run: ChannelsPair, from: 'client' | 'server', lane: string): number => {
  for (const source of run[from].sources) {
    const at = source.lanes.findIndex(({ name }) => name === lane)
    if (at >= 0) return source.sentBytes[at]!
  }
  return Number.NaN
}

describe('hosts assign delivery policies to synchronization message types', () => {
  test.each(['client', 'server'] as const)('[SYNC1] high-frequency movement and state messages use a dedicated policy: from the %s', (from) => {
    const run = connectChannels(CHANNELS)
    for (const kind of ['MoveInput', 'PlayerState'] as const) {
      const before = sentBytes(run, from, 'state')
      send(run, from, arena(), kind, numbered(1, 40))
      run.pair.drive(50)
      expect(sentBytes(run, from, 'state') - before).toBeGreaterThan(40)
    }
    expect(sentBytes(run, from, 'control'), 'not by default reliable and ordered').toBe(0)
  })

  test('[SYNC1] a host may map one kind anew without touching the others', () => {
    const map = arena()
    map.assign('ShootInput', CONTROL)
    expect(map.resolve('ShootInput')).toBe(CONTROL)
    expect(map.resolve('CombatEvent')).toBe(EVENTS)
    expect(map.resolve('MoveInput')).toBe(SYNC)
  })

  test('[SYNC2] shooting and combat events keep reliable ordered delivery', () => {
    const run = connectChannels(CHANNELS, { latencyMs: 30, jitterMs: 20, loss: 0.3 })
    const map = arena()
    const got = { client: [] as number[], server: [] as number[] }
    const next = { client: 0, server: 0 }
    for (let round = 0; round < 2000 && (got.client.length < 200 || got.server.length < 200); round++) {
      if (next.client < 200 && send(run, 'client', map, 'ShootInput', numbered(next.client)) === 'queued') next.client++
      if (next.server < 200 && send(run, 'server', map, 'CombatEvent', numbered(next.server)) === 'queued') next.server++
      run.pair.drive(20)
      for (const side of ['client', 'server'] as const) got[side].push(...received(run[side], EVENTS.channel).map(numberOf))
    }
    expect(got.server).toEqual(Array.from({ length: 200 }, (_, shot) => shot))
    expect(got.client).toEqual(got.server)
  })

  test('[SYNC3] control traffic keeps reliable delivery, and so does what nobody mapped', () => {
    const map = arena()
    for (const kind of ['Login', 'Logout', 'Heartbeat'] as const) {
      const { channel } = map.resolve(kind)
      expect(CHANNELS[channel]).toEqual({ promise: 'ordered', lane: LANES.control })
    }
    const run = connectChannels(CHANNELS, { latencyMs: 30, loss: 0.5 })
    send(run, 'client', map, 'Login', numbered(77))
    run.pair.drive(5000)
    expect(received(run.server, CONTROL.channel).map(numberOf)).toEqual([77])
  })
})

describe('sequenced sync receivers discard stale gameplay updates', () => {
  test('[SYNC4] older movement input is ignored', () => {
    const filter = new StaleFilter()
    const applied = [5, 7, 6, 7, 8].filter((tick) => filter.admits(SYNC, 1, tick))
    expect(applied, 'the newer accepted input stays authoritative; an equal one has no second effect').toEqual([5, 7, 8])
    expect(filter.staleCount).toBe(2)
  })

  test('[SYNC4] two streams do not shadow each other', () => {
    const filter = new StaleFilter()
    expect(filter.admits(SYNC, 1, 100)).toBe(true)
    expect(filter.admits(SYNC, 2, 3)).toBe(true)
    expect(filter.admits(SYNC, 1, 99)).toBe(false)
    filter.forget(1)
    expect(filter.admits(SYNC, 1, 1)).toBe(true)
  })

  test('[SYNC5] older player state does not rewind a client', () => {
    const run = connectChannels(CHANNELS, { latencyMs: 30, jitterMs: 60, loss: 0.1, reordering: 0.3 })
    const filter = new StaleFilter()
    const shown: number[] = []
    for (let tick = 0; tick < 600; tick++) {
      // The state of a player who walks: his x is the tick.
      send(run, 'server', arena(), 'PlayerState', numbered(tick))
      run.pair.drive(1000 / 60)
      for (const state of received(run.client, SYNC.channel)) {
        const x = numberOf(state)
        if (filter.admits(SYNC, 9, x)) shown.push(x)
      }
    }
    expect(run.pair.link.stats.reordered).toBeGreaterThan(100)
    expect(shown.length).toBeGreaterThan(100)
    expect(shown.every((x, at) => at === 0 || x > shown[at - 1]!), 'visible movement never rewinds').toBe(true)
  })

  test('[SYNC6] reliable gameplay events bypass stale-drop filtering', () => {
    const filter = new StaleFilter()
    const map = arena()
    filter.admits(SYNC, 1, 1000)
    for (const kind of ['ShootInput', 'CombatEvent'] as const) {
      for (const tick of [5, 5, 3, 1000]) expect(filter.admits(map.resolve(kind), 1, tick)).toBe(true)
    }
    expect(filter.staleCount).toBe(0)
    expect(filter.admits(SYNC, 1, 999), 'and they do not move the filter either').toBe(false)
  })

  test('[SYNC4] a peer that invents streams costs a bounded amount', () => {
    const filter = new StaleFilter()
    for (let stream = 0; stream < 5000; stream++) expect(filter.admits(SYNC, stream, 1)).toBe(true)
    expect(filter.admits(SYNC, 4999, 1)).toBe(false)
    expect(filter.admits(SYNC, 0, 1), 'forgotten').toBe(true)
  })
})
