/**
 * What happened beside the world, as the body of a chunk of notes. All of it is whole bytes.
 *
 *   body     note | note | …
 *   note     ticks since the note before (the first: since the chunk's), varint | kind 8 | peer varint | length varint | bytes
 *
 *   1 joined     he is in the match from the next tick on
 *   2 left       bytes: why, as text
 *   3 heard      a message of his: type 8, then its fields
 *   4 told       a message to him; to peer 0: to everyone
 *   5 mark       bytes: a text of the game's own, such as the name of a round
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

/** By number. */
const KINDS = ['joined', 'left', 'heard', 'told', 'mark', 'mispredicted', 'trace'] as const
export type NoteKind = (typeof KINDS)[number]

export interface RecordedNote {
  readonly tick: Tick
  /** `unknown`: written by something newer than this. */
  readonly kind: NoteKind | 'unknown'
  readonly peer: PeerId
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

/** The notes of a body that begins at a tick, or undefined when it makes no sense. */
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

/** The bytes of a note as text; undefined when they are none. */
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
