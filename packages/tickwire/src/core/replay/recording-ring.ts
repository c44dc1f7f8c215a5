/**
 * The last part of a match, in memory: a sink that drops old chunks. For spectators that watch late, and for "save what
 * just happened".
 *
 * It drops from key to key, so that the rest can always be played. It is a list of chunks like any recording, which
 * grows at its end and shrinks at its beginning; `save` returns it as the bytes of a file.
 */

import { assert, ConfigError } from '../base/assert.ts'
import { RECORDING_RING_BYTES_MAX, RECORDING_RING_MS } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'
import { CHECK_BYTES, CHUNK, chunkBytes, CHUNK_HEAD_BYTES, FLAG_KEY, type ChunkEntry } from './chunk.ts'
import type { ChunkList } from './recording.ts'
import { readRecordingHead, type RecordingHead } from './recording-head.ts'
import type { RecordingSink } from './recording-writer.ts'

/** How much a ring keeps. */
export interface RecordingRingOptions {
  /** How long chunks are kept. Default: a minute. */
  readonly windowMs?: Millis
  /** The most bytes it may use, whatever the window. Default: 64 MiB. */
  readonly bytesMax?: number
}

/** Keeps the last part of a recording in memory. */
export class RecordingRing implements RecordingSink, ChunkList {
  readonly chunks: ChunkEntry[] = []
  /** Bytes of the chunks. */
  sizeBytes = 0
  readonly #windowMs: Millis
  readonly #bytesMax: number
  readonly #bodies = new Map<ChunkEntry, Uint8Array>()
  /** Preamble and head chunk. */
  readonly #front: Uint8Array[] = []
  #head: RecordingHead | undefined = undefined

  constructor({ windowMs = RECORDING_RING_MS, bytesMax = RECORDING_RING_BYTES_MAX }: RecordingRingOptions = {}) {
    if (!(windowMs > 0))
      throw new ConfigError(
        'windowMs',
        `invalid time (expected above 0 ms, got ${windowMs})`,
        'give how many milliseconds to keep.',
      )
    if (!(bytesMax > 0))
      throw new ConfigError(
        'bytesMax',
        `invalid size (expected above 0 bytes, got ${bytesMax})`,
        'give how many bytes to keep at most.',
      )
    this.#windowMs = windowMs
    this.#bytesMax = bytesMax
  }

  get head(): RecordingHead {
    assert(this.#head !== undefined, 'a ring is read once a recorder writes to it')
    return this.#head
  }

  write(bytes: Uint8Array, chunk: ChunkEntry | undefined): boolean {
    if (chunk === undefined || chunk.type === CHUNK.head) {
      const copy = bytes.slice()
      this.#front.push(copy)
      if (chunk !== undefined)
        this.#head = readRecordingHead(copy.subarray(CHUNK_HEAD_BYTES, copy.length - CHECK_BYTES))
      return true
    }
    if (chunk.type === CHUNK.index || chunk.type === CHUNK.end) return true
    this.chunks.push(chunk)
    this.#bodies.set(chunk, bytes.slice())
    this.sizeBytes += bytes.length
    this.#forget(chunk.tick)
    return true
  }

  load(chunk: ChunkEntry): Uint8Array | undefined {
    return this.#bodies.get(chunk)?.subarray(CHUNK_HEAD_BYTES, CHUNK_HEAD_BYTES + chunk.length)
  }

  /** The content, as the bytes of a recording. */
  save(): Uint8Array {
    const parts = [...this.#front, ...this.chunks.flatMap((chunk) => this.#bodies.get(chunk) ?? [])]
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
    let at = 0
    for (const part of parts) {
      bytes.set(part, at)
      at += part.length
    }
    return bytes
  }

  /**
   * Drops chunks that are too old or too many: all before a key, as long as the rest still has a key that is old
   * enough.
   */
  #forget(newest: Tick): void {
    const oldest = newest - (this.#windowMs * this.head.tickRate) / 1000
    // A recording made by a client may have only rows as received from the server.
    const type = this.chunks.some((chunk) => chunk.type === CHUNK.rows) ? CHUNK.rows : CHUNK.receivedRows
    for (;;) {
      const second = this.chunks.findIndex(
        (chunk, at) => at > 0 && chunk.type === type && (chunk.flags & FLAG_KEY) !== 0,
      )
      if (second < 0) return
      if (this.chunks[second].tick > oldest && this.sizeBytes <= this.#bytesMax) return
      for (const chunk of this.chunks.splice(0, second)) {
        this.#bodies.delete(chunk)
        this.sizeBytes -= chunkBytes(chunk.length)
      }
    }
  }
}
