import { expect, test } from 'vitest'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import {
  decodeSync, encodeSync, joinSnapshot, splitSnapshot, type SyncMessage,
} from '../../packages/tickwire/src/core/order/sync-messages.ts'
import { SyncSink, SyncSource } from '../../packages/tickwire/src/core/order/sync-stream.ts'
import { Roster } from '../../packages/tickwire/src/core/lockstep/roster.ts'
import vectors from '../vectors/desync.json' with { type: 'json' }
import { readSnapshot, readStream, readSyncMessage, type Meaning } from './desync-checker.ts'

const unhex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
const word = (value: number): string => value.toString(16).padStart(8, '0')

/** A message of the engine in the words of the checker. */
function meaningOf({ kind, ...rest }: SyncMessage): Meaning {
  const plain = Object.entries(rest).map(([name, value]: [string, unknown]) => {
    if (value instanceof Uint8Array) return [name, hex(value)]
    if (name === 'root') return [name, word((value as { low: number }).low) + word((value as { high: number }).high)]
    if (name === 'relays')
      return [name, (value as { url: string; key: Uint8Array }[]).map(({ url, key }) => ({ url, key: hex(key) }))]
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

test.each(vectors.snapshots)('[REJOIN7] snapshot: $name', ({ bytes, meaning }) => {
  expect(readSnapshot(unhex(bytes))).toEqual(meaning)
  const { roster: text, image } = splitSnapshot(unhex(bytes))!
  const roster = Roster.decode(text)!
  const { isPaused, isHashFull, handovers, speedPercent, deadlineMs, checkTick, checkUntil, players } = roster
  expect({
    isPaused, isHashFull, handovers, speedPercent, deadlineUs: 1000 * deadlineMs, checkTick, checkUntil, players,
    away: players.filter((player) => roster.isAway(player)), image: hex(image),
  }).toEqual(meaning)
  expect(hex(joinSnapshot(roster.encode(), image))).toBe(bytes)
  for (let length = 0; length < text.length; length++) expect(Roster.decode(text.slice(0, length))).toBeUndefined()
})

test('[REJOIN7] rosters with unknown flags, no speed, a player twice or player 0 are refused by both', () => {
  for (const numbers of [
    [0x80, 8, 100, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 100, 0, 0, 0, 2, 2, 3], [0, 100, 0, 0, 0, 1, 1],
    [0, 100, 0, 0, 0, 17, ...Array.from({ length: 17 }, (_, at) => 2 * at + 2)], [0, 100, 0, 0, 0, 0, 0]]) {
    const roster = Uint8Array.from(numbers)
    expect(Roster.decode(roster)).toBeUndefined()
    expect(() => readSnapshot(joinSnapshot(roster, new Uint8Array(1)))).toThrow()
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
