/**
 * A bounded queue of messages: one ring of bytes and one of lengths.
 *
 * First in, first out, so nothing can fragment. Memory grows by doubling up to the bounds, and is kept: after warm-up
 * nothing is allocated.
 *
 * Invariant: the bytes held are those between head and tail, and the lengths of all messages add up to them.
 */

import { assert } from '../base/assert.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'

const BYTES_AT_FIRST = 512
const MESSAGES_AT_FIRST = 8

/** A bounded queue of messages. */
export class MessageQueue {
  #bytesMax: number
  #countMax: number
  #bytes: Uint8Array = new Uint8Array(0)
  /**
   * A view of the first bytes, as long as recent messages at the start were; and the length of the last such message.
   */
  #frontView: Uint8Array = this.#bytes
  #frontLength: number = 0
  #lengths: Uint32Array = new Uint32Array(0)
  #headByte: number = 0
  #usedBytes: number = 0
  #headMessage: number = 0
  #count: number = 0

  constructor(bytesMax: number, countMax: number) {
    assert(bytesMax >= 1 && countMax >= 1, 'a queue holds something')
    this.#bytesMax = bytesMax
    this.#countMax = countMax
  }

  get count(): number {
    return this.#count
  }

  /** Bytes of all messages. */
  get usedBytes(): number {
    return this.#usedBytes
  }

  /** Whether a message of `length` bytes fits. */
  canHold(length: number): boolean {
    return this.#count < this.#countMax && this.#usedBytes + length <= this.#bytesMax
  }

  /** Appends a copy of `message`. Call `canHold` first. */
  put(message: Uint8Array): void {
    let at = this.#append(message.length)
    const mask = this.#bytes.length - 1
    const bytes = this.#bytes
    if ((at & mask) + message.length <= bytes.length) bytes.set(message, at & mask)
    else for (let index = 0; index < message.length; index++, at++) bytes[at & mask] = message[index]
  }

  /** Appends the next `length` bytes of `frame`. Call `canHold` first. */
  putFrom(frame: BitReader, length: number): void {
    const at = this.#append(length) & (this.#bytes.length - 1)
    const untilEnd = Math.min(length, this.#bytes.length - at)
    frame.readBytes(this.#bytes, at, untilEnd)
    if (untilEnd < length) frame.readBytes(this.#bytes, 0, length - untilEnd)
  }

  /** The length of the first message. */
  get frontLength(): number {
    assert(this.#count > 0, 'a queue is asked for what it has')
    return this.#lengths[this.#headMessage]
  }

  /**
   * Copies up to `lengthMax` bytes of the first message, from its byte `from`, to byte `to` of `out`; returns how many.
   */
  copyFront(out: Uint8Array, from: number = 0, to: number = 0, lengthMax: number = Infinity): number {
    const length = Math.min(this.frontLength - from, lengthMax)
    assert(out.length >= to + length, 'a message fits where it is received')
    const mask = this.#bytes.length - 1
    const at = (this.#headByte + from) & mask
    const bytes = this.#bytes
    if (at === 0 && length > 0 && this.#hasFrontView(length)) out.set(this.#frontView, to)
    else if (at + length <= bytes.length)
      for (let index = 0; index < length; index++) out[to + index] = bytes[at + index]
    else for (let index = 0; index < length; index++) out[to + index] = bytes[(at + index) & mask]
    return length
  }

  /** Writes the bytes of the first message into a frame. */
  writeFront(out: BitWriter): void {
    const length = this.frontLength
    const untilEnd = Math.min(length, this.#bytes.length - this.#headByte)
    out.copyBits(this.#bytes, this.#headByte * 8, untilEnd * 8)
    if (untilEnd < length) out.copyBits(this.#bytes, 0, (length - untilEnd) * 8)
  }

  /** Removes the first message. */
  drop(): void {
    const length = this.frontLength
    this.#headByte = (this.#headByte + length) & (this.#bytes.length - 1)
    this.#usedBytes -= length
    this.#headMessage = (this.#headMessage + 1) & (this.#lengths.length - 1)
    // A queue that is emptied between messages, as most are, has every message at the start of the ring.
    if (--this.#count === 0) this.#headByte = 0
  }

  /**
   * Whether there is a view of exactly the first `length` bytes. It is kept for messages as long as the one before.
   * With a view 200 bytes are copied in 20 ns, byte by byte in 140 ns; a new view for each message would cost as much
   * and be garbage.
   */
  #hasFrontView(length: number): boolean {
    if (this.#frontView.length === length) return true
    const isSteady = this.#frontLength === length
    this.#frontLength = length
    if (isSteady) this.#frontView = this.#bytes.subarray(0, length)
    return isSteady
  }

  /** Makes room for a message at the end; returns the position of its bytes, to be masked. */
  #append(length: number): number {
    assert(this.canHold(length), 'a message is put only where it fits')
    if (this.#bytes.length === 0 || this.#usedBytes + length > this.#bytes.length)
      this.#growBytes(this.#usedBytes + length)
    if (this.#count === this.#lengths.length) this.#growLengths()
    this.#lengths[(this.#headMessage + this.#count) & (this.#lengths.length - 1)] = length
    this.#count++
    this.#usedBytes += length
    return this.#headByte + this.#usedBytes - length
  }

  #growBytes(atLeast: number): void {
    let size = Math.max(BYTES_AT_FIRST, this.#bytes.length)
    while (size < atLeast) size *= 2
    const bytes = new Uint8Array(size)
    const mask = this.#bytes.length - 1
    for (let index = 0; index < this.#usedBytes; index++) bytes[index] = this.#bytes[(this.#headByte + index) & mask]
    this.#bytes = bytes
    this.#frontView = bytes
    this.#headByte = 0
  }

  #growLengths(): void {
    const lengths = new Uint32Array(Math.max(MESSAGES_AT_FIRST, this.#lengths.length * 2))
    const mask = this.#lengths.length - 1
    for (let index = 0; index < this.#count; index++) lengths[index] = this.#lengths[(this.#headMessage + index) & mask]
    this.#lengths = lengths
    this.#headMessage = 0
  }
}
