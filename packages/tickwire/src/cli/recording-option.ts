/** Recordings on the command line: opens a path, or reports why it is not a recording. */

import { openRecordingFile, type OpenRecording } from '../node/recording-file.ts'
import type { RecordingRefusal } from '../core/replay/recording.ts'
import { UsageError } from './command.ts'
import { cannotBe } from './file-option.ts'

const REFUSALS: { readonly [why in RecordingRefusal]: string } = {
  'not-a-recording': 'is not a recording. Fix: give a file that host.record() or a Recorder wrote.',
  'unknown-version':
    'has an unknown container version (expected 1). Fix: use the version of tickwire that recorded it.',
  'damaged-head': 'has a damaged head, so it cannot be read. Fix: copy the file again.',
  'unknown-codec': 'has rows in an unknown codec. Fix: use the version of tickwire that recorded it.',
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

/** A whole number of at least `min`, or up to `max`, from `--option value`. */
export function readCountOption(
  option: string,
  value: string | undefined,
  fallback: number,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  if (value === undefined) return fallback
  const count = /^\d+$/.test(value) ? Number(value) : NaN
  if (!(count >= min && count <= max))
    throw new UsageError(
      `${option} ${value}: expected an integer from ${min} ${max === Number.MAX_SAFE_INTEGER ? 'on' : `to ${max}`}.`,
    )
  return count
}

/** A number of bytes in human-readable form. */
export function sizeText(bytes: number): string {
  if (bytes < 10_000) return `${bytes} B`
  return bytes < 10_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
