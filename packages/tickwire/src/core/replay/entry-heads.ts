/**
 * Entry heads say which objects have an entry in a tick of rows, and of what kind. Each recording codec has its own
 * encoding. This is the plain one:
 *
 *   entry    1 | gap, small | kind 2 | …         ascending by object index; gap = indexes skipped before it
 *   end      0
 *
 * The writer of the entry adds its other content.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readSmall, writeSmall } from './small-number.ts'

/** What happened to an object. */
export const ENTRY = { change: 0, birth: 1, death: 2, handover: 3 } as const
export type EntryKind = (typeof ENTRY)[keyof typeof ENTRY]

/** No entry follows. */
export const NO_ENTRY = -1

export interface EntryHeadsWriter {
  /** Begins a tick. A tick that was begun before and not kept is discarded. */
  begin(isKey: boolean): void
  /** Indexes must ascend. */
  write(index: number, kind: EntryKind): void
  /** No further entry follows. */
  end(): void
  /** The tick is final. */
  keep(): void
}

export interface EntryHeadsReader {
  /** The kind of the entry that `next` returned. */
  kind: number
  begin(isKey: boolean): void
  /** The index of the next entry, or `NO_ENTRY` at the end of the tick. On invalid input the reader has failed. */
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
