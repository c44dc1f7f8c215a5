/**
 * Writes bit fields, most significant bit first, into bytes that the caller owns.
 *
 * ```
 * writeBits(0b101, 3); writeBits(0x3ff, 10); writeBits(0, 1)
 *
 * byte 0            byte 1
 * 1 0 1 1 1 1 1 1 | 1 1 1 1 1 0 . .
 * └─3─┘ └───────10────────┘ 1
 * ```
 *
 * Invariant: every bit below `bitLength` is either in `bytes` or in the 32-bit accumulator, which holds the word under
 * the cursor, left-aligned, zeros below. No byte outside the window given to `reset` is ever touched. Inside it, bytes
 * at and after the cursor are scratch until `finish`.
 *
 * Past the end nothing is written and `failed` stays set: encoders write a whole frame and check once.
 *
 * It does not know what a field means (the typed functions beside it do), and it never grows.
 */

import { assert } from '../base/assert.ts'
import { BIT_BUFFER_BYTES_MAX } from '../base/limits.ts'

/** A field declared without a value starts as `undefined`, and V8 then never treats it as an integer or a pointer. */
const NO_BYTES: Uint8Array = new Uint8Array(0)
const NO_VIEW: DataView = new DataView(NO_BYTES.buffer)

/**
 * A cursor that writes bits into caller-owned bytes. Reusable by `reset`.
 *
 * Every field starts with a value of its final type, which saves 16 % of a write (docs/adr/0010).
 */
export class BitWriter {
  /** The bytes written into. */
  bytes: Uint8Array = NO_BYTES
  /** A write went past the end. Sticky until `reset` or a `rewind` to bits that fitted. */
  failed: boolean = false
  /** A view of the whole buffer behind `bytes`, so that different windows of it need no new view. */
  #view = NO_VIEW
  /** First byte of `bytes`, in `#view`. */
  #base = 0
  /** First byte of the window, in `#view`. */
  #start = 0
  /** Bits of the window. */
  #size = 0
  /** `#size`, or -1 once failed, so that one comparison decides every write. */
  #limit = 0
  /** Bits of the window that are in complete words. */
  #whole = 0
  /** Bits written. */
  #cursor = 0
  /** The accumulator: `#cursor & 31` bits, left-aligned. */
  #word = 0

  constructor(bytes: Uint8Array) {
    this.reset(bytes)
  }

  /** Starts over on `byteLength` bytes of `bytes` from `byteOffset`. Allocates only when the buffer changes. */
  reset(bytes: Uint8Array, byteOffset: number = 0, byteLength: number = bytes.length - byteOffset): void {
    assert(
      byteOffset >= 0 && byteLength >= 0 && byteOffset + byteLength <= bytes.length,
      'the window lies in its bytes',
    )
    assert(byteLength <= BIT_BUFFER_BYTES_MAX, 'bit positions are small integers')
    if (this.bytes !== bytes) {
      if (this.#view.buffer !== bytes.buffer) this.#view = new DataView(bytes.buffer)
      this.#base = bytes.byteOffset
      this.bytes = bytes
    }
    this.failed = false
    this.#start = this.#base + byteOffset
    this.#size = byteLength << 3
    this.#limit = this.#size
    this.#whole = (byteLength >>> 2) << 5
    this.#cursor = 0
    this.#word = 0
  }

  /** Bits written since `reset`. */
  get bitLength(): number {
    return this.#cursor
  }

  /** Bits that still fit; 0 once failed. */
  get bitsLeft(): number {
    return this.failed ? 0 : this.#size - this.#cursor
  }

  /**
   * Writes the low `width` bits (0..32) of `value`, highest of them first.
   *
   * There is no branch on whether the field fills its word, because it cannot be predicted: the word is stored every
   * time, and the accumulator is selected by a mask. 4.9 ns a field instead of 5.8 (docs/adr/0010). The readable
   * reference is test/reference/bits-reference.ts, compared by test/reference/bits-reference.test.ts. @hot
   */
  writeBits(value: number, width: number): void {
    const cursor = this.#cursor
    const next = cursor + width
    if (next > this.#limit || width === 0) {
      if (width !== 0) this.#fail()
      return
    }
    this.#cursor = next
    const used = cursor & 31
    // Left-aligning the field drops the bits above `width` without a mask, which would need a special case for 32.
    const field = value << (32 - width)
    const isFull = -((used + width) >>> 5)
    // Shifts count modulo 32; in two steps "by 32" is 0, as required when nothing spills.
    const spill = (field << (31 - used)) << 1
    const word = this.#word | (field >>> used)
    this.#word = (word & ~isFull) | (spill & isFull)
    // In the last, partial word nothing is stored before `finish`: it has fewer than 32 bits, and never fills.
    if (cursor < this.#whole) this.#view.setInt32(this.#start + ((cursor >>> 5) << 2), word)
  }

  /**
   * Copies `bitCount` bits of `source` from bit `bitOffset`; any alignment on either side. The source must not overlap
   * the window. @hot
   */
  copyBits(source: Uint8Array, bitOffset: number, bitCount: number): void {
    assert(bitOffset >= 0 && bitCount >= 0 && bitOffset + bitCount <= source.length * 8, 'the copied bits exist')
    const end = this.#cursor + bitCount
    if (end > this.#limit) {
      this.#fail()
      return
    }
    const view = this.#view
    const head = bitOffset & 7
    const used = this.#cursor & 31
    let from = bitOffset >>> 3
    let to = this.#start + ((this.#cursor >>> 5) << 2)
    let left = bitCount
    let word = this.#word
    for (; left >= 32; left -= 32, from += 4, to += 4) {
      let field = (source[from] << 24) | (source[from + 1] << 16) | (source[from + 2] << 8) | source[from + 3]
      // The fifth byte exists whenever the first is not used completely.
      if (head !== 0) field = (field << head) | (source[from + 4] >>> (8 - head))
      view.setInt32(to, word | (field >>> used))
      word = (field << (31 - used)) << 1
    }
    this.#word = word
    this.#cursor = end - left
    if (left > 0) this.writeBits(loadBits(source, from, head, left), left)
  }

  /**
   * Copies `bitCount` bits of `words` from bit `bitOffset`. There must be one word before the first copied word and two
   * after the last; their content does not matter. Like `copyBits`, for sources that keep their bits in machine words:
   * snapshots copy one delta to many clients, and would otherwise assemble words from bytes for each. @hot
   */
  copyWordBits(words: Int32Array, bitOffset: number, bitCount: number): void {
    const end = this.#cursor + bitCount
    if (end <= this.#limit) this.#copyWords(words, bitOffset, this.#cursor, end, this.#word)
    else if (bitCount !== 0) this.#fail()
  }

  /**
   * `writeBits`, for a width of 1 to 31, then `copyWordBits`, as one operation: nothing is written unless both fit.
   * Runs of snapshots have a separate head and are copied, ten thousand times a tick where views differ. @hot
   */
  copyWordBitsAfter(value: number, width: number, words: Int32Array, bitOffset: number, bitCount: number): void {
    const start = this.#cursor
    const cursor = start + width
    const end = cursor + bitCount
    if (end > this.#limit) {
      this.#fail()
      return
    }
    const field = value << (32 - width)
    const used = start & 31
    let word = this.#word | field >>> used
    if (used + width >= 32) {
      this.#view.setInt32(this.#start + ((start >>> 5) << 2), word)
      word = (field << (31 - used)) << 1
    }
    this.#copyWords(words, bitOffset, cursor, end, word)
  }

  /**
   * Copies from bit `bitOffset` of `words` to the bits from `cursor` to `end`. `before`: the preceding bits of the
   * first target word, left-aligned.
   */
  #copyWords(words: Int32Array, bitOffset: number, cursor: number, end: number, before: number): void {
    const view = this.#view
    const used = cursor & 31
    // The source is read at the alignment of the target: each target word is the end of one source word and the start
    // of the next.
    const from = bitOffset - used
    const shift = from & 31
    let at = from >> 5
    let to = this.#start + ((cursor >>> 5) << 2)
    const last = this.#start + ((end >>> 5) << 2)
    let next = words[at + 1]
    let word = words[at] << shift | (next >>> 1) >>> (31 - shift)
    if (used !== 0) word = before | word & (-1 >>> used)
    for (; to < last; to += 4) {
      view.setInt32(to, word)
      at++
      const current = next
      next = words[at + 1]
      word = current << shift | (next >>> 1) >>> (31 - shift)
    }
    const left = end & 31
    this.#word = left === 0 ? 0 : word & (-1 << (32 - left))
    this.#cursor = end
  }

  /** Copies whole bytes to a byte-aligned cursor, by one native call. @hot */
  copyBytes(source: Uint8Array): void {
    const cursor = this.#cursor
    assert((cursor & 7) === 0, 'whole bytes are copied to whole bytes')
    const end = cursor + (source.length << 3)
    if (end > this.#limit) {
      this.#fail()
      return
    }
    this.finish()
    this.bytes.set(source, this.#start - this.#base + (cursor >>> 3))
    this.#cursor = end
    // The written part of the word under the cursor.
    const at = this.#start + ((end >>> 5) << 2)
    let word = 0
    for (let bit = 0; bit < (end & 31); bit += 8) word |= this.#view.getUint8(at + (bit >>> 3)) << (24 - bit)
    this.#word = word
  }

  /**
   * Copies the output from byte `byteOffset` into `words`, from `at`, in the form that `copyWordBits` needs. Bits after
   * the end in the last word are zeros. @hot
   */
  takeWords(words: Int32Array, at: number, byteOffset: number): void {
    const length = this.finish()
    let from = byteOffset
    let to = at
    for (; from + 4 <= length; from += 4) words[to++] = this.#view.getInt32(this.#start + from)
    let last = 0
    for (let shift = 24; from < length; from++, shift -= 8) last |= this.#view.getUint8(this.#start + from) << shift
    words[to] = last
  }

  /** Discards everything after bit `bitLength`, and the failure if that came later. */
  rewind(bitLength: number): void {
    assert(bitLength >= 0 && bitLength <= this.#cursor, 'a writer only rewinds to what it has written')
    const used = bitLength & 31
    const at = this.#start + ((bitLength >>> 5) << 2)
    // Earlier words are in the bytes; the word under the cursor may be only in the accumulator.
    const word = bitLength >>> 5 === this.#cursor >>> 5 ? this.#word : this.#view.getInt32(at)
    this.#word = used === 0 ? 0 : word & (-1 << (32 - used))
    this.#cursor = bitLength
    this.#limit = this.#size
    this.failed = false
  }

  /**
   * Stores the last bits in `bytes`, zero-padded to a whole byte, and returns how many bytes are used. Writing may
   * continue afterwards at `bitLength`: the padding is not part of the output.
   */
  finish(): number {
    const used = this.#cursor & 31
    const at = this.#start + ((this.#cursor >>> 5) << 2)
    for (let bit = 0; bit < used; bit += 8) this.#view.setUint8(at + (bit >>> 3), this.#word >>> (24 - bit))
    return (this.#cursor + 7) >>> 3
  }

  #fail(): void {
    this.failed = true
    this.#limit = -1
  }
}

/** `count` bits (1..31) that start `head` bits into byte `at`, touching no byte beyond them. */
function loadBits(bytes: Uint8Array, at: number, head: number, count: number): number {
  const bits = head + count
  let value = bytes[at]
  let have = 8
  for (let next = at + 1; have < bits && have < 32; have += 8, next++) value = (value << 8) | bytes[next]
  // A fifth byte gives only its top bits, so that the value stays one word.
  if (have < bits) return (value << (bits - 32)) | (bytes[at + 4] >>> (40 - bits))
  return value >>> (have - bits)
}
