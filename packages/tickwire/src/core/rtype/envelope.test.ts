import { createCipheriv, createDecipheriv } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { RTYPE_FRAGMENT_GROUPS_MAX, RTYPE_FRAGMENT_MS, RTYPE_FRAGMENTS_MAX } from '../base/limits.ts'
import { RtypeEnvelope, type RtypeCompression, type RtypeSeal } from './envelope.ts'
import { RTYPE_FLAG } from './header.ts'
import type { RtypePacket } from './packet-table.ts'

const compression: RtypeCompression = {
  deflate: (bytes) => new Uint8Array(deflateRawSync(bytes)),
  inflate: (bytes, maxOutputLength) => {
    try {
      return new Uint8Array(inflateRawSync(bytes, { maxOutputLength }))
    } catch {
      return undefined
    }
  },
}

function sealOf(key: Uint8Array): RtypeSeal {
  const nonce = (sequence: number): Buffer => {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt32BE(sequence, 8)
    return bytes
  }
  return {
    tagBytes: 16,
    seal: (header, sequence, payload) => {
      const cipher = createCipheriv('chacha20-poly1305', key, nonce(sequence), { authTagLength: 16 })
      cipher.setAAD(header, { plaintextLength: payload.length })
      return new Uint8Array(Buffer.concat([cipher.update(payload), cipher.final(), cipher.getAuthTag()]))
    },
    open: (header, sequence, payload) => {
      if (payload.length < 16) return undefined
      const decipher = createDecipheriv('chacha20-poly1305', key, nonce(sequence), { authTagLength: 16 })
      decipher.setAAD(header, { plaintextLength: payload.length - 16 })
      decipher.setAuthTag(payload.subarray(payload.length - 16))
      try {
        return new Uint8Array(Buffer.concat([decipher.update(payload.subarray(0, -16)), decipher.final()]))
      } catch {
        return undefined
      }
    },
  }
}

const HEARTBEAT: RtypePacket = { type: 'HEARTBEAT', playerId: 7 }
const seal = sealOf(new Uint8Array(32).fill(9))

function snapshot(count: number): RtypePacket {
  const entities = Array.from({ length: count }, (_, index) => ({
    entityId: index * 7919,
    value: { posX: (index * 517) % 3000, posY: (index * 331) % 900, rotation: index, scale: 1000 },
  }))
  return { type: 'TRANSFORM_SNAPSHOT', worldTick: 9, entities }
}

function counter(first: number = 1): () => number {
  let next = first
  return () => next++
}

describe('an envelope', () => {
  test('[RTYPE11] without coders, everything is plain, and the three flags are refused', () => {
    const plain = new RtypeEnvelope()
    const [datagram] = plain.write(HEARTBEAT, 0xff, counter(), 5)
    expect(datagram![3]).toBe(RTYPE_FLAG.RELIABLE | RTYPE_FLAG.PRIORITY)
    const read = plain.read(0, datagram!, datagram!.length)
    expect(read).toMatchObject({ header: { sequence: 1, timestamp: 5 }, packet: HEARTBEAT })
    for (const [flag, fault] of [[0x02, 'compressed'], [0x04, 'encrypted'], [0x08, 'fragmented']] as const) {
      datagram![3] = flag
      expect(plain.read(0, datagram!, datagram!.length)).toBe(fault)
    }
    expect(plain.write(snapshot(99), 0, counter(), 0)).toEqual([])
  })

  test('[RTYPE11] compression is used where it is shorter, and a bomb is refused', () => {
    const envelope = new RtypeEnvelope({ compression })
    const [short] = envelope.write(HEARTBEAT, 0, counter(), 0)
    expect(short![3]).toBe(0)
    const still = { type: 'TRANSFORM_SNAPSHOT', worldTick: 1, entities: Array.from({ length: 90 }, () => ({
      entityId: 1, value: { posX: 0, posY: 0, rotation: 0, scale: 0 },
    })) } as const
    const [datagram] = envelope.write(still, 0, counter(), 0)
    expect(datagram![3]).toBe(RTYPE_FLAG.COMPRESSED)
    expect(datagram!.length).toBeLessThan(100)
    expect(envelope.read(0, datagram!, datagram!.length)).toMatchObject({ packet: still })
    const bomb = Uint8Array.of(...datagram!.subarray(0, 12), ...deflateRawSync(new Uint8Array(1_000_000)))
    expect(bomb.length).toBeLessThan(1200)
    expect(envelope.read(0, bomb, bomb.length)).toBe('compressed')
  })

  test('[RTYPE11] a seal covers header and payload, and what is not sealed is refused', () => {
    const sender = new RtypeEnvelope({ seal })
    const receiver = new RtypeEnvelope({ seal })
    const [datagram] = sender.write(HEARTBEAT, 0, counter(), 3)
    expect(datagram).toHaveLength(16 + 16)
    expect(receiver.read(0, datagram!, 32)).toMatchObject({ packet: HEARTBEAT })
    for (let at = 2; at < 32; at++) {
      const changed = datagram!.map((byte, index) => (index === at ? byte ^ 1 : byte))
      expect(typeof receiver.read(0, changed, 32)).toBe('string')
    }
    const [plain] = new RtypeEnvelope().write(HEARTBEAT, 0, counter(), 3)
    expect(receiver.read(0, plain!, plain!.length)).toBe('encrypted')
    expect(new RtypeEnvelope({ seal: sealOf(new Uint8Array(32)) }).read(0, datagram!, 32)).toBe('encrypted')
  })

  test('[RTYPE11] fragments are joined in any order, with copies, sealed and compressed too', () => {
    for (const options of [{}, { compression }, { seal }, { compression, seal }]) {
      const sender = new RtypeEnvelope({ ...options, canFragment: true })
      const receiver = new RtypeEnvelope({ ...options, canFragment: true })
      const datagrams = sender.write(snapshot(700), RTYPE_FLAG.RELIABLE, counter(), 0)
      expect(datagrams.length).toBeGreaterThan(2)
      for (const datagram of datagrams) expect(datagram.length).toBeLessThanOrEqual(1200)
      const shuffled = [...datagrams.slice(1).reverse(), datagrams[1]!, datagrams[0]!]
      const results = shuffled.map((datagram) => receiver.read(0, datagram, datagram.length))
      expect(results.slice(0, -1).every((result) => result === 'held')).toBe(true)
      expect(results.at(-1)).toMatchObject({ packet: snapshot(700) })
      expect(receiver.incomplete).toBe(0)
    }
  })

  test('[RTYPE11] incomplete messages are bounded in number and in time, and too long ones are not sent', () => {
    const sender = new RtypeEnvelope({ canFragment: true })
    const receiver = new RtypeEnvelope({ canFragment: true })
    for (let group = 0; group < 20; group++) {
      const [first] = sender.write(snapshot(200), 0, counter(), 0)
      receiver.read(group, first!, first!.length)
    }
    expect(receiver.incomplete).toBe(RTYPE_FRAGMENT_GROUPS_MAX)
    const [late] = sender.write(snapshot(200), 0, counter(), 0)
    receiver.read(RTYPE_FRAGMENT_MS + 100, late!, late!.length)
    expect(receiver.incomplete).toBe(1)
    expect(sender.write(snapshot(2000), 0, counter(), 0)).toEqual([])
    // A count above the limit, an index that is not below the count, a part without bytes.
    for (const [index, count, extra] of [[0, RTYPE_FRAGMENTS_MAX + 1, 1], [3, 3, 1], [0, 1, 1], [0, 3, 0]] as const) {
      const forged = Uint8Array.of(...late!.subarray(0, 12), 9, 9, index, count, ...new Uint8Array(extra))
      expect(receiver.read(0, forged, forged.length)).toBe('fragmented')
    }
  })
})
