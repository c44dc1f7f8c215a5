/**
 * A bounded store of messages: chains of 128-byte blocks with a free list.
 *
 * Messages are freed in any order, so a ring would not work; blocks cannot fragment. Memory grows by doubling up to the
 * bound, and is kept: after warm-up nothing is allocated.
 *
 * Invariant: used blocks and free blocks together are all blocks; a handle is the first block of its chain.
 */

import { assert } from '../base/assert.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'

const BLOCK_BYTES = 128
const BLOCKS_AT_FIRST = 16
const NONE = -1

/** Stores messages by handle. */
export class MessageStore {
  #blocksMax: number
  #bytes: Uint8Array = new Uint8Array(0)
  #next: Int16Array = new Int16Array(0)
  #lengths: Uint16Array = new Uint16Array(0)
  #firstFree: number = NONE
  #used: number = 0

  constructor(bytesMax: number) {
    this.#blocksMax = Math.floor(bytesMax / BLOCK_BYTES)
    assert(this.#blocksMax >= 1 && this.#blocksMax <= 0x7fff, 'a block number has 15 bits')
  }

  /** Bytes held, in whole blocks. */
  get usedBytes(): number {
    return this.#used * BLOCK_BYTES
  }

  /** Whether a message of `length` bytes fits. */
  canHold(length: number): boolean {
    return this.#used + blocksFor(length) <= this.#blocksMax
  }

  /** Stores a copy of `message`; returns its handle. Call `canHold` first. */
  put(message: Uint8Array): number {
    const first = this.#take(message.length)
    for (let block = first, from = 0; block !== NONE; block = this.#next[block], from += BLOCK_BYTES) {
      const size = Math.min(BLOCK_BYTES, message.length - from)
      const at = block * BLOCK_BYTES
      for (let index = 0; index < size; index++) this.#bytes[at + index] = message[from + index]
    }
    return first
  }

  /** Stores the next `length` bytes of `frame`; returns the handle. Call `canHold` first. */
  putFrom(frame: BitReader, length: number): number {
    const first = this.#take(length)
    for (let block = first, left = length; block !== NONE; block = this.#next[block]) {
      frame.readBytes(this.#bytes, block * BLOCK_BYTES, Math.min(BLOCK_BYTES, left))
      left -= BLOCK_BYTES
    }
    return first
  }

  lengthOf(handle: number): number {
    return this.#lengths[handle]
  }

  /** Copies the message to the start of `out`; returns its length. */
  copyTo(handle: number, out: Uint8Array): number {
    const length = this.#lengths[handle]
    assert(out.length >= length, 'a message fits where it is received')
    for (let block = handle, to = 0; block !== NONE; block = this.#next[block]) {
      const end = Math.min(to + BLOCK_BYTES, length)
      for (let at = block * BLOCK_BYTES; to < end; at++, to++) out[to] = this.#bytes[at]
    }
    return length
  }

  /** Writes the bytes of the message into a frame. */
  writeTo(handle: number, out: BitWriter): void {
    for (let block = handle, left = this.#lengths[handle]; block !== NONE; block = this.#next[block]) {
      out.copyBits(this.#bytes, block * BLOCK_BYTES * 8, Math.min(BLOCK_BYTES, left) * 8)
      left -= BLOCK_BYTES
    }
  }

  /** Frees the message. */
  release(handle: number): void {
    let last = handle
    this.#used--
    for (; this.#next[last] !== NONE; last = this.#next[last]) this.#used--
    this.#next[last] = this.#firstFree
    this.#firstFree = handle
  }

  #take(length: number): number {
    assert(this.canHold(length), 'a message is put only where it fits')
    let first = NONE
    for (let left = blocksFor(length); left > 0; left--) {
      if (this.#firstFree === NONE) this.#grow()
      const block = this.#firstFree
      this.#firstFree = this.#next[block]
      this.#next[block] = first
      first = block
      this.#used++
    }
    this.#lengths[first] = length
    return first
  }

  #grow(): void {
    const before = this.#next.length
    const blocks = Math.min(this.#blocksMax, before === 0 ? BLOCKS_AT_FIRST : before * 2)
    const bytes = new Uint8Array(blocks * BLOCK_BYTES)
    const next = new Int16Array(blocks)
    const lengths = new Uint16Array(blocks)
    bytes.set(this.#bytes)
    next.set(this.#next)
    lengths.set(this.#lengths)
    for (let block = before; block < blocks; block++) next[block] = block + 1 < blocks ? block + 1 : NONE
    this.#bytes = bytes
    this.#next = next
    this.#lengths = lengths
    this.#firstFree = before
  }
}

/** An empty message takes a block too: it needs a handle. */
function blocksFor(length: number): number {
  return length === 0 ? 1 : Math.ceil(length / BLOCK_BYTES)
}
