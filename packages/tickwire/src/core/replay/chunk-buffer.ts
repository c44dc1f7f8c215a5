/**
 * A chunk that is being filled: a bit writer over a growing buffer, with room for the chunk's head in front.
 *
 * The caller calls `mark()`, writes, and calls `keep()`. If the data did not fit, the buffer has grown and the caller
 * writes again. If even the largest chunk is too small, the data is discarded and `keep` returns 'too-large'.
 */

import { RECORDING_CHUNK_BYTES_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { CHECK_BYTES, chunkBytes, CHUNK_HEAD_BYTES, sealChunk } from './chunk.ts'

const BYTES_FIRST = 4096

/** The result of an append: it is stored, it must be written again, or it will never fit. */
export type Appended = 'kept' | 'again' | 'too-large'

export class ChunkBuffer {
  readonly type: number
  readonly writer: BitWriter
  /** The first tick in it. */
  tick: Tick = 0
  flags: number = 0
  /** The length of the fixed part that every body of its type begins with. */
  readonly #headBits: number
  #bytes: Uint8Array = new Uint8Array(BYTES_FIRST)
  #mark = 0

  constructor(type: number, headBits: number = 0) {
    this.type = type
    this.#headBits = headBits
    this.writer = new BitWriter(this.#bytes)
    this.clear()
  }

  get isEmpty(): boolean {
    return this.writer.bitLength === this.#headBits
  }

  /** Bytes of the body so far. */
  get byteLength(): number {
    return (this.writer.bitLength + 7) >>> 3
  }

  /** Empties it. */
  clear(): void {
    this.#reset()
    this.#mark = this.#headBits
    this.flags = 0
  }

  /** Begins an append, which is kept or discarded as a whole. */
  mark(): void {
    this.#mark = this.writer.bitLength
  }

  /** Ends an append. `tailBytes` must still fit after it: the owner writes them before the chunk is sealed. */
  keep(tailBytes: number = 0): Appended {
    if (!this.writer.failed && (tailBytes === 0 || tailBytes * 8 + 7 <= this.writer.bitsLeft)) return 'kept'
    this.writer.rewind(this.#mark)
    const size = this.#bytes.length
    if (size >= chunkBytes(RECORDING_CHUNK_BYTES_MAX)) return 'too-large'
    this.writer.finish()
    const former = this.#bytes
    this.#bytes = new Uint8Array(Math.min(size * 2, chunkBytes(RECORDING_CHUNK_BYTES_MAX)))
    this.#reset()
    this.writer.rewind(0)
    this.writer.copyBits(former, CHUNK_HEAD_BYTES * 8, this.#mark)
    return 'again'
  }

  /** Discards the current append. */
  drop(): void {
    this.writer.rewind(this.#mark)
  }

  /** The whole chunk, valid until the next append. `count`, if given, goes into the first 16 bits, low byte first. */
  seal(count?: number): Uint8Array {
    const length = this.writer.finish()
    if (count !== undefined) {
      this.#bytes[CHUNK_HEAD_BYTES] = count
      this.#bytes[CHUNK_HEAD_BYTES + 1] = count >>> 8
    }
    return this.#bytes.subarray(0, sealChunk(this.#bytes, this.type, this.flags, this.tick, length))
  }

  #reset(): void {
    this.writer.reset(this.#bytes, CHUNK_HEAD_BYTES, this.#bytes.length - CHUNK_HEAD_BYTES - CHECK_BYTES)
    this.writer.writeBits(0, this.#headBits)
  }
}
