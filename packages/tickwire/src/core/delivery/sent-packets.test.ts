import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AckBlock } from '../packet/ack-block.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { RttEstimator } from './rtt.ts'
import { SentPackets } from './sent-packets.ts'

class Listener implements FrameSource {
  readonly delivered: number[] = []
  readonly lost: number[] = []

  begin(): void {}
  wantsAt(): number {
    return Infinity
  }
  fill(): boolean {
    return false
  }
  onDelivered(_now: number, sequence: number): void {
    this.delivered.push(sequence)
  }
  onLost(_now: number, sequence: number): void {
    this.lost.push(sequence)
  }
}

function setUp(sourceCount: number = 1) {
  const sources = Array.from({ length: sourceCount }, () => new Listener())
  const rtt = new RttEstimator()
  const counts = { packetsDelivered: 0, packetsLost: 0 }
  return { sources, source: sources[0]!, rtt, counts, sent: new SentPackets(sources, rtt, counts) }
}

/** A block that acknowledges exactly `sequences`. */
function acking(...sequences: number[]): AckBlock {
  const latest = Math.max(...sequences)
  const block = Object.assign(new AckBlock(), { latest: latest & 0xffff, lo: 0, hi: 0 })
  for (const sequence of sequences) {
    const bit = latest - 1 - sequence
    if (bit >= 0 && bit < 32) block.lo = (block.lo | (1 << bit)) >>> 0
    else if (bit >= 32) block.hi = (block.hi | (1 << (bit - 32))) >>> 0
  }
  return block
}

describe('sent packets', () => {
  test('[ACK6] only sources with frames in a packet are notified, and once, however often it is acknowledged', () => {
    const { sources, sent, counts } = setUp(3)
    sent.add(0, 1, 0b101)
    sent.add(0, 2, 0b010)
    sent.handleAck(10, acking(1))
    sent.handleAck(11, acking(1, 2))
    sent.handleAck(12, acking(1, 2))
    expect(sources.map((source) => source.delivered)).toEqual([[1], [2], [1]])
    expect(counts).toEqual({ packetsDelivered: 2, packetsLost: 0 })
  })

  test('[ACK6] every packet is reported once as delivered or lost, over any history of acks and time', () => {
    const steps = fc.array(fc.tuple(fc.nat(60), fc.array(fc.nat(64), { maxLength: 12 })), { maxLength: 400 })
    fc.assert(fc.property(steps, (history) => {
      const { source, sent } = setUp()
      let now = 0
      let sequence = 0
      for (const [passed, behind] of history) {
        now += passed
        sent.add(now, ++sequence, 1)
        const acked = behind.map((distance) => sequence - distance).filter((one) => one > 0)
        if (acked.length > 0) sent.handleAck(now + 1, acking(...acked))
        sent.detectLoss(now + 1)
      }
      sent.abandon(now)
      const reported = [...source.delivered, ...source.lost].sort((a, b) => a - b)
      expect(reported).toEqual(Array.from({ length: sequence }, (_, index) => index + 1))
    }), { seed: 7, numRuns: 200 })
  })

  test('[ACK7] three newer packets delivered and 1.25 round trips: lost. Two, or sooner: not yet', () => {
    const { source, sent, rtt } = setUp()
    for (let sequence = 1; sequence <= 4; sequence++) sent.add(sequence, sequence, 1)
    sent.handleAck(104, acking(4, 3))
    expect(rtt.smoothedMs).toBe(100)
    expect(source.lost).toEqual([])
    sent.detectLoss(125)
    expect(source.lost).toEqual([])
    sent.detectLoss(126)
    expect(source.lost).toEqual([1])
    sent.detectLoss(300)
    expect(source.lost, 'packet 2 was overtaken by two only').toEqual([1])
  })

  test('[ACK7] silence: a packet is lost at the timeout plus the ack delay, and nextLossAt returns when', () => {
    const { source, sent } = setUp()
    sent.add(0, 1, 1)
    expect(sent.nextLossAt()).toBe(1100)
    sent.detectLoss(1099)
    expect(source.lost).toEqual([])
    sent.detectLoss(1100)
    expect(source.lost).toEqual([1])
    expect(sent.nextLossAt()).toBe(Infinity)
  })

  test('[ACK7] at the time that nextLossAt returns, detectLoss finds a packet, however the sum rounds', () => {
    const { source, sent, rtt } = setUp()
    let now = 0.1
    for (let sequence = 1; sequence <= 500; sequence++) {
      rtt.sample(1 / (sequence % 7 + 1) + sequence * 0.7)
      sent.add(now, sequence, 1)
      now = sent.nextLossAt()
      sent.detectLoss(now)
      expect(source.lost.length).toBe(sequence)
    }
  })

  test('[ACK7] packets without frames set no timer', () => {
    const { sent } = setUp()
    sent.add(0, 1, 0)
    expect(sent.nextLossAt()).toBe(Infinity)
  })

  test('[ACK7] when 256 packets are open, the oldest is declared lost', () => {
    const { source, sent } = setUp()
    for (let sequence = 1; sequence <= 257; sequence++) sent.add(0, sequence, 1)
    expect(source.lost).toEqual([1])
  })

  test('[ACK8] the first ack of the latest packet is a sample, less the peer\'s delay; others are not', () => {
    const { sent, rtt } = setUp()
    sent.add(0, 1, 1)
    sent.add(10, 2, 1)
    const block = acking(1, 2)
    block.delayUnits = 1000
    sent.handleAck(60, block)
    expect(rtt.samples).toBe(1)
    expect(rtt.latestMs).toBe(60 - 10 - 32)
    sent.handleAck(90, block)
    expect(rtt.samples).toBe(1)
  })

  test('[ACK8] a saturated delay gives no sample', () => {
    const { sent, rtt } = setUp()
    sent.add(0, 1, 1)
    const block = acking(1)
    block.delayUnits = 0xffff
    sent.handleAck(9000, block)
    expect(rtt.samples).toBe(0)
  })

  test('[ACK8] a packet declared lost too early still gives a sample: so a short timeout is corrected', () => {
    const { source, sent, rtt } = setUp()
    sent.add(0, 1, 1)
    sent.detectLoss(1200)
    expect(source.lost).toEqual([1])
    sent.handleAck(2000, acking(1))
    expect(rtt.smoothedMs).toBe(2000)
    expect(source.delivered).toEqual([])
    sent.handleAck(2500, acking(1))
    expect(rtt.samples, 'once').toBe(1)
  })

  test('[ACK10] an ack of a packet that was never sent is a protocol violation', () => {
    const { sent } = setUp()
    expect(sent.isHonest(new AckBlock())).toBe(true)
    expect(sent.isHonest(acking(1))).toBe(false)
    sent.add(0, 1, 1)
    expect(sent.isHonest(acking(1))).toBe(true)
    expect(sent.isHonest(acking(2))).toBe(false)
  })

  test('[ACK1] acknowledgements are read across the wrap of their 16 bits', () => {
    const { source, sent } = setUp()
    for (let sequence = 1; sequence <= 65_540; sequence++) {
      sent.add(0, sequence, sequence > 65_530 ? 1 : 0)
      if (sequence % 10 === 0) sent.handleAck(1, acking(sequence))
    }
    expect(source.delivered).toEqual([65_540])
    sent.handleAck(1, acking(65_540, 65_539, 65_535))
    expect(source.delivered).toEqual([65_540, 65_539, 65_535])
  })
})
