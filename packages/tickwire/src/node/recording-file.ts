/**
 * Recordings in files.
 *
 * What a recorder writes is one write to the file each, handed to the system before the call returns: a process that
 * dies loses nothing that was flushed; a machine that dies may lose its last seconds. A write that fails half-way is cut off
 * again, and the recorder is told; the match goes on.
 */

import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ByteSource } from '../core/replay/byte-source.ts'
import { openRecording, type Recording, type RecordingRefusal } from '../core/replay/recording.ts'
import type { RecordingSink } from '../core/replay/recording-writer.ts'

/** A file that a recorder writes to. */
export interface RecordingFile extends RecordingSink {
  close(): void
}

/** Makes a file for a recorder; what was in it is gone. Throws when that cannot be done. */
export function createRecordingFile(path: string): RecordingFile {
  mkdirSync(dirname(path), { recursive: true })
  let file = openSync(path, 'w')
  let size = 0
  return {
    write(bytes: Uint8Array): boolean {
      if (file < 0) return false
      try {
        if (writeSync(file, bytes, 0, bytes.length, size) === bytes.length) {
          size += bytes.length
          return true
        }
        ftruncateSync(file, size)
      } catch {
        // A full disk, a file taken away: the next write begins at the same place.
      }
      return false
    },
    close(): void {
      if (file >= 0) closeSync(file)
      // The number may soon be another file's.
      file = -1
    },
  }
}

/** A recording that is read from its file, piece by piece. */
export interface OpenRecording {
  readonly recording: Recording
  close(): void
}

/** Opens a recording, or says why it is none. Throws when the file cannot be read. */
export function openRecordingFile(path: string): OpenRecording | RecordingRefusal {
  const file = openSync(path, 'r')
  const close = (): void => closeSync(file)
  try {
    const recording = openRecording(fileSource(file))
    if (typeof recording !== 'string') return { recording, close }
    close()
    return recording
  } catch (error) {
    close()
    throw error
  }
}

/** Bytes read ahead: heads of small chunks come many at a time. */
const AHEAD_BYTES = 65_536

function fileSource(file: number): ByteSource {
  const { size } = fstatSync(file)
  let at = 0
  let ahead = new Uint8Array(0)
  return {
    size,
    read(offset: number, length: number): Uint8Array {
      if (offset < at || offset + length > at + ahead.length) {
        const wanted = Math.max(0, Math.min(Math.max(length, AHEAD_BYTES), size - offset))
        const bytes = new Uint8Array(wanted)
        let got = 0
        for (let more = 1; got < wanted && more > 0; got += more) more = readSync(file, bytes, got, wanted - got, offset + got)
        at = offset
        ahead = bytes.subarray(0, got)
      }
      return ahead.subarray(offset - at, offset - at + length)
    },
  }
}
