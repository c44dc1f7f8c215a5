/**
 * Hostile packets: the parsers one by one, an endpoint with an unknown sender, and a live connection fed by a script.
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import vectors from '../vectors/packet.json' with { type: 'json' }
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import type { AeadKey, SuiteId } from '../../packages/tickwire/src/core/crypto/provider.ts'
import type { PacketKey } from '../reference/packet-checker.ts'
import { engineReads, engineWrites, unhex } from '../reference/packet-engine.ts'
import type { FuzzTarget } from './target.ts'

const KIND = 3
/** The key of the vectors under suite 1. */
const KEY: PacketKey = {
  suite: 1,
  material: Array.from({ length: 32 }, (_, index) => (0x80 + index).toString(16)).join(''),
}

function fail(why: string): never {
  throw new Error(why)
}

function packetSeeds(): Uint8Array[] {
  const all: readonly { bytes: string; zeros?: number }[] = [...vectors.packets, ...vectors.refused]
  return all.map(({ bytes, zeros = 0 }) => Uint8Array.of(...unhex(bytes), ...new Uint8Array(zeros)))
}

const parsers: FuzzTarget = {
  name: 'packet-parsers',
  seeds: packetSeeds,
  run(bytes) {
    const meaning = engineReads(bytes, KEY)
    if (meaning === undefined || meaning.version !== 3) return
    const again = engineWrites(meaning, KEY)
    if (again.length !== bytes.length || again.some((byte, at) => byte !== bytes[at]))
      fail('accepted, but not the only encoding')
  },
}

const reliableFrames: FuzzTarget = {
  name: 'reliable-ordered-frames',
  seeds: () => vectors.reliableOrdered.map(({ body }) => unhex(body)),
  run(bytes) {
    const channel = new ReliableOrderedChannel()
    const out = new Uint8Array(1024)
    for (let round = 0; round < 3; round++) channel.accept(0, round + 1, new BitReader(bytes))
    let messages = 0
    while (channel.receive(out) >= 0) if (++messages > 256) fail('more messages than the window holds')
  },
}

/** Opens everything: fuzzed bytes reach the code behind the seal. */
class OpenDoor extends StubCrypto {
  override importAead(suite: SuiteId, key: Uint8Array): AeadKey {
    void super.importAead(suite, key)
    return {
      seal: (_nonce, bytes, at, length) => void bytes.fill(0, at + length, at + length + 16),
      open: () => true,
      wipe() {},
    }
  }
}

function makeEndpoint(seed: number, maxConnections: number, channel: ReliableOrderedChannel): Endpoint {
  return createEndpoint({
    security: { provider: new OpenDoor() },
    fingerprint: Uint8Array.of(0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4), entropy: new Dice(seed), maxConnections,
    assemble(connection) {
      connection.addSource(KIND, channel)
      connection.addSink(KIND, channel)
    },
  })
}

const stranger: FuzzTarget = {
  name: 'endpoint-stranger',
  seeds: packetSeeds,
  run(bytes) {
    const endpoint = makeEndpoint(1, 2, new ReliableOrderedChannel())
    const out = createTransmit()
    let answered = 0
    for (let repeat = 0; repeat < 3; repeat++) {
      endpoint.handleDatagram(repeat, 'stranger', bytes, bytes.length)
      while (endpoint.pollTransmit(repeat, out)) answered += out.length
    }
    if (answered > 3 * bytes.length) fail('an unknown sender got more bytes than it sent')
    if (endpoint.connections.length > 0) fail('one datagram made a connection')
  },
}

/** An open connection, and how to open it. */
function connect(): { server: Endpoint; channel: ReliableOrderedChannel; idLo: number; idHi: number } {
  const channel = new ReliableOrderedChannel()
  const server = makeEndpoint(1, 2, channel)
  const client = makeEndpoint(2, 0, new ReliableOrderedChannel())
  const connection = client.connect(0, 'server')
  const out = createTransmit()
  for (let round = 0; round < 5; round++) {
    while (client.pollTransmit(round, out)) server.handleDatagram(round, 'client', out.bytes, out.length)
    while (server.pollTransmit(round, out)) client.handleDatagram(round, 'server', out.bytes, out.length)
  }
  return { server, channel, idLo: connection.idLo, idHi: connection.idHi }
}

const scripted: FuzzTarget = {
  name: 'connection-script',
  /** Input: packets to a live connection, each after a length byte. The test writes the header in front of each. */
  seeds: () => {
    const out = new BitWriter(new Uint8Array(64))
    for (const [value, width] of [
      [0, 36],
      [KIND, 4],
      [0, 4],
      [4, 14],
      [0, 16],
      [1, 8],
      [0xaa, 8],
    ] as const)
      out.writeBits(value, width)
    const body = out.bytes.slice(0, out.finish())
    return [
      Uint8Array.of(5, 0, 0, 0, 0, 0),
      Uint8Array.of(body.length, ...body, 5, 0, 1, 0, 0, 0, body.length, ...body),
    ]
  },
  run(bytes) {
    const { server, channel, idLo, idHi } = connect()
    const out = createTransmit()
    const packet = new Uint8Array(300)
    const received = new Uint8Array(1024)
    packet.set([0x54, 0x4b, 0x57, 3])
    const view = new DataView(packet.buffer)
    view.setUint32(5, idLo, true)
    view.setUint32(9, idHi, true)
    let now = 10
    for (let at = 0, sequence = 2; at < bytes.length && sequence < 100; sequence++, now += 7) {
      const length = bytes[at]!
      const body = bytes.subarray(at + 1, at + 1 + length)
      at += 1 + length
      packet[4] = body.length > 5 ? 1 : 2
      packet[14] = sequence
      packet.set(body, 15)
      packet.fill(0, 15 + body.length, 31 + body.length)
      server.handleDatagram(now, 'client', packet, 31 + body.length)
      channel.send(body)
      for (let guard = 0; server.pollTransmit(now, out); guard++) if (guard > 64) fail('it does not stop sending')
      if (server.pollTimeout() <= now) fail('its next deadline never moves on')
      while (channel.receive(received) >= 0);
    }
    for (let event = server.pollEvent(), count = 0; event !== undefined; event = server.pollEvent()) {
      if (++count > 2) fail('a connection has two events at most')
    }
  },
}

export const targets: readonly FuzzTarget[] = [parsers, reliableFrames, stranger, scripted]
