/**
 * R-Type datagrams of unknown senders: an accepted datagram encodes again to the same meaning.
 */

import { decodeRtype, encodeRtype, type RtypeCodecOptions } from '../../packages/tickwire/src/core/rtype/codec.ts'
import { RtypeEnvelope } from '../../packages/tickwire/src/core/rtype/envelope.ts'
import { RtypeClient } from '../../packages/tickwire/src/core/rtype-session/client.ts'
import { RtypeServer } from '../../packages/tickwire/src/core/rtype-session/server.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import vectors from '../vectors/rtype.json' with { type: 'json' }
import type { FuzzTarget } from './target.ts'

const seeds = (): Uint8Array[] =>
  [...vectors.packets, ...vectors.refused].map(({ bytes }) => Uint8Array.from(Buffer.from(bytes, 'hex')))
const OPTIONS: readonly RtypeCodecOptions[] = [{}, { lenientSizes: true, forceComponentLegacy: true }]
const out = new Uint8Array(1200)

const packets: FuzzTarget = {
  name: 'rtype-packets',
  seeds,
  run(bytes) {
    for (const options of OPTIONS) {
      const read = decodeRtype(bytes, bytes.length, options)
      if (typeof read === 'string') continue
      const { flags, sequence, timestamp } = read.header
      const length = encodeRtype(read.packet, sequence, timestamp, out, { ...options, flags })
      if (length === 0 || length > bytes.length) throw new Error(`${bytes.length} bytes became ${length}`)
      const again = decodeRtype(out, length, options)
      if (typeof again === 'string') throw new Error(`the written datagram is refused: ${again}`)
      if (JSON.stringify(again.packet) !== JSON.stringify(read.packet)) throw new Error('another meaning')
    }
  },
}

const fragments: FuzzTarget = {
  name: 'rtype-fragments',
  /** Input: datagrams, each after its length in two bytes. */
  seeds: () => {
    const entities = Array.from({ length: 250 }, (_, entityId) => ({
      entityId, value: { posX: entityId, posY: 2, rotation: 3, scale: 4 },
    }))
    let sequence = 0
    const sender = new RtypeEnvelope({ canFragment: true })
    const parts = sender.write({ type: 'TRANSFORM_SNAPSHOT', worldTick: 1, entities }, 0, () => ++sequence, 0)
    return [Uint8Array.from(parts.flatMap((part) => [part.length >> 8, part.length & 0xff, ...part]))]
  },
  run(bytes) {
    const receiver = new RtypeEnvelope({ canFragment: true })
    let at = 0
    for (let now = 0; at + 2 <= bytes.length; now += 100) {
      const length = Math.min((bytes[at]! << 8) | bytes[at + 1]!, bytes.length - at - 2)
      receiver.read(now, bytes.subarray(at + 2, at + 2 + length), length)
      at += 2 + length
      if (receiver.incomplete > 4) throw new Error(`${receiver.incomplete} incomplete messages`)
    }
  },
}

const session: FuzzTarget = {
  name: 'rtype-session',
  /** Input: datagrams, each after a byte for its sender and its length in two bytes. */
  seeds: () => {
    const all = seeds().filter(({ length }) => length < 60)
    return [Uint8Array.from(all.flatMap((each, index) => [index % 3, 0, each.length, ...each]))]
  },
  run(bytes) {
    const server = new RtypeServer({}, new Dice(1))
    let [at, bytesIn, bytesOut] = [0, 0, 0]
    for (let now = 0; at + 3 <= bytes.length; now += 300) {
      const length = Math.min((bytes[at + 1]! << 8) | bytes[at + 2]!, bytes.length - at - 3)
      server.handleDatagram(now, `203.0.113.${bytes[at]! % 4}:9`, bytes.subarray(at + 3, at + 3 + length), length)
      at += 3 + length
      bytesIn += length
      while (server.poll() !== undefined) continue
      server.drain(now, (_, __, sent) => { bytesOut += sent })
      // Nothing in the input can have the drawn player ids.
      if (server.peers.length > 0) throw new Error('a stranger has a seat')
      if (bytesOut > bytesIn) throw new Error(`${bytesOut} bytes for ${bytesIn}`)
    }
  },
}

const ADDRESS = '203.0.113.1:9'

/** A client with a seat, and its server. */
function seated(): { server: RtypeServer; client: RtypeClient } {
  const server = new RtypeServer({}, new Dice(1))
  const client = new RtypeClient(0, { name: 'Ann', clientId: 5 })
  for (let now = 0; now < 300; now += 100) {
    client.drain(now, (bytes, length) => server.handleDatagram(now, ADDRESS, bytes.slice(0, length), length))
    server.drain(now, (_, bytes, length) => client.handleDatagram(now, bytes.slice(0, length), length))
  }
  return { server, client }
}

const peers: FuzzTarget = {
  name: 'rtype-peers',
  /** Input: datagrams, each after a byte for its receiver and its length in two bytes. */
  seeds: () => {
    const { server, client } = seated()
    const [peer] = server.peers
    if (peer === undefined) throw new Error('the client has no seat')
    const own: number[] = []
    client.sendInput(300, 3)
    client.drain(300, (bytes, length) => { own.push(0, length >> 8, length & 0xff, ...bytes.subarray(0, length)) })
    server.send(300, peer, { type: 'LEVEL_START', levelId: 1, levelName: 'one', estimatedDurationS: 9 })
    server.drain(300, (_, bytes, length) => { own.push(1, length >> 8, length & 0xff, ...bytes.subarray(0, length)) })
    const all = seeds().filter(({ length }) => length < 60)
    return [Uint8Array.from(own), Uint8Array.from(all.flatMap((each, index) => [index % 2, 0, each.length, ...each]))]
  },
  run(bytes) {
    const { server, client } = seated()
    let at = 0
    for (let now = 300; at + 3 <= bytes.length; now += 50) {
      const length = Math.min((bytes[at + 1]! << 8) | bytes[at + 2]!, bytes.length - at - 3)
      const datagram = bytes.subarray(at + 3, at + 3 + length)
      if (bytes[at]! % 2 === 0) server.handleDatagram(now, ADDRESS, datagram, length)
      else client.handleDatagram(now, datagram, length)
      at += 3 + length
      while (server.poll() !== undefined) continue
      while (client.poll() !== undefined) continue
      server.drain(now, () => {})
      client.drain(now, () => {})
      if (server.peers.length > 1) throw new Error('one address has two seats')
    }
  },
}

export const targets: readonly FuzzTarget[] = [packets, fragments, session, peers]
