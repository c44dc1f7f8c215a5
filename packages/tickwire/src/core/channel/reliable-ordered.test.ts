import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MESSAGE_BYTES_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { ReliableOrderedChannel } from './reliable-ordered.ts'

const FRAME_BYTES = 1150

const numbered = (id: number, size: number = 4): Uint8Array => {
  const bytes = new Uint8Array(Math.max(4, size))
  new DataView(bytes.buffer).setUint32(0, id)
  return bytes
}

/** The frames that a channel would put into packet `sequence`. */
function framesOf(channel: ReliableOrderedChannel, sequence: number, roomBytes: number = FRAME_BYTES): Uint8Array[] {
  const frames: Uint8Array[] = []
  for (let room = roomBytes; room >= 0;) {
    const out = new BitWriter(new Uint8Array(room))
    if (!channel.fill(0, sequence, out)) break
    frames.push(out.bytes.slice(0, out.finish()))
    room -= frames.at(-1)!.length + 3
  }
  return frames
}

function accept(channel: ReliableOrderedChannel, frame: Uint8Array) {
  return channel.accept(0, 0, new BitReader(frame))
}

function received(channel: ReliableOrderedChannel): number[] {
  const out = new Uint8Array(MESSAGE_BYTES_MAX)
  const ids: number[] = []
  while (channel.receive(out) >= 0) ids.push(new DataView(out.buffer).getUint32(0))
  return ids
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

describe('reliable ordered channel', () => {
  test('[CH5] the frame is a first id and then messages, each after its length', () => {
    const channel = new ReliableOrderedChannel()
    channel.send(Uint8Array.of(0xaa))
    channel.send(new Uint8Array(0))
    channel.send(Uint8Array.of(0xbb, 0xcc))
    expect(framesOf(channel, 1)).toEqual([Uint8Array.of(0, 0, 1, 0xaa, 0, 2, 0xbb, 0xcc)])
  })

  test('[CH5] fifty small messages fit in one frame', () => {
    const channel = new ReliableOrderedChannel()
    for (const id of upTo(50)) channel.send(numbered(id))
    expect(framesOf(channel, 1).length).toBe(1)
    expect(channel.wantsAt(5)).toBe(Infinity)
  })

  test('[CH4] a message too large, a full window and a closed channel have different results', () => {
    const channel = new ReliableOrderedChannel()
    expect(channel.send(new Uint8Array(MESSAGE_BYTES_MAX + 1))).toBe('too-large')
    for (const id of upTo(256)) expect(channel.send(numbered(id))).toBe('queued')
    expect(channel.send(numbered(256))).toBe('full')
    channel.close()
    expect(channel.send(numbered(256))).toBe('closed')
  })

  test('[CH3] the window moves only when its oldest message is delivered', () => {
    const channel = new ReliableOrderedChannel()
    for (const id of upTo(256)) channel.send(numbered(id))
    framesOf(channel, 1, 7) // message 0 alone
    framesOf(channel, 2, 4000)
    channel.onDelivered(0, 2)
    expect(channel.send(numbered(256))).toBe('full')
    channel.onDelivered(0, 1)
    expect(channel.pendingCount).toBe(0)
    expect(channel.send(numbered(256))).toBe('queued')
  })

  test('[CH3] the bytes of waiting messages are bounded too', () => {
    const channel = new ReliableOrderedChannel()
    let queued = 0
    while (channel.send(new Uint8Array(MESSAGE_BYTES_MAX)) === 'queued') queued++
    expect(queued).toBe(64)
  })

  test('[CH3] messages that arrived ahead of a gap keep their space, and so does the one that closes it', () => {
    const [sender, receiver] = [new ReliableOrderedChannel(), new ReliableOrderedChannel()]
    const full = (id: number): Uint8Array => numbered(id, MESSAGE_BYTES_MAX)
    let [next, sequence] = [0, 1]
    const fillUp = (): void => {
      while (sender.send(full(next)) === 'queued') next++
    }
    fillUp()
    framesOf(sender, sequence++)
    // The first packet is lost; all others arrive and are acknowledged, until no frame is left.
    for (let frames = framesOf(sender, sequence); frames.length > 0; frames = framesOf(sender, ++sequence)) {
      expect(frames.map((frame) => accept(receiver, frame))).toEqual(['ok'])
      sender.onDelivered(0, sequence)
      fillUp()
    }
    sender.onLost(0, 1)
    expect(framesOf(sender, ++sequence).map((frame) => accept(receiver, frame)), 'the gap closes').toEqual(['ok'])
    expect(received(receiver)).toEqual(upTo(next))
  })

  test('[CH6] messages of a lost packet are sent again; delivered ones are not', () => {
    const [sender, receiver] = [new ReliableOrderedChannel(), new ReliableOrderedChannel()]
    for (const id of upTo(3)) sender.send(numbered(id))
    framesOf(sender, 1)
    expect(framesOf(sender, 2)).toEqual([])
    for (const id of [3, 4]) sender.send(numbered(id))
    const second = framesOf(sender, 2)
    expect(second.map((frame) => accept(receiver, frame))).toEqual(['ok'])
    expect(received(receiver), 'nothing before its turn').toEqual([])
    sender.onDelivered(0, 2)
    sender.onLost(0, 1)
    expect(framesOf(sender, 3).map((frame) => accept(receiver, frame))).toEqual(['ok'])
    expect(received(receiver)).toEqual(upTo(5))
    sender.onDelivered(0, 3)
    expect(sender.pendingCount).toBe(0)
  })

  test('[CH1] a frame that arrives twice has one effect', () => {
    const [sender, receiver] = [new ReliableOrderedChannel(), new ReliableOrderedChannel()]
    for (const id of upTo(3)) sender.send(numbered(id))
    const [frame] = framesOf(sender, 1)
    expect([accept(receiver, frame!), accept(receiver, frame!)]).toEqual(['ok', 'ok'])
    expect(received(receiver)).toEqual(upTo(3))
    expect(accept(receiver, frame!)).toBe('ok')
    expect(received(receiver)).toEqual([])
  })

  test('[CH2] any loss, duplication and order of packets: every message once, in order', () => {
    const fates = fc.array(fc.constantFrom('deliver', 'lose', 'twice', 'late'), { minLength: 50, maxLength: 400 })
    fc.assert(fc.property(fates, fc.nat(60), (history, size) => {
      const [sender, receiver] = [new ReliableOrderedChannel(), new ReliableOrderedChannel()]
      const late: [number, Uint8Array[]][] = []
      const got: number[] = []
      let next = 0
      const deliver = (sequence: number, frames: Uint8Array[]): void => {
        for (const frame of frames) expect(accept(receiver, frame)).toBe('ok')
        sender.onDelivered(0, sequence)
      }
      history.forEach((fate, index) => {
        for (let burst = 0; burst < 9 && sender.send(numbered(next, size)) === 'queued'; burst++) next++
        const frames = framesOf(sender, index + 1)
        if (fate === 'lose') sender.onLost(0, index + 1)
        else if (fate === 'late') late.push([index + 1, frames])
        else deliver(index + 1, frames)
        if (fate === 'twice') for (const frame of frames) expect(accept(receiver, frame)).toBe('ok')
        if (late.length > 3) deliver(...late.splice(index % late.length, 1)[0]!)
        got.push(...received(receiver))
      })
      for (const [sequence, frames] of late) deliver(sequence, frames)
      for (let sequence = 1000; sender.pendingCount > 0; sequence++) deliver(sequence, framesOf(sender, sequence))
      got.push(...received(receiver))
      expect(got).toEqual(upTo(next))
    }), { seed: 10, numRuns: 60 })
  })

  test('[CH9] ids wrap at 16 bits without a seam', () => {
    const [sender, receiver] = [new ReliableOrderedChannel(), new ReliableOrderedChannel()]
    let got = 0
    for (let id = 0, sequence = 1; id < 66_000; sequence++) {
      while (sender.send(numbered(id)) === 'queued') id++
      for (const frame of framesOf(sender, sequence)) expect(accept(receiver, frame)).toBe('ok')
      sender.onDelivered(0, sequence)
      for (const one of received(receiver)) expect(one).toBe(got++)
    }
    expect(got).toBeGreaterThan(65_536)
  })

  test('[CH7] a receiver that does not read returns no-ack, loses nothing, and continues when it reads', () => {
    const [sender, receiver] = [new ReliableOrderedChannel(), new ReliableOrderedChannel()]
    let sequence = 0
    let sent = 0
    let refused = 0
    const got: number[] = []
    for (let round = 0; round < 2000 && got.length < 500; round++) {
      while (sent < 500 && sender.send(numbered(sent, 900)) === 'queued') sent++
      sequence++
      const verdicts = framesOf(sender, sequence).map((frame) => accept(receiver, frame))
      refused += verdicts.filter((verdict) => verdict === 'no-ack').length
      if (verdicts.every((verdict) => verdict === 'ok')) sender.onDelivered(0, sequence)
      else sender.onLost(0, sequence)
      if (round % 100 === 99) got.push(...received(receiver))
    }
    expect(got).toEqual(upTo(500))
    expect(refused).toBeGreaterThan(0)
  })

  test('[CH7] all messages that a sender may have open fit beside the gap that blocks them', () => {
    const [sender, receiver] = [new ReliableOrderedChannel(), new ReliableOrderedChannel()]
    let sent = 0
    while (sender.send(numbered(sent, MESSAGE_BYTES_MAX)) === 'queued') sent++
    const packets = upTo(sent).map((index) => framesOf(sender, index + 1))
    expect(packets.map(([frame], index) => (index === 0 ? 'lost' : accept(receiver, frame!))).at(-1)).toBe('ok')
    expect(accept(receiver, packets[0]![0]!)).toBe('ok')
    expect(received(receiver)).toEqual(upTo(sent))
  })

  test('[CH7] a window full of unread messages accepts no more, and mixes nothing up', () => {
    const [sender, receiver] = [new ReliableOrderedChannel(), new ReliableOrderedChannel()]
    for (const id of upTo(256)) sender.send(numbered(id))
    for (const frame of framesOf(sender, 1, 4000)) expect(accept(receiver, frame)).toBe('ok')
    sender.onDelivered(0, 1)
    sender.send(numbered(256))
    const [next] = framesOf(sender, 2)
    expect(accept(receiver, next!)).toBe('no-ack')
    expect(received(receiver)).toEqual(upTo(256))
    expect(accept(receiver, next!)).toBe('ok')
    expect(received(receiver)).toEqual([256])
  })

  test.each([
    ['no message at all', [0, 0]],
    ['nothing', []],
    ['half an id', [0]],
    ['a message that ends after the frame', [0, 0, 2, 1]],
    ['an over-long length', [0, 0, 0x80, 0]],
    ['a message longer than any', [0, 0, 0x81, 0x08, ...new Array<number>(1025).fill(0)]],
    ['an id beyond the window', [1, 0, 0]],
  ])('[CH8] %s is broken', (_name, bytes) => {
    const receiver = new ReliableOrderedChannel()
    expect(accept(receiver, Uint8Array.from(bytes))).toBe('broken')
    expect(received(receiver)).toEqual([])
  })

  test('[CH8] the last id of the window is not a broken frame', () => {
    expect(accept(new ReliableOrderedChannel(), Uint8Array.of(0, 255, 0))).toBe('ok')
  })
})
