/**
 * The bits of frames that several receivers are sent, by slot: as bytes, of which most are copied in one stroke of the engine, and as words for what is left.
 *
 * After warm-up nothing is allocated. It does not know what is in a frame, nor which slot is whose.
 */

import { DATAGRAM_BYTES_MAX } from '../base/limits.ts'
import type { BitWriter } from '../bits/bit-writer.ts'

/** A word before and two after, and what does not fill the last one. */
const FRAME_WORDS = (DATAGRAM_BYTES_MAX >>> 2) + 4
const FRAME_BYTES = FRAME_WORDS << 2
/** Bytes that are copied in one stroke are so many times this: there is a view for each length, made once. */
const STROKE_SHIFT = 6
const STROKES = (DATAGRAM_BYTES_MAX >>> STROKE_SHIFT) + 1

export class FrameStore {
  /** By slot. */
  readonly bits: Int32Array
  /** Made when first needed. */
  #words = new Int32Array(0)
  /** The same as bytes; and views of their beginnings, by slot and length. */
  #view = new DataView(new ArrayBuffer(0))
  readonly #views: Uint8Array[] = []

  constructor(slots: number) {
    this.bits = new Int32Array(slots)
  }

  /** Keeps what was written from a byte on; false when that is too long for any packet. */
  keep(slot: number, out: BitWriter, byteOffset: number): boolean {
    if (out.bitLength > DATAGRAM_BYTES_MAX << 3) return false
    if (this.#words.length === 0) this.#reserve()
    const firstWord = slot * FRAME_WORDS + 1
    out.takeWords(this.#words, firstWord, byteOffset)
    for (let word = 0, end = (out.bitLength >>> 5) + 1; word < end; word++) this.#view.setInt32(slot * FRAME_BYTES + (word << 2), this.#words[firstWord + word])
    this.bits[slot] = out.bitLength - (byteOffset << 3)
    return true
  }

  /** Writes a frame that is kept; the writer stands at a whole byte. @hot */
  put(slot: number, out: BitWriter): void {
    const bits = this.bits[slot]
    const strokes = bits >>> STROKE_SHIFT + 3
    if (strokes > 0) out.copyBytes(this.#views[slot * STROKES + strokes])
    const stroked = strokes << STROKE_SHIFT + 3
    out.copyWordBits(this.#words, ((slot * FRAME_WORDS + 1) << 5) + stroked, bits - stroked)
  }

  #reserve(): void {
    const slots = this.bits.length
    this.#words = new Int32Array(slots * FRAME_WORDS + 2)
    this.#view = new DataView(new ArrayBuffer(slots * FRAME_BYTES))
    for (let slot = 0; slot < slots; slot++) {
      for (let stroke = 0; stroke < STROKES; stroke++) this.#views.push(new Uint8Array(this.#view.buffer, slot * FRAME_BYTES, stroke << STROKE_SHIFT))
    }
  }
}
