/**
 * One player's inputs on the authority: absorbed as they arrive, taken one a tick.
 *
 * When the next one is late, the last is held and the tick is counted as starved: a player who is walking goes on
 * walking. When too many wait, because the player's clock runs fast or a clog broke loose, the oldest are passed over,
 * so that the game never drifts into the past.
 */

import { INPUT_WAITING_MAX, INPUT_WINDOW } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import type { FrameSink, FrameVerdict } from '../packet/frame-source.ts'
import { readDelta } from '../schema/row-delta.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import { InputRing } from './input-ring.ts'
import { INPUT_COUNT_BITS } from './input-source.ts'

export class InputBuffer implements FrameSink {
  readonly heap: ValueHeap
  /** The row of the input of this tick. */
  readonly current: Int32Array
  /** Ticks that had to hold the last input. */
  starvedTicks = 0
  /** Inputs passed over because too many waited. */
  passedOver = 0
  readonly #schema: Schema
  readonly #ring: InputRing
  /** Two rows that take turns: a delta is read over the one before it. */
  readonly #scratch: Int32Array
  #newest = 0
  #taken = 0

  /** `heap` is where texts and lists of these inputs live. */
  constructor(schema: Schema, heap: ValueHeap) {
    this.heap = heap
    this.#schema = schema
    this.#ring = new InputRing(schema.laneCount)
    this.#scratch = new Int32Array(2 * schema.laneCount)
    this.current = schema.initialRow.slice()
  }

  /** Inputs that wait to be taken. */
  get waiting(): number {
    return this.#newest - this.#taken
  }

  /** Moves on to the next input, if it is here. */
  take(): void {
    if (this.waiting > INPUT_WAITING_MAX) {
      const next = this.#newest - INPUT_WAITING_MAX / 2
      this.passedOver += next - this.#taken
      this.#taken = next
    }
    const number = this.#taken + 1
    if (!this.#ring.has(number)) {
      if (this.#newest > 0) this.starvedTicks++
      return
    }
    const at = this.#ring.at(number)
    for (let lane = 0; lane < this.current.length; lane++) this.current[lane] = this.#ring.rows[at + lane]
    this.#taken = number
  }

  /** @hot */
  accept(_now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    const schema = this.#schema
    const { laneCount, initialRow } = schema
    const newest = readVarint(frame)
    const count = frame.readBits(INPUT_COUNT_BITS) + 1
    if (newest < count) frame.fail()
    // The first frame of all decides where counting begins; what came before it was never ours.
    if (this.#newest === 0 && !frame.failed) this.#taken = newest - count
    for (let index = 0; index < count && !frame.failed; index++) {
      const number = newest - count + 1 + index
      const at = (index & 1) * laneCount
      const base = index === 0 ? initialRow : this.#scratch
      readDelta(frame, schema, schema.masks[0], this.#scratch, at, base, index === 0 ? 0 : laneCount - at, this.heap)
      if (!frame.failed) this.#keep(number, at)
    }
    return frame.finish() ? 'ok' : 'broken'
  }

  /** Keeps the values of all inputs here in the coming sweep of the heap. */
  markValues(heap: ValueHeap): void {
    const { rows, laneCount } = this.#ring
    for (let at = 0; at < rows.length; at += laneCount) heap.markRow(this.#schema, rows, at)
    heap.markRow(this.#schema, this.current, 0)
  }

  #keep(number: number, at: number): void {
    if (number <= this.#taken || this.#ring.has(number)) return
    // Further ahead than the ring reaches: everything in it is of no use any more.
    if (number - this.#taken >= INPUT_WINDOW) {
      this.passedOver += number - this.#taken - 1
      this.#taken = number - 1
    }
    const { rows } = this.#ring
    const target = this.#ring.at(number)
    for (let lane = 0; lane < this.#schema.laneCount; lane++) rows[target + lane] = this.#scratch[at + lane]
    this.#ring.keep(number)
    if (number > this.#newest) this.#newest = number
  }
}
