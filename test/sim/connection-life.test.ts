/**
 * The life of a connection once it stands, to the last goodbye, on a cable in simulated time.
 */

import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../packages/tickwire/src/core/base/assert.ts'
import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { AeadKey, SuiteId } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { FixedController } from '../../packages/tickwire/src/core/delivery/congestion/fixed.ts'
import { createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import { PACKET_TYPE } from '../../packages/tickwire/src/core/packet/header.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

const verdictSink = (verdict: FrameVerdict): FrameSink => ({ accept: (_now: number, _sequence: number, _frame: BitReader) => verdict })

/** One empty frame each time it is poked. */
class Poke implements FrameSource {
  isWanted: boolean = false
  begin(): void {}
  wantsAt(now: number): number {
    return this.isWanted ? now : Infinity
  }
  fill(): boolean {
    const had = this.isWanted
    this.isWanted = false
    return had
  }
  onDelivered(): void {}
  onLost(): void {}
}

/** A path without a limit: what is held back here is held back by windows. */
const unpaced = (): FixedController => new FixedController(Infinity)

/** A peer with good keys who writes something else into his packets just before he seals them. */
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
  test('[CONN3] an idle connection says one thing a second, each side', () => {
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

  test('[CONN4] a silent peer is given up 10 s after it was last heard, not before', () => {
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

  test('[ACK5] frames without an answer are acknowledged within 100 ms, and acks are not acknowledged', () => {
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

  test('[ACK4] a packet that a sink has no use for is not acknowledged', () => {
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

  test('[ACK12] a source that never has enough stops at 240 open packets, and acks still go out', () => {
    const greedy: FrameSource = {
      begin() {}, wantsAt: (now) => now, fill: (_now, _sequence, out) => out.bitsLeft > 8000, onDelivered() {}, onLost() {},
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

  test('[PKT8] sources are told of a flush once, however many packets it takes', () => {
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

  test('[PKT8] a source that wants a packet and then has nothing for it is asked again later, not for ever', () => {
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

  test('[ACK10] an acknowledgement of what was never sent is refused, and the rest of its packet with it', () => {
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

  test('[CONN7] a sink may close its own connection in the middle of a packet', () => {
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
      return [connection.idLo, connection.idHi, connection.clientKey.join(), connection.stats.bytesSent, connection.rtt.smoothedMs]
    }
    expect(run(5)).toEqual(run(5))
    expect(run(5)).not.toEqual(run(6))
  })
})

describe('leaving', () => {
  test('[CONN5] a goodbye is said three times within 200 ms, and one of three is enough', () => {
    let told = 0
    let losses = 0
    for (let seed = 1; seed <= 200; seed++) {
      const pair = new Pair({ seed, weather: { latencyMs: 10 } })
      const connection = pair.connect()
      const accepted = pair.accepted
      pair.link.weather = { latencyMs: 150, loss: 0.5 }
      const before = pair.link.stats.lost
      connection.close(pair.now)
      pair.drive(201)
      expect(connection.state).toBe('disconnected')
      pair.drive(400)
      losses += pair.link.stats.lost - before
      if (accepted.closeReason?.by === 'peer') told++
    }
    expect(losses).toBeGreaterThan(250)
    // Three of three are lost once in eight.
    expect(told).toBeGreaterThan(155)
    expect(told).toBeLessThan(195)
  })

  test('[CONN5] the answer to a goodbye ends it at once', () => {
    const pair = new Pair({ weather: { latencyMs: 10 } })
    const connection = pair.connect()
    connection.close(pair.now, 'kicked')
    pair.drive(21)
    expect(connection.state).toBe('disconnected')
    expect(pair.server.events.at(-1)).toMatchObject({ type: 'closed', reason: { by: 'peer', code: 'kicked' } })
    expect(pair.server.endpoint.connections).toEqual([])
  })

  test('[CONN6] both may leave at the same moment; each ends once', () => {
    const pair = new Pair({ weather: { latencyMs: 10 } })
    const connection = pair.connect()
    pair.accepted.close(pair.now, 'shutdown')
    connection.close(pair.now, 'left')
    pair.drive(1000)
    expect(pair.client.events.map((event) => event.type)).toEqual(['opened', 'closed'])
    expect(pair.server.events.map((event) => event.type)).toEqual(['opened', 'closed'])
    expect(pair.client.events.at(-1)).toMatchObject({ reason: { by: 'local', code: 'left' } })
  })

  test('[CONN6] leaving before the answer came ends at once', () => {
    const pair = new Pair({ weather: { latencyMs: 100 } })
    const connection = pair.client.endpoint.connect(0, 'server')
    pair.drive(50)
    connection.close(pair.now)
    pair.drive(5000)
    expect(pair.client.events).toEqual([{ type: 'closed', connection, reason: { by: 'local', code: 'left' } }])
    expect(pair.server.events).toEqual([])
  })

  test('[ACK6] packets that are open when a connection ends are told as lost', () => {
    const told: string[] = []
    const poke = new Poke()
    poke.onLost = () => told.push('lost')
    poke.onDelivered = () => told.push('delivered')
    const pair = new Pair({ weather: { latencyMs: 50 }, client: { assemble: (connection) => connection.addSource(3, poke) } })
    const connection = pair.connect()
    pair.drive(1000)
    poke.isWanted = true
    pair.flush()
    connection.close(pair.now)
    expect(told).toEqual(['lost'])
    pair.drive(1000)
    expect(told).toEqual(['lost'])
  })

  test('[CONN7] a frame whose bits make no sense ends the connection, with one reason on both sides', () => {
    const poke = new Poke()
    const pair = new Pair({
      client: { assemble: (connection) => connection.addSource(3, poke) },
      server: { assemble: (connection) => connection.addSink(3, verdictSink('broken')) },
    })
    const connection = pair.connect()
    poke.isWanted = true
    pair.drive(1000)
    expect(connection.closeReason).toEqual({ by: 'protocol', code: 'broken' })
    expect(pair.server.events.at(-1)).toMatchObject({ reason: { by: 'protocol', code: 'broken' } })
  })

  test('[CONN10] a transport that closes ends its connections at once', () => {
    const pair = new Pair()
    const connection = pair.connect()
    pair.client.endpoint.handlePathClosed('elsewhere')
    expect(connection.isOpen).toBe(true)
    pair.client.endpoint.handlePathClosed('server')
    pair.flush()
    expect(pair.client.events.at(-1)).toMatchObject({ reason: { by: 'network', code: 'path-closed' } })
    expect(pair.client.endpoint.connections).toEqual([])
  })

  test('[CONN5] an endpoint that closes says goodbye to all and lets nobody in', () => {
    const pair = new Pair({ weather: { latencyMs: 5 } })
    const connection = pair.connect()
    pair.server.endpoint.close(pair.now)
    pair.drive(1000)
    expect(connection.closeReason).toEqual({ by: 'peer', code: 'shutdown' })
    expect(pair.connect().closeReason).toEqual({ by: 'protocol', code: 'full' })
  })
})

test('a configuration that cannot work is refused at construction, with path and fix', () => {
  const good = { fingerprint: new Uint8Array(8), entropy: new Dice(1), assemble() {} }
  for (const bad of [
    { fingerprint: new Uint8Array(7) }, { maxConnections: -1 }, { maxConnections: 5000 }, { maxDatagramBytes: 1199 },
    { maxDatagramBytes: 1501 }, { timers: { timeoutMs: -1 } }, { security: { identity: new Uint8Array(31) } }, { security: { suites: [] } },
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
