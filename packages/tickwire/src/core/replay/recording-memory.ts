/**
 * A recording in memory: for short ones, for tests, and to send it elsewhere.
 */

import type { Tick } from '../base/time.ts'
import { CHUNK_HEAD_BYTES, chunkBytes, sealChunk } from './chunk.ts'
import type { RecordingSink } from './recording-writer.ts'

/** Collects a recording in memory. */
export class MemorySink implements RecordingSink {
  readonly #parts: Uint8Array[] = []

  /** Makes a chunk around a body, as recorders do, for callers that add a chunk type of their own. */
  static chunk(type: number, tick: Tick, body: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(chunkBytes(body.length))
    bytes.set(body, CHUNK_HEAD_BYTES)
    sealChunk(bytes, type, 0, tick, body.length)
    return bytes
  }

  write(bytes: Uint8Array): boolean {
    this.#parts.push(bytes.slice())
    return true
  }

  /** All bytes so far. */
  bytes(): Uint8Array {
    const bytes = new Uint8Array(this.#parts.reduce((sum, part) => sum + part.length, 0))
    let at = 0
    for (const part of this.#parts) {
      bytes.set(part, at)
      at += part.length
    }
    return bytes
  }
}
