/**
 * One player's inputs on the authority: absorbed as they arrive, taken at exactly the tick they are for.
 *
 * When the input of a tick is not there in time, the last one is held and the tick is flagged: a player who is walking goes
 * on walking. One that comes after its tick is late, has no effect and is counted; so is one that comes again, and one that
 * is further ahead than the window reaches. Whatever a client sends, one input a tick is all that it can bring about.
 *
 * How early inputs come, in ticks, is kept for the client, whose clock follows it.
 */

import { INPUT_AHEAD_MAX } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import type { FrameSink, FrameVerdict } from '../packet/frame-source.ts'
import { readDelta } from '../schema/row-delta.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import { AGE_BITS, AGE_MAX, AGE_STEPS, InputRing } from './input-ring.ts'
import { AGE_SMALL_BITS, AGE_SMALL_MAX, INPUT_COUNT_BITS } from './input-source.ts'
import type { TickPosition } from './timing-frame.ts'

const MARGIN_MIN = 0
const MARGIN_SUM = 1

export class InputBuffer implements FrameSink {
  readonly heap: ValueHeap
  /** The row of the input of this tick. */
  readonly current: Int32Array
  /** The input of this tick was not there: the last one is held. */
  isHeld = false
  /** Ticks that had to hold the last input. */
  starvedTicks = 0
  /** Inputs that came after their tick, again, and further ahead than the window. */
  lateInputs = 0
  duplicateInputs = 0
  earlyInputs = 0
  /** Inputs whose margins are in `marginTicksMin` and `marginTicksMean`. */
  marginCount = 0
  readonly #schema: Schema
  readonly #ring: InputRing
  readonly #position: TickPosition
  /** Two rows that take turns: a delta is read over the one before it. */
  readonly #scratch: Int32Array
  readonly #margins = new Float64Array(2)
  #newest: Tick = -1
  #taken: Tick = -1
  #age = 0

  /** `heap` is where texts and lists of these inputs live; `position` says where the authority stands. */
  constructor(schema: Schema, heap: ValueHeap, position: TickPosition) {
    this.heap = heap
    this.#schema = schema
    this.#position = position
    this.#ring = new InputRing(schema.laneCount)
    this.#scratch = new Int32Array(2 * schema.laneCount)
    this.current = schema.initialRow.slice()
  }

  /** Inputs for ticks to come that are here, up to the newest. */
  get waiting(): number {
    return Math.max(0, this.#newest - this.#position.tick)
  }

  /** How early the tightest input came since `forgetMargins`, in ticks; negative: too late. */
  get marginTicksMin(): number {
    return this.#margins[MARGIN_MIN]
  }

  get marginTicksMean(): number {
    return this.marginCount === 0 ? 0 : this.#margins[MARGIN_SUM] / this.marginCount
  }

  /** The tick, with its fraction, that the player looked at when he held the input of this tick. */
  get viewTick(): number {
    return Math.max(0, this.#taken - this.#age / AGE_STEPS)
  }

  forgetMargins(): void {
    this.marginCount = 0
  }

  /** Moves on to the input of a tick, or holds the last. @hot */
  take(tick: Tick): void {
    this.#taken = tick
    this.isHeld = !this.#ring.has(tick)
    if (this.isHeld) {
      if (this.#newest >= 0) this.starvedTicks++
      return
    }
    const at = this.#ring.at(tick)
    for (let lane = 0; lane < this.current.length; lane++) this.current[lane] = this.#ring.rows[at + lane]
    this.#age = this.#ring.ageOf(tick)
  }

  /** @hot */
  accept(now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    const schema = this.#schema
    const { laneCount, initialRow } = schema
    const newest = readVarint(frame)
    const count = frame.readBits(INPUT_COUNT_BITS) + 1
    if (newest < count - 1) frame.fail()
    let age = 0
    for (let index = 0; index < count && !frame.failed; index++) {
      const at = (index & 1) * laneCount
      const base = index === 0 ? initialRow : this.#scratch
      readDelta(frame, schema, schema.masks[0], this.#scratch, at, base, index === 0 ? 0 : laneCount - at, this.heap)
      age = index === 0 ? frame.readBits(AGE_BITS) : readAge(frame, age)
      if (!frame.failed) this.#keep(now, newest - count + 1 + index, at, age)
    }
    return frame.finish() ? 'ok' : 'broken'
  }

  /** Keeps the values of all inputs here in the coming sweep of the heap. */
  markValues(heap: ValueHeap): void {
    const { rows, laneCount } = this.#ring
    for (let at = 0; at < rows.length; at += laneCount) heap.markRow(this.#schema, rows, at)
    heap.markRow(this.#schema, this.current, 0)
  }

  #keep(now: Millis, tick: Tick, at: number, age: number): void {
    if (tick > this.#position.tick + INPUT_AHEAD_MAX) {
      this.earlyInputs++
      return
    }
    if (this.#ring.has(tick)) {
      this.duplicateInputs++
      return
    }
    // What is older than the newest by a window was forgotten, and may have been here.
    if (tick <= this.#newest - INPUT_AHEAD_MAX) {
      this.duplicateInputs++
      return
    }
    this.#measure(tick - this.#position.tick - this.#position.alpha(now))
    const { rows } = this.#ring
    const target = this.#ring.at(tick)
    for (let lane = 0; lane < this.#schema.laneCount; lane++) rows[target + lane] = this.#scratch[at + lane]
    this.#ring.keep(tick, age)
    if (tick <= this.#position.tick) {
      this.lateInputs++
      return
    }
    if (tick > this.#newest) this.#newest = tick
  }

  #measure(margin: number): void {
    const margins = this.#margins
    if (this.marginCount++ === 0) {
      margins[MARGIN_MIN] = margin
      margins[MARGIN_SUM] = margin
      return
    }
    margins[MARGIN_SUM] += margin
    if (margin < margins[MARGIN_MIN]) margins[MARGIN_MIN] = margin
  }
}

function readAge(frame: BitReader, before: number): number {
  if (frame.readBits(1) === 0) return before
  const isWhole = frame.readBits(1) === 1
  const more = isWhole ? frame.readBits(AGE_BITS) - before : frame.readBits(AGE_SMALL_BITS) << (32 - AGE_SMALL_BITS) >> (32 - AGE_SMALL_BITS)
  const age = before + more
  const isSmall = more !== 0 && more >= -AGE_SMALL_MAX && more <= AGE_SMALL_MAX
  if (isSmall === isWhole || more === 0 || age < 0 || age > AGE_MAX) frame.fail()
  return age
}
