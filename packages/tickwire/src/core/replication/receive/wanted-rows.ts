/**
 * Requests full rows: a receiver sends this frame when a delta arrives whose baseline it does not hold.
 *
 *   frame   ids, varint each, ascending | zeros to a whole byte (an id is never 0)
 *
 * An id is requested until a full row of it arrives, or the message that it is gone (`settle`). If the packet is lost,
 * the request is sent again. Requests occur when a path is worse than any window, and with peers that lie; otherwise no
 * such frame is ever sent.
 */

import { WANTED_ROWS_MAX } from '../../base/limits.ts'
import type { Millis, ObjectId } from '../../base/time.ts'
import type { BitReader } from '../../bits/bit-reader.ts'
import type { BitWriter } from '../../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../../bits/varint.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../../packet/frame-source.ts'

const NO_SEQUENCE = -1
const ID_MAX = 0xffff_ffff

/** The requesting side. */
export class WantedRows implements FrameSource {
  /** Ascending. Ids that do not fit are requested once there is room: their deltas keep arriving and keep failing. */
  readonly #ids = new Uint32Array(WANTED_ROWS_MAX)
  #count = 0
  /** The first and the newest packet that carry a part of the request; -1 when the whole request must be sent. */
  #firstSequence = NO_SEQUENCE
  #sequence = NO_SEQUENCE
  /** Ids up to this one are in packets already. A request that does not fit one packet goes on in the next. */
  #sentId = 0

  /** How many objects are awaited. */
  get count(): number {
    return this.#count
  }

  ask(id: ObjectId): void {
    const at = this.#placeOf(id)
    if (this.#count === WANTED_ROWS_MAX || (at < this.#count && this.#ids[at] === id)) return
    this.#ids.copyWithin(at + 1, at, this.#count)
    this.#ids[at] = id
    this.#count++
    this.#restart()
  }

  /** A full row of the object has arrived, or the object is gone. */
  settle(id: ObjectId): void {
    if (this.#count === 0) return
    const at = this.#placeOf(id)
    if (at === this.#count || this.#ids[at] !== id) return
    this.#ids.copyWithin(at, at + 1, this.#count)
    this.#count--
  }

  /** Nothing to do: requests follow only from frames that this connection received. */
  attach(): void {}

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.#isUnsent() ? now : Infinity
  }

  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (!this.#isUnsent() || sequence === this.#sequence) return false
    let at = this.#placeOf(this.#sentId + 1)
    const first = at
    for (; at < this.#count; at++) {
      const { bitLength } = out
      writeVarint(out, this.#ids[at])
      if (!out.failed) continue
      out.rewind(bitLength)
      break
    }
    if (at === first) return false
    if (this.#firstSequence === NO_SEQUENCE) this.#firstSequence = sequence
    this.#sequence = sequence
    this.#sentId = this.#ids[at - 1]
    return true
  }

  onDelivered(): void {}

  /** Which ids a packet carried is not kept: the whole request is sent again. An id that arrives twice does no harm. */
  onLost(_now: Millis, sequence: number): void {
    if (this.#firstSequence !== NO_SEQUENCE && sequence >= this.#firstSequence && sequence <= this.#sequence)
      this.#restart()
  }

  #restart(): void {
    this.#firstSequence = NO_SEQUENCE
    this.#sequence = NO_SEQUENCE
    this.#sentId = 0
  }

  /** Whether ids are left that no packet carries. */
  #isUnsent(): boolean {
    return this.#count > 0 && this.#ids[this.#count - 1] > this.#sentId
  }

  /** The position of an id, or where it would be inserted. */
  #placeOf(id: ObjectId): number {
    let at = 0
    while (at < this.#count && this.#ids[at] < id) at++
    return at
  }
}

/** The side that answers: passes every id to `handle`. */
export function wantedSink(handle: (id: ObjectId) => void): FrameSink {
  return {
    accept(_now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
      let before = 0
      for (let count = 0; count < WANTED_ROWS_MAX && frame.bitsLeft >= 8; count++) {
        const id = readVarint(frame)
        if (id <= before || id > ID_MAX) frame.fail()
        if (frame.failed) return 'broken'
        handle(id)
        before = id
      }
      return frame.finish() ? 'ok' : 'broken'
    },
  }
}
