/** A recording in memory: for short ones, for tests, and for who sends it elsewhere. */

import type { Tick } from '../base/time.ts'
import { CHUNK_HEAD_BYTES, chunkBytes, sealChunk } from './chunk.ts'
import type { RecordingSink } from './recording-writer.ts'

export class MemorySink implements RecordingSink {
  readonly #parts: Uint8Array[] = []

  /** A chunk around a body: what recorders do, for whoever adds a kind of his own. */
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

  /** All of it so far. */
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
