import { describe, expect, test } from 'vitest'
import { openRecording } from '../../packages/tickwire/src/core/replay/recording.ts'
import { sourceOf } from '../../packages/tickwire/src/core/replay/byte-source.ts'
import { Playback } from '../../packages/tickwire/src/core/replay/playback.ts'
import { readGameText } from '../../packages/tickwire/src/core/replay/game-text.ts'
import vectors from '../vectors/recording.json' with { type: 'json' }
import { readRecording, type RecordingMeaning } from './recording-checker.ts'
import { SCENES } from './recording-scenes.ts'

const unhex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))

describe('recording vectors', () => {
  test.each(vectors)('[REC15] $name: a reader made from the page reads what the vector says', ({ file, meaning }) => {
    expect(JSON.parse(JSON.stringify(readRecording(unhex(file))))).toEqual(meaning)
  })

  test.each(vectors)('[REC15] $name: the engine writes these very bytes', ({ name, file }) => {
    expect(Buffer.from(SCENES[name]!()).toString('hex')).toBe(file)
  })

  test.each(vectors)('[REC15] $name: the engine reads what the reader of the page reads', ({ file, meaning }) => {
    const recording = openRecording(sourceOf(unhex(file)))
    if (typeof recording === 'string') throw new Error(recording)
    expect(recording.end).toBe(meaning.isClosed ? 'closed' : 'open')
    expect(recording.chunks.map(({ type, flags, tick, length }) => [type, flags, tick, length])).toEqual(meaning.chunks)
    const game = readGameText(recording.head.text, recording.head.names)
    if (typeof game === 'string') throw new Error(game)
    const playback = new Playback(recording, game)
    const { fields } = meaning.head as { fields: number }
    for (const [tick, { objects }] of Object.entries(meaning.ticks as RecordingMeaning['ticks'])) {
      expect(playback.seek(Number(tick))).toBe('ok')
      const shown = playback.world.stores.flatMap((store) =>
        store.living().map((handle) => {
          const held = fields === 3 ? store.schema.members : store.schema.masks[fields as 0 | 1 | 2].members
          return [
            handle.id,
            [
              handle.owner,
              ...held.flatMap(({ lane, laneCount }) => [
                ...store.rows.subarray(store.rowAt(handle) + lane, store.rowAt(handle) + lane + laneCount),
              ]),
            ],
          ]
        }),
      )
      expect(Object.fromEntries(shown)).toEqual(objects)
    }
  })

  test('[REC15] there is a vector of every scene', () => {
    expect(vectors.map(({ name }) => name)).toEqual(Object.keys(SCENES))
  })
})
