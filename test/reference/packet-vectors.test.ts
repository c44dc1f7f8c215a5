import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import { OpeningKey } from '../../packages/tickwire/src/core/crypto/packet-key.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { createSuite } from '../../packages/tickwire/src/core/crypto/suite.ts'
import vectors from '../vectors/packet.json' with { type: 'json' }
import { PacketHeader, readHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { makePacketVectors, packetVectorsText } from '../../tools/gen-vectors-packet.ts'
import { type Meaning, type PacketKey, readDatagram, readReliableOrdered } from './packet-checker.ts'
import { engineReads, engineSeals, engineWrites, unhex } from './packet-engine.ts'

interface Vector {
  readonly bytes: string
  readonly zeros?: number
  readonly key?: PacketKey
}

function bytesOf({ bytes, zeros = 0 }: Vector): Uint8Array {
  return Uint8Array.of(...unhex(bytes), ...new Uint8Array(zeros))
}

function checkerReads(bytes: Uint8Array, key: PacketKey | undefined): Meaning | undefined {
  try {
    return readDatagram(bytes, key)
  } catch {
    return undefined
  }
}

describe('packet vectors', () => {
  test('[PKT10] the file is what its generator makes', () => {
    expect(readFileSync(new URL('../vectors/packet.json', import.meta.url), 'utf8')).toBe(
      packetVectorsText(makePacketVectors()),
    )
  })

  const packets: readonly (Vector & { readonly name: string; readonly meaning: unknown })[] = vectors.packets
  const refused: readonly (Vector & { readonly name: string })[] = vectors.refused

  test.each(packets)('[PKT10] $name: the standard, the engine\'s reader and its writer agree', (vector) => {
    const bytes = bytesOf(vector)
    expect(readDatagram(bytes, vector.key)).toEqual(vector.meaning)
    expect(engineReads(bytes, vector.key)).toEqual(vector.meaning)
    // reason: the JSON module is typed by its values, wider than the union they were written from.
    expect(engineWrites(vector.meaning as Meaning, vector.key)).toEqual(bytes)
  })

  test.each(refused)('[PKT10] refused by the standard and by the engine: $name', (vector) => {
    expect(checkerReads(bytesOf(vector), vector.key)).toBeUndefined()
    expect(engineReads(bytesOf(vector), vector.key)).toBeUndefined()
  })

  test('[PKT10] on mutated packets, engine and standard accept the same, with the same meaning', () => {
    const mutations = fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { minLength: 0, maxLength: 3 })
    let accepted = 0
    fc.assert(fc.property(fc.constantFrom(...packets), mutations, fc.nat(4), (vector, changes, cut) => {
      const whole = bytesOf(vector)
      const bytes = whole.slice(0, whole.length - cut)
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
      const meaning = checkerReads(bytes, vector.key)
      expect(engineReads(bytes, vector.key)).toEqual(meaning)
      if (meaning === undefined) return
      accepted++
      // A rejection of another version is understood, but ours writes its own version.
      if (meaning.version === 3) expect(engineWrites(meaning, vector.key)).toEqual(bytes)
    }), { seed: 12, numRuns: 2000 })
    expect(accepted).toBeGreaterThan(100)
  })

  test('[PKT10] engine and standard also agree on bodies that were mutated and then sealed', () => {
    const mutations = fc.array(fc.tuple(fc.nat(40), fc.nat(255)), { minLength: 0, maxLength: 3 })
    const counted = packets.filter(({ meaning }) =>
      ['payload', 'keepalive', 'disconnect'].includes((meaning as Meaning).is),
    )
    let accepted = 0
    fc.assert(
      fc.property(fc.constantFrom(...counted), mutations, fc.nat(4), (vector, changes, cut) => {
        const { meaning } = vector
        const sealed = engineWrites(meaning as Meaning, vector.key)
        const header = new PacketHeader()
        readHeader(sealed, sealed.length, header)
        const plain = plainOf(sealed, header.byteLength, vector.key!)
        const bytes = plain.slice(0, Math.max(header.byteLength, plain.length - cut))
        for (const [at, value] of changes)
          if (header.byteLength + at < bytes.length) bytes[header.byteLength + at] = value
        const again = engineSeals(bytes, header.byteLength, header.epoch, header.sequence, vector.key)
        const read = checkerReads(again, vector.key)
        expect(engineReads(again, vector.key)).toEqual(read)
        if (read === undefined) return
        accepted++
        expect(engineWrites(read, vector.key)).toEqual(again)
      }),
      { seed: 13, numRuns: 2000 },
    )
    expect(accepted).toBeGreaterThan(300)
  })

  test('[PKT1] the standard\'s examples of sealed packets are those of the vectors', () => {
    const standard = readFileSync(new URL('../../docs/wire/STANDARD.md', import.meta.url), 'utf8')
    for (const name of ['keepalive before anything was received', 'disconnect: left']) {
      expect(standard).toContain(
        packets
          .find((vector) => vector.name === name)!
          .bytes.replace(/(..)(?=.)/g, '$1 ')
          .trim(),
      )
    }
  })
})

/** Header and plaintext of a sealed packet. */
function plainOf(sealed: Uint8Array, at: number, key: PacketKey): Uint8Array {
  const header = new PacketHeader()
  readHeader(sealed, sealed.length, header)
  const bytes = sealed.slice()
  new OpeningKey(createSuite(key.suite, pureProvider), header.epoch, unhex(key.material)).open(
    header.sequence,
    bytes,
    at,
    bytes.length,
  )
  return bytes.slice(0, -16)
}

describe('reliable-ordered vectors', () => {
  test.each(vectors.reliableOrdered)('[CH5] $body', ({ body, meaning }) => {
    expect(readReliableOrdered(unhex(body))).toEqual(meaning)
    const receiver = channelExpecting(meaning.firstId)
    expect(receiver.accept(0, 1, new BitReader(unhex(body)))).toBe('ok')
    expect(received(receiver)).toEqual(meaning.messages)
    const sender = channelExpecting(meaning.firstId)
    for (const message of meaning.messages) sender.send(unhex(message))
    const out = new BitWriter(new Uint8Array(1200))
    expect(sender.fill(0, 1, out)).toBe(true)
    expect(out.bytes.slice(0, out.finish())).toEqual(unhex(body))
  })

  test.each(vectors.reliableOrderedRefused)('[CH8] refused: $name', ({ body }) => {
    expect(() => readReliableOrdered(unhex(body))).toThrow()
    expect(new ReliableOrderedChannel().accept(0, 1, new BitReader(unhex(body)))).toBe('broken')
  })
})

/** A channel whose next message, either way, has this id: it has sent, delivered and received all those before. */
function channelExpecting(id: number): ReliableOrderedChannel {
  const channel = new ReliableOrderedChannel()
  const out = new BitWriter(new Uint8Array(1200))
  const received = new Uint8Array(1024)
  for (let next = 0; next < id; next++) {
    channel.send(new Uint8Array(0))
    out.reset(out.bytes)
    channel.fill(0, next + 1, out)
    channel.onDelivered(0, next + 1)
    channel.accept(0, next + 1, new BitReader(out.bytes.slice(0, out.finish())))
    channel.receive(received)
  }
  return channel
}

function received(channel: ReliableOrderedChannel): string[] {
  const out = new Uint8Array(1024)
  const messages: string[] = []
  for (let length = channel.receive(out); length >= 0; length = channel.receive(out)) {
    messages.push([...out.slice(0, length)].map((byte) => byte.toString(16).padStart(2, '0')).join(''))
  }
  return messages
}
