/**
 * The handshake: requests, answers, guests, and what unknown senders can and cannot do, in simulated time.
 */

import { describe, expect, test } from 'vitest'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import type { EndpointConfig } from '../../packages/tickwire/src/core/endpoint/endpoint-config.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { PACKET_TYPE } from '../../packages/tickwire/src/core/packet/header.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

/** Drives an endpoint whose datagrams are all lost; returns what it sent, and when. */
function driveAlone(endpoint: Endpoint, untilMs: number): { at: number; type: number; length: number }[] {
  const out = createTransmit()
  const sends: { at: number; type: number; length: number }[] = []
  for (let now = 0; now <= untilMs; now = endpoint.pollTimeout()) {
    while (endpoint.pollTransmit(now, out)) sends.push({ at: now, type: out.bytes[4]!, length: out.length })
  }
  return sends
}

const crypto = new StubCrypto()
const fingerprint = new Uint8Array(8)

function clientOnly(seed: number = 1): Endpoint {
  return createEndpoint({ fingerprint, entropy: new Dice(seed), security: { provider: crypto }, assemble() {} })
}

function serverOf(maxConnections: number, config: Partial<EndpointConfig> = {}): Endpoint {
  return createEndpoint({
    fingerprint,
    entropy: new Dice(77),
    security: { provider: crypto },
    maxConnections,
    assemble() {},
    ...config,
  })
}

/** Everything that `from` has to send now, delivered to `to`; returns it. */
function carry(now: number, from: Endpoint, to: Endpoint, address: string): Uint8Array[] {
  const out = createTransmit()
  const said: Uint8Array[] = []
  while (from.pollTransmit(now, out)) {
    said.push(out.bytes.slice(0, out.length))
    to.handleDatagram(now, address, out.bytes, out.length)
  }
  return said
}

let standings = 0

/** A server, and what a client sent to it until it was accepted; its first sealed packet delivered or kept back. */
function standing(isProven: boolean = true): {
  server: Endpoint; client: Endpoint; request: Uint8Array; response: Uint8Array; first: Uint8Array; now: number
} {
  // A new seed each time, or two servers would draw the same keys.
  const server = serverOf(4, { entropy: new Dice(1000 + standings++) })
  const client = clientOnly(2000 + standings)
  client.connect(0, 'server')
  const [request] = carry(0, client, server, 'client')
  carry(0, server, client, 'server')
  const [response] = carry(0, client, server, 'client')
  carry(0, server, client, 'server')
  const out = createTransmit()
  client.pollTransmit(0, out)
  const first = out.bytes.slice(0, out.length)
  if (isProven) server.handleDatagram(0, 'client', first.slice(), first.length)
  return { server, client, request: request!, response: response!, first, now: 10 }
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

  test.each([
    [0, 500],
    [0.1, 500],
    [0.3, 500],
    [0.5, 498],
    [0.6, 490],
  ])('[CONN2] at %f loss each way, of 500 at least %i connect within 10 s', (loss, atLeast) => {
    let opened = 0
    for (let seed = 1; seed <= 500; seed++) {
      const pair = new Pair({ seed, weather: { latencyMs: 40, jitterMs: 20, loss } })
      if (pair.connect(undefined, 10_000).isOpen && pair.server.endpoint.connections.length === 1) opened++
    }
    expect(opened).toBeGreaterThanOrEqual(atLeast)
  })

  test('[HS4] each refusal has its own reason, and only the right fingerprint is accepted', () => {
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

  test('[HS4] a client that was challenged ignores refusals that are not sealed', () => {
    const server = serverOf(1)
    const client = clientOnly()
    const connection = client.connect(0, 'server')
    const out = createTransmit()
    carry(0, client, server, 'client')
    expect(server.pollTransmit(0, out)).toBe(true)
    const salt = out.bytes.slice(16, 24)
    const rejected = (reason: number): Uint8Array =>
      Uint8Array.of(0x54, 0x4b, 0x57, 3, 0, ...new Uint8Array(10), 4, ...salt, reason)
    for (const reason of [1, 5, 6, 7, 9]) client.handleDatagram(0, 'server', rejected(reason), 25)
    expect(connection.state, 'in the clear only a version can be refused').toBe('connecting')
    client.handleDatagram(0, 'server', out.bytes, out.length)
    expect(connection.state).toBe('handshake')
    client.handleDatagram(0, 'server', rejected(4), 25)
    expect(connection.state).toBe('handshake')
  })

  test('[HS5] a client of another version is refused with that reason, though nothing else of it is read', () => {
    const server = serverOf(1)
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

  test('[HS5] two sides without a cipher in common are refused with that reason', () => {
    const pair = new Pair({ server: { security: { suites: [2] } }, client: { security: { suites: [1] } } })
    expect(pair.connect().closeReason).toEqual({ by: 'protocol', code: 'version' })
    const other = new Pair({ server: { security: { suites: [2] } } })
    expect(other.connect().isOpen).toBe(true)
    expect(other.accepted.security.suite).toMatch(/AES-256-GCM/)
  })

  test('[HS6] user and welcome bytes reach the other side, and the announced handle is the one given', () => {
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

  test('[HS6] a guest that never uses its keys is not a connection, takes no seat, and expires after 5 s', () => {
    const assembled: Connection[] = []
    const server = serverOf(1, { assemble: (one) => assembled.push(one) })
    let seed = 10
    const ask = (now: number, from: string): string => {
      const client = clientOnly(seed++)
      const connection = client.connect(now, 'server', Uint8Array.of(from.length))
      for (let round = 0; round < 2; round++) {
        for (const said of carry(now, client, server, from)) expect(said.length).toBe(1200)
        for (const said of carry(now, server, client, 'server')) expect(said.length).toBeLessThan(0.35 * 1200)
      }
      return connection.closeReason?.code ?? connection.state
    }
    for (let index = 0; index < 20; index++) expect(ask(index, `silent ${index}`)).toBe('connected')
    const outside = (now: number, index: number): string => ask(now, `203.0.113.7:${index + 1}`)
    for (let index = 0; index < 4; index++) expect(outside(100 + index, index)).toBe('connected')
    expect(outside(104, 4), 'a fifth guest of one origin is not answered').toBe('handshake')
    expect(ask(105, '203.0.113.8:1'), 'its neighbour is').toBe('connected')
    expect(outside(5099, 5)).toBe('handshake')
    expect(outside(5100, 6)).toBe('connected')
    expect(assembled).toEqual([])
    expect(server.pollEvent()).toBeUndefined()
  })

  test('[HS7] a repeated request gets the same id again, and none once the connection is open', () => {
    const pair = new Pair({ weather: { latencyMs: 300 } })
    const connection = pair.connect()
    pair.drive(2000)
    expect(connection.isOpen).toBe(true)
    expect(pair.server.events.filter((event) => event.type === 'opened').length).toBe(1)
    expect(pair.accepted.idLo).toBe(connection.idLo)
  })

  test("[HS7] each repetition of a response keeps the guest's place, and gets the same bytes", () => {
    const server = serverOf(1)
    const patient = clientOnly(3)
    patient.connect(0, 'server')
    carry(0, patient, server, 'patient')
    carry(0, server, patient, 'server')
    const out = createTransmit()
    const answers = new Set<string>()
    for (let now = 0; now <= 1900; now += 300) {
      if (!patient.pollTransmit(now, out)) continue
      server.handleDatagram(now, 'patient', out.bytes, out.length)
      while (server.pollTransmit(now, out)) answers.add(out.bytes.slice(0, out.length).join())
    }
    expect(answers.size).toBe(1)
  })

  test('[HS9] a new challenge replaces an old one, and the guest starts over in its own place', () => {
    const server = serverOf(1)
    const client = clientOnly(3)
    const connection = client.connect(0, 'server')
    carry(0, client, server, 'client')
    carry(0, server, client, 'server')
    const out = createTransmit()
    // Until 9.5 s nothing that the server sends about its guest arrives; challenges do.
    for (let now = 0; now <= 9500; now += 100) {
      while (client.pollTransmit(now, out)) server.handleDatagram(now, 'client', out.bytes, out.length)
      while (server.pollTransmit(now, out))
        if (out.length === 137) client.handleDatagram(now, 'server', out.bytes, out.length)
    }
    expect(server.admissionDrops.cookie, 'an expired cookie was never sent').toBe(0)
    for (let now = 9600; now < 9999; now += 100) {
      carry(now, client, server, 'client')
      carry(now, server, client, 'server')
    }
    expect(connection.isOpen).toBe(true)
    expect(server.connections.length).toBe(1)
  })

  test('[HS7] an echo of request and response of an open connection opens nothing', () => {
    const { server, request, response, now } = standing()
    server.handleDatagram(now, 'client', response.slice(), response.length)
    const out = createTransmit()
    while (server.pollTransmit(now, out)) expect(out.bytes[4]).not.toBe(PACKET_TYPE.handshake)
    server.handleDatagram(now, 'client', request.slice(), request.length)
    while (server.pollTransmit(now, out)) if (out.bytes[4] === PACKET_TYPE.handshake) expect(out.bytes[15]).toBe(2)
    expect(server.connections.length).toBe(1)
  })

  test('[HS6] an id is useless once its connection is closed, or its server has closed', () => {
    const { server, first, now } = standing()
    const out = createTransmit()
    server.connections[0]!.close(now)
    for (let later = now; later < now + 500; later += 50) while (server.pollTransmit(later, out));
    expect(server.connections).toEqual([])
    server.handleDatagram(now + 500, 'client', first.slice(), first.length)
    expect(server.connections).toEqual([])
    expect(server.drops.unknownConnection).toBe(1)

    const house = standing(false)
    house.server.close(house.now)
    house.server.handleDatagram(house.now, 'client', house.first, house.first.length)
    expect(house.server.connections).toEqual([])
  })

  test('[HS6, SEC8] a guest that first uses its keys from another address is accepted, then followed there', () => {
    const { server, client, first, now } = standing(false)
    server.handleDatagram(now, 'elsewhere', first.slice(), first.length)
    expect(server.connections.map(({ address }) => address), 'the address that it asked from').toEqual(['client'])
    const out = createTransmit()
    for (let later = now; later < now + 2000; later += 50) {
      // Packets to its former address reach it too, as with two paths of one page.
      while (server.pollTransmit(later, out)) client.handleDatagram(later, 'server', out.bytes, out.length)
      while (client.pollTransmit(later, out)) server.handleDatagram(later, 'elsewhere', out.bytes, out.length)
    }
    expect(client.connections[0]!.isOpen).toBe(true)
    expect(server.connections.map(({ address }) => address)).toEqual(['elsewhere'])
    expect(server.drops.unknownConnection).toBe(0)

    const carried = standing(false)
    const forged = carried.first.slice()
    forged[forged.length - 1]! ^= 1
    carried.server.handleDatagram(carried.now, 'elsewhere', forged, forged.length)
    expect(carried.server.connections, 'not without the keys').toEqual([])
  })

  test('[HS8] seats are never oversold, however many clients ask at once', () => {
    const server = serverOf(16)
    const out = createTransmit()
    let now = 0
    const clients = Array.from({ length: 100 }, (_, index) => {
      const endpoint = clientOnly(100 + index)
      return { endpoint, connection: endpoint.connect(now, 'server'), address: `client ${index}` }
    })
    for (let round = 0; round < 8; round++, now += 100) {
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

  test('[HS8] an accepted client that finds the last seat taken is refused, sealed, and may ask again', () => {
    const server = serverOf(1)
    const [quick, slow] = [clientOnly(3), clientOnly(4)]
    const connections = [quick.connect(0, 'server'), slow.connect(0, 'server')]
    for (let round = 0; round < 2; round++) {
      for (const [client, address] of [[quick, 'quick'], [slow, 'slow']] as const) {
        carry(0, client, server, address)
        carry(0, server, client, 'server')
      }
    }
    expect(connections.map(({ isOpen }) => isOpen), 'both are guests').toEqual([true, true])
    carry(0, quick, server, 'quick')
    carry(0, slow, server, 'slow')
    const out = createTransmit()
    while (server.pollTransmit(0, out))
      (out.to === 'slow' ? slow : quick).handleDatagram(0, 'server', out.bytes, out.length)
    expect(connections.map(({ isOpen }) => isOpen)).toEqual([true, false])
    expect(connections[1]!.closeReason).toEqual({ by: 'protocol', code: 'full' })
    expect(server.connections.length).toBe(1)
    server.connections[0]!.close(0)
    for (let now = 0; now < 500; now += 50) while (server.pollTransmit(now, out));
    const again = clientOnly(5)
    const connection = again.connect(500, 'server')
    for (let round = 0; round < 3; round++) {
      carry(500, again, server, 'slow')
      carry(500, server, again, 'server')
    }
    expect(connection.isOpen).toBe(true)
    expect(server.connections.length).toBe(1)
  })
})
