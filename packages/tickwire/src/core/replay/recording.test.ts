import { describe, expect, test } from 'vitest'
import { gameOf, opened } from '../../../../../test/reference/recording-games.ts'
import { entity } from '../schema/definition.ts'
import { u8 } from '../schema/field-kinds.ts'
import { World } from '../world/world.ts'
import { sourceOf } from './byte-source.ts'
import { CHUNK, readChunkHead, sealChunk, writeU48, type ChunkEntry } from './chunk.ts'
import { Playback } from './playback.ts'
import { Recorder } from './recorder.ts'
import { openRecording } from './recording.ts'
import { MemorySink } from './recording-memory.ts'

const Thing = entity({ n: u8 }, { name: 'Thing' })
const game = gameOf([Thing])

function record(ticks: number): Uint8Array {
  const world = new World([Thing])
  const sink = new MemorySink()
  const recorder = new Recorder(game, world, { sink })
  world.spawn(Thing, {})
  for (let tick = 1; tick <= ticks; tick++) {
    world.beginTick()
    for (const thing of world.each(Thing)) thing.n = tick
    world.endTick()
    recorder.tick()
  }
  recorder.close()
  return sink.bytes()
}

/** Every chunk of a file, indexes and all. */
function chunksOf(bytes: Uint8Array): ChunkEntry[] {
  const chunks: ChunkEntry[] = []
  for (let at = 12; at < bytes.length; at += 16 + chunks.at(-1)!.length) chunks.push(readChunkHead(bytes, at, at)!)
  return chunks
}

/** The file with the body of a chunk changed and its check made right again. */
function forge(
  bytes: Uint8Array,
  { offset, type, flags, tick, length }: ChunkEntry,
  change: (body: Uint8Array) => void,
): Uint8Array {
  const forged = bytes.slice()
  change(forged.subarray(offset + 12, offset + 12 + length))
  sealChunk(forged.subarray(offset), type, flags, tick, length)
  return forged
}

describe('a file', () => {
  const bytes = record(60)
  const chunks = chunksOf(bytes)
  const truth = opened(bytes).chunks

  test('[REC18] with wrong indexes is read chunk by chunk, with the same result', () => {
    const indexes = chunks.filter(({ type }) => type === CHUNK.index)
    expect(indexes.length).toBeGreaterThan(3)
    const lies = indexes.flatMap((index) =>
      Array.from({ length: index.length }, (_, at) =>
        forge(bytes, index, (body) => {
          body[at]! ^= 1 << (at % 7)
        }),
      ),
    )
    const end = chunks.at(-1)!
    for (const offset of [0, 1, 12, indexes[0]!.offset, indexes[1]!.offset, end.offset, bytes.length, 2 ** 40])
      lies.push(forge(bytes, end, (body) => writeU48(body, 0, offset)))
    for (const lie of lies) {
      const recording = opened(lie)
      const playback = new Playback(recording, game)
      // A wrong type, flag or tick in a list that still adds up is detected when the chunk is loaded.
      const isBelieved =
        recording.chunks.length !== truth.length
        || recording.chunks.some((chunk, at) => JSON.stringify(chunk) !== JSON.stringify(truth[at]))
      if (isBelieved)
        expect(recording.chunks.map(({ offset, length }) => [offset, length])).toEqual(
          truth.map(({ offset, length }) => [offset, length]),
        )
      else expect([playback.seek(60), [...playback.world.each(Thing)].map(({ n }) => n)]).toEqual(['ok', [60]])
    }
  })

  test('[REC18] of another version, with another codec, or with a text of another fingerprint, is refused', () => {
    const refusal = (file: Uint8Array): unknown => {
      const said = openRecording(sourceOf(file))
      return typeof said === 'string' ? said : 'opened'
    }
    const version = bytes.slice()
    version[8] = 2
    const magic = bytes.slice()
    magic[4] = 0x0a
    const [head] = chunks
    const at = (text: string): number => Buffer.from(bytes.subarray(head!.offset + 12)).indexOf(text)
    expect([
      refusal(bytes), refusal(version), refusal(magic), refusal(new Uint8Array(0)),
      refusal(forge(bytes, head!, (body) => { body[0] = 2 })),
      refusal(forge(bytes, head!, (body) => { body[1] = 4 })),
      refusal(forge(bytes, head!, (body) => { body[3]! ^= 1 })),
      refusal(forge(bytes, head!, (body) => { body[at('entity 0')]! ^= 1 })),
      refusal(forge(bytes, chunks[1]!, (body) => { body[0]! ^= 1 })),
    ]).toEqual([
      'opened',
      'unknown-version',
      'not-a-recording',
      'not-a-recording',
      'unknown-codec',
      'damaged-head',
      'damaged-head',
      'damaged-head',
      'opened',
    ])
  })
})
