/**
 * Spent tokens on disk: one append-only file, so that a restarted server still knows which tokens were used.
 *
 * A record is written before its client is accepted, with one write each: if the process is killed, it loses nothing
 * that it acted on. If the machine crashes, the last moments may be lost, unless `isDurable` flushes every record to
 * the disk first (a millisecond or more each). A write that fails half-way is truncated again. A record that a crash
 * cut short is left to the reader, which checks every record.
 */

import {
  closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, renameSync, rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { TokenJournal } from '../core/crypto/spent-tokens.ts'
import { WORKERS_MAX } from '../core/rooms/room-place.ts'
import { workerIndex } from './worker-index.ts'

/** Options of a journal. */
export interface TokenJournalOptions {
  /** Whether every record reaches the disk before its client is accepted. Default: false. */
  readonly isDurable?: boolean
}

/**
 * Opens the journal of this name, and creates the file if needed. Each worker (`workers` of `serve`) writes a file of
 * its own beside it, and reads those of all. Throws when that fails.
 */
export function openTokenJournal(
  name: string,
  { isDurable = false }: TokenJournalOptions = {},
): TokenJournal & { close(): void } {
  const index = workerIndex()
  const path = index === undefined ? name : `${name}.${index}`
  mkdirSync(dirname(path), { recursive: true })
  let file = openSync(path, 'a', 0o600)
  let size = fstatSync(file).size
  /** A partial record is at the end of the file, and would misalign all records after it. */
  let isTorn = false
  return {
    load: () => new Uint8Array(Buffer.concat(filesOf(name).map((each) => readFileSync(each)))),
    append(bytes: Uint8Array): boolean {
      if (isTorn) isTorn = !cutOff(file, size)
      if (isTorn || !writeWhole(file, bytes, isDurable)) {
        isTorn = !cutOff(file, size)
        return false
      }
      size += bytes.length
      return true
    },
    replace(bytes: Uint8Array): boolean {
      const next = `${path}.next`
      try {
        rmSync(next, { force: true })
        const fresh = openSync(next, 'a', 0o600)
        if (!writeWhole(fresh, bytes, true)) {
          closeSync(fresh)
          return false
        }
        renameSync(next, path)
        closeSync(file)
        file = fresh
        size = bytes.length
        isTorn = false
        return true
      } catch {
        return false
      }
    },
    close(): void {
      closeSync(file)
      // The descriptor may soon belong to another file.
      file = -1
    },
  }
}

/** The files of all processes. */
function filesOf(name: string): readonly string[] {
  const names = [name, ...Array.from({ length: WORKERS_MAX }, (_, index) => `${name}.${index}`)]
  return names.filter((each) => existsSync(each))
}

function writeWhole(file: number, bytes: Uint8Array, isDurable: boolean): boolean {
  try {
    if (writeSync(file, bytes) !== bytes.length) return false
    if (isDurable) fsyncSync(file)
    return true
  } catch {
    return false
  }
}

function cutOff(file: number, size: number): boolean {
  try {
    ftruncateSync(file, size)
    return true
  } catch {
    return false
  }
}
