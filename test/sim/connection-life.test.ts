/**
 * The life of a connection, from the first knock to the last goodbye, on a cable in simulated time.
 */

import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../packages/tickwire/src/core/base/assert.ts'
import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import { PACKET_TYPE } from '../../packages/tickwire/src/core/packet/header.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

/** Drives an endpoint whose datagrams reach nobody; tells when it sent what. */
function driveAlone(endpoint: Endpoint, untilMs: number): { at: number; type: number; length: number }[] {
  const out = createTransmit()
  const sends: { at: number; type: number; length: number }[] = []
  for (let now = 0; now <= untilMs; now = endpoint.pollTimeout()) {
    while (endpoint.pollTransmit(now, out)) sends.push({ at: now, type: out.bytes[4]!, length: out.length })
  }
  return sends
}

function clientOnly(): Endpoint {
  return createEndpoint({ fingerprint: new Uint8Array(8), entropy: new Dice(1), assemble() {} })
}

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

describe('asking', () => {
  test('[CONN2] a request is repeated every 200 to 250 ms and given up after 10 s', () => {
    const endpoint = clientOnly()
    const connection = endpoint.connect(0, 'nowhere')
    const sends = driveAlone(endpoint, 20_000)
    expect(sends.every((send) => send.type === PACKET_TYPE.handshake && send.length === 1200)).toBe(true)
    const gaps = sends.slice(1).map((send, index) => send.at - sends[index]!.at)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(200)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(250)
    expect(new Set(gaps).size).toBeGreaterThan(10)
    expect(sends.at(-1)!.at).toBeGreaterThan(9700)
    expect(connection.closeReason).toEqual({ by: 'network', code: 'unreachable' })
    expect(endpoint.pollEvent()).toEqual({ type: 'closed', connection, reason: connection.closeReason })
    expect(endpoint.pollEvent()).toBeUndefined()
    expect(endpoint.connections).toEqual([])
    expect(endpoint.pollTimeout()).toBe(Infinity)
  })

  test('[CONN2] at 60 % loss nearly all connect within 10 s', () => {
    let opened = 0
    for (let seed = 1; seed <= 200; seed++) {
      const pair = new Pair({ seed, weather: { latencyMs: 40, jitterMs: 20, loss: 0.6 } })
      if (pair.connect(undefined, 10_000).isOpen && pair.server.endpoint.connections.length === 1) opened++
    }
    expect(opened).toBeGreaterThanOrEqual(196)
  })

  test('[HS4] each refusal is told as what it is, and only the right fingerprint is let in', () => {
    const reasonWith = (server: ConstructorParameters<typeof Pair>[0]) => {
      const pair = new Pair(server)
      const connection = pair.connect()
      expect(pair.server.events).toEqual([])
      return connection.closeReason
    }
    const other = new Uint8Array(8).fill(1)
    expect(reasonWith({ server: { fingerprint: other } })).toEqual({ by: 'protocol', code: 'schema' })
    expect(reasonWith({ server: { admit: () => undefined } })).toEqual({ by: 'protocol', code: 'refused' })
    expect(reasonWith({ server: { maxConnections: 0 } })).toEqual({ by: 'network', code: 'unreachable' })
    expect(reasonWith({ server: { admit: () => new Uint8Array(257) } })).toEqual({ by: 'protocol', code: 'refused' })
  })

  test('[HS5] a client of another version is told so, by a server that understands nothing else of it', () => {
    const server = createEndpoint({ fingerprint: new Uint8Array(8), entropy: new Dice(1), maxConnections: 1, assemble() {} })
    const client = clientOnly()
    const connection = client.connect(0, 'server')
    const out = createTransmit()
    expect(client.pollTransmit(0, out)).toBe(true)
    out.bytes[3] = 9
    server.handleDatagram(0, 'client', out.bytes, out.length)
    expect(server.pollTransmit(0, out)).toBe(true)
    expect(out.length).toBe(25)
    out.bytes[3] = 200
    client.handleDatagram(0, 'server', out.bytes, out.length)
    expect(connection.closeReason).toEqual({ by: 'protocol', code: 'version' })
  })

  test('[HS6] user and welcome bytes reach the other side, and the handle foretold is the handle given', () => {
    const foretold: number[] = []
    const pair = new Pair({ server: {
      admit: ({ connection, user }) => {
        foretold.push(connection)
        return Uint8Array.of(...user, 42)
      },
    } })
    const connection = pair.connect(Uint8Array.of(7, 8))
    expect(connection.welcome).toEqual(Uint8Array.of(7, 8, 42))
    expect(pair.client.events[0]).toEqual({ type: 'opened', connection, welcome: connection.welcome })
    expect(pair.accepted.user).toEqual(Uint8Array.of(7, 8))
    expect(foretold).toEqual([pair.accepted.id])
  })

  test('[HS6] whoever never uses his id is no connection, and his slot is free again after 5 s', () => {
    const assembled: Connection[] = []
    const server = createEndpoint({
      fingerprint: new Uint8Array(8), entropy: new Dice(1), maxConnections: 1, assemble: (one) => assembled.push(one),
    })
    const out = createTransmit()
    const ask = (now: number, from: string): string => {
      const client = clientOnly()
      client.connect(now, 'server', Uint8Array.of(from.length))
      client.pollTransmit(now, out)
      server.handleDatagram(now, from, out.bytes, out.length)
      expect(server.pollTransmit(now, out)).toBe(true)
      expect(out.length).toBeLessThan(1200)
      return out.bytes[15] === 3 ? 'accepted' : 'rejected'
    }
    expect(ask(0, 'spoofed')).toBe('accepted')
    expect(ask(1, 'honest')).toBe('rejected')
    expect(ask(4999, 'honest')).toBe('rejected')
    expect(ask(5000, 'honest')).toBe('accepted')
    expect(assembled).toEqual([])
    expect(server.pollEvent()).toBeUndefined()
  })

  test('[HS7] a request repeated gets the same id again, and none once the connection stands', () => {
    const pair = new Pair({ weather: { latencyMs: 300 } })
    const connection = pair.connect()
    pair.drive(2000)
    expect(connection.isOpen).toBe(true)
    expect(pair.server.events.filter((event) => event.type === 'opened').length).toBe(1)
    expect(pair.accepted.idLo).toBe(connection.idLo)
  })

  test('[HS8] seats are never oversold, however many knock at once', () => {
    const server = createEndpoint({ fingerprint: new Uint8Array(8), entropy: new Dice(9), maxConnections: 16, assemble() {} })
    const out = createTransmit()
    let now = 0
    const clients = Array.from({ length: 100 }, (_, index) => {
      const endpoint = createEndpoint({ fingerprint: new Uint8Array(8), entropy: new Dice(100 + index), assemble() {} })
      return { endpoint, connection: endpoint.connect(now, 'server'), address: `client ${index}` }
    })
    for (let round = 0; round < 4; round++, now += 300) {
      for (const { endpoint, address } of clients) {
        while (endpoint.pollTransmit(now, out)) server.handleDatagram(now, address, out.bytes, out.length)
      }
      while (server.pollTransmit(now, out)) {
        clients.find(({ address }) => address === out.to)!.endpoint.handleDatagram(now, 'server', out.bytes, out.length)
      }
      expect(server.connections.length).toBeLessThanOrEqual(16)
    }
    expect(server.connections.length).toBe(16)
    expect(clients.filter(({ connection }) => connection.isOpen).length).toBe(16)
    const full = clients.filter(({ connection }) => connection.closeReason?.code === 'full').length
    expect(full).toBe(84)
  })
})

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

  test('[PKT7] a payload without frames and a keepalive with one are refused', () => {
    const poke = new Poke()
    const pair = new Pair({
      client: { assemble: (connection) => connection.addSource(3, poke) },
      server: { assemble: (connection) => connection.addSink(3, verdictSink('ok')) },
    })
    pair.connect()
    pair.drive(100)
    const out = createTransmit()
    const received = pair.accepted.stats.packetsReceived
    for (const [isPoked, type] of [[true, PACKET_TYPE.keepalive], [false, PACKET_TYPE.payload]] as const) {
      poke.isWanted = isPoked
      while (!pair.client.endpoint.pollTransmit(pair.now + 1500, out));
      expect(out.bytes[4]).not.toBe(type)
      out.bytes[4] = type
      pair.server.endpoint.handleDatagram(pair.now, 'client', out.bytes, out.length)
      pair.drive(1500)
    }
    expect(pair.accepted.stats.drops.malformed).toBe(2)
    expect(pair.accepted.stats.packetsReceived).toBe(received)
    expect(pair.accepted.isOpen).toBe(true)
  })

  test('[CONN8] the same seed gives the same bytes', () => {
    const run = (seed: number): number[] => {
      const pair = new Pair({ seed, weather: { latencyMs: 20, jitterMs: 20, loss: 0.2, duplication: 0.1 } })
      const connection = pair.connect()
      pair.drive(20_000)
      return [connection.idLo, connection.idHi, connection.saltLo, connection.stats.bytesSent, connection.rtt.smoothedMs]
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

describe('hostile bytes', () => {
  test('[CONN9] noise, cut and mutated packets are counted and have no other effect', () => {
    const pair = new Pair()
    const connection = pair.connect()
    const dice = new Dice(3)
    const out = createTransmit()
    const server = pair.server.endpoint
    for (let round = 0; round < 5000; round++) {
      const noise = new Uint8Array(dice.word() % 64)
      dice.fill(noise)
      noise.set(Uint8Array.of(0x54, 0x4b, 0x57, 1).subarray(0, noise.length))
      if (round % 2 === 0 && noise.length > 20) {
        new DataView(noise.buffer).setUint32(5, connection.idLo, true)
        new DataView(noise.buffer).setUint32(9, connection.idHi, true)
        noise[4] = dice.word() % 3
      }
      server.handleDatagram(pair.now, 'client', noise, noise.length)
      server.handleDatagram(pair.now, 'stranger', noise, noise.length)
      while (server.pollTransmit(pair.now, out)) expect(out.to).toBe('client')
    }
    expect(server.drops.header).toBeGreaterThan(1000)
    expect(server.drops.unknownConnection).toBeGreaterThan(1000)
    expect(pair.accepted.isOpen).toBe(true)
  })

  test('[CONN9] an id is of no use from another address', () => {
    const pair = new Pair()
    pair.connect()
    const before = pair.server.endpoint.drops.unknownConnection
    const out = createTransmit()
    while (!pair.client.endpoint.pollTransmit(pair.now + 1500, out));
    pair.server.endpoint.handleDatagram(pair.now, 'thief', out.bytes, out.length)
    expect(pair.server.endpoint.drops.unknownConnection).toBe(before + 1)
  })
})

test('a configuration that cannot work is refused at construction, with path and fix', () => {
  const good = { fingerprint: new Uint8Array(8), entropy: new Dice(1), assemble() {} }
  for (const bad of [
    { fingerprint: new Uint8Array(7) }, { maxConnections: -1 }, { maxConnections: 5000 }, { maxDatagramBytes: 1199 },
    { maxDatagramBytes: 1501 }, { timers: { timeoutMs: -1 } },
  ]) {
    expect(() => createEndpoint({ ...good, ...bad }), JSON.stringify(bad)).toThrow(ConfigError)
  }
  const endpoint = createEndpoint(good)
  expect(() => endpoint.connect(0, 'x', new Uint8Array(65))).toThrow(ConfigError)
  const connection = endpoint.connect(0, 'x')
  expect(() => connection.addSink(16, verdictSink('ok'))).toThrow(ConfigError)
  connection.addSink(15, verdictSink('ok'))
  expect(() => connection.addSink(15, verdictSink('ok'))).toThrow(ConfigError)
})
