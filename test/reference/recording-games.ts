/** Shared code of the tests of recordings: a game with given entities, and a file that must open. */

import { fixed } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { fingerprintOf } from '../../packages/tickwire/src/core/schema/fingerprint.ts'
import { compileSchema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { sourceOf } from '../../packages/tickwire/src/core/replay/byte-source.ts'
import type { RecordableGame } from '../../packages/tickwire/src/core/replay/recorder.ts'
import { openRecording, type Recording } from '../../packages/tickwire/src/core/replay/recording.ts'

/** A game with these entities, as a recorder needs it. */
export function gameOf(entities: RecordableGame['entities'], tickRate = 10): RecordableGame {
  const inputSchema = compileSchema('input', { move: fixed(-1, 1, 0.1) })
  const lines = [
    `tickRate ${tickRate}`,
    `input ${inputSchema.text}`,
    ...entities.map(({ schema }, type) => `entity ${type} ${schema.text}`),
  ]
  const text = lines.join('\n')
  const [low, high] = fingerprintOf(text)
  const fingerprint = Uint8Array.from({ length: 8 }, (_, at) => (at < 4 ? low! : high!) >>> ((at & 3) * 8))
  return { entities, tickRate, text, fingerprint, inputSchema }
}

export function opened(bytes: Uint8Array): Recording {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') throw new Error(recording)
  return recording
}
