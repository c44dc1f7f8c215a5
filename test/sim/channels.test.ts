/**
 * Channels and send queues over a real connection: delivery guarantees in bad weather, shares of a narrow path, and
 * messages larger than any packet.
 */

import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../packages/tickwire/src/core/base/assert.ts'
import { LARGE_MESSAGE_BYTES_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { ChannelSet, type ChannelSpec } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { CHANNEL_PROMISES } from '../../packages/tickwire/src/core/channel/channel.ts'
import { SEND_QUEUES } from '../../packages/tickwire/src/core/channel/send-queue.ts'
import { FixedController } from '../../packages/tickwire/src/core/delivery/congestion/fixed.ts'
import { connectChannels, numberOf, numbered, received } from './channels-pair.ts'

const { control, voice, chat, bulk } = SEND_QUEUES
const STORM = { latencyMs: 40, jitterMs: 30, loss: 0.3, duplication: 0.2, reordering: 0.2 }

describe('channels over a connection', () => {
  test.each([1, 2, 3])('[CHAN2, CHAN3] sixteen channels at 30 percent loss give their guarantees, seed %d', (seed) => {
    const specs: ChannelSpec[] = Array.from({ length: 16 }, (_, number) => ({
      promise: CHANNEL_PROMISES[number & 3]!,
      queue: control,
    }))
    const { pair, client, server } = connectChannels(specs, STORM, seed)
    const got: number[][] = specs.map(() => [])
    const sent = specs.map(() => 0)
    for (let round = 0; round < 6000 && !got.every((ids, at) => (at & 2) === 0 || ids.length === 250); round++) {
      specs.forEach((_, channel) => {
        if (sent[channel]! < 250 && round % 3 === 0 && client.send(channel, numbered(sent[channel]!, 30)) === 'queued')
          sent[channel]!++
        got[channel]!.push(...received(server, channel).map(numberOf))
      })
      pair.drive(20)
    }
    got.forEach((ids, channel) => {
      const promise = CHANNEL_PROMISES[channel & 3]
      const inOrder = [...ids].sort((a, b) => a - b)
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids.length).toBeGreaterThan(100)
      if (promise === 'ordered' || promise === 'unordered')
        expect(inOrder).toEqual(Array.from({ length: 250 }, (_, id) => id))
      else expect(ids.length).toBeLessThan(250)
      if (promise === 'ordered' || promise === 'sequenced') expect(ids).toEqual(inOrder)
    })
  })

  test('[PKT8, CHAN1] fifty small messages leave in one packet; each costs a byte and its own', () => {
    const { pair, client, server, connection } = connectChannels([{ promise: 'unreliable', queue: control }])
    pair.drive(2000)
    const before = { ...connection.stats }
    for (let number = 0; number < 50; number++) client.send(0, numbered(number, 8))
    pair.drive(15)
    expect(received(server, 0).map(numberOf)).toEqual(Array.from({ length: 50 }, (_, number) => number))
    expect(connection.stats.packetsSent - before.packetsSent).toBe(1)
    const [header, tag] = [15, 16]
    const [acks, frame, channel] = [36, 22, 8]
    const bits = acks + frame + channel + 50 * (8 + 8 * 8)
    expect(connection.stats.bytesSent - before.bytesSent).toBe(header + Math.ceil(bits / 8) + tag)
  })

  test.each(['ordered', 'unordered'] as const)(
    '[FRAG1] the largest message there is, over %s, at 30 percent loss',
    (promise) => {
      const { pair, client, server, connection } = connectChannels([{ promise, queue: bulk, isLarge: true }], {
        latencyMs: 40,
        loss: 0.3,
      })
      const message = new Uint8Array(LARGE_MESSAGE_BYTES_MAX).map((_, at) => (at * 31 + (at >>> 9)) & 0xff)
      expect(client.send(0, message)).toBe('queued')
      const out = new Uint8Array(LARGE_MESSAGE_BYTES_MAX)
      let length = -1
      for (let second = 0; second < 120 && length < 0; second++, length = server.receive(0, out)) pair.drive(1000)
      expect(length).toBe(message.length)
      expect(out.every((byte, at) => byte === message[at])).toBe(true)
      expect(connection.stats.packetsLost).toBeGreaterThan(50)
      expect(connection.isOpen).toBe(true)
      pair.drive(2000)
      expect(client.channel(0).waitingBytes).toBe(0)
    },
  )
})

/**
 * Keeps the `busy` channels full for ten seconds on a path of 60 kB a second; returns the bytes that arrived per
 * channel.
 */
function flood(
  specs: readonly ChannelSpec[],
  busy: readonly number[],
): { bytes: number[]; run: ReturnType<typeof connectChannels> } {
  const run = connectChannels(specs, { latencyMs: 10 }, 1, () => new FixedController(60_000))
  const bytes = specs.map(() => 0)
  for (let tick = 0; tick < 600; tick++) {
    for (const channel of busy) for (let count = 0; count < 20; count++) run.client.send(channel, new Uint8Array(200))
    run.pair.drive(1000 / 60)
    specs.forEach((_, channel) =>
      received(run.server, channel).forEach((message) => void (bytes[channel]! += message.length)),
    )
  }
  return { bytes, run }
}

describe('send queues under load', () => {
  test('[LANE2] queues of one priority share by weight: voice gets twice the bytes of chat', () => {
    const {
      bytes: [talk, said],
    } = flood(
      [
        { promise: 'unreliable', queue: voice },
        { promise: 'ordered', queue: chat },
      ],
      [0, 1],
    )
    expect(talk! / said!).toBeGreaterThan(1.9)
    expect(talk! / said!).toBeLessThan(2.1)
  })

  test('[LANE2] weights of three to one share 75 to 25', () => {
    const heavy = { name: 'heavy', priority: 1, weight: 3, bufferBytes: 8192 }
    const light = { name: 'light', priority: 1, weight: 1, bufferBytes: 8192 }
    const specs: ChannelSpec[] = [{ promise: 'ordered', queue: heavy }, { promise: 'ordered', queue: light }]
    const { bytes: [a, b] } = flood(specs, [0, 1])
    expect(a! / (a! + b!)).toBeGreaterThan(0.73)
    expect(a! / (a! + b!)).toBeLessThan(0.77)
  })

  test('[LANE1] on a full path bulk gets nothing first, and on an idle path it gets all that is spare', () => {
    const specs: ChannelSpec[] = [
      { promise: 'ordered', queue: { ...chat, bufferBytes: 65_536 } },
      { promise: 'unreliable', queue: bulk },
    ]
    const full = flood(specs, [0, 1])
    expect(full.bytes[1]).toBeLessThan(full.bytes[0]! * 0.02)
    expect(flood(specs, [1]).bytes[1]).toBeGreaterThan(400_000)
  })

  test('[LANE1] a flood of chat and bulk never delays control', () => {
    const specs: ChannelSpec[] = [
      { promise: 'ordered', queue: control },
      { promise: 'ordered', queue: chat },
      { promise: 'ordered', queue: bulk },
    ]
    const { pair, client, server } = connectChannels(specs, { latencyMs: 10 }, 1, () => new FixedController(60_000))
    const sentAt: number[] = []
    const tookMs: number[] = []
    for (let step = 0; step < 3000; step++) {
      for (const channel of [1, 2]) while (client.send(channel, new Uint8Array(300)) === 'queued');
      if (step % 50 === 0) {
        client.send(0, numbered(sentAt.length))
        sentAt.push(pair.now)
      }
      pair.drive(2)
      for (const message of received(server, 0)) tookMs.push(pair.now - sentAt[numberOf(message)]!)
      for (const channel of [1, 2]) received(server, channel)
    }
    expect(tookMs.length).toBeGreaterThanOrEqual(59)
    // 10 ms of cable, at most 2 datagrams of 20 ms each in front of it, and one step of this loop.
    expect(Math.max(...tookMs)).toBeLessThan(10 + 40 + 4)
  })
})

describe('send queues', () => {
  test('[LANE3] a full queue refuses, an impossible message is too large, unreliable queues drop their oldest', () => {
    const set = new ChannelSet([
      { promise: 'ordered', queue: chat },
      { promise: 'unreliable', queue: voice },
      { promise: 'unordered', queue: chat },
      { promise: 'ordered', queue: { name: 'tiny', priority: 0, weight: 1, bufferBytes: 100 } },
    ])
    let queued = 0
    while (set.send(0, new Uint8Array(1000)) === 'queued') queued++
    expect(queued).toBe(8)
    // The queue is full, not the channel.
    expect(set.send(2, new Uint8Array(1000))).toBe('full')
    for (let count = 0; count < 100; count++) expect(set.send(1, numbered(count, 1000))).toBe('queued')
    expect(set.channel(1).waitingBytes).toBe(16_000)
    expect(set.send(3, new Uint8Array(101))).toBe('too-large')
    set.close()
    expect(set.send(2, new Uint8Array(1))).not.toBe('queued')
  })

  test('[LANE4] the default queues have the priorities, weights and limits of the rule', () => {
    const table = Object.values(SEND_QUEUES).map(
      ({ name, priority, weight, bufferBytes }) => `${name} p${priority} w${weight} ${bufferBytes}`,
    )
    expect(table).toEqual([
      'control p0 w1 65536',
      'orders p0 w1 4096',
      'state p1 w6 16384',
      'voice p1 w2 16384',
      'chat p1 w1 8192',
      'bulk p2 w1 524288',
    ])
  })

  test.each<[string, readonly ChannelSpec[]]>([
    ['no channel', []],
    ['seventeen', Array.from({ length: 17 }, () => ({ promise: 'ordered', queue: control }))],
    ['three for large messages', Array.from({ length: 3 }, () => ({ promise: 'ordered', queue: bulk, isLarge: true }))],
    ['a priority below 0', [{ promise: 'ordered', queue: { ...chat, priority: -1 } }]],
    ['a weight of 0', [{ promise: 'ordered', queue: { ...chat, weight: 0 } }]],
    ['a buffer of 0', [{ promise: 'ordered', queue: { ...chat, bufferBytes: 0 } }]],
  ])('[LANE4] %s is refused at once', (_name, specs) => {
    expect(() => new ChannelSet(specs)).toThrow(ConfigError)
  })

  test.each<[string, number[]]>([
    ['nothing', []],
    ['a channel that is not there', [0x1c, 0, 0, 0]],
    ['a channel with a different promise', [0x08, 0, 0, 0]],
    ['reserved bits that are set', [0x0d, 0, 0, 0]],
    ['no frame after the header', [0x0c]],
  ])('[LANE5] %s is a protocol error', (_name, bytes) => {
    const set = new ChannelSet([{ promise: 'ordered', queue: control }])
    expect(set.accept(0, 1, new BitReader(Uint8Array.from(bytes)))).toBe('broken')
    expect(set.accept(0, 1, new BitReader(Uint8Array.of(0x0c, 0, 0, 0)))).toBe('ok')
  })

  test('[LANE1] sources of different priorities leave space for other sources between them', () => {
    const set = new ChannelSet([
      { promise: 'ordered', queue: bulk },
      { promise: 'ordered', queue: control },
      { promise: 'ordered', queue: chat },
    ])
    expect(set.sources.map(({ queues }) => queues.map(({ name }) => name))).toEqual([['control'], ['chat'], ['bulk']])
    expect(set.sourcesOf(0, 1)).toEqual([set.sources[0]])
    expect(set.sourcesOf(1)).toEqual([set.sources[1], set.sources[2]])
  })
})
