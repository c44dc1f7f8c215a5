import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { ChannelSet } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { type ChannelPromise, CHANNEL_PROMISES } from '../../packages/tickwire/src/core/channel/channel.ts'
import { SEND_QUEUES } from '../../packages/tickwire/src/core/channel/send-queue.ts'
import { LargeChannel } from '../../packages/tickwire/src/core/channel/large-channel.ts'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import { Control } from '../../packages/tickwire/src/core/connection/control.ts'
import { FragmentPool, FragmentQuota } from '../../packages/tickwire/src/core/delivery/fragment-pool.ts'
import vectors from '../vectors/delivery.json' with { type: 'json' }
import { type FrameMeaning, readChannelFrame, readPadding, readPiece } from './delivery-checker.ts'

const unhex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Sixteen channels that all promise the same. */
const setOf = (promise: ChannelPromise): ChannelSet =>
  new ChannelSet(Array.from({ length: 16 }, () => ({ promise, queue: SEND_QUEUES.control })))

function engineWrites({ channel, promise, messages }: FrameMeaning): string {
  const set = setOf(promise as ChannelPromise)
  for (const message of messages) expect(set.send(channel, unhex(message))).toBe('queued')
  const out = new BitWriter(new Uint8Array(1100))
  expect(set.sources[0]!.fill(0, 1, out)).toBe(true)
  return hex(out.bytes.subarray(0, out.finish()))
}

/** Whether a reader accepts what the engine accepts. The reader must know the agreed promise. */
function engineAccepts(body: Uint8Array): boolean {
  return CHANNEL_PROMISES.some((promise) => setOf(promise).accept(0, 1, new BitReader(body)) !== 'broken')
}

function checkerAccepts(read: (bytes: Uint8Array) => unknown, bytes: Uint8Array): boolean {
  try {
    read(bytes)
    return true
  } catch {
    return false
  }
}

/** What a large channel reads from one piece. */
function engineTakesPiece(bytes: Uint8Array): boolean {
  const inner = new ReliableOrderedChannel()
  if (inner.send(bytes) !== 'queued') return false
  const out = new BitWriter(new Uint8Array(1100))
  inner.fill(0, 1, out)
  const large = new LargeChannel(new ReliableOrderedChannel(), new FragmentQuota(new FragmentPool()))
  return large.accept(0, 1, new BitReader(out.bytes.slice(0, out.finish()))) !== 'broken'
}

describe('delivery vectors', () => {
  test.each(vectors.frames)(
    "[CHAN7] $name: the page, the engine's reader and its writer agree",
    ({ body, meaning }) => {
      expect(readChannelFrame(unhex(body))).toEqual(meaning)
      if ((meaning.firstId ?? 0) !== 0) {
        expect(engineAccepts(unhex(body))).toBe(true)
        return
      }
      expect(engineWrites(meaning)).toBe(body)
      const set = setOf(meaning.promise as ChannelPromise)
      expect(set.accept(0, 1, new BitReader(unhex(body)))).toBe('ok')
      const out = new Uint8Array(1024)
      for (const message of meaning.messages)
        expect(hex(out.subarray(0, set.receive(meaning.channel, out)))).toBe(message)
      expect(set.receive(meaning.channel, out)).toBe(-1)
    },
  )

  test.each(vectors.framesRefused)('[CHAN7] refused by both: $name', ({ body }) => {
    expect([checkerAccepts(readChannelFrame, unhex(body)), engineAccepts(unhex(body))]).toEqual([false, false])
  })

  test('[CHAN7] both readers agree on mutated vectors', () => {
    const seeds = vectors.frames.map(({ body }) => unhex(body)).filter((body) => body.length < 60)
    fc.assert(fc.property(fc.constantFrom(...seeds), fc.nat(), fc.nat(255), fc.nat(8), (seed, at, byte, cut) => {
      const bytes = seed.slice(0, Math.max(0, seed.length - (cut > 5 ? cut - 5 : 0)))
      if (bytes.length > 0) bytes[at % bytes.length] = byte
      const isMeant = checkerAccepts(readChannelFrame, bytes)
      // The engine also refuses ids outside its window.
      const isFar = isMeant && [(readChannelFrame(bytes).firstId ?? 0)].some((id) => id > 200 && id < 32_768)
      if (!isFar) expect(engineAccepts(bytes)).toBe(isMeant)
    }), { seed: 31, numRuns: 2000 })
  })

  test.each(vectors.pieces)('[FRAG5] $name: the page and the engine agree', ({ bytes, meaning }) => {
    expect(readPiece(unhex(bytes))).toEqual(meaning)
    expect(engineTakesPiece(unhex(bytes))).toBe(true)
  })

  test.each(vectors.piecesRefused)('[FRAG5] refused by both: $name', ({ bytes }) => {
    expect([checkerAccepts(readPiece, unhex(bytes)), engineTakesPiece(unhex(bytes))]).toEqual([false, false])
  })

  test('[MTU1] the engine and the reader of the page accept the same padding', () => {
    for (const { body, zeros } of vectors.padding) {
      expect(readPadding(unhex(body))).toBe(zeros)
      expect(new Control().accept(0, 1, new BitReader(unhex(body)))).toBe('ok')
    }
    for (const body of vectors.paddingRefused) {
      expect(checkerAccepts(readPadding, unhex(body))).toBe(false)
      expect(new Control().accept(0, 1, new BitReader(unhex(body)))).toBe('broken')
    }
  })
})
