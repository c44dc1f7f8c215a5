/**
 * Which connections are polled at a flush: those with data to send, and those with a source that does not announce its
 * data.
 */

import { describe, expect, test } from 'vitest'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'

/** Counts how often it is polled, and sends a frame when the test asks for one. */
class Asked implements FrameSource {
  times = 0
  hasFrame = false

  begin(): void {}

  wantsAt(now: number): number {
    this.times++
    return this.hasFrame ? now : Infinity
  }

  fill(_now: number, _sequence: number, out: { writeBits(value: number, width: number): void }): boolean {
    if (!this.hasFrame) return false
    this.hasFrame = false
    out.writeBits(7, 8)
    return true
  }

  onDelivered(): void {}

  onLost(): void {}
}

class Saying extends Asked {
  wake: () => void = () => {}

  attach(wake: () => void): void {
    this.wake = wake
  }
}

function pairOf(source: FrameSource): { pair: Pair; connection: Connection; received: number[] } {
  const received: number[] = []
  const pair = new Pair({
    weather: { latencyMs: 1 },
    client: { assemble: (connection) => connection.addSource(1, source) },
    server: { assemble: (connection) => connection.addSink(1, { accept: (now) => (received.push(now), 'ok') }) },
  })
  const connection = pair.connect()
  pair.drive(500)
  return { pair, connection, received }
}

describe('which sources are polled', () => {
  test('[CONN11] a source that announces its frames is not polled before it does, and then at once', () => {
    const source = new Saying()
    const { pair, received } = pairOf(source)
    const before = source.times
    for (let flush = 0; flush < 50; flush++) pair.flush()
    expect(source.times).toBe(before)
    source.hasFrame = true
    pair.flush()
    expect(received).toEqual([])
    source.wake()
    const from = pair.now
    pair.flush()
    pair.drive(5)
    expect(received).toHaveLength(1)
    expect(received[0]! - from).toBeLessThanOrEqual(2)
  })

  test('[CONN11] a source that announces nothing is polled at every flush', () => {
    const source = new Asked()
    const { pair, received } = pairOf(source)
    const before = source.times
    for (let flush = 0; flush < 50; flush++) pair.flush()
    expect(source.times - before).toBeGreaterThanOrEqual(50)
    source.hasFrame = true
    pair.flush()
    pair.drive(5)
    expect(received).toHaveLength(1)
  })

  test('[CONN11] timers of an idle connection still run: keepalives, and the timeout of a silent peer', () => {
    const { pair, connection } = pairOf(new Saying())
    const sent = connection.stats.packetsSent
    pair.drive(5000)
    expect(connection.stats.packetsSent - sent).toBeGreaterThanOrEqual(4)
    pair.link.weather = { loss: 1 }
    pair.drive(11_000)
    expect(connection.closeReason).toEqual({ by: 'network', code: 'timed-out' })
  })
})
