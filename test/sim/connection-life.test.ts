/**
 * The life of an established connection, up to the disconnect, on a simulated cable.
 */

import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../packages/tickwire/src/core/base/assert.ts'
import type { AeadKey, SuiteId } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { FixedController } from '../../packages/tickwire/src/core/delivery/congestion/fixed.ts'
import { createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import { PACKET_TYPE } from '../../packages/tickwire/src/core/packet/header.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { verdictSink, Poke } from './connection-poke.ts'

/** A path without a limit: only windows hold packets back here. */
const unpaced = (): FixedController => new FixedController(Infinity)

/** A peer with good keys that writes other bytes into its packets just before it seals them. */
class Turncoat extends StubCrypto {
  nextType: number | undefined = undefined
  nextAck: number | undefined = undefined
  override importAead(suite: SuiteId, key: Uint8Array): AeadKey {
    const genuine = super.importAead(suite, key)
    return {
      seal: (nonce, bytes, headerLength, length) => {
        if (this.nextType !== undefined) bytes[4] = this.nextType
        if (this.nextAck !== undefined) bytes[headerLength] = this.nextAck
        genuine.seal(nonce, bytes, headerLength, length)
      },
      open: (nonce, bytes, headerLength, length) => genuine.open(nonce, bytes, headerLength, length),
      wipe: () => genuine.wipe(),
    }
  }
}

describe('staying', () => {
  test('[CONN3] an idle connection sends one packet a second, on each side', () => {
    const pair = new Pair({ weather: { latencyMs: 30 } })
    const connection = pair.connect()
    pair.drive(5000)
    const before = connection.stats.packetsSent
    const beforeFar = pair.accepted.stats.packetsSent
    pair.drive(60_000)
    expect(connection.stats.packetsSent - before).toBe(60)
    expect(pair.accepted.stats.packetsSent - beforeFar).toBe(60)
    expect(connection.rtt.smoothedMs).toBeCloseTo(60, 0)
  })

  test('[CONN4] a silent peer is timed out 10 s after its last packet, not before', () => {
    const pair = new Pair({ weather: { latencyMs: 30 } })
    const connection = pair.connect()
    pair.drive(5000)
    const { packetsReceived } = connection.stats
    pair.clock.driveUntil(() => connection.stats.packetsReceived > packetsReceived, 2000)
    pair.link.weather = { loss: 1 }
    pair.drive(9999)
    expect(connection.isOpen).toBe(true)
    pair.drive(1)
    expect(connection.state).toBe('disconnected')
    expect(connection.closeReason).toEqual({ by: 'network', code: 'timed-out' })
    expect(pair.client.events.filter((event) => event.type === 'closed').length).toBe(1)
  })

  test('[ACK5] frames without a reply are acknowledged within 100 ms, and acks are not acknowledged', () => {
    const poke = new Poke()
    const pair = new Pair({
      weather: { latencyMs: 10 },
      client: { assemble: (connection) => connection.addSource(3, poke) },
      server: { assemble: (connection) => connection.addSink(3, verdictSink('ok')) },
    })
    const connection = pair.connect()
    pair.drive(3050)
    const delivered = connection.stats.packetsDelivered
    const sent = pair.accepted.stats.packetsSent
    poke.isWanted = true
    pair.drive(125)
    expect(connection.stats.packetsDelivered - delivered).toBe(1)
    expect(pair.accepted.stats.packetsSent - sent).toBe(1)
  })

  test('[ACK4] a packet that a sink rejects is not acknowledged', () => {
    const poke = new Poke()
    const pair = new Pair({
      client: { assemble: (connection) => connection.addSource(3, poke) },
      server: { assemble: (connection) => connection.addSink(3, verdictSink('no-ack')) },
    })
    const connection = pair.connect()
    pair.drive(500)
    const { packetsLost } = connection.stats
    poke.isWanted = true
    pair.drive(3000)
    expect(pair.accepted.stats.packetsNotAcked).toBe(1)
    expect(connection.stats.packetsLost - packetsLost).toBe(1)
    expect(connection.isOpen).toBe(true)
  })

  test('[PKT5] a frame kind that only one side knows costs its packets, counted, and not the connection', () => {
    const poke = new Poke()
    const pair = new Pair({ client: { assemble: (connection) => connection.addSource(3, poke) } })
    const connection = pair.connect()
    poke.isWanted = true
    pair.drive(3000)
    expect(pair.accepted.stats.drops.unknownFrame).toBe(1)
    expect(connection.isOpen).toBe(true)
  })

  test('[PKT7] a payload without frames and a keepalive with one are refused, though they are genuine', () => {
    const poke = new Poke()
    const turncoat = new Turncoat()
    const pair = new Pair({
      crypto: turncoat,
      client: { assemble: (connection) => connection.addSource(3, poke) },
      server: { assemble: (connection) => connection.addSink(3, verdictSink('ok')) },
    })
    pair.connect()
    pair.drive(100)
    const received = pair.accepted.stats.packetsReceived
    let later = pair.now
    for (const [isPoked, type] of [[true, PACKET_TYPE.keepalive], [false, PACKET_TYPE.payload]] as const) {
      poke.isWanted = isPoked
      turncoat.nextType = type
      later += 1500
      const out = createTransmit()
      expect(pair.client.endpoint.pollTransmit(later, out)).toBe(true)
      turncoat.nextType = undefined
      pair.server.endpoint.handleDatagram(pair.now, 'client', out.bytes, out.length)
      expect(pair.accepted.stats.packetsReceived).toBe(received)
    }
    expect(pair.accepted.stats.drops.malformed).toBe(2)
    expect(pair.accepted.isOpen).toBe(true)
  })

  test('[ACK12] a source that always has more stops at 240 open packets, and acks still go out', () => {
    const greedy: FrameSource = {
      begin() {},
      wantsAt: (now) => now,
      fill: (_now, _sequence, out) => out.bitsLeft > 8000,
      onDelivered() {},
      onLost() {},
    }
    const pair = new Pair({
      client: { assemble: (connection) => connection.addSource(3, greedy), congestion: unpaced },
      server: { assemble: (connection) => connection.addSink(3, verdictSink('ok')) },
    })
    const connection = pair.connect()
    pair.link.weather = { loss: 1 }
    const { packetsSent } = connection.stats
    pair.drive(40)
    expect(connection.stats.packetsSent - packetsSent).toBeLessThanOrEqual(240)
    expect(connection.stats.packetsSent).toBeGreaterThan(230)
    expect(connection.stats.packetsLost).toBe(0)
    pair.drive(5000)
    expect(connection.isOpen).toBe(true)
    expect(connection.stats.packetsLost).toBeGreaterThan(240)
  })

  test('[PKT8] sources learn of a flush once, however many packets it takes', () => {
    let begun = 0
    let left = 0
    const bursty: FrameSource = {
      begin: () => void begun++,
      wantsAt: (now) => (left > 0 ? now : Infinity),
      fill: (_now, _sequence, out) => {
        if (left === 0 || out.bitsLeft < 8000) return false
        left--
        for (let byte = 0; byte < 1000; byte++) out.writeBits(7, 8)
        return true
      },
      onDelivered() {}, onLost() {},
    }
    const pair = new Pair({
      client: { assemble: (connection) => connection.addSource(3, bursty), congestion: unpaced },
      server: { assemble: (connection) => connection.addSink(3, verdictSink('ok')) },
    })
    const connection = pair.connect()
    const { packetsSent } = connection.stats
    left = 5
    pair.flush()
    expect(connection.stats.packetsSent - packetsSent).toBe(5)
    expect(begun).toBe(1)
    pair.drive(1)
    left = 1
    pair.flush()
    expect(begun).toBe(2)
  })

  test('[PKT8] a source that asks for a packet and then writes nothing is polled later, not in a loop', () => {
    let asked = 0
    const liar: FrameSource = {
      begin() {}, wantsAt: (now) => now, fill: () => { asked++; return false }, onDelivered() {}, onLost() {},
    }
    const pair = new Pair({ client: { assemble: (connection) => connection.addSource(3, liar) } })
    const connection = pair.connect()
    pair.drive(100)
    expect(asked).toBeGreaterThan(50)
    expect(asked).toBeLessThan(250)
    expect(connection.stats.packetsSent).toBeLessThan(10)
  })

  test('[ACK10] an acknowledgement of a packet that was never sent is refused, with the rest of its packet', () => {
    const turncoat = new Turncoat()
    const pair = new Pair({ crypto: turncoat })
    pair.connect()
    const out = createTransmit()
    turncoat.nextAck = 0x70
    while (!pair.client.endpoint.pollTransmit(pair.now + 1500, out));
    turncoat.nextAck = undefined
    const { packetsReceived } = pair.accepted.stats
    pair.server.endpoint.handleDatagram(pair.now, 'client', out.bytes, out.length)
    expect(pair.accepted.stats.drops.dishonestAck).toBe(1)
    expect(pair.accepted.stats.packetsReceived).toBe(packetsReceived)
  })

  test('[CONN6] a sink may close its own connection in the middle of a packet', () => {
    const poke = new Poke()
    const pair = new Pair({
      client: { assemble: (connection) => connection.addSource(3, poke) },
      server: { assemble: (connection) => connection.addSink(3, {
        accept(now) {
          connection.close(now, 'kicked')
          return 'ok'
        },
      }) },
    })
    const connection = pair.connect()
    poke.isWanted = true
    pair.drive(1000)
    expect(connection.closeReason).toEqual({ by: 'peer', code: 'kicked' })
  })

  test('[CONN8] the same seed gives the same bytes', () => {
    const run = (seed: number): unknown[] => {
      const pair = new Pair({ seed, weather: { latencyMs: 20, jitterMs: 20, loss: 0.2, duplication: 0.1 } })
      const connection = pair.connect()
      pair.drive(20_000)
      return [
        connection.idLo,
        connection.idHi,
        connection.clientKey.join(),
        connection.stats.bytesSent,
        connection.rtt.smoothedMs,
      ]
    }
    expect(run(5)).toEqual(run(5))
    expect(run(5)).not.toEqual(run(6))
  })
})

test('a configuration that cannot work is refused at construction, with path and fix', () => {
  const good = { fingerprint: new Uint8Array(8), entropy: new Dice(1), assemble() {} }
  for (const bad of [
    { fingerprint: new Uint8Array(7) },
    { maxConnections: -1 },
    { maxConnections: 5000 },
    { maxDatagramBytes: 1199 },
    { maxDatagramBytes: 1501 },
    { timers: { timeoutMs: -1 } },
    { security: { identity: new Uint8Array(31) } },
    { security: { suites: [] } },
    { limits: { handshakes: 0 } },
  ]) {
    expect(() => createEndpoint({ ...good, ...bad }), JSON.stringify(bad)).toThrow(ConfigError)
  }
  const endpoint = createEndpoint(good)
  expect(() => endpoint.connect(0, 'x', new Uint8Array(65))).toThrow(ConfigError)
  const connection = endpoint.connect(0, 'x')
  expect(() => connection.addSink(16, verdictSink('ok'))).toThrow(ConfigError)
  expect(() => connection.addSink(15, verdictSink('ok')), 'its own').toThrow(ConfigError)
  connection.addSink(14, verdictSink('ok'))
  expect(() => connection.addSink(14, verdictSink('ok'))).toThrow(ConfigError)
  expect(() => endpoint.connect(0, 'x', undefined, { token: new Uint8Array(9) })).toThrow(ConfigError)
  expect(() => endpoint.connect(0, 'x', undefined, { server: new Uint8Array(9) })).toThrow(ConfigError)
})
