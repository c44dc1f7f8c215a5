/**
 * A separate process that trains tables: training takes seconds of CPU time that a match cannot spare. `learning.ts`
 * starts it, for one study.
 */

import { ConfigError } from '../core/base/assert.ts'
import type { Priors } from '../core/codec/snapshot-codec.ts'
import { sourceOf } from '../core/replay/byte-source.ts'
import { readGameText } from '../core/replay/game-text.ts'
import { openRecording } from '../core/replay/recording.ts'
import { study, type Study } from '../core/replay/study.ts'

/** The input of a study. */
export interface StudyTask {
  /** The last minute of a match, as a recording. */
  readonly bytes: Uint8Array
  readonly inForce: Priors
  readonly version: number
}

/** The result of a study; or why it failed, and whether every later study would fail too. */
export type StudyResult = Study | { readonly problem: string; readonly isForGood: boolean }

process.once('message', (task: StudyTask) => {
  process.send?.(answer(task), () => process.disconnect())
})

function answer({ bytes, inForce, version }: StudyTask): StudyResult {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string')
    return { problem: `the recording cannot be used (${recording})`, isForGood: false }
  const game = readGameText(recording.head.text, recording.head.names)
  if (typeof game === 'string') return { problem: game, isForGood: true }
  try {
    return study(recording, game, inForce, version)
  } catch (error) {
    if (error instanceof ConfigError) return { problem: error.message, isForGood: true }
    throw error
  }
}
