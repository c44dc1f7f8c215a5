/**
 * Events that are not part of the world, as the body of a notes chunk. All of it is whole bytes.
 *
 *   body     note | note | …
 *   note     ticks since the note before (the first: since the chunk's), varint | kind 8 | peer varint |
 *            length varint | bytes
 *
 *   1 joined        the peer is in the match from the next tick on
 *   2 left          bytes: the reason, as text
 *   3 received      a message from the peer: type 8, then its fields
 *   4 sent          a message to the peer; to peer 0: to all clients
 *   5 mark          bytes: a text of the game's own, such as the name of a round
 *   6 mispredicted  bytes: a wrong prediction, as JSON
 *   7 trace         no writer in this package
 *
 * A reader passes on kinds that it does not know.
 */

import { RECORDING_ENTRY_BYTES_MAX } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readBytes } from '../bits/blob.ts'
import { readUtf8, utf8Size, writeUtf8 } from '../bits/utf8.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { CHUNK } from './chunk.ts'
import { ChunkBuffer } from './chunk-buffer.ts'

/** Indexed by kind number - 1. */
const KINDS = ['joined', 'left', 'received', 'sent', 'mark', 'mispredicted', 'trace'] as const
/** The kind of a note: an event of a recording that is not part of the world. */
export type NoteKind = (typeof KINDS)[number]

/** An event of a recording that is not part of the world. */
export interface RecordedNote {
  /** The tick at which it was noted. */
  readonly tick: Tick
  /** `unknown`: written by a newer version. */
  readonly kind: NoteKind | 'unknown'
  /** The player that it is about; 0: none, or all. */
  readonly peer: PeerId
  /** Its content, by kind: a text, a message, JSON. */
  readonly bytes: Uint8Array
}

export class NotesWriter {
  readonly chunk: ChunkBuffer = new ChunkBuffer(CHUNK.notes)
  /** Notes that did not fit. */
  lostCount = 0
  #lastTick: Tick = 0

  add(tick: Tick, kind: NoteKind, peer: PeerId, said: string | Uint8Array): void {
    const { chunk } = this
    const bytes = typeof said === 'string' ? utf8(said) : said
    if (bytes.length > RECORDING_ENTRY_BYTES_MAX) {
      this.lostCount++
      return
    }
    if (chunk.isEmpty) {
      chunk.tick = tick
      this.#lastTick = tick
    }
    let appended: ReturnType<ChunkBuffer['keep']>
    do {
      chunk.mark()
      const { writer } = chunk
      writeVarint(writer, Math.max(0, tick - this.#lastTick))
      writer.writeBits(KINDS.indexOf(kind) + 1, 8)
      writeVarint(writer, peer)
      writeVarint(writer, bytes.length)
      writer.copyBits(bytes, 0, bytes.length * 8)
      appended = chunk.keep()
    } while (appended === 'again')
    if (appended === 'kept') this.#lastTick = Math.max(tick, this.#lastTick)
    else this.lostCount++
  }
}

/** The notes of a body that begins at a tick, or undefined when it is invalid. */
export function readNotes(body: Uint8Array, first: Tick): RecordedNote[] | undefined {
  const reader = new BitReader(body)
  const notes: RecordedNote[] = []
  let tick = first
  while (reader.bitsLeft > 0) {
    tick += readVarint(reader)
    const kind = KINDS[reader.readBits(8) - 1] ?? 'unknown'
    const peer = readVarint(reader)
    notes.push({ tick, kind, peer, bytes: readBytes(reader, RECORDING_ENTRY_BYTES_MAX) })
  }
  return reader.failed ? undefined : notes
}

/** The bytes of a note as text; undefined when they are not UTF-8. */
export function noteText({ bytes }: RecordedNote): string | undefined {
  const reader = new BitReader(bytes)
  const text = readUtf8(reader, bytes.length)
  return reader.failed ? undefined : text
}

function utf8(text: string): Uint8Array {
  const writer = new BitWriter(new Uint8Array(utf8Size(text)))
  writeUtf8(writer, text)
  return writer.bytes.subarray(0, writer.finish())
}
