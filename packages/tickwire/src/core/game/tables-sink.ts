/**
 * The receiving side of entropy tables that change during a match: assembles their pieces (tables-source.ts) and
 * decodes each snapshot with the version that it names.
 *
 *   tables      version varint | bytes of all varint | piece varint | its bytes: 512, the last one fewer
 *   all pieces  the priors' JSON, packed (codec/packed-text.ts)
 *   retrained   version varint | a snapshot frame (snapshot-sink.ts)
 *
 * The packet with the last piece is acknowledged only after all tables were checked and coders were made from them. The
 * coders of the last two versions are kept, because frames with the older version may still be in flight. A frame with
 * any other version is `no-ack`.
 *
 * The input is untrusted: the unpacked size is bounded before unpacking, an incomplete set of tables for this game is
 * `broken`, and nothing throws.
 */

import { TABLES_BYTES_MAX, TABLES_PIECE_BYTES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import { decodeText } from '../codec/packed-text.ts'
import type { RowCoder } from '../codec/row-coder.ts'
import type { FrameSink, FrameVerdict } from '../packet/frame-source.ts'
import type { SnapshotSink } from '../replication/snapshot-sink.ts'

type Coders = readonly RowCoder[]

/** The sink for snapshots that name the version of their tables. */
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
  /** The newest complete version. 0 = that of the handshake. */
  version = 0
  readonly #make: (text: string) => Coders
  #coders: Coders | undefined = undefined
  #olderVersion = 0
  #older: Coders | undefined = undefined
  /** The version in progress: its number, its bytes, which pieces have arrived, and how many are missing. */
  #pending = 0
  #bytes = new Uint8Array(0)
  #isHere = new Uint8Array(0)
  #leftCount = 0

  /** `make` creates the coders of all entities from a text. It throws on invalid text. */
  constructor(make: (text: string) => Coders) {
    this.#make = make
  }

  /** The coders of a version. Indexed by entity type. Undefined when the version is not held. @hot */
  codersOf(version: number): Coders | undefined {
    return version === this.version ? this.#coders : version === this.#olderVersion ? this.#older : undefined
  }

  accept(_now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    const version = readVarint(frame)
    const size = readVarint(frame)
    const piece = readVarint(frame)
    const at = piece * TABLES_PIECE_BYTES
    const length = Math.min(TABLES_PIECE_BYTES, size - at)
    if (frame.failed || version === 0 || size > TABLES_BYTES_MAX || length <= 0 || frame.bitsLeft !== length * 8)
      return 'broken'
    // A duplicate of a version that is already complete.
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

  /** All pieces have arrived: makes the coders. */
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
