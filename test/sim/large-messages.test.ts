/**
 * Large messages and calls of a game, in a whole match with loss: they arrive whole, with progress and limits, and
 * small ones do not wait for them.
 */

import { describe, expect, test } from 'vitest'
import { LARGE_MESSAGE_BYTES_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import { FragmentPool } from '../../packages/tickwire/src/core/delivery/fragment-pool.ts'
import { receiveLimits } from '../../packages/tickwire/src/core/game/message-sizes.ts'
import { MessageRoutes } from '../../packages/tickwire/src/core/game/message-routes.ts'
import { bool, bytes, ConfigError, defineGame, entity, list, message, rpc, text, u32, u8 } from 'tickwire'
import type { Transfer } from 'tickwire/engine'
import { simulate, type Simulation } from '../../packages/tickwire/src/testing/simulate.ts'

/** For a message of one byte string: its number, and the length of the string. */
const HEAD_BYTES = 4
const Level = message({ data: bytes(LARGE_MESSAGE_BYTES_MAX) }, 'Level')
const Chat = message({ text: text(100) }, 'Chat')
const Load = rpc({ slot: u8 }, { to: 'server', reply: { save: bytes(220_000) }, name: 'Load' })
const Store = rpc({ save: bytes(100_000) }, { to: 'server', reply: { isStored: bool }, name: 'Store' })

const game = defineGame({
  tickRate: 30,
  input: { jump: bool },
  entities: [entity({ x: u32 }, { name: 'Thing' })],
  messages: [Chat, Level],
  rpcs: [Load, Store],
  step() {},
})

function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (at * 31 + (at >>> 8)) & 0xff)
}

function start(): Simulation {
  return simulate(game, {
    seed: 12,
    clients: 1,
    link: { latencyMs: 30, loss: 0.05, jitterMs: 5 },
  }) as unknown as Simulation
}

describe('large messages', () => {
  test('[LANE8] 260,864 bytes arrive whole at 5 percent loss, with progress; one more is refused', () => {
    const sim = start()
    const client = sim.players[0]!.host
    const [peer] = sim.host.peers
    const got = { client: [] as Uint8Array[], server: [] as Uint8Array[] }
    sim.host.on(Level, ({ data }) => got.server.push(data))
    client.on(Level, ({ data }) => got.client.push(data))
    const data = pattern(LARGE_MESSAGE_BYTES_MAX - HEAD_BYTES)
    expect(client.send(Level, { data: pattern(data.length + 1) })).toBe('too-large')
    expect(sim.host.send(peer!, Level, { data: pattern(data.length + 1) })).toBe('too-large')
    expect(client.send(Level, { data })).toBe('queued')
    expect(sim.host.send(peer!, Level, { data })).toBe('queued')
    const seen: Record<string, number[]> = {}
    const note = (side: string, transfers: readonly Transfer[]): void => {
      for (const { name, direction, bytes: arrived, totalBytes } of transfers) {
        expect([name, totalBytes]).toEqual(['Level', LARGE_MESSAGE_BYTES_MAX])
        ;(seen[`${side} ${direction}`] ??= []).push(arrived)
      }
    }
    const isDone = sim.runUntil(() => {
      note('client', client.transfers)
      note('server', sim.host.transfers(peer!))
      return got.client.length > 0 && got.server.length > 0
    }, 60_000)
    expect(isDone).toBe(true)
    for (const side of ['client', 'server'] as const) expect(Buffer.compare(got[side][0]!, data)).toBe(0)
    for (const way of ['client in', 'client out', 'server in', 'server out']) {
      const steps = [...new Set(seen[way])]
      expect(steps.length, way).toBeGreaterThan(20)
      expect(steps, way).toEqual([...steps].sort((a, b) => a - b))
    }
    sim.run(1000)
    expect([client.transfers, sim.host.transfers(peer!)]).toEqual([[], []])
  })

  test('[LANE8] a reply of 200 KB arrives whole, and so does an argument of 100 KB', async () => {
    const sim = start()
    const client = sim.players[0]!.host
    const stored: number[] = []
    sim.host.handle(Load, ({ slot }) => ({ save: pattern(200_000 + slot) }))
    sim.host.handle(Store, ({ save }) => {
      stored.push(save.length)
      return { isStored: true }
    })
    const replies = [
      client.request(Load, { slot: 7 }, { timeoutMs: 60_000 }),
      client.request(Store, { save: pattern(100_000) }, { timeoutMs: 60_000 }),
    ] as const
    let isDone = false
    void Promise.all(replies).then(() => { isDone = true })
    for (let second = 0; second < 60 && !isDone; second++) {
      sim.run(1000)
      await Promise.resolve()
    }
    const [load, store] = await Promise.all(replies)
    expect(load.isOk && Buffer.compare(load.values.save, pattern(200_007))).toBe(0)
    expect([store, stored]).toEqual([{ isOk: true, values: { isStored: true } }, [100_000]])
  })

  test('[LANE8] small messages do not wait for a large one', () => {
    const sim = start()
    const client = sim.players[0]!.host
    const [peer] = sim.host.peers
    const lags: number[] = []
    let arrived = 0
    const sentAt = new Map<string, number>()
    client.on(Chat, ({ text: said }) => lags.push(sim.clock.now - sentAt.get(said)!))
    client.on(Level, () => arrived++)
    sim.host.on(Chat, ({ text: said }) => lags.push(sim.clock.now - sentAt.get(said)!))
    for (let copy = 0; copy < 2; copy++) expect(sim.host.send(peer!, Level, { data: pattern(250_000) })).toBe('queued')
    expect(client.send(Level, { data: pattern(250_000) })).toBe('queued')
    for (let number = 0; number < 40; number++) {
      for (const way of ['up', 'down']) {
        const said = `${way} ${number}`
        sentAt.set(said, sim.clock.now)
        expect(way === 'up' ? client.send(Chat, { text: said }) : sim.host.send(peer!, Chat, { text: said })).toBe(
          'queued',
        )
      }
      sim.run(25)
    }
    expect(arrived).toBeLessThan(2)
    sim.run(1000)
    expect(lags.length).toBe(80)
    expect(Math.max(...lags)).toBeLessThan(500)
    expect(sim.runUntil(() => arrived === 2, 60_000)).toBe(true)
  })

  test('[LANE8, FRAG7] a kind has the limit of its fields, and a peer that exceeds it is disconnected', () => {
    const sim = start()
    const client = sim.players[0]!.host
    // Client and server have the same game; only the client breaks its limits.
    const limits = receiveLimits(game.messages, game.rpcs, true)
    expect([limits[0], limits[1], limits[2], limits[3]]).toEqual([0, LARGE_MESSAGE_BYTES_MAX, 25, 100_027])
    const forged = new Uint8Array(100_027 + 2 * 1019)
    forged[0] = 3
    expect(client.insides.channels.send(3, forged)).toBe('queued')
    sim.run(2000)
    expect(sim.host.peers.length).toBe(0)
  })
})

test('[LANE8, FRAG3] a player that leaves in the middle of a large message frees its memory', () => {
  const fragments = new FragmentPool()
  const sim = simulate(game, { seed: 12, clients: 2, link: { latencyMs: 30 }, server: { fragments } })
  const [one, two] = sim.players.map(({ host }) => host)
  for (const client of [one!, two!]) expect(client.send(Level, { data: pattern(250_000) })).toBe('queued')
  expect(sim.runUntil(() => fragments.parts > 200, 10_000)).toBe(true)
  for (const client of [one!, two!]) client.close(sim.clock.now)
  sim.run(1000)
  expect([sim.host.peers.length, fragments.parts, fragments.bytes]).toEqual([0, 0, 0])
})

test('[LANE8] only games with large messages have the channel for them', () => {
  const plain = new MessageRoutes([Chat]).createChannels()
  const large = new MessageRoutes([Chat, Level, message({ x: u8 }, 'Aim', { delivery: 'latest' })], [Load])
  expect(plain.specs.map(({ isLarge = false }) => isLarge)).toEqual([false, false, false])
  expect(
    large
      .createChannels()
      .specs.map(({ promise, isLarge = false }) => [promise, isLarge])
      .slice(3),
  ).toEqual([
    ['ordered', true],
    ['sequenced', false],
  ])
  expect(large.policies.resolve(Level).channel).toBe(3)
})

test('[LANE8] values longer than a message carries, and long ones elsewhere, are refused by name', () => {
  expect(() => message({ data: bytes(260_865) }, 'Level')).toThrow(
    'Level.data: invalid size of bytes (expected 1 to 260864 bytes, got 260865).',
  )
  expect(() => entity({ data: bytes(16_384) }, { name: 'Box' })).toThrow(
    'Box.data: too large in an entity (expected at most 16383 bytes of bytes, got 16384). '
      + 'Fix: use less; only reliable messages and calls carry longer values.',
  )
  expect(() => message({ data: text(16_384) }, 'Level', { delivery: 'latest' })).toThrow(ConfigError)
  expect(() => rpc({ data: text(16_384) }, { to: 'server', delivery: 'unreliable', name: 'Load' })).toThrow(ConfigError)
  expect(() => message({ data: list(bytes(16_384), 2) }, 'Level')).toThrow('in a list')
  expect(() => defineGame({ tickRate: 30, input: { data: text(16_384) }, entities: [], step() {} })).toThrow(
    'input.data',
  )
})
