/**
 * What every channel must do, by its promise, over packets that are lost, late and out of order.
 *
 * Packets are made here, by asking the channel for frames; their fates are drawn. As in a connection, a packet takes
 * effect at most once and its sender is notified of its fate exactly once.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { form } from '../form.ts'
import { MESSAGE_BYTES_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import type { Channel } from '../../packages/tickwire/src/core/channel/channel.ts'

/** Space for frames in one packet. */
const ROOM_BYTES = 1140

export const numbered = (id: number, size: number = 4): Uint8Array => {
  const bytes = new Uint8Array(Math.max(4, size)).fill(id)
  new DataView(bytes.buffer).setUint32(0, id)
  return bytes
}

/** The frames that a channel puts into packet `sequence`. */
export function framesOf(
  channel: Channel,
  sequence: number,
  roomBytes: number = ROOM_BYTES,
  now: number = 0,
): Uint8Array[] {
  const frames: Uint8Array[] = []
  channel.begin(now)
  for (let room = roomBytes; room >= 0;) {
    const out = new BitWriter(new Uint8Array(room))
    if (!channel.fill(now, sequence, out)) break
    expect(out.failed, 'a channel writes no further than its space').toBe(false)
    frames.push(out.bytes.slice(0, out.finish()))
    room -= frames.at(-1)!.length + 3
  }
  return frames
}

/** Everything that can be received, in order. */
export function receivedFrom(channel: Channel, bytesMax: number = MESSAGE_BYTES_MAX): Uint8Array[] {
  const out = new Uint8Array(bytesMax)
  const got: Uint8Array[] = []
  for (let length = channel.receive(out); length >= 0; length = channel.receive(out)) got.push(out.slice(0, length))
  return got
}

const idOf = (message: Uint8Array): number => new DataView(message.buffer, message.byteOffset).getUint32(0)

/** Two ends, and packets between them. */
class Wire {
  readonly sender: Channel
  readonly receiver: Channel
  sequence = 0
  readonly got: number[] = []

  constructor(make: () => Channel) {
    this.sender = make()
    this.receiver = make()
  }

  build(): { sequence: number; frames: Uint8Array[] } {
    return { sequence: ++this.sequence, frames: framesOf(this.sender, this.sequence) }
  }

  deliver({ sequence, frames }: { sequence: number; frames: Uint8Array[] }): void {
    const verdicts = frames.map((frame) => this.receiver.accept(0, sequence, new BitReader(frame)))
    expect(verdicts).not.toContain('broken')
    if (verdicts.includes('no-ack')) this.sender.onLost(0, sequence)
    else this.sender.onDelivered(0, sequence)
  }

  receive(): void {
    for (const message of receivedFrom(this.receiver)) {
      const id = idOf(message)
      expect(message.subarray(4).every((byte) => byte === (id & 0xff)), 'content is intact').toBe(true)
      this.got.push(id)
    }
  }
}

const isRising = (ids: readonly number[]): boolean => ids.every((id, at) => at === 0 || id > ids[at - 1]!)
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

/** Runs the suite. */
export function channelContract(name: string, make: () => Channel): void {
  describe(`${name} as a channel`, () => {
    testPromise(make)
    testBounds(make)
    testFrames(make)
  })
}

function testPromise(make: () => Channel): void {
  const isReliable = ['ordered', 'unordered'].includes(make().promise)
  const isInOrder = ['ordered', 'sequenced'].includes(make().promise)

  test('[CHAN1] on a clean path every message arrives once, in order, whatever the guarantee', () => {
    const wire = new Wire(make)
    for (let id = 0; id < 600;) {
      for (let burst = 0; burst < 20 && id < 600; burst++)
        expect(wire.sender.send(numbered(id++, id % 90))).toBe('queued')
      while (wire.sender.wantsAt(5) === 5) wire.deliver(wire.build())
      wire.receive()
    }
    expect(wire.got).toEqual(upTo(600))
    expect(wire.sender.waitingBytes).toBe(0)
    expect(wire.sender.wantsAt(5)).toBe(Infinity)
  })

  test('[CHAN2, CHAN3] over any loss and order the channel gives its guarantee, and no more', () => {
    const fates = fc.array(fc.constantFrom('deliver', 'lose', 'late'), { minLength: 60, maxLength: 300 })
    let missing = 0
    let outOfOrder = 0
    fc.assert(fc.property(fates, fc.nat(300), (history, size) => {
      const wire = new Wire(make)
      const late: { sequence: number; frames: Uint8Array[] }[] = []
      let next = 0
      history.forEach((fate, index) => {
        for (let burst = 0; burst < 7 && wire.sender.send(numbered(next, size)) === 'queued'; burst++) next++
        const packet = wire.build()
        if (fate === 'lose') wire.sender.onLost(0, packet.sequence)
        else if (fate === 'late') late.push(packet)
        else wire.deliver(packet)
        if (late.length > 3) wire.deliver(late.splice(index % late.length, 1)[0]!)
        wire.receive()
      })
      for (const packet of late) wire.deliver(packet)
      wire.receive()
      for (let round = 0; round < 1000 && wire.sender.wantsAt(0) === 0; round++) {
        wire.deliver(wire.build())
        wire.receive()
      }
      expect(new Set(wire.got).size, 'nothing arrives twice').toBe(wire.got.length)
      expect(wire.got.every((id) => id < next)).toBe(true)
      if (isReliable) expect([...wire.got].sort((a, b) => a - b)).toEqual(upTo(next))
      if (isInOrder) expect(isRising(wire.got)).toBe(true)
      missing += next - wire.got.length
      if (!isRising(wire.got)) outOfOrder++
    }), { seed: 11, numRuns: form(30, 60) })
    // An unreliable channel does not repeat lost messages and does not wait for late ones.
    expect(missing > 0).toBe(!isReliable)
    expect(outOfOrder > 0).toBe(!isInOrder)
  })
}

function testBounds(make: () => Channel): void {
  const isReliable = ['ordered', 'unordered'].includes(make().promise)

  test('[CHAN4] `send` returns queued, full, too-large or closed', () => {
    const channel = make()
    expect(channel.send(new Uint8Array(MESSAGE_BYTES_MAX + 1))).toBe('too-large')
    expect(channel.send(new Uint8Array(MESSAGE_BYTES_MAX))).toBe('queued')
    for (let count = 0; count < 300; count++) channel.send(numbered(count))
    expect(channel.send(numbered(1))).toBe(isReliable ? 'full' : 'queued')
    channel.close()
    expect(channel.send(numbered(1))).toBe('closed')
  })

  test('[CHAN4] after it is closed, what has arrived can still be received', () => {
    const wire = new Wire(make)
    wire.sender.send(numbered(7))
    wire.deliver(wire.build())
    wire.receiver.close()
    wire.receive()
    expect(wire.got).toEqual([7])
  })

  test('[CHAN5] both directions are bounded; unreliable ones keep the newest, reliable ones stall', () => {
    const wire = new Wire(make)
    for (let id = 0; id < 2000; id++) {
      wire.sender.send(numbered(id, 900))
      expect(wire.sender.waitingBytes).toBeLessThanOrEqual(65_536)
      if (id % 3 === 0) wire.deliver(wire.build())
    }
    for (let round = 0; round < 100; round++) wire.deliver(wire.build())
    wire.receive()
    expect(wire.got.length).toBeLessThanOrEqual(256)
    if (isReliable) expect(wire.got[0]).toBe(0)
    else expect(wire.got.at(-1)).toBe(1999)
    expect(wire.sender.dropOldest()).toBe(false)
  })
}

function testFrames(make: () => Channel): void {
  test('[CHAN6] frames of any bytes never throw: they contain whole messages, or are broken', () => {
    fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 20 }), (frames) => {
      const channel = make()
      frames.forEach((frame, index) => {
        expect(['ok', 'no-ack', 'broken']).toContain(channel.accept(0, index + 1, new BitReader(frame)))
      })
      for (const message of receivedFrom(channel)) expect(message.length).toBeLessThanOrEqual(MESSAGE_BYTES_MAX)
    }), { seed: 12, numRuns: form(100, 300) })
    expect(make().accept(0, 1, new BitReader(new Uint8Array(0)))).toBe('broken')
  })

  test('[CHAN6] whatever space a packet has, a channel writes whole messages into it or nothing', () => {
    const room = fc.integer({ min: 0, max: 400 })
    fc.assert(
      fc.property(fc.array(room, { minLength: 1, maxLength: 100 }), (rooms) => {
        const [sender, receiver] = [make(), make()]
        let sent = 0
        let got = 0
        rooms.forEach((roomBytes, index) => {
          if (sender.send(numbered(sent, (sent * 37) % 300)) === 'queued') sent++
          for (const frame of framesOf(sender, index + 1, roomBytes))
            expect(receiver.accept(0, index + 1, new BitReader(frame))).toBe('ok')
          sender.onDelivered(0, index + 1)
          for (const message of receivedFrom(receiver)) expect(idOf(message)).toBe(got++)
        })
      }),
      { seed: 13, numRuns: form(50, 100) },
    )
  })
}
