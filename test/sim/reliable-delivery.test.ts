/**
 * Reliable, ordered messages in bad weather: each arrives once, in order, both ways, whatever the cable does.
 */

import { describe, expect, test } from 'vitest'
import { form } from '../form.ts'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { Weather } from '../../packages/tickwire/src/testing/memory-link.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'

const KIND = 3

interface Run {
  readonly pair: Pair
  readonly channels: { readonly server: ReliableOrderedChannel; readonly client: ReliableOrderedChannel }
  readonly connection: Connection
}

function setUp(seed: number, weather: Weather): Run {
  const channels = { server: new ReliableOrderedChannel(), client: new ReliableOrderedChannel() }
  const attach = (channel: ReliableOrderedChannel) => (connection: Connection): void => {
    connection.addSource(KIND, channel)
    connection.addSink(KIND, channel)
  }
  const pair = new Pair({
    seed, weather, server: { assemble: attach(channels.server) }, client: { assemble: attach(channels.client) },
  })
  const connection = pair.connect()
  expect(connection.isOpen, `SEED=${seed}`).toBe(true)
  return { pair, channels, connection }
}

/**
 * The number of the message, then as many bytes as follow from the number, so that sizes differ and content can be
 * checked.
 */
function messageOf(number: number): Uint8Array {
  const bytes = new Uint8Array(4 + (number % 200)).fill(number)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

/** Sends 1..count each way, polling every 20 ms; returns what arrived where, and how long it took. */
function exchange({ pair, channels }: Run, count: number, msMax: number) {
  const arrived = { server: [] as Uint8Array[], client: [] as Uint8Array[] }
  const next = { server: 1, client: 1 }
  const out = new Uint8Array(1024)
  const startedAt = pair.now
  while (pair.now - startedAt < msMax && (arrived.server.length < count || arrived.client.length < count)) {
    for (const side of ['server', 'client'] as const) {
      while (next[side] <= count && channels[side].send(messageOf(next[side])) === 'queued') next[side]++
      for (let length = channels[side].receive(out); length >= 0; length = channels[side].receive(out)) {
        arrived[side].push(out.slice(0, length))
      }
    }
    pair.drive(20)
  }
  return { arrived, tookMs: pair.now - startedAt }
}

const all = (count: number): Uint8Array[] => Array.from({ length: count }, (_, index) => messageOf(index + 1))

describe('reliable delivery', () => {
  test.each(form([1, 4], [1, 2, 3, 4, 5, 6, 7, 8]))(
    '[CH1, CH2] 1000 messages each way at 30 percent loss, with duplicates and reordering, seed %d',
    (seed) => {
      const run = setUp(seed, { latencyMs: 40, jitterMs: 30, loss: 0.3, duplication: 0.2, reordering: 0.2 })
      const { arrived } = exchange(run, 1000, 300_000)
      expect(arrived.server, `SEED=${seed}`).toEqual(all(1000))
      expect(arrived.client, `SEED=${seed}`).toEqual(all(1000))
      // The weather was real.
      const { sent, lost, duplicated, reordered } = run.pair.link.stats
      expect(lost / sent).toBeGreaterThan(0.2)
      expect(duplicated).toBeGreaterThan(sent * 0.1)
      expect(reordered).toBeGreaterThan(sent * 0.1)
      expect(run.connection.stats.packetsLost).toBeGreaterThan(10)
      expect(run.connection.stats.drops.duplicate).toBeGreaterThan(10)
      // Nothing is left over.
      run.pair.drive(5000)
      expect([run.channels.server.pendingCount, run.channels.client.pendingCount]).toEqual([0, 0])
    },
  )

  test.each(form([3], [1, 2, 3]))('[CH1, CH2, ACK1] 1000 messages each way at 50 percent loss, seed %d', (seed) => {
    const run = setUp(seed, { latencyMs: 40, loss: 0.5 })
    const { arrived } = exchange(run, 1000, 600_000)
    expect(arrived.server, `SEED=${seed}`).toEqual(all(1000))
    expect(arrived.client, `SEED=${seed}`).toEqual(all(1000))
    const { sent, lost } = run.pair.link.stats
    expect(lost / sent).toBeGreaterThan(0.45)
  })

  test('[CH6] on a clean, ordered path nothing is ever sent twice', () => {
    const run = setUp(1, { latencyMs: 25 })
    const { arrived } = exchange(run, 1000, 60_000)
    expect(arrived.client).toEqual(all(1000))
    run.pair.drive(2000)
    for (const connection of [run.connection, run.pair.accepted]) expect(connection.stats.packetsLost).toBe(0)
  })

  test('[CH6] a second of outage delays messages and loses none', () => {
    const run = setUp(1, { latencyMs: 25 })
    const { arrived: before } = exchange(run, 200, 10_000)
    expect(before.client.length).toBe(200)
    run.pair.link.weather = { loss: 1 }
    for (let number = 1; number <= 100; number++) run.channels.server.send(messageOf(number))
    run.pair.drive(1000)
    run.pair.link.weather = { latencyMs: 25 }
    const out = new Uint8Array(1024)
    const got: Uint8Array[] = []
    run.pair.drive(1500)
    for (let length = run.channels.client.receive(out); length >= 0; length = run.channels.client.receive(out))
      got.push(out.slice(0, length))
    expect(got).toEqual(all(100))
  })

  test('[ACK9] the round trip is measured within a millisecond, whatever the peer\'s own delay', () => {
    for (const latencyMs of [5, 50, 250, 700]) {
      const run = setUp(1, { latencyMs })
      exchange(run, 300, 30_000)
      expect(run.connection.rtt.smoothedMs).toBeGreaterThanOrEqual(2 * latencyMs - 1)
      expect(run.connection.rtt.smoothedMs).toBeLessThan(2 * latencyMs + 1)
    }
  })

  test('[CH7] a peer that never reads blocks the sender and costs no more than its buffer', () => {
    const run = setUp(1, { latencyMs: 5 })
    const out = new Uint8Array(1024)
    let queued = 0
    for (let round = 0; round < 500; round++) {
      while (run.channels.server.send(new Uint8Array(1000)) === 'queued') queued++
      run.pair.drive(20)
    }
    expect(queued).toBeLessThanOrEqual(2 * 64)
    expect(run.connection.isOpen).toBe(true)
    let received = 0
    for (let round = 0; round < 200; round++, run.pair.drive(20))
      while (run.channels.client.receive(out) >= 0) received++
    expect(received).toBe(queued)
  })
})
