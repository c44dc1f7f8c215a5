/**
 * How much a server accepts from one player: everything that honest players send, whatever the network does to it, and
 * no flood.
 */

import { describe, expect, test } from 'vitest'
import { UnreliableChannel } from '../../packages/tickwire/src/core/channel/unreliable.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { FixedController } from '../../packages/tickwire/src/core/delivery/congestion/fixed.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'

class Party {
  readonly channels: UnreliableChannel[] = []
  readonly endpoint: Endpoint

  constructor(provider: StubCrypto, seed: number, maxConnections: number) {
    this.endpoint = createEndpoint({
      fingerprint: new Uint8Array(8), entropy: new Dice(seed), maxConnections, tickRate: 60, security: { provider },
      congestion: () => new FixedController(Infinity),
      assemble: (connection) => {
        const channel = new UnreliableChannel('unreliable')
        connection.addSource(1, channel)
        connection.addSink(1, channel)
        this.channels.push(channel)
      },
    })
  }
}

function meet(): {
  server: Party
  client: Party
  connection: Connection
  accepted: Connection
  said(now: number): Uint8Array[]
  answer(now: number): void
} {
  const provider = new StubCrypto()
  const [server, client] = [new Party(provider, 1, 4), new Party(provider, 2, 0)]
  const out = createTransmit()
  const connection = client.endpoint.connect(0, 'server')
  const said = (now: number): Uint8Array[] => {
    const all: Uint8Array[] = []
    while (client.endpoint.pollTransmit(now, out)) all.push(out.bytes.slice(0, out.length))
    return all
  }
  const answer = (now: number): void => {
    while (server.endpoint.pollTransmit(now, out)) client.endpoint.handleDatagram(now, 'server', out.bytes, out.length)
  }
  for (let round = 0; round < 3; round++) {
    for (const bytes of said(0)) server.endpoint.handleDatagram(0, 'client', bytes, bytes.length)
    answer(0)
  }
  return { server, client, connection, accepted: server.endpoint.connections[0]!, said, answer }
}

describe('how much a player may send', () => {
  test('[FLOOD1] packets delayed by an outage of four seconds are all accepted, and the player plays on', () => {
    const { server, client, connection, accepted, said, answer } = meet()
    const held: Uint8Array[] = []
    for (let tick = 1; tick <= 240; tick++) {
      client.channels[0]!.send(new Uint8Array(30))
      held.push(...said(tick * (1000 / 60)))
    }
    const before = accepted.stats.packetsReceived
    for (const bytes of held) server.endpoint.handleDatagram(4000, 'client', bytes, bytes.length)
    expect(accepted.stats.packetsReceived - before).toBe(held.length)
    expect(held.length).toBeGreaterThanOrEqual(240)
    expect(accepted.stats.drops.flood).toBe(0)
    answer(4000)
    expect([connection.isOpen, accepted.isOpen]).toEqual([true, true])
  })

  test('[FLOOD2] a player that sends ten times the expected rate is disconnected with the reason', () => {
    const { server, client, connection, accepted, said, answer } = meet()
    let hisNow = 10
    for (let packet = 0; packet < 4000 && accepted.isOpen; packet++) {
      client.channels[0]!.send(new Uint8Array(8))
      for (const bytes of said((hisNow += 2)))
        server.endpoint.handleDatagram(10 + packet / 50, 'client', bytes, bytes.length)
    }
    expect(accepted.closeReason).toEqual({ by: 'protocol', code: 'flooding' })
    expect(accepted.stats.packetsReceived).toBeLessThan(3 * 240 * 1.1)
    expect(accepted.stats.drops.flood).toBeGreaterThan(1000)
    answer(100)
    expect(connection.closeReason).toEqual({ by: 'protocol', code: 'flooding' })
  })

  test("[FLOOD1] forged packets with a player's id use up none of that player's allowance", () => {
    const { server, client, accepted, said } = meet()
    client.channels[0]!.send(new Uint8Array(8))
    const [packet] = said(20)
    for (let forged = 0; forged < 20_000; forged++) {
      const bytes = packet!.slice()
      bytes[bytes.length - 1]! ^= 1 + (forged % 255)
      server.endpoint.handleDatagram(20, 'client', bytes, bytes.length)
    }
    expect(accepted.stats.drops.forged).toBe(20_000)
    server.endpoint.handleDatagram(20, 'client', packet!, packet!.length)
    expect(accepted.stats.drops.flood).toBe(0)
    expect(accepted.isOpen).toBe(true)
  })
})
