/**
 * A client's inputs on their way out: every packet carries all that the authority is not known to have.
 *
 *   +-----------------+-------------+---------------------------------------------------+
 *   | newest, varint  | count - 1, 5| count deltas, oldest first: the first against the |
 *   |                 |             | initial row, each other against the one before    |
 *   +-----------------+-------------+---------------------------------------------------+
 *
 * A lost packet costs no input: the next one has it again. An input held for long costs its mask, a bit a field.
 */

import { INPUTS_PER_FRAME_MAX, SENT_PACKETS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import type { Schema } from '../schema/schema.ts'
import { writeDelta } from '../schema/row-delta.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { InputRing } from './input-ring.ts'

/** Sent this often even when acknowledged, so that one lost packet never makes the authority wait. */
const INPUTS_RIDE_MIN = 3
export const INPUT_COUNT_BITS = 5

export class InputSource implements FrameSource {
  readonly heap: ValueHeap = new ValueHeap()
  readonly ring: InputRing
  readonly #schema: Schema
  /** The newest input in each packet under way, by sequence. */
  readonly #newestIn = new Float64Array(SENT_PACKETS_MAX)
  #newest = 0
  #newestSent = 0
  #acked = 0
  #filledSequence = -1

  constructor(schema: Schema) {
    this.#schema = schema
    this.ring = new InputRing(schema.laneCount)
  }

  /** The number the next input will have; its row goes to `ring.rows` at `ring.at(number)`, then `push`. */
  get nextNumber(): number {
    return this.#newest + 1
  }

  /** Takes the row that was written for `nextNumber`. */
  push(): void {
    this.ring.keep(++this.#newest)
  }

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.#newest > this.#newestSent ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#newest === 0 || sequence === this.#filledSequence) return false
    let count = Math.min(this.#newest, INPUTS_PER_FRAME_MAX, Math.max(this.#newest - this.#acked, INPUTS_RIDE_MIN))
    while (count > 0 && !this.#write(out, count)) {
      out.rewind(0)
      count >>= 1
    }
    if (count === 0) return false
    this.#filledSequence = sequence
    this.#newestSent = this.#newest
    this.#newestIn[sequence % SENT_PACKETS_MAX] = this.#newest
    return true
  }

  onDelivered(_now: Millis, sequence: number): void {
    this.#acked = Math.max(this.#acked, this.#newestIn[sequence % SENT_PACKETS_MAX])
  }

  onLost(): void {}

  #write(out: BitWriter, count: number): boolean {
    const { ring } = this
    const schema = this.#schema
    writeVarint(out, this.#newest)
    out.writeBits(count - 1, INPUT_COUNT_BITS)
    for (let number = this.#newest - count + 1; number <= this.#newest; number++) {
      const isFirst = number === this.#newest - count + 1
      const base = isFirst ? schema.initialRow : ring.rows
      writeDelta(out, schema, schema.masks[0], ring.rows, ring.at(number), base, isFirst ? 0 : ring.at(number - 1), this.heap)
    }
    return !out.failed
  }
}

