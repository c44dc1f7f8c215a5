/**
 * Acknowledgements with hostile input, against a model that keeps sets: the window, the ack block, and the fates of
 * packets.
 */

import { AckWindow } from '../../packages/tickwire/src/core/delivery/ack-window.ts'
import { RttEstimator } from '../../packages/tickwire/src/core/delivery/rtt.ts'
import { SentPackets } from '../../packages/tickwire/src/core/delivery/sent-packets.ts'
import { AckBlock, readAckBlock, writeAckBlock } from '../../packages/tickwire/src/core/packet/ack-block.ts'
import type { FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import type { FuzzTarget } from './target.ts'

const VECTOR = 64

const block: FuzzTarget = {
  name: 'ack-block',
  seeds: () => [
    Uint8Array.of(0, 0, 0, 0, 0),
    Uint8Array.of(4, 18, 0, 100, 31, 255, 176),
    Uint8Array.of(0, 5, 255, 255, 240, 1, 0, 2, 0, 3, 0, 4, 0),
  ],
  run(bytes) {
    const reader = new BitReader(bytes)
    const read = new AckBlock()
    readAckBlock(reader, read)
    if (reader.failed) return
    const out = new BitWriter(new Uint8Array(16))
    writeAckBlock(read, out)
    const again = new AckBlock()
    readAckBlock(new BitReader(out.bytes.subarray(0, out.finish())), again)
    for (const name of ['latest', 'delayUnits', 'lo', 'hi'] as const)
      if (again[name] !== read[name]) throw new Error(`${name} is ${read[name]} and then ${again[name]}`)
  },
}

const window: FuzzTarget = {
  name: 'ack-window',
  /**
   * Input: arrivals, one byte each: below 128, the distance ahead of the newest sequence; above, the distance behind
   * it.
   */
  seeds: () => [
    Uint8Array.of(1, 1, 1, 1, 130, 5, 1, 1, 190),
    Uint8Array.of(64, 63, 65, 1, 191, 192, 193, 127),
    new Uint8Array(200).fill(1),
  ],
  run(bytes) {
    const acks = new AckWindow()
    const arrived = new Set<number>()
    let latest = 0
    const block = new AckBlock()
    bytes.forEach((byte, at) => {
      const sequence = byte < 128 ? latest + byte : latest - (byte - 128)
      if (sequence < 1) return
      acks.mark(at, sequence, (byte & 1) === 1)
      arrived.add(sequence)
      latest = Math.max(latest, sequence)
      acks.fill(at, block)
      if (block.latest !== (latest & 0xffff)) throw new Error(`latest ${latest}, in the block ${block.latest}`)
      for (let bit = 0; bit < VECTOR; bit++) {
        const isSaid = ((bit < 32 ? block.lo >>> bit : block.hi >>> (bit - 32)) & 1) === 1
        const before = latest - 1 - bit
        if (isSaid !== (before < 1 || arrived.has(before))) throw new Error(`${before} of ${latest}: ${isSaid} is said`)
      }
    })
  },
}

/** The fate of each packet, reported once. */
class Fates implements FrameSource {
  readonly fates: Map<number, 'delivered' | 'lost'> = new Map()
  attach(): void {}
  begin(): void {}
  wantsAt(): number {
    return Infinity
  }

  fill(): boolean {
    return false
  }

  onDelivered(_now: number, sequence: number): void {
    this.#settle(sequence, 'delivered')
  }

  onLost(_now: number, sequence: number): void {
    this.#settle(sequence, 'lost')
  }

  #settle(sequence: number, fate: 'delivered' | 'lost'): void {
    if (this.fates.has(sequence)) throw new Error(`the fate of ${sequence} is reported twice`)
    this.fates.set(sequence, fate)
  }
}

const sent: FuzzTarget = {
  name: 'sent-packets',
  /**
   * Input: steps of four bytes: even send one packet, odd take an ack (behind the newest, low bits of the vector, how
   * late).
   */
  seeds: () => [
    Uint8Array.of(0, 0, 0, 5, 0, 0, 0, 5, 1, 0, 255, 9),
    Uint8Array.of(...Array.from({ length: 40 }, (_, index) => [index % 5 === 4 ? 1 : 0, index % 3, 0xa5, 7]).flat()),
  ],
  run(bytes) {
    const source = new Fates()
    const packets = new SentPackets([source], new RttEstimator(), { packetsDelivered: 0, packetsLost: 0 })
    let sequence = 0
    let now = 0
    const acked = new Set<number>()
    const block = new AckBlock()
    for (let at = 0; at + 3 < bytes.length; at += 4) {
      now += bytes[at + 3]!
      if ((bytes[at]! & 1) === 0) {
        if (packets.hasRoom) packets.add(now, ++sequence, 1, 100)
        continue
      }
      const latest = sequence - (bytes[at + 1]! % 8)
      block.latest = latest & 0xffff
      block.lo = (bytes[at + 2]! * 0x0101_0101) >>> 0
      block.hi = 0
      block.delayUnits = 0
      if (latest < 0 || !packets.isHonest(block)) continue
      packets.handleAck(now, block)
      acked.add(latest)
      for (let bit = 0; bit < 32; bit++) if (((block.lo >>> bit) & 1) === 1) acked.add(latest - 1 - bit)
      packets.detectLoss(now)
    }
    for (const [number, fate] of source.fates)
      if (fate === 'delivered' && !acked.has(number)) throw new Error(`${number} was delivered without an ack`)
    packets.abandon(now)
    if (source.fates.size !== sequence) throw new Error(`of ${sequence} packets ${source.fates.size} have a fate`)
  },
}

export const targets: readonly FuzzTarget[] = [block, window, sent]
