import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import vectors from '../vectors/packet.json' with { type: 'json' }
import { type Meaning, readDatagram, readReliableOrdered } from './packet-checker.ts'
import { engineReads, engineWrites, unhex } from './packet-engine.ts'

interface Vector {
  readonly bytes: string
  readonly zeros?: number
}

function bytesOf({ bytes, zeros = 0 }: Vector): Uint8Array {
  return Uint8Array.of(...unhex(bytes), ...new Uint8Array(zeros))
}

function checkerReads(bytes: Uint8Array): Meaning | undefined {
  try {
    return readDatagram(bytes)
  } catch {
    return undefined
  }
}

describe('packet vectors', () => {
  test.each(vectors.packets)('[PKT10] $name: the standard, the engine\'s reader and its writer agree', (vector) => {
    const bytes = bytesOf(vector)
    expect(readDatagram(bytes)).toEqual(vector.meaning)
    expect(engineReads(bytes)).toEqual(vector.meaning)
    // reason: the JSON module is typed by its values, wider than the union they were written from.
    expect(engineWrites(vector.meaning as Meaning)).toEqual(bytes)
  })

  test.each(vectors.refused)('[PKT10] refused by the standard and by the engine: $name', (vector) => {
    expect(checkerReads(bytesOf(vector))).toBeUndefined()
    expect(engineReads(bytesOf(vector))).toBeUndefined()
  })

  test('[PKT10] on mutated packets, engine and standard accept the same, and in the same sense', () => {
    const mutations = fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { minLength: 0, maxLength: 3 })
    let accepted = 0
    fc.assert(fc.property(fc.constantFrom(...vectors.packets), mutations, fc.nat(4), (vector, changes, cut) => {
      const whole = bytesOf(vector)
      const bytes = whole.slice(0, whole.length - cut)
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
      const meaning = checkerReads(bytes)
      expect(engineReads(bytes)).toEqual(meaning)
      if (meaning === undefined) return
      accepted++
      // A rejection of another version is understood, but ours writes its own.
      if (meaning.version === 1) expect(engineWrites(meaning)).toEqual(bytes)
    }), { seed: 12, numRuns: 5000 })
    expect(accepted).toBeGreaterThan(300)
  })
})

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
