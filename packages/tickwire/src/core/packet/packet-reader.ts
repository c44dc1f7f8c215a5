/**
 * Reads the body of one packet: the counterpart of `packet-builder.ts`, which describes the format.
 *
 * It reads the packet twice. First it checks everything that can be checked without a sink: the ack block, kind, flags
 * and length of every frame, and the padding. Only then, and only if `deliver` is called, sinks receive their frames.
 *
 * Invariant: a packet has all of its effects or none (PKT6).
 *
 * It never throws, whatever the bytes are, and does not know what a kind means.
 */

import { assert } from '../base/assert.ts'
import type { Millis } from '../base/time.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { AckBlock, readAckBlock } from './ack-block.ts'
import type { FrameSink, FrameVerdict } from './frame-source.ts'
import { FRAME_HEAD_BITS } from './packet-builder.ts'

/** Whether a body is valid, or why not. */
export type PacketVerdict = 'ok' | 'malformed' | 'unknown-frame'

const NOTHING = new Uint8Array(0)
const LENGTH_MASK = 0x3fff

/** Reads one packet at a time; one per endpoint is enough. */
export class PacketReader {
  /** The acks of the packet last read. */
  readonly acks: AckBlock
  /** How many frames that packet contains. */
  frameCount: number
  #reader: BitReader
  #frame: BitReader
  #bytes: Uint8Array
  #byteLength: number
  #framesAt: number

  constructor() {
    this.acks = new AckBlock()
    this.frameCount = 0
    this.#reader = new BitReader(NOTHING)
    this.#frame = new BitReader(NOTHING)
    this.#bytes = NOTHING
    this.#byteLength = 0
    this.#framesAt = 0
  }

  /** Checks the body from `byteOffset` up to `byteLength` of `bytes`. A kind is known if it has a sink. @hot */
  read(
    bytes: Uint8Array, byteOffset: number, byteLength: number, sinks: readonly (FrameSink | undefined)[],
  ): PacketVerdict {
    const reader = this.#reader
    reader.reset(bytes, byteOffset, byteLength - byteOffset)
    readAckBlock(reader, this.acks)
    this.#bytes = bytes
    this.#byteLength = byteLength
    this.#framesAt = reader.bitPosition
    this.frameCount = 0
    while (reader.bitsLeft >= FRAME_HEAD_BITS) {
      const head = reader.readBits(FRAME_HEAD_BITS)
      const kind = head >>> 18
      if (((head >>> 14) & 0xf) !== 0) return 'malformed'
      if (sinks[kind] === undefined) return 'unknown-frame'
      reader.skipBits((head & LENGTH_MASK) * 8)
      this.frameCount++
    }
    return reader.finish() ? 'ok' : 'malformed'
  }

  /**
   * Passes every frame of the packet last read to its sink, in order, and returns the worst verdict. Stops at a broken
   * frame, because the connection is about to be closed. @hot
   */
  deliver(now: Millis, sequence: number, sinks: readonly (FrameSink | undefined)[]): FrameVerdict {
    const reader = this.#reader
    const frame = this.#frame
    let worst: FrameVerdict = 'ok'
    reader.resetBits(this.#bytes, this.#framesAt, this.#byteLength * 8 - this.#framesAt)
    for (let left = this.frameCount; left > 0; left--) {
      const head = reader.readBits(FRAME_HEAD_BITS)
      const bits = (head & LENGTH_MASK) * 8
      const sink = sinks[head >>> 18]
      assert(sink !== undefined, 'a packet is read with the same sinks it is delivered to')
      frame.resetBits(this.#bytes, reader.bitPosition, bits)
      reader.skipBits(bits)
      const verdict = sink.accept(now, sequence, frame)
      if (verdict === 'broken') return 'broken'
      if (verdict === 'no-ack') worst = 'no-ack'
    }
    return worst
  }
}
