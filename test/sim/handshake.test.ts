/**
 * Asking to be let in: requests, answers, guests, and what strangers can and cannot do, in simulated time.
 */

import { describe, expect, test } from 'vitest'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
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

/** A server and the packets of a client it has accepted; the first one proven or kept back. */
function standing(isProven: boolean = true): { server: Endpoint; request: Uint8Array; first: Uint8Array; now: number } {
  const server = createEndpoint({ fingerprint: new Uint8Array(8), entropy: new Dice(1), maxConnections: 4, assemble() {} })
  const client = clientOnly()
  client.connect(0, 'server')
  const out = createTransmit()
  client.pollTransmit(0, out)
  const request = out.bytes.slice(0, out.length)
  server.handleDatagram(0, 'client', request, request.length)
  server.pollTransmit(0, out)
  client.handleDatagram(0, 'server', out.bytes, out.length)
  client.pollTransmit(0, out)
  const first = out.bytes.slice(0, out.length)
  if (isProven) server.handleDatagram(0, 'client', first, first.length)
  return { server, request, first, now: 10 }
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

  test('[HS6] each repetition of a request keeps the guest\'s slot for 5 s more', () => {
    const server = createEndpoint({ fingerprint: new Uint8Array(8), entropy: new Dice(1), maxConnections: 1, assemble() {} })
    const [patient, other] = [clientOnly(), createEndpoint({ fingerprint: new Uint8Array(8), entropy: new Dice(2), assemble() {} })]
    patient.connect(0, 'server')
    const refused = other.connect(0, 'server')
    const out = createTransmit()
    const ids = new Set<string>()
    for (let now = 0; now <= 9000; now += 300) {
      if (!patient.pollTransmit(now, out)) continue
      server.handleDatagram(now, 'patient', out.bytes, out.length)
      while (server.pollTransmit(now, out)) ids.add(out.bytes.slice(5, 13).join())
    }
    expect(ids.size, 'the id it was told first is still good').toBe(1)
    other.pollTransmit(9000, out)
    server.handleDatagram(9000, 'other', out.bytes, out.length)
    server.pollTransmit(9000, out)
    other.handleDatagram(9000, 'server', out.bytes, out.length)
    expect(refused.closeReason).toEqual({ by: 'protocol', code: 'full' })
  })

  test('[HS7] an echo of the request of an open connection gets no answer', () => {
    const { server, request, now } = standing()
    server.handleDatagram(now, 'client', request, request.length)
    const out = createTransmit()
    while (server.pollTransmit(now, out)) expect(out.bytes[4]).not.toBe(PACKET_TYPE.handshake)
    expect(server.connections.length).toBe(1)
  })

  test('[HS6] an id is of no use once its connection is over, nor to a guest of a house that has closed', () => {
    const { server, first, now } = standing()
    const out = createTransmit()
    server.connections[0]!.close(now)
    for (let later = now; later < now + 500; later += 50) while (server.pollTransmit(later, out));
    expect(server.connections).toEqual([])
    server.handleDatagram(now + 500, 'client', first, first.length)
    expect(server.connections).toEqual([])
    expect(server.drops.unknownConnection).toBe(1)

    const house = standing(false)
    house.server.close(house.now)
    house.server.handleDatagram(house.now, 'client', house.first, house.first.length)
    expect(house.server.connections).toEqual([])
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
