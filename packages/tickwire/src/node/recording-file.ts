/**
 * Recordings in files.
 *
 * Each chunk from a recorder is one write, passed to the operating system before the call returns. If the process dies,
 * no flushed chunk is lost; if the machine dies, the last seconds may be. A write that fails half-way is truncated
 * again, and the recorder is notified; the match goes on.
 */

import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ByteSource } from '../core/replay/byte-source.ts'
import { openRecording, type Recording, type RecordingRefusal } from '../core/replay/recording.ts'
import type { RecordingSink } from '../core/replay/recording-writer.ts'

/** A file that a recorder writes to. */
export interface RecordingFile extends RecordingSink {
  /** Closes the file. Later writes fail. */
  close(): void
}

/** Creates a file for a recorder, and overwrites an existing one. Throws when the file cannot be created. */
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
        // The disk is full or the file is gone. The next write begins at the same offset.
      }
      return false
    },
    close(): void {
      if (file >= 0) closeSync(file)
      // The descriptor may soon belong to another file.
      file = -1
    },
  }
}

/** A recording that is read from its file in pieces. */
export interface OpenRecording {
  /** The recording. */
  readonly recording: Recording
  /** Closes the file. */
  close(): void
}

/** Opens a recording, or says why it is not valid. Throws when the file cannot be read. */
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

/** Bytes to read ahead, because many heads of small chunks fit. */
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
        for (let more = 1; got < wanted && more > 0; got += more)
          more = readSync(file, bytes, got, wanted - got, offset + got)
        at = offset
        ahead = bytes.subarray(0, got)
      }
      return ahead.subarray(offset - at, offset - at + length)
    },
  }
}
