/**
 * Spent tokens on disk: one file, appended to, so that a server that starts again still knows what was used.
 *
 * A record is written before its client is let in, with one write each: a process that is killed loses nothing that it
 * acted on. A crash of the whole machine may lose the last moments, unless `isDurable` has every record flushed to the
 * disk first (a millisecond or more each). A write that fails half-way is cut off again; what a crash tore is left to
 * the reader, who checks every record.
 */

import { closeSync, fstatSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { TokenJournal } from '../core/crypto/spent-tokens.ts'

/** Options of a journal. */
export interface TokenJournalOptions {
  /** Every record reaches the disk before its client is let in. */
  readonly isDurable?: boolean
}

/** A journal in the file at `path`, which is made when it is not there. Throws when that cannot be done. */
export function openTokenJournal(path: string, { isDurable = false }: TokenJournalOptions = {}): TokenJournal & { close(): void } {
  mkdirSync(dirname(path), { recursive: true })
  let file = openSync(path, 'a', 0o600)
  let size = fstatSync(file).size
  /** Half a record stands at the end and would put all after it out of step. */
  let isTorn = false
  return {
    load: () => new Uint8Array(readFileSync(path)),
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
      // The number may soon be another file's.
      file = -1
    },
  }
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
