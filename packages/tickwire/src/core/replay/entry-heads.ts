/**
 * Where the entries of a tick of rows stand, and of what kind they are; each codec of recordings has its own way to say it.
 * Here the plain one:
 *
 *   entry    1 | gap, small | kind 2 | …         ascending by object index; gap = indexes left out before it
 *   end      0
 *
 * What an entry says beside is its writer's.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readSmall, writeSmall } from './small-number.ts'

/** What became of an object. */
export const ENTRY = { change: 0, birth: 1, death: 2, handover: 3 } as const
export type EntryKind = (typeof ENTRY)[keyof typeof ENTRY]

/** No entry follows. */
export const NO_ENTRY = -1

export interface EntryHeadsWriter {
  /** A tick begins; the one that was begun before, if it was not kept, is forgotten. */
  begin(isKey: boolean): void
  /** Indexes rise. */
  write(index: number, kind: EntryKind): void
  /** Nobody else is spoken of. */
  end(): void
  /** The tick is in. */
  keep(): void
}

export interface EntryHeadsReader {
  /** Of the entry that `next` came to. */
  kind: number
  begin(isKey: boolean): void
  /** The index of the next entry, or `NO_ENTRY` when the tick ends. On nonsense the reader has failed. */
  next(): number
}

export class PlainHeadsWriter implements EntryHeadsWriter {
  readonly #out: BitWriter
  #next = 0

  constructor(out: BitWriter) {
    this.#out = out
  }

  begin(): void {
    this.#next = 0
  }

  /** @hot */
  write(index: number, kind: EntryKind): void {
    this.#out.writeBits(1, 1)
    writeSmall(this.#out, index - this.#next)
    this.#out.writeBits(kind, 2)
    this.#next = index + 1
  }

  end(): void {
    this.#out.writeBits(0, 1)
  }

  keep(): void {}
}

export class PlainHeadsReader implements EntryHeadsReader {
  kind = 0
  readonly #reader: BitReader
  #next = 0

  constructor(reader: BitReader) {
    this.#reader = reader
  }

  begin(): void {
    this.#next = 0
  }

  /** @hot */
  next(): number {
    if (this.#reader.readBits(1) === 0) return NO_ENTRY
    const index = this.#next + readSmall(this.#reader)
    this.kind = this.#reader.readBits(2)
    this.#next = index + 1
    return index
  }
}
