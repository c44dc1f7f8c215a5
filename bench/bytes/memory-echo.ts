/**
 * The cost of core alone for a packet: two endpoints exchange datagrams in memory, without a socket and without an
 * event loop.
 */

import { UnreliableChannel } from '../../packages/tickwire/src/core/channel/unreliable.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import type { CryptoProvider } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { FixedController } from '../../packages/tickwire/src/core/delivery/congestion/fixed.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { FINGERPRINT, PAYLOAD_BYTES } from './protocol.ts'

/** A connected client and server, which exchange requests and replies. */
export interface MemoryEcho {
  /** One request and one reply: two packets. */
  echo(): void
  /** Packets so far, both ways. */
  readonly packets: () => number
}

/** Connects the two. Time is simulated: a millisecond for each echo. */
export function createMemoryEcho(provider: CryptoProvider): MemoryEcho {
  const out = createTransmit()
  const payload = new Uint8Array(PAYLOAD_BYTES).fill(7)
  const message = new Uint8Array(1024)
  const channels: UnreliableChannel[] = []
  const make = (seed: number, maxConnections: number): Endpoint => createEndpoint({
    fingerprint: FINGERPRINT, entropy: new Dice(seed), maxConnections, security: { provider },
    congestion: () => new FixedController(Infinity),
    assemble: (connection) => {
      const channel = new UnreliableChannel('unreliable')
      connection.addSource(0, channel)
      connection.addSink(0, channel)
      channels.push(channel)
    },
  })
  const [client, server] = [make(1, 0), make(2, 1)]
  let now = 0
  let packets = 0
  const carry = (from: Endpoint, to: Endpoint, address: string): void => {
    while (from.pollTransmit(now, out)) {
      packets++
      to.handleDatagram(now, address, out.bytes, out.length)
    }
  }
  client.connect(now, 'server')
  for (let round = 0; round < 4; round++) {
    carry(client, server, 'client')
    carry(server, client, 'server')
  }
  const [asking, answering] = channels
  if (asking === undefined || answering === undefined) throw new Error('client and server did not meet')
  return {
    packets: () => packets,
    echo: () => {
      now++
      asking.send(payload)
      carry(client, server, 'client')
      if (answering.receive(message) !== PAYLOAD_BYTES) throw new Error('a request was lost in memory')
      answering.send(payload)
      carry(server, client, 'server')
      if (asking.receive(message) !== PAYLOAD_BYTES) throw new Error('a reply was lost in memory')
    },
  }
}
