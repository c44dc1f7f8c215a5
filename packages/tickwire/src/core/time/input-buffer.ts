/**
 * One player's inputs on the authority: stored as they arrive, used at exactly the tick they are for.
 *
 * When the input of a tick is missing, the last one is held and the tick is flagged: a player that walks continues to
 * walk. An input that arrives after its tick is late: it has no effect and is counted. The same holds for a duplicate,
 * and for an input further ahead than the window. Whatever a client sends, at most one input per tick takes effect.
 *
 * Texts, bytes and lists of waiting inputs are in a heap of this player alone, with room for all that can wait: the
 * values of one player take no room from others. Only the values of the input in use go to the shared heap.
 *
 * The buffer measures how early inputs arrive, in ticks. The client's clock follows this number.
 */

import { INPUT_AHEAD_MAX, INPUT_VALUE_BYTES_PER_PEER, INPUT_VALUES_PER_FIELD } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import type { FrameSink, FrameVerdict } from '../packet/frame-source.ts'
import { readDelta } from '../schema/row-delta.ts'
import type { Schema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { ValueKeeping } from '../world/value-keeping.ts'
import { AGE_BITS, AGE_MAX, AGE_STEPS, InputRing } from './input-ring.ts'
import { AGE_SMALL_BITS, AGE_SMALL_MAX, INPUT_COUNT_BITS } from './input-source.ts'
import type { TickPosition } from './timing-frame.ts'

const MARGIN_MIN = 0
const MARGIN_SUM = 1

export class InputBuffer implements FrameSink {
  /** The heap with the values of `current`. */
  readonly heap: ValueHeap
  /** The row of the input of the current tick. */
  readonly current: Int32Array
  /** Whether the input of the current tick was missing and the last one is held. */
  isHeld = false
  /** Ticks in which the last input was held. */
  starvedTicks = 0
  /** Inputs received, including repetitions. */
  receivedInputs = 0
  /** Of those: inputs that arrived after their tick, duplicates, and inputs further ahead than the window. */
  lateInputs = 0
  duplicateInputs = 0
  earlyInputs = 0
  /** The number of inputs in `marginTicksMin` and `marginTicksMean`. */
  marginCount = 0
  readonly #schema: Schema
  readonly #ring: InputRing
  /** The values of waiting inputs. */
  readonly #values: ValueHeap
  readonly #keeping: ValueKeeping
  /** Handles of the input that is being taken. Indexed by heap leaf. */
  readonly #taking: Int32Array
  readonly #position: TickPosition
  /** Two rows used alternately: each delta is read against the row before it. */
  readonly #scratch: Int32Array
  readonly #margins = new Float64Array(2)
  #newest: Tick = -1
  #taken: Tick = -1
  #age = 0

  /** `heap` stores texts and lists of the input in use; `position` is the authority's current tick. */
  constructor(schema: Schema, heap: ValueHeap, position: TickPosition) {
    this.heap = heap
    this.#schema = schema
    this.#position = position
    this.#ring = new InputRing(schema.laneCount)
    this.#values = new ValueHeap(
      Math.max(1, schema.heapLeaves.length) * INPUT_VALUES_PER_FIELD,
      INPUT_VALUE_BYTES_PER_PEER,
    )
    this.#keeping = new ValueKeeping(this.#values)
    this.#keeping.add({ markValues: (values) => this.#markWaiting(values) })
    this.#taking = new Int32Array(schema.heapLeaves.length)
    this.#scratch = new Int32Array(2 * schema.laneCount)
    this.current = schema.initialRow.slice()
  }

  /** The number of ticks from the current one to the newest input. */
  get waiting(): number {
    return Math.max(0, this.#newest - this.#position.tick)
  }

  /** How early the tightest input arrived since `forgetMargins`, in ticks; negative: too late. */
  get marginTicksMin(): number {
    return this.#margins[MARGIN_MIN]
  }

  get marginTicksMean(): number {
    return this.marginCount === 0 ? 0 : this.#margins[MARGIN_SUM] / this.marginCount
  }

  /** The tick, with its fraction, that the player saw when making the input of the current tick. */
  get viewTick(): number {
    return Math.max(0, this.#taken - this.#age / AGE_STEPS)
  }

  forgetMargins(): void {
    this.marginCount = 0
  }

  /** Moves on to the input of a tick, or holds the last one. @hot */
  take(tick: Tick): void {
    this.#taken = tick
    this.isHeld = !this.#ring.has(tick)
    if (this.isHeld) {
      if (this.#newest >= 0) this.starvedTicks++
      return
    }
    const at = this.#ring.at(tick)
    this.#takeValues(at)
    for (let lane = 0; lane < this.current.length; lane++) this.current[lane] = this.#ring.rows[at + lane]
    const { heapLeaves } = this.#schema
    for (let each = 0; each < heapLeaves.length; each++) this.current[heapLeaves[each].lane] = this.#taking[each]
    this.#age = this.#ring.ageOf(tick)
  }

  /** @hot */
  accept(now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    const schema = this.#schema
    const { laneCount, initialRow } = schema
    // Before each frame, so that it finds room whatever arrived before it, however long the tick is.
    this.#keeping.collectIfDue()
    const newest = readVarint(frame)
    const count = frame.readBits(INPUT_COUNT_BITS) + 1
    if (newest < count - 1) frame.fail()
    let age = 0
    for (let index = 0; index < count && !frame.failed; index++) {
      const at = (index & 1) * laneCount
      const base = index === 0 ? initialRow : this.#scratch
      readDelta(frame, schema, schema.masks[0], this.#scratch, at, base, index === 0 ? 0 : laneCount - at, this.#values)
      age = index === 0 ? frame.readBits(AGE_BITS) : readAge(frame, age)
      if (!frame.failed) this.#keep(now, newest - count + 1 + index, at, age)
    }
    return frame.finish() ? 'ok' : 'broken'
  }

  /** Marks the values of the current input, so that the coming sweep of the shared heap keeps them. */
  markValues(heap: ValueHeap): void {
    heap.markRow(this.#schema, this.current, 0)
  }

  #markWaiting(values: ValueHeap): void {
    const { rows, laneCount } = this.#ring
    for (let at = 0; at < rows.length; at += laneCount) values.markRow(this.#schema, rows, at)
  }

  /** Copies the values of the row at `at` into the shared heap. If there is no room, the previous value is held. */
  #takeValues(at: number): void {
    const { heapLeaves } = this.#schema
    for (let each = 0; each < heapLeaves.length; each++) {
      const leaf = heapLeaves[each]
      const handle = this.heap.adopt(leaf, this.#values, this.#ring.rows[at + leaf.lane])
      this.#taking[each] = handle < 0 ? this.current[leaf.lane] : handle
    }
  }

  #keep(now: Millis, tick: Tick, at: number, age: number): void {
    this.receivedInputs++
    if (tick > this.#position.tick + INPUT_AHEAD_MAX) {
      this.earlyInputs++
      return
    }
    if (this.#ring.has(tick)) {
      this.duplicateInputs++
      return
    }
    // An input older than the newest by a window has left the ring. It may be a duplicate, and counts as one.
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
  const more = isWhole
    ? frame.readBits(AGE_BITS) - before
    : (frame.readBits(AGE_SMALL_BITS) << (32 - AGE_SMALL_BITS)) >> (32 - AGE_SMALL_BITS)
  const age = before + more
  const isSmall = more !== 0 && more >= -AGE_SMALL_MAX && more <= AGE_SMALL_MAX
  if (isSmall === isWhole || more === 0 || age < 0 || age > AGE_MAX) frame.fail()
  return age
}
