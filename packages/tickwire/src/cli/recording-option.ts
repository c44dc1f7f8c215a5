/** Recordings on the command line: a path, and what to say when there is none behind it. */

import { openRecordingFile, type OpenRecording } from '../node/recording-file.ts'
import type { RecordingRefusal } from '../core/replay/recording.ts'
import { UsageError } from './command.ts'
import { cannotBe } from './file-option.ts'

const REFUSALS: { readonly [why in RecordingRefusal]: string } = {
  'not-a-recording': 'is no recording: it does not begin like one. Give a file that host.record() or a Recorder wrote.',
  'unknown-version': 'was written by another version of the container than this one reads (1). Use the tickwire that recorded it.',
  'damaged-head': 'has no whole head, so nothing in it can be understood. Was it copied whole?',
  'unknown-codec': 'has rows in a codec that this version does not know. Use the tickwire that recorded it.',
}

/** Opens the one recording that `positionals` name. */
export function openRecordingOption(positionals: readonly string[]): OpenRecording & { readonly path: string } {
  const [path] = positionals
  if (path === undefined || positionals.length > 1) throw new UsageError('Give one file: a recording.')
  let opened: ReturnType<typeof openRecordingFile>
  try {
    opened = openRecordingFile(path)
  } catch (error) {
    throw new UsageError(`${path} ${cannotBe('read', error)}`)
  }
  if (typeof opened === 'string') throw new UsageError(`${path} ${REFUSALS[opened]}`)
  return { ...opened, path }
}

/** A whole number from `min` on, or up to `max`, that `--option value` gives. */
export function readCountOption(option: string, value: string | undefined, fallback: number, min: number, max: number = Number.MAX_SAFE_INTEGER): number {
  if (value === undefined) return fallback
  const count = /^\d+$/.test(value) ? Number(value) : NaN
  if (!(count >= min && count <= max)) throw new UsageError(`${option} ${value} is no whole number from ${min} ${max === Number.MAX_SAFE_INTEGER ? 'on' : `to ${max}`}.`)
  return count
}

/** Bytes as people read them. */
export function sizeText(bytes: number): string {
  if (bytes < 10_000) return `${bytes} B`
  return bytes < 10_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
