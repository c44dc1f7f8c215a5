import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { AckBlock } from './ack-block.ts'
import type { FrameSink, FrameSource, FrameVerdict } from './frame-source.ts'
import { PacketBuilder } from './packet-builder.ts'
import { PacketReader } from './packet-reader.ts'

/** Writes each of its bodies once, as long as they fit. */
class ListSource implements FrameSource {
  readonly left: Uint8Array[]
  asked: number = 0

  constructor(bodies: readonly Uint8Array[]) {
    this.left = [...bodies]
  }

  begin(): void {}
  wantsAt(): number {
    return 0
  }

  fill(_now: number, _sequence: number, out: BitWriter): boolean {
    this.asked++
    const body = this.left[0]
    if (body === undefined || body.length * 8 > out.bitsLeft) return false
    for (const byte of body) out.writeBits(byte, 8)
    this.left.shift()
    return true
  }

  onDelivered(): void {}
  onLost(): void {}
}

/** Keeps the frames that it receives. */
class ListSink implements FrameSink {
  readonly bodies: Uint8Array[] = []
  readonly verdict: FrameVerdict

  constructor(verdict: FrameVerdict = 'ok') {
    this.verdict = verdict
  }

  accept(_now: number, _sequence: number, frame: BitReader): FrameVerdict {
    const body = new Uint8Array(frame.bitsLeft / 8)
    for (let index = 0; index < body.length; index++) body[index] = frame.readBits(8)
    this.bodies.push(body)
    return this.verdict
  }
}

function sinksOf(entries: Record<number, FrameSink>): (FrameSink | undefined)[] {
  return Array.from({ length: 16 }, (_, kind) => entries[kind])
}

function build(sources: readonly FrameSource[], kinds: readonly number[], limit: number, offset: number = 15) {
  const bytes = new Uint8Array(1500)
  const builder = new PacketBuilder()
  builder.begin(bytes, offset, limit, new AckBlock())
  const wrote = builder.fill(0, 1, sources, Uint8Array.from(kinds))
  return { bytes, length: builder.finish(), wrote }
}

const body = (size: number, fill: number = 7): Uint8Array => new Uint8Array(size).fill(fill)

describe('packets', () => {
  test('[PKT4] a frame is kind 4, flags 4, length 14 and its bytes, without alignment', () => {
    const { bytes, length } = build([new ListSource([Uint8Array.of(0xab)])], [5], 1200, 0)
    // 36 bits of acks (0, 0, no gaps), then 0101 0000 00000000000001 10101011, then 6 zeros
    const bits = `${'0'.repeat(36)}0101000000000000000001${'10101011'}000000`
    expect([...bytes.slice(0, length)].map((byte) => byte.toString(2).padStart(8, '0')).join('')).toBe(bits)
  })

  test('[PKT4] any mix of frames is read back as written', () => {
    const bodies = fc.array(fc.tuple(fc.nat(15), fc.uint8Array({ maxLength: 60 })), { minLength: 1, maxLength: 12 })
    fc.assert(fc.property(bodies, fc.integer({ min: 15, max: 22 }), (frames, offset) => {
      const sources = frames.map(([, bytes]) => new ListSource([bytes]))
      const { bytes, length } = build(sources, frames.map(([kind]) => kind), 1200, offset)
      const seen: [number, Uint8Array][] = []
      const sinks = sinksOf(Object.fromEntries(Array.from({ length: 16 }, (_, kind) => {
        const sink = new ListSink()
        return [kind, { accept(now: number, sequence: number, frame: BitReader): FrameVerdict {
          const verdict = sink.accept(now, sequence, frame)
          seen.push([kind, sink.bodies.at(-1)!])
          return verdict
        } }]
      })))
      const reader = new PacketReader()
      expect(reader.read(bytes, offset, length, sinks)).toBe('ok')
      expect(reader.frameCount).toBe(frames.length)
      expect(reader.deliver(0, 1, sinks)).toBe('ok')
      expect(seen).toEqual(frames)
    }), { seed: 4 })
  })

  test('[PKT4] nonzero flags and nonzero padding are refused', () => {
    const { bytes, length } = build([new ListSource([body(1)])], [5], 1200, 0)
    const sinks = sinksOf({ 5: new ListSink() })
    const reader = new PacketReader()
    expect(reader.read(bytes, 0, length, sinks)).toBe('ok')
    for (let bit = 40; bit < 44; bit++) {
      const flagged = bytes.slice()
      flagged[bit >>> 3]! ^= 0x80 >>> (bit & 7)
      expect(reader.read(flagged, 0, length, sinks)).toBe('malformed')
    }
    const padded = bytes.slice()
    padded[length - 1]! |= 1
    expect(reader.read(padded, 0, length, sinks)).toBe('malformed')
    expect(reader.read(bytes, 0, length + 1, sinks), 'a whole byte of padding').toBe('malformed')
  })

  test('[PKT5] an unknown frame kind refuses the whole packet', () => {
    const known = new ListSink()
    const sinks = sinksOf({ 1: known })
    const { bytes, length } = build([new ListSource([body(3)]), new ListSource([body(3)])], [1, 2], 1200)
    const reader = new PacketReader()
    expect(reader.read(bytes, 15, length, sinks)).toBe('unknown-frame')
    expect(known.bodies).toEqual([])
  })

  test('[PKT6] a packet cut inside a frame has no effect, not even of the frames before', () => {
    const sink = new ListSink()
    const sinks = sinksOf({ 1: sink, 2: sink })
    const { bytes, length } = build([new ListSource([body(30), body(9)]), new ListSource([body(40)])], [1, 2], 1200)
    const reader = new PacketReader()
    let whole = 0
    for (let cut = 15; cut < length; cut++) {
      // Only a cut between two frames leaves a valid packet; only a seal can detect that frames are missing.
      if (reader.read(bytes, 15, cut, sinks) === 'ok') whole++
    }
    expect(whole).toBeLessThanOrEqual(2)
    expect(sink.bodies).toEqual([])
    expect(reader.read(bytes, 15, length, sinks)).toBe('ok')
  })

  test('[PKT6] the worst verdict of its frames is the packet\'s, and a broken frame is the last one seen', () => {
    const { bytes, length } = build([1, 2, 3].map(() => new ListSource([body(2)])), [1, 2, 3], 1200)
    const last = new ListSink()
    const reader = new PacketReader()
    const lame = sinksOf({ 1: new ListSink(), 2: new ListSink('no-ack'), 3: last })
    expect(reader.read(bytes, 15, length, lame)).toBe('ok')
    expect(reader.deliver(0, 1, lame)).toBe('no-ack')
    expect(last.bodies.length).toBe(1)
    const broken = sinksOf({ 1: new ListSink(), 2: new ListSink('broken'), 3: last })
    expect(reader.deliver(0, 1, broken)).toBe('broken')
    expect(last.bodies.length).toBe(1)
  })

  test('[PKT8] sources are asked in order, each until it returns false, and the packet never exceeds its limit', () => {
    const first = new ListSource([body(100), body(100)])
    const second = new ListSource([body(100), body(100), body(5)])
    const { length, wrote } = build([first, second], [1, 2], 350)
    expect(length).toBeLessThanOrEqual(350)
    expect([first.left.length, second.left.length]).toEqual([0, 2])
    expect(wrote).toBe(0b11)
    expect([first.asked, second.asked]).toEqual([3, 2])
  })

  test('[PKT8] a packet of exactly the limit is possible, one byte less room makes the frame wait', () => {
    const size = 1200 - 15 - Math.ceil((36 + 22) / 8)
    expect(build([new ListSource([body(size)])], [1], 1200).length).toBe(1200)
    expect(build([new ListSource([body(size)])], [1], 1199).wrote).toBe(0)
  })

  test('[PKT8] a source that never returns false is stopped', () => {
    const endless: FrameSource = {
      begin() {}, wantsAt: () => 0, fill: () => true, onDelivered() {}, onLost() {},
    }
    const { length, wrote } = build([endless], [1], 1200)
    expect(wrote).toBe(1)
    expect(length).toBeLessThanOrEqual(1200)
  })
})
