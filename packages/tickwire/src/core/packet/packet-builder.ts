/**
 * Builds the body of one packet: the ack block, then frames, from whatever sources have something to say.
 *
 * ```
 * ┌───────────┬────────────────────────────────────────────┬──────┬─────────────┐
 * │ ack block │ kind 4 │ flags 4 │ length 14 │ body, bytes │ ...  │ zeros, 0..7 │
 * └───────────┴────────────────────────────────────────────┴──────┴─────────────┘
 * ```
 *
 * Frames follow one another without alignment. A source writes its body into a scratch of exactly the room there is,
 * from bit 0, so bodies copy by whole bytes and a source that runs out of room cannot spoil what others wrote.
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

/** Bits before a frame's body. A packet with less than this left is at its end. */
export const FRAME_HEAD_BITS = 22

// Imported constants as the module's own: read through an import they are loaded anew each time.
const FRAMES_MAX = FRAMES_PER_PACKET_MAX
const KINDS_MAX = FRAME_KINDS_MAX
const HEAD_BITS = FRAME_HEAD_BITS
const BODY_BYTES_MAX = FRAME_BYTES_MAX

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
   * Asks `sources` in their order, each until it says false or the room is gone. `kinds[i]` is the kind of frame that
   * source i makes. Returns the set of sources that wrote, bit i for source i. @hot
   */
  fill(now: Millis, sequence: number, sources: readonly FrameSource[], kinds: Uint8Array, order: SourceOrder = AS_GIVEN): number {
    let wrote = 0
    let frames = 0
    order.arrange()
    for (let at = 0; at < sources.length; at++) {
      const index = order.places[at]
      const before = this.#out.bitLength
      while (frames < FRAMES_MAX && this.#fillFrame(now, sequence, sources[index], kinds[index])) {
        wrote |= 1 << index
        frames++
      }
      if ((wrote >>> index) & 1) order.charge(index, this.#out.bitLength - before)
    }
    return wrote
  }

  /** Closes the body and returns where the packet ends. */
  finish(): number {
    assert(!this.#out.failed, 'a packet is never written past its limit')
    return this.#byteOffset + this.#out.finish()
  }

  #fillFrame(now: Millis, sequence: number, source: FrameSource, kind: number): boolean {
    assert(kind < KINDS_MAX, 'a frame kind has 4 bits')
    const roomBits = this.#out.bitsLeft - HEAD_BITS
    if (roomBits < 0) return false
    const roomBytes = Math.min(roomBits >>> 3, BODY_BYTES_MAX)
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
