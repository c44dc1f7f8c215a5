import { describe, expect, test } from 'vitest'
import { ConfigError } from '../base/assert.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { AckBlock } from './ack-block.ts'
import type { FrameSource } from './frame-source.ts'
import { PacketBuilder } from './packet-builder.ts'
import { SourceOrder } from './source-order.ts'

/** A source that always has data, in frames of up to `most` bytes. */
class Greedy implements FrameSource {
  bytes = 0
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  begin(): void {}

  wantsAt(now: number): number {
    return now
  }

  fill(_now: number, _sequence: number, out: BitWriter): boolean {
    const room = Math.min(this.#most, out.bitsLeft >>> 3)
    if (room < Math.min(this.#most, 16)) return false
    for (let byte = 0; byte < room; byte++) out.writeBits(1, 8)
    this.bytes += room
    return true
  }

  onDelivered(): void {}

  onLost(): void {}
}

function send(sources: readonly FrameSource[], order: SourceOrder, packets: number): void {
  const builder = new PacketBuilder()
  const bytes = new Uint8Array(1200)
  for (let sequence = 1; sequence <= packets; sequence++) {
    builder.begin(bytes, 15, 1184, new AckBlock())
    builder.fill(0, sequence, sources, Uint8Array.from(sources, (_, index) => index), order)
    builder.finish()
  }
}

describe('sources that share', () => {
  test('[LANE7] share by weight, in any order of addition', () => {
    for (const [weightA, weightB] of [[6, 3], [3, 6], [1, 1]] as const) {
      const [a, b] = [new Greedy(2000), new Greedy(2000)]
      const order = new SourceOrder()
      order.add(0, weightA)
      order.add(1, weightB)
      send([a, b], order, 900)
      expect(a.bytes / b.bytes).toBeCloseTo(weightA / weightB, 1)
    }
  })

  test('[LANE7] a source without a weight comes before those after it, and takes what it needs', () => {
    const [first, second] = [new Greedy(2000), new Greedy(2000)]
    const order = new SourceOrder()
    order.add(0, 0)
    order.add(1, 6)
    send([first, second], order, 20)
    expect(first.bytes).toBeGreaterThan(20_000)
    expect(second.bytes).toBe(0)
  })

  test('[LANE7] an idle source saves up nothing', () => {
    const order = new SourceOrder()
    order.add(0, 1)
    order.add(1, 1)
    for (let packet = 0; packet < 100; packet++) order.charge(0, 8000)
    let turns = 0
    for (let packet = 0; packet < 20; packet++) {
      order.arrange()
      turns += order.places[0]!
      order.charge(order.places[0]!, 8000)
    }
    expect(turns).toBeLessThanOrEqual(11)
  })

  test('[LANE7] impossible weights, and weighted sources that are not adjacent, are refused', () => {
    const order = new SourceOrder()
    expect(() => order.add(0, -1)).toThrow(ConfigError)
    expect(() => order.add(0, NaN)).toThrow(ConfigError)
    order.add(0, 1)
    order.add(1, 0)
    expect(() => order.add(2, 1)).toThrow(ConfigError)
  })
})
