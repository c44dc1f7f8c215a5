/** A process of its own in which tables are learnt: it takes seconds of a core that players must not miss. Started by `learning.ts`, for one study. */

import { ConfigError } from '../core/base/assert.ts'
import type { Priors } from '../core/codec/snapshot-codec.ts'
import { sourceOf } from '../core/replay/byte-source.ts'
import { readGameText } from '../core/replay/game-text.ts'
import { openRecording } from '../core/replay/recording.ts'
import { study, type Study } from '../core/replay/study.ts'

/** What is asked. */
export interface StudyTask {
  /** The last minute, as a recording. */
  readonly bytes: Uint8Array
  readonly inForce: Priors
  readonly version: number
}

/** What came of it; or why nothing did, or ever will. */
export type StudyResult = Study | { readonly problem: string; readonly isForGood: boolean }

process.once('message', (task: StudyTask) => {
  process.send?.(answer(task), () => process.disconnect())
})

function answer({ bytes, inForce, version }: StudyTask): StudyResult {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') return { problem: `what was recorded is of no use (${recording})`, isForGood: false }
  const game = readGameText(recording.head.text, recording.head.names)
  if (typeof game === 'string') return { problem: game, isForGood: true }
  try {
    return study(recording, game, inForce, version)
  } catch (error) {
    if (error instanceof ConfigError) return { problem: error.message, isForGood: true }
    throw error
  }
}
