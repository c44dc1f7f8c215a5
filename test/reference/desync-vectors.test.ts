import { expect, test } from 'vitest'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { decodeSync, encodeSync, type SyncMessage } from '../../packages/tickwire/src/core/order/sync-messages.ts'
import { SyncSink, SyncSource } from '../../packages/tickwire/src/core/order/sync-stream.ts'
import vectors from '../vectors/desync.json' with { type: 'json' }
import { readStream, readSyncMessage, type Meaning } from './desync-checker.ts'

const unhex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
const word = (value: number): string => value.toString(16).padStart(8, '0')

/** A message of the engine in the words of the checker. */
function meaningOf({ kind, ...rest }: SyncMessage): Meaning {
  const plain = Object.entries(rest).map(([name, value]: [string, unknown]) => {
    if (value instanceof Uint8Array) return [name, hex(value)]
    if (name === 'root') return [name, word((value as { low: number }).low) + word((value as { high: number }).high)]
    if (name === 'generator') return [name, (value as number[]).map(word).join('')]
    return [name, value]
  })
  return { message: kind, ...Object.fromEntries(plain) as object }
}

test.each(vectors.messages)('[DESYNC7] message: $name', ({ bytes, meaning }) => {
  expect(readSyncMessage(unhex(bytes))).toEqual(meaning)
  const message = decodeSync(unhex(bytes))!
  expect(meaningOf(message)).toEqual(meaning)
  expect(hex(encodeSync(message))).toBe(bytes)
})

test('[DESYNC7] cut, too long and unknown messages are refused by both', () => {
  for (const { bytes } of vectors.messages) {
    const whole = unhex(bytes)
    for (const damaged of [whole.slice(0, 1), Uint8Array.of(99, ...whole.slice(1))]) {
      expect(decodeSync(damaged)).toBeUndefined()
      expect(() => readSyncMessage(damaged)).toThrow()
    }
  }
})

test.each(vectors.streams)('[DESYNC7] stream: $name', ({ frames, messages }) => {
  expect(readStream(frames.map(unhex))).toEqual(messages)
  const received: string[] = []
  const sink = new SyncSink()
  sink.onMessage = (_now, message) => { received.push(hex(message)) }
  frames.forEach((frame, at) => expect(sink.accept(0, at, new BitReader(unhex(frame)))).toBe('ok'))
  expect(received).toEqual(messages)
})

test('[DESYNC7] the engine writes the frames of the vector', () => {
  const { messages, frames } = vectors.streams[0]!
  const source = new SyncSource()
  for (const message of messages) source.send(unhex(message))
  const out = new BitWriter(new Uint8Array(200))
  expect(source.fill(0, 1, out)).toBe(true)
  expect(hex(out.bytes.slice(0, out.finish()))).toBe(frames[0])
})
