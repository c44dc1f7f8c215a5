/**
 * Writes chunks to a sink, with the indexes that make the file seekable.
 *
 *   file     magic 64 | version 32 LE | head chunk | chunks … | end chunk
 *   index    offset of the index before, varint, 0 = none | each chunk since: type 8, flags 8,
 *            tick varint, length varint
 *   end      offset of the last index 48 LE | last tick 48 LE            28 bytes with its head, the last of the file
 *
 * Chunks are contiguous, so an index needs no offsets: its first chunk begins where the index before (or the head
 * chunk) ends, and its last chunk ends where the index begins. A reader that finds the end follows the indexes. A
 * reader that does not, because of a crash, reads all chunks and rebuilds the index.
 *
 * It opens no file: the caller gives a sink. If the sink refuses a chunk, only that chunk is lost.
 */

import type { Tick } from '../base/time.ts'
import { writeVarint } from '../bits/varint.ts'
import {
  CHUNK, chunkBytes, CHUNK_HEAD_BYTES, readU48, sealChunk, writeU32, writeU48, type ChunkEntry,
} from './chunk.ts'
import { ChunkBuffer } from './chunk-buffer.ts'
import { writeRecordingHead, type RecordingHead } from './recording-head.ts'

/** The first eight bytes: not text, and changed by programs that convert it as text. */
export const MAGIC: readonly number[] = [0x89, 0x54, 0x57, 0x52, 0x0d, 0x0a, 0x1a, 0x0a]
export const RECORDING_VERSION = 1
export const PREAMBLE_BYTES = 12
/** Two numbers of 48 bits. */
export const END_BODY_BYTES = 12

/** The destination of a recording. */
export interface RecordingSink {
  /**
   * Takes all of the bytes, or none and returns false. The bytes belong to the caller. `chunk` is undefined for the
   * preamble.
   */
  write(bytes: Uint8Array, chunk: ChunkEntry | undefined): boolean
}

export class RecordingWriter {
  /** Bytes that the sink accepted. */
  size = 0
  /** Chunks that the sink refused. */
  refusedCount = 0
  readonly #sink: RecordingSink
  readonly #index = new ChunkBuffer(CHUNK.index)
  #lastIndexAt = 0
  #lastTick: Tick = 0
  #unindexedCount = 0
  #isClosed = false

  constructor(head: RecordingHead, sink: RecordingSink) {
    this.#sink = sink
    const preamble = Uint8Array.from([...MAGIC, 0, 0, 0, 0])
    writeU32(preamble, MAGIC.length, RECORDING_VERSION)
    if (sink.write(preamble, undefined)) this.size = preamble.length
    const buffer = new ChunkBuffer(CHUNK.head)
    do {
      buffer.mark()
      writeRecordingHead(buffer.writer, head)
    } while (buffer.keep() === 'again')
    this.write(buffer.seal())
    this.#beginIndex()
  }

  /** Passes a sealed chunk to the sink; returns false if the sink refuses it. */
  write(bytes: Uint8Array): boolean {
    const [type, flags] = bytes
    const tick = readU48(bytes, 2)
    const length = bytes.length - chunkBytes(0)
    if (this.#isClosed || !this.#sink.write(bytes, { type, flags, tick, offset: this.size, length })) {
      this.refusedCount++
      return false
    }
    this.size += bytes.length
    this.#lastTick = tick
    if (type !== CHUNK.head && type !== CHUNK.index && type !== CHUNK.end) this.#list(type, flags, tick, length)
    return true
  }

  /** Writes the index of the chunks since the last index, if there are any. */
  writeIndex(): void {
    if (this.#unindexedCount === 0) return
    const at = this.size
    this.#index.tick = this.#lastTick
    if (!this.write(this.#index.seal())) return
    this.#lastIndexAt = at
    this.#beginIndex()
  }

  /** Ends the recording: writes the rest of the index, and the end. `lastTick` is the last tick in it. */
  close(lastTick: Tick): void {
    if (this.#isClosed) return
    this.writeIndex()
    const bytes = new Uint8Array(chunkBytes(END_BODY_BYTES))
    writeU48(bytes, CHUNK_HEAD_BYTES, this.#lastIndexAt)
    writeU48(bytes, CHUNK_HEAD_BYTES + 6, lastTick)
    sealChunk(bytes, CHUNK.end, 0, lastTick, END_BODY_BYTES)
    this.write(bytes)
    this.#isClosed = true
  }

  #beginIndex(): void {
    this.#index.clear()
    this.#unindexedCount = 0
    writeVarint(this.#index.writer, this.#lastIndexAt)
  }

  #list(type: number, flags: number, tick: Tick, length: number): void {
    const { writer } = this.#index
    do {
      this.#index.mark()
      writer.writeBits(type, 8)
      writer.writeBits(flags, 8)
      writeVarint(writer, tick)
      writeVarint(writer, length)
    } while (this.#index.keep() === 'again')
    this.#unindexedCount++
  }
}
