/** Hostile input for streams: what a relay sends to a peer, PROXY headers, files of replays, and small tables. */

import { readFileSync } from 'node:fs'
import { ConfigError } from '../../packages/tickwire/src/core/base/assert.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { readBytesInto } from '../../packages/tickwire/src/core/bits/blob.ts'
import { floatQuant } from '../../packages/tickwire/src/core/bits/quantize.ts'
import { readVector4 } from '../../packages/tickwire/src/core/bits/vector.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { decodeWords } from '../../packages/tickwire/src/core/lockstep/desync/descent-wire.ts'
import { readReplay } from '../../packages/tickwire/src/core/lockstep/read-replay.ts'
import { PeerPort } from '../../packages/tickwire/src/core/nat/peer-port.ts'
import { RelayClient } from '../../packages/tickwire/src/core/nat/relay-client.ts'
import { decodeHashes, encodeHashes } from '../../packages/tickwire/src/core/replay/hash-chunk.ts'
import { PROXY_DATAGRAM, PROXY_STREAM, readProxyHeader } from '../../packages/tickwire/src/node/proxy-header.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import vectors from '../vectors/relay.json' with { type: 'json' }
import type { FuzzTarget } from './target.ts'

const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))
const crypto = new StubCrypto()
const RELAY = '203.0.113.1:7777'
/** A Binding success response with an XOR-MAPPED-ADDRESS. */
const STUN_ANSWER = `0101000c2112a442${'00'.repeat(12)}002000080001a147e112a643`

/** Input: datagrams, each after a byte for its sender and its length in two bytes. */
const port: FuzzTarget = {
  name: 'peer-port',
  seeds: () => {
    const all = [...vectors.messages.map(({ bytes }) => unhex(bytes)), unhex('4000000454455354'), unhex(STUN_ANSWER)]
    return all.map((each, index) => Uint8Array.from([index % 3, each.length >> 8, each.length & 255, ...each]))
  },
  run(bytes) {
    const client = new RelayClient({ provider: crypto, entropy: new Dice(1), relay: RELAY, token: new Uint8Array(200) })
    const own = new PeerPort([client])
    const key = new Uint8Array(16).fill(7)
    const candidates = [{ kind: 'seen', address: '8.8.8.8:1' }] as const
    own.addPeer(0, { provider: crypto, key, name: 'host', candidates, isHost: true })
    const out = createTransmit()
    let [at, sent] = [0, 0]
    own.onSend = (to) => {
      sent++
      if (to !== RELAY && to !== '8.8.8.8:1') throw new Error(`a datagram to ${to}, which proved nothing`)
    }
    own.drain(0)
    for (let now = 0; at + 3 <= bytes.length; now += 100) {
      const length = Math.min((bytes[at + 1]! << 8) | bytes[at + 2]!, bytes.length - at - 3)
      const datagram = bytes.slice(at + 3, at + 3 + length)
      own.handleDatagram(now, bytes[at]! % 2 === 0 ? RELAY : '192.0.2.9:9', datagram, length)
      own.drain(now)
      at += 3 + length
    }
    if (client.pollTransmit(0, out) && out.length > 1200) throw new Error('a request that fits no datagram')
    if (sent > 20 + bytes.length) throw new Error(`${sent} datagrams for ${bytes.length} bytes`)
  },
}

const SIGNATURE = '0d0a0d0a000d0a515549540a'
const proxy: FuzzTarget = {
  name: 'proxy-header',
  seeds: () => [
    `${SIGNATURE}2111000cc0000201c6336401d9031f90`, `${SIGNATURE}2112000cc0000201c6336401d9031f90`,
    `${SIGNATURE}21210024${'20010db8'.padEnd(32, '0')}${'20010db8'.padEnd(32, '1')}d9031f90`, `${SIGNATURE}20000000`,
  ].map(unhex),
  run(bytes) {
    for (const protocol of [PROXY_STREAM, PROXY_DATAGRAM]) {
      const header = readProxyHeader(bytes, protocol)
      if (typeof header === 'object' && header.byteLength > bytes.length) throw new Error('a header that is not there')
    }
  },
}

const FILES = ['replay.twr', 'replay-handover.twr']
const replay: FuzzTarget = {
  name: 'lockstep-replay-file',
  seeds: () => FILES.map((name) => Uint8Array.from(readFileSync(new URL(`../vectors/${name}`, import.meta.url)))),
  run(bytes) {
    try {
      const { ticks, imageBefore } = readReplay(bytes)
      imageBefore?.(ticks)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
    }
  },
  allocationBytesMax: 8 << 20,
}

const QUANT = floatQuant(-1, 1, 1 / 64)
const tables: FuzzTarget = {
  name: 'hashes-and-words',
  seeds: () => [encodeHashes([{ low: 1, high: 2 }, { low: 3, high: 4 }] as never), new Uint8Array(64).fill(9)],
  run(bytes) {
    decodeHashes(bytes, 7 as never)
    decodeWords(bytes, bytes.length >> 2)
    readBytesInto(new BitReader(bytes), new Uint8Array(32), 0, 32)
    readVector4(new BitReader(bytes), { x: 0, y: 0, z: 0, w: 0 }, QUANT)
  },
}

export const targets: readonly FuzzTarget[] = [port, proxy, replay, tables]
