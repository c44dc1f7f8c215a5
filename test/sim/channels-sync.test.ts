/**
 * Scenarios of the synchronisation strategy: delivery by kind of message. For stale updates see
 * `stale-updates.test.ts`.
 */

import { describe, expect, test } from 'vitest'
import type { ChannelSpec } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { SEND_QUEUES } from '../../packages/tickwire/src/core/channel/send-queue.ts'
import { type DeliveryPolicy, PolicyMap } from '../../packages/tickwire/src/core/channel/policy.ts'
import { type ChannelsPair, connectChannels, numberOf, numbered, received } from './channels-pair.ts'

type Kind = 'MoveInput' | 'PlayerState' | 'ShootInput' | 'CombatEvent' | 'Login' | 'Logout' | 'Heartbeat'

const CHANNELS: readonly ChannelSpec[] = [
  { promise: 'ordered', queue: SEND_QUEUES.control },
  { promise: 'sequenced', queue: SEND_QUEUES.state },
  { promise: 'ordered', queue: SEND_QUEUES.orders },
]
const CONTROL: DeliveryPolicy = { channel: 0 }
const SYNC: DeliveryPolicy = { channel: 1 }
const EVENTS: DeliveryPolicy = { channel: 2 }

/** The delivery map of an arena: both ends have the same one. */
const arena = (): PolicyMap<Kind> => new PolicyMap<Kind>(CONTROL, [
  ['MoveInput', SYNC], ['PlayerState', SYNC], ['ShootInput', EVENTS], ['CombatEvent', EVENTS],
])

/** Sends like a runtime does: the policy is looked up at the moment of sending. */
const send = (run: ChannelsPair, from: 'client' | 'server', map: PolicyMap<Kind>, kind: Kind, message: Uint8Array) =>
  run[from].send(map.resolve(kind).channel, message)

const sentBytes = (run: ChannelsPair, from: 'client' | 'server', queue: string): number => {
  for (const source of run[from].sources) {
    const at = source.queues.findIndex(({ name }) => name === queue)
    if (at >= 0) return source.sentBytes[at]!
  }
  return Number.NaN
}

describe('hosts assign delivery policies to synchronization message types', () => {
  test.each(['client', 'server'] as const)(
    '[SYNC1] high-frequency movement and state messages use a dedicated policy: from the %s',
    (from) => {
      const run = connectChannels(CHANNELS)
      for (const kind of ['MoveInput', 'PlayerState'] as const) {
        const before = sentBytes(run, from, 'state')
        send(run, from, arena(), kind, numbered(1, 40))
        run.pair.drive(50)
        expect(sentBytes(run, from, 'state') - before).toBeGreaterThan(40)
      }
      expect(sentBytes(run, from, 'control'), 'not by default reliable and ordered').toBe(0)
    },
  )

  test('[SYNC1] a host may change the policy of one kind without changing the others', () => {
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
      if (next.server < 200 && send(run, 'server', map, 'CombatEvent', numbered(next.server)) === 'queued')
        next.server++
      run.pair.drive(20)
      for (const side of ['client', 'server'] as const)
        got[side].push(...received(run[side], EVENTS.channel).map(numberOf))
    }
    expect(got.server).toEqual(Array.from({ length: 200 }, (_, shot) => shot))
    expect(got.client).toEqual(got.server)
  })

  test('[SYNC3] control traffic keeps reliable delivery, and so does a kind without a mapping', () => {
    const map = arena()
    for (const kind of ['Login', 'Logout', 'Heartbeat'] as const) {
      const { channel } = map.resolve(kind)
      expect(CHANNELS[channel]).toEqual({ promise: 'ordered', queue: SEND_QUEUES.control })
    }
    const run = connectChannels(CHANNELS, { latencyMs: 30, loss: 0.5 })
    send(run, 'client', map, 'Login', numbered(77))
    run.pair.drive(5000)
    expect(received(run.server, CONTROL.channel).map(numberOf)).toEqual([77])
  })
})
