/**
 * Asking for objects whole: what a receiver sends when a delta came whose baseline it does not hold.
 *
 *   frame   ids, varint each, ascending | zeros to a whole byte (an id is never 0)
 *
 * An id is asked for until a full row of it, or that it is gone, has come (`settle`); a lost packet makes it be asked for
 * again. It happens when a path is worse than any window, and with peers that lie; in all other weather no such frame is
 * ever sent.
 */

import { WANTED_ROWS_MAX } from '../base/limits.ts'
import type { Millis, ObjectId } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../packet/frame-source.ts'

const NO_SEQUENCE = -1
const ID_MAX = 0xffff_ffff

/** The asking side. */
export class WantedRows implements FrameSource {
  /** Ascending. More than fit are asked for once there is room: what cannot be decoded keeps coming. */
  readonly #ids = new Uint32Array(WANTED_ROWS_MAX)
  #count = 0
  /** The packet that carries all of them; -1 when none does. */
  #sequence = NO_SEQUENCE

  /** How many objects are waited for. */
  get count(): number {
    return this.#count
  }

  ask(id: ObjectId): void {
    const at = this.#placeOf(id)
    if (this.#count === WANTED_ROWS_MAX || (at < this.#count && this.#ids[at] === id)) return
    this.#ids.copyWithin(at + 1, at, this.#count)
    this.#ids[at] = id
    this.#count++
    this.#sequence = NO_SEQUENCE
  }

  /** An object has come whole, or is gone. */
  settle(id: ObjectId): void {
    if (this.#count === 0) return
    const at = this.#placeOf(id)
    if (at === this.#count || this.#ids[at] !== id) return
    this.#ids.copyWithin(at, at + 1, this.#count)
    this.#count--
  }

  /** What is asked for follows from frames that this very connection took in. */
  attach(): void {}

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.#count > 0 && this.#sequence === NO_SEQUENCE ? now : Infinity
  }

  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#count === 0 || this.#sequence !== NO_SEQUENCE) return false
    let written = 0
    for (; written < this.#count; written++) {
      const { bitLength } = out
      writeVarint(out, this.#ids[written])
      if (!out.failed) continue
      out.rewind(bitLength)
      break
    }
    if (written === 0) return false
    this.#sequence = sequence
    return true
  }

  onDelivered(): void {}

  onLost(_now: Millis, sequence: number): void {
    if (sequence === this.#sequence) this.#sequence = NO_SEQUENCE
  }

  /** Where an id stands, or would. */
  #placeOf(id: ObjectId): number {
    let at = 0
    while (at < this.#count && this.#ids[at] < id) at++
    return at
  }
}

/** The asked side: hands every id to `handle`. */
export class WantedSink implements FrameSink {
  readonly #handle: (id: ObjectId) => void

  constructor(handle: (id: ObjectId) => void) {
    this.#handle = handle
  }

  accept(_now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    let before = 0
    for (let count = 0; count < WANTED_ROWS_MAX && frame.bitsLeft >= 8; count++) {
      const id = readVarint(frame)
      if (id <= before || id > ID_MAX) frame.fail()
      if (frame.failed) return 'broken'
      this.#handle(id)
      before = id
    }
    return frame.finish() ? 'ok' : 'broken'
  }
}
