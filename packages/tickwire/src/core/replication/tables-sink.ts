/**
 * The receiver's side of tables that change while a match runs: takes in their pieces (tables-source.ts), and reads snapshots by the
 * version that each names.
 *
 *   tables      version varint | bytes of all varint | piece varint | its bytes: 512, the last one fewer
 *   all pieces  the priors' JSON, packed (codec/packed-text.ts)
 *   retrained   version varint | a snapshot frame (snapshot-sink.ts)
 *
 * The packet with the last piece is acknowledged when the whole was checked and coders are made of it, and not before. Of two versions
 * coders are kept, whichever were the last: frames by the one before may still be on their way. A frame by any other is `no-ack`.
 *
 * Nothing is believed: what they unpack to is bounded before it is unpacked, what is no whole set of tables for this game is `broken`, and nothing throws.
 */

import { TABLES_BYTES_MAX, TABLES_PIECE_BYTES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import { decodeText } from '../codec/packed-text.ts'
import type { RowCoder } from '../codec/row-coder.ts'
import type { FrameSink, FrameVerdict } from '../packet/frame-source.ts'
import type { SnapshotSink } from './snapshot-sink.ts'

type Coders = readonly RowCoder[]

/** Where snapshots go that name the version of their tables. */
export function retrainedSink(tables: TablesSink, snapshots: SnapshotSink): FrameSink {
  return {
    accept(now, sequence, frame) {
      const version = readVarint(frame)
      if (frame.failed || version === 0) return 'broken'
      const coders = tables.codersOf(version)
      return coders === undefined ? snapshots.refuse() : snapshots.accept(now, sequence, frame, coders)
    },
  }
}

export class TablesSink implements FrameSink {
  /** The newest version that is held; 0 = that of the handshake. */
  version = 0
  readonly #make: (text: string) => Coders
  #coders: Coders | undefined = undefined
  #olderVersion = 0
  #older: Coders | undefined = undefined
  /** What is on its way: its version, its bytes, which pieces are here and how many are not. */
  #pending = 0
  #bytes = new Uint8Array(0)
  #isHere = new Uint8Array(0)
  #leftCount = 0

  /** `make` gives the coders of all entities by a text, and throws on what is none. */
  constructor(make: (text: string) => Coders) {
    this.#make = make
  }

  /** By type: what frames of a version are read by; undefined when it is not held. @hot */
  codersOf(version: number): Coders | undefined {
    return version === this.version ? this.#coders : version === this.#olderVersion ? this.#older : undefined
  }

  accept(_now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    const version = readVarint(frame)
    const size = readVarint(frame)
    const piece = readVarint(frame)
    const at = piece * TABLES_PIECE_BYTES
    const length = Math.min(TABLES_PIECE_BYTES, size - at)
    if (frame.failed || version === 0 || size > TABLES_BYTES_MAX || length <= 0 || frame.bitsLeft !== length * 8) return 'broken'
    // Of what is held already: it came twice.
    if (version <= this.version) return 'ok'
    if (version > this.#pending) this.#begin(version, size)
    if (version < this.#pending || size !== this.#bytes.length) return 'broken'
    frame.readBytes(this.#bytes, at, length)
    if (this.#isHere[piece] === 0) this.#leftCount--
    this.#isHere[piece] = 1
    return this.#leftCount > 0 || this.#take() ? 'ok' : 'broken'
  }

  #begin(version: number, size: number): void {
    this.#pending = version
    this.#bytes = new Uint8Array(size)
    this.#leftCount = Math.ceil(size / TABLES_PIECE_BYTES)
    this.#isHere = new Uint8Array(this.#leftCount)
  }

  /** All pieces are here. */
  #take(): boolean {
    const text = decodeText(this.#bytes, TABLES_BYTES_MAX)
    if (text === undefined) return false
    try {
      const coders = this.#make(text)
      this.#older = this.#coders
      this.#olderVersion = this.version
      this.#coders = coders
      this.version = this.#pending
    } catch {
      return false
    }
    this.#bytes = new Uint8Array(0)
    return true
  }
}
