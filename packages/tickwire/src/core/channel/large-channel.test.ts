import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FRAGMENT_BYTES, LARGE_MESSAGE_BYTES_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { FragmentPool, FragmentQuota } from '../delivery/fragment-pool.ts'
import { framesOf, receivedFrom } from '../../../../../test/contract/channel.contract.ts'
import type { Channel } from './channel.ts'
import { ChannelSet } from './channel-set.ts'
import { LargeChannel } from './large-channel.ts'
import { ReliableOrderedChannel } from './reliable-ordered.ts'
import { ReliableUnorderedChannel } from './reliable-unordered.ts'
import { SEND_QUEUES } from './send-queue.ts'
import { UnreliableChannel } from './unreliable.ts'

const inners: Record<string, () => Channel> = {
  unreliable: () => new UnreliableChannel('unreliable'),
  sequenced: () => new UnreliableChannel('sequenced'),
  unordered: () => new ReliableUnorderedChannel(),
  ordered: () => new ReliableOrderedChannel(),
}
const large = (promise: string, quota = new FragmentQuota(new FragmentPool())): LargeChannel =>
  new LargeChannel(inners[promise]!(), quota)
const messageOf = (length: number): Uint8Array => new Uint8Array(length).map((_, at) => (at * 7 + length) & 0xff)

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at])
let sequence = 0

/**
 * Sends packets until nothing is left; `fate` says which are lost. Returns the messages that arrived, and the bytes
 * sent.
 */
function exchange(
  sender: LargeChannel,
  receiver: LargeChannel,
  fate: (sequence: number) => boolean,
  now = (sequence: number): number => sequence,
) {
  const got: Uint8Array[] = []
  let bytes = 0
  const first = sequence
  while (sequence - first < 5000 && sender.wantsAt(0) === 0) {
    sequence++
    const frames = framesOf(sender, sequence, 1140, now(sequence))
    bytes += frames.reduce((sum, frame) => sum + frame.length, 0)
    if (fate(sequence - first)) sender.onLost(now(sequence), sequence)
    else {
      for (const frame of frames) expect(receiver.accept(now(sequence), sequence, new BitReader(frame))).toBe('ok')
      sender.onDelivered(now(sequence), sequence)
    }
    got.push(...receivedFrom(receiver, LARGE_MESSAGE_BYTES_MAX))
  }
  return { got, bytes }
}

describe('large channel', () => {
  test.each(Object.keys(inners))(
    '[FRAG1] over %s: messages of every size arrive whole, in order on a clean path',
    (promise) => {
      const sizes = [0, 1, 1019, 1020, 1023, 1024, 1025, 2038, 2039, 50_000, 3, LARGE_MESSAGE_BYTES_MAX]
      const [sender, receiver] = [large(promise), large(promise)]
      const got: Uint8Array[] = []
      for (const size of sizes) {
        expect(sender.send(messageOf(size))).toBe('queued')
        got.push(...exchange(sender, receiver, () => false).got)
      }
      expect(got.map((message) => message.length)).toEqual(sizes)
      got.forEach((message, index) => expect(isSame(message, messageOf(sizes[index]!))).toBe(true))
      expect(sender.waitingBytes).toBe(0)
    },
  )

  test('[FRAG1] one byte more than 256 fragments is refused', () => {
    expect(large('ordered').send(new Uint8Array(LARGE_MESSAGE_BYTES_MAX + 1))).toBe('too-large')
  })

  test.each(['ordered', 'unordered'])(
    '[FRAG1] over %s, 5 KB at 20 percent loss arrive once, and only lost fragments are sent again',
    (promise) => {
      const [sender, receiver] = [large(promise), large(promise)]
      sender.send(messageOf(5000))
      const { got, bytes } = exchange(sender, receiver, (sequence) => sequence % 5 === 2)
      expect(got).toEqual([messageOf(5000)])
      expect(bytes).toBeLessThan(5000 + 2 * 1024 + 5 * 20)
    },
  )

  test('[FRAG2] over unordered, any loss: every message once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 12_000 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 2, max: 6 }),
        (sizes, every) => {
          const [sender, receiver] = [large('unordered'), large('unordered')]
          for (const size of sizes) expect(sender.send(messageOf(size))).toBe('queued')
          const { got } = exchange(sender, receiver, (sequence) => sequence % every === 0)
          const byLength = (a: Uint8Array, b: Uint8Array): number => a.length - b.length
          const expected = sizes.map(messageOf).sort(byLength)
          expect(got.length).toBe(sizes.length)
          got.sort(byLength).forEach((message, index) => expect(isSame(message, expected[index]!)).toBe(true))
        },
      ),
      { seed: 22, numRuns: 15 },
    )
  })

  /** All packets that can be in flight at once; none is acknowledged or lost yet. */
  const launch = (sender: LargeChannel): { sequence: number; frames: Uint8Array[] }[] => {
    const packets: { sequence: number; frames: Uint8Array[] }[] = []
    while (sender.wantsAt(0) === 0) packets.push({ sequence: ++sequence, frames: framesOf(sender, sequence) })
    return packets
  }
  const land = (
    sender: LargeChannel,
    receiver: LargeChannel,
    packet: { sequence: number; frames: Uint8Array[] },
  ): void => {
    for (const frame of packet.frames) expect(receiver.accept(0, packet.sequence, new BitReader(frame))).toBe('ok')
    sender.onDelivered(0, packet.sequence)
  }

  test('[FRAG2] over unordered, messages whose fragments arrive mixed are not mixed up', () => {
    const [sender, receiver] = [large('unordered'), large('unordered')]
    const [a, b] = [new Uint8Array(4000).fill(0xaa), new Uint8Array(4000).fill(0xbb)]
    sender.send(a)
    sender.send(b)
    const packets = launch(sender)
    expect(packets.length).toBeGreaterThan(6)
    // Every other packet first: half of each message is there before either is whole.
    for (const parity of [1, 0]) packets.forEach((packet, at) => at % 2 === parity && land(sender, receiver, packet))
    const got = receivedFrom(receiver, 4000)
    expect(got.map((message) => message[0]).sort()).toEqual([0xaa, 0xbb])
    for (const message of got) expect(isSame(message, message[0] === 0xaa ? a : b)).toBe(true)
  })

  test('[FRAG1] an acknowledgement without frames lets the rest of a message be sent', () => {
    const [sender, receiver] = [large('ordered'), large('ordered')]
    sender.send(messageOf(200_000))
    let rounds = 0
    for (let packets = launch(sender); packets.length > 0; packets = launch(sender), rounds++) {
      for (const packet of packets) land(sender, receiver, packet)
    }
    expect(rounds).toBeGreaterThan(2)
    expect(isSame(receivedFrom(receiver, 200_000)[0]!, messageOf(200_000))).toBe(true)
  })

  test('[FRAG6] over unreliable, one lost fragment: no message is delivered, and 2 s later the memory is free', () => {
    const pool = new FragmentPool()
    const [sender, receiver] = [large('unreliable'), large('unreliable', new FragmentQuota(pool))]
    sender.send(messageOf(5000))
    expect(exchange(sender, receiver, (sequence) => sequence === 3, () => 100).got).toEqual([])
    expect(pool.parts).toBe(4)
    receiver.begin(2099)
    expect(pool.parts).toBe(4)
    receiver.begin(2100)
    expect([pool.parts, receiver.abandonedCount]).toEqual([0, 1])
  })

  test('[FRAG4] a reliable peer that sends more than it may stalls itself, and continues when there is space', () => {
    const pool = new FragmentPool({ partsMax: 6, bytesMax: 2 ** 20 })
    const other = new FragmentQuota(pool)
    const receiver = large('ordered', new FragmentQuota(pool))
    const sender = large('ordered')
    const blocks = Array.from({ length: 3 }, () => other.hold(new Uint8Array(FRAGMENT_BYTES), 0, FRAGMENT_BYTES))
    sender.send(messageOf(5000))
    expect(exchange(sender, receiver, () => false).got).toEqual([])
    expect(pool.parts).toBe(6)
    for (const block of blocks) other.release(block, FRAGMENT_BYTES)
    expect(receiver.nextLength).toBe(5000)
    expect(receivedFrom(receiver, 5000)).toEqual([messageOf(5000)])
    expect(pool.parts).toBe(0)
  })

  test('[FRAG4] a set of channels has arrivals while a fragment waits for room, without a new frame', () => {
    const pool = new FragmentPool({ partsMax: 6, bytesMax: 2 ** 20 })
    const other = new FragmentQuota(pool)
    const specs = [{ promise: 'ordered', queue: SEND_QUEUES.chat, isLarge: true }] as const
    const [sender, receiver] = [new ChannelSet(specs), new ChannelSet(specs, new FragmentQuota(pool))]
    const blocks = Array.from({ length: 3 }, () => other.hold(new Uint8Array(FRAGMENT_BYTES), 0, FRAGMENT_BYTES))
    const out = new Uint8Array(5000)
    const receive = (): number => {
      const length = receiver.receive(0, out)
      receiver.settle()
      return length
    }
    expect(receiver.hasArrivals).toBe(false)
    sender.send(0, messageOf(5000))
    const body = new BitWriter(new Uint8Array(1200))
    for (let sequence = 1; sender.sources[0]!.fill(0, sequence, body); sequence++) {
      expect(receiver.accept(0, sequence, new BitReader(body.bytes.slice(0, body.finish())))).toBe('ok')
      sender.sources[0]!.onDelivered(0, sequence)
      body.reset(body.bytes)
    }
    expect([receive(), receiver.hasArrivals]).toEqual([-1, true])
    for (const block of blocks) other.release(block, FRAGMENT_BYTES)
    expect([receive(), receiver.hasArrivals]).toEqual([5000, false])
  })

  test('[FRAG4] messages that wait to be split are bounded: reliable is full, unreliable drops its oldest', () => {
    const ordered = large('ordered')
    let queued = 0
    while (ordered.send(messageOf(100_000)) === 'queued') queued++
    expect(queued).toBe(5)
    const unreliable = large('unreliable')
    for (let count = 0; count < 50; count++) expect(unreliable.send(messageOf(100_000))).toBe('queued')
    expect(unreliable.waitingBytes).toBeLessThan(2 ** 19 + 65_536)
  })

  test('[FRAG4] release frees everything', () => {
    const pool = new FragmentPool()
    const [sender, receiver] = [large('ordered'), large('ordered', new FragmentQuota(pool))]
    sender.send(messageOf(100_000))
    exchange(sender, receiver, (sequence) => sequence > 20 || sequence === 9)
    expect(pool.parts).toBeGreaterThan(0)
    receiver.release()
    expect([pool.parts, pool.bytes]).toEqual([0, 0])
    expect(receiver.send(messageOf(1))).toBe('closed')
  })

  test.each<[string, number[]]>([
    ['an unknown first byte', [2, 9]],
    ['no bytes at all', []],
    ['a fragment without data', [1, 0, 0, 0, 1]],
  ])('[FRAG5] %s is broken', (_name, bytes) => {
    const inner = new ReliableOrderedChannel()
    inner.send(Uint8Array.from(bytes))
    const receiver = large('ordered')
    const [frame] = framesOf(inner, 1)
    expect(receiver.accept(0, 1, new BitReader(frame!))).toBe('broken')
  })

  test('[FRAG7] a message may be as long as its kind allows; the first fragment of a longer one is broken', () => {
    const limits = new Uint32Array(256)
    limits[5] = 3 * FRAGMENT_BYTES
    const attempt = (kind: number, length: number): { verdict: string; parts: number; got: number } => {
      const pool = new FragmentPool()
      const [sender, receiver] = [
        large('ordered'),
        new LargeChannel(new ReliableOrderedChannel(), new FragmentQuota(pool), limits),
      ]
      const message = messageOf(length)
      message[0] = kind
      sender.send(message)
      let verdict = 'ok'
      while (sender.wantsAt(0) === 0 && verdict === 'ok') {
        sequence++
        for (const frame of framesOf(sender, sequence, 1140, 0))
          if (verdict === 'ok') verdict = receiver.accept(0, sequence, new BitReader(frame))
        sender.onDelivered(0, sequence)
      }
      return { verdict, parts: pool.parts, got: receivedFrom(receiver, LARGE_MESSAGE_BYTES_MAX).length }
    }
    expect(attempt(5, 3 * FRAGMENT_BYTES)).toEqual({ verdict: 'ok', parts: 3, got: 1 })
    expect(attempt(5, 3 * FRAGMENT_BYTES + 1)).toEqual({ verdict: 'broken', parts: 0, got: 0 })
    expect(attempt(6, 2 * FRAGMENT_BYTES)).toEqual({ verdict: 'broken', parts: 0, got: 0 })
    expect(attempt(6, 1000)).toEqual({ verdict: 'ok', parts: 0, got: 1 })
  })

  test('[FRAG4] nothing is kept for a released channel', () => {
    const pool = new FragmentPool()
    const [sender, receiver] = [large('ordered'), large('ordered', new FragmentQuota(pool))]
    sender.send(messageOf(20_000))
    receiver.release()
    for (const frame of framesOf(sender, ++sequence, 1140, 0))
      expect(receiver.accept(0, sequence, new BitReader(frame))).toBe('no-ack')
    expect(pool.parts).toBe(0)
  })
})
