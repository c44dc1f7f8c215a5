import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import vectors from '../vectors/snapshots.json' with { type: 'json' }
import { SnapshotChecker } from './snapshot-checker.ts'
import { makeScenes, SceneReader, type Scene } from './snapshot-scenes.ts'

const scenes = vectors as readonly Scene[]
const unhex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))

describe('[REPL12] snapshots are to the bit what the standard says', () => {
  for (const { name, entities, shared = [], frames } of scenes) {
    test(`a reader made from the standard alone: ${name}`, () => {
      const checker = new SnapshotChecker(entities, shared)
      for (const { shows, hex, verdict, held } of frames) {
        expect(checker.accept(unhex(hex)), shows).toBe(verdict)
        expect(checker.held, shows).toEqual(held)
      }
    })

    test(`the engine's reader: ${name}`, () => {
      const reader = new SceneReader(shared.length > 0)
      for (const { shows, hex, verdict, held } of frames) {
        expect(reader.accept(unhex(hex)), shows).toBe(verdict)
        expect(reader.held, shows).toEqual(held)
      }
    })
  }

  test('the engine still writes the vectors', () => {
    expect(makeScenes()).toEqual(scenes)
  })

  test('the examples of the standard are among them, and their bits are their bytes', () => {
    const text = readFileSync(new URL('../../docs/wire/SNAPSHOTS.md', import.meta.url), 'utf8')
    const examples = [...text.matchAll(/^((?:[0-9a-f]{2} )+) +((?:[01]{8} ?)+)\n\n([^`]*)```/gm)]
    expect(examples.length).toBe(2)
    for (const [, bytes, bits, lines] of examples) {
      const hex = bytes!.replaceAll(' ', '')
      expect([...unhex(hex)].map((byte) => byte.toString(2).padStart(8, '0')).join('')).toBe(bits!.replaceAll(' ', ''))
      expect(
        lines!
          .split('\n')
          .map((line) => line.slice(0, 14).replaceAll(' ', ''))
          .join(''),
      ).toBe(bits!.replaceAll(' ', ''))
      expect(scenes[0]!.frames.map((frame) => frame.hex)).toContain(hex)
    }
  })

  test('the vectors have every kind of entry and every refusal', () => {
    expect(scenes.flatMap(({ frames }) => frames).length).toBeGreaterThan(25)
    expect(new Set(scenes.flatMap(({ frames }) => frames.map(({ verdict }) => verdict)))).toEqual(
      new Set(['ok', 'no-ack', 'broken']),
    )
  })
})
