/**
 * The send gate in a connection: how a full path limits what is sent, and what it must never delay.
 */

import { describe, expect, test } from 'vitest'
import { FixedController } from '../../packages/tickwire/src/core/delivery/congestion/fixed.ts'
import { GoodBadController } from '../../packages/tickwire/src/core/delivery/congestion/good-bad.ts'
import type { FrameSink, FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'

const INPUTS = 4
const BULK = 5
const sink: FrameSink = { accept: () => 'ok' }

/** The input of a tick, 40 bytes, 60 times a second: each must be sent in a packet of its own tick. */
class Ticker implements FrameSource {
  wanted = 0
  sent = 0
  begin(): void {}
  wantsAt(now: number): number {
    return now >= this.wanted ? now : this.wanted
  }
  fill(now: number, _sequence: number, out: { writeBits(value: number, width: number): void }): boolean {
    if (now < this.wanted) return false
    this.wanted += 1000 / 60
    this.sent++
    for (let byte = 0; byte < 40; byte++) out.writeBits(1, 8)
    return true
  }
  onDelivered(): void {}
  onLost(): void {}
}

/** Always has a full packet to send. */
const greedy = (): FrameSource & { readonly bytes: { count: number } } => {
  const bytes = { count: 0 }
  return {
    bytes,
    begin() {},
    wantsAt: (now: number) => now,
    fill(_now: number, _sequence: number, out) {
      if (out.bitsLeft < 8000) return false
      for (let byte = 0; byte < 1000; byte++) out.writeBits(1, 8)
      bytes.count += 1000
      return true
    },
    onDelivered() {},
    onLost() {},
  }
}

function pairOf(
  sources: readonly (readonly [number, FrameSource])[],
  controller = (): GoodBadController | FixedController => new GoodBadController(),
) {
  const pair = new Pair({
    weather: { latencyMs: 20 },
    client: {
      congestion: controller,
      assemble: (connection) => sources.forEach(([kind, source]) => connection.addSource(kind, source)),
    },
    server: { assemble: (connection) => [INPUTS, BULK].forEach((kind) => connection.addSink(kind, sink)) },
  })
  const connection = pair.connect()
  expect(connection.isOpen).toBe(true)
  return { pair, connection }
}

describe('the send gate', () => {
  test('[PACE1] a greedy source gets the rate, and no tick more than the rate and two datagrams', () => {
    const source = greedy()
    const { pair, connection } = pairOf([[BULK, source]], () => new FixedController(120_000))
    pair.drive(1000)
    const before = connection.stats.bytesSent
    for (let tick = 0; tick < 300; tick++) {
      const from = connection.stats.bytesSent
      pair.drive(1000 / 60)
      expect(connection.stats.bytesSent - from).toBeLessThanOrEqual(120_000 / 60 + 2 * 1200)
    }
    const perSecond = (connection.stats.bytesSent - before) / 5
    expect(perSecond).toBeGreaterThan(119_000)
    expect(perSecond).toBeLessThan(121_500)
  })

  test('[CC3] when round trips jump, the rate falls in the tick that shows it', () => {
    const { pair, connection } = pairOf([[INPUTS, new Ticker()]])
    pair.drive(10_000)
    expect(connection.gate.controller.bytesPerSecond).toBe(1000 * 1200)
    pair.link.weather = { latencyMs: 20 + 130 }
    // The congestion cannot be known before the first slow acknowledgement arrives; from then on the rate falls at
    // once.
    let samples = connection.rtt.samples
    while (connection.rtt.latestMs < 200) {
      samples = connection.rtt.samples
      pair.drive(1)
    }
    expect(connection.rtt.samples).toBeLessThanOrEqual(samples + 2)
    pair.drive(1000 / 60)
    expect(connection.gate.controller.bytesPerSecond).toBe(20 * 1200)
    pair.link.weather = { latencyMs: 20 }
    pair.drive(10_000)
    expect(connection.gate.controller.bytesPerSecond).toBe(1000 * 1200)
  })

  test("[PACE3] on the worst path, beside a greedy source, every tick's input is still sent", () => {
    const ticker = new Ticker()
    const { pair, connection } = pairOf([[INPUTS, ticker], [BULK, greedy()]], () => new FixedController(24_000))
    pair.drive(2000)
    const before = ticker.sent
    ticker.wanted = pair.now
    const bytesBefore = connection.stats.bytesSent
    pair.drive(10_000)
    expect(ticker.sent - before).toBeGreaterThanOrEqual(599)
    // The large source gets what is left.
    expect((connection.stats.bytesSent - bytesBefore) / 10).toBeLessThan(25_000)
  })

  test('[PACE5] acks are never held back', () => {
    const { pair } = pairOf([[BULK, greedy()]], () => new FixedController(240_000))
    const server = pair.accepted
    const controller = server.gate
    // A server whose send budget is deep in debt.
    for (let packet = 0; packet < 100; packet++) controller.onSent(pair.now, 1200)
    const before = server.stats.packetsSent
    pair.drive(500)
    expect(server.stats.packetsSent - before).toBeGreaterThanOrEqual(5)
  })

  test('[PACE2] simulated time never stands still: a greedy pair asks for a bounded number of wakes', () => {
    const { pair, connection } = pairOf([[BULK, greedy()]])
    let wakes = 0
    const { wake } = pair.client
    pair.client.wake = (now) => {
      wakes++
      wake.call(pair.client, now)
    }
    const packets = connection.stats.packetsSent
    pair.drive(3000)
    expect(wakes).toBeLessThan(4 * (connection.stats.packetsSent - packets) + 3000)
  })
})
