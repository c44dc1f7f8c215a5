/**
 * Builds the body of one packet: the ack block, then frames from the sources that have data.
 *
 * ```
 * ┌───────────┬────────────────────────────────────────────┬──────┬─────────────┐
 * │ ack block │ kind 4 │ flags 4 │ length 14 │ body, bytes │ ...  │ zeros, 0..7 │
 * └───────────┴────────────────────────────────────────────┴──────┴─────────────┘
 * ```
 *
 * Frames follow one another without alignment. A source writes its body into a scratch buffer of exactly the remaining
 * size, from bit 0. So bodies are copied by whole bytes, and a source that runs out of room cannot damage what others
 * wrote.
 *
 * Invariant: the packet never grows past the limit given to `begin`, whatever sources do.
 *
 * It does not know what a kind means, nor whether the packet will be sent.
 */

import { assert } from '../base/assert.ts'
import { DATAGRAM_BYTES_MAX, FRAMES_PER_PACKET_MAX, FRAME_BYTES_MAX, FRAME_KINDS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { type AckBlock, writeAckBlock } from './ack-block.ts'
import type { FrameSource } from './frame-source.ts'
import { SourceOrder } from './source-order.ts'

/** Bits before a frame's body. A packet with fewer bits left is full. */
export const FRAME_HEAD_BITS = 22

// Imported constants as module constants: a constant read through an import is loaded again at every use.
const HEAD_BITS = FRAME_HEAD_BITS

const AS_GIVEN = new SourceOrder()

/** Builds one packet at a time; one per endpoint is enough. */
export class PacketBuilder {
  #out: BitWriter
  #scratch: Uint8Array
  #body: BitWriter
  #byteOffset: number

  constructor() {
    this.#scratch = new Uint8Array(DATAGRAM_BYTES_MAX)
    this.#out = new BitWriter(this.#scratch)
    this.#body = new BitWriter(this.#scratch)
    this.#byteOffset = 0
  }

  /** Starts a body at `byteOffset` of `bytes` that may reach up to `byteLimit`, with the acks in front. @hot */
  begin(bytes: Uint8Array, byteOffset: number, byteLimit: number, acks: AckBlock): void {
    this.#out.reset(bytes, byteOffset, byteLimit - byteOffset)
    this.#byteOffset = byteOffset
    writeAckBlock(acks, this.#out)
  }

  /**
   * Asks `sources` in order, each until it returns false or there is no room left. `kinds[i]` is the frame kind of
   * source i. Returns the set of sources that wrote, bit i for source i. @hot
   */
  fill(
    now: Millis,
    sequence: number,
    sources: readonly FrameSource[],
    kinds: Uint8Array,
    order: SourceOrder = AS_GIVEN,
  ): number {
    let wrote = 0
    let frames = 0
    order.arrange()
    for (let at = 0; at < sources.length; at++) {
      const index = order.places[at]
      const before = this.#out.bitLength
      while (frames < FRAMES_PER_PACKET_MAX && this.#fillFrame(now, sequence, sources[index], kinds[index])) {
        wrote |= 1 << index
        frames++
      }
      if ((wrote >>> index) & 1) order.charge(index, this.#out.bitLength - before)
    }
    return wrote
  }

  /** Finishes the body and returns the end of the packet. */
  finish(): number {
    assert(!this.#out.failed, 'a packet is never written past its limit')
    return this.#byteOffset + this.#out.finish()
  }

  #fillFrame(now: Millis, sequence: number, source: FrameSource, kind: number): boolean {
    assert(kind < FRAME_KINDS_MAX, 'a frame kind has 4 bits')
    const roomBits = this.#out.bitsLeft - HEAD_BITS
    if (roomBits < 0) return false
    const roomBytes = Math.min(roomBits >>> 3, FRAME_BYTES_MAX)
    const body = this.#body
    body.reset(this.#scratch, 0, roomBytes)
    if (!source.fill(now, sequence, body)) return false
    assert(!body.failed, 'a source writes no further than the room it was given')
    const byteLength = body.finish()
    this.#out.writeBits(kind * 2 ** 18 + byteLength, HEAD_BITS)
    this.#out.copyBits(this.#scratch, 0, byteLength * 8)
    return true
  }
}
