/**
 * A client's inputs on their way out, each stamped with the tick of the authority that it is for: every packet carries all
 * that the authority is not known to have.
 *
 *   +----------------------+--------------+---------------------------------------------------------------+
 *   | newest tick, varint  | count - 1, 5 | count inputs, oldest first: a delta, then the age of the view |
 *   +----------------------+--------------+---------------------------------------------------------------+
 *
 *   delta   the first against the initial row, each other against the one before
 *   age     first: 16. Others: 0 the same | 10 and 9, so much more, two's complement | 11 and 16
 *
 * A lost packet costs no input: the next one has it again. An input held for long costs its mask, a bit a field, and one for
 * its age. Inputs for ticks that the authority is known to have left behind are of no use to anybody and do not ride.
 */

import { INPUT_WINDOW, INPUTS_PER_FRAME_MAX, SENT_PACKETS_MAX } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import type { Schema } from '../schema/schema.ts'
import { writeDelta } from '../schema/row-delta.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { AGE_BITS, AGE_MAX, AGE_STEPS, InputRing } from './input-ring.ts'

/** Sent this often even when acknowledged, so that one lost packet never makes the authority wait. */
export const INPUT_REDUNDANCY = 3
export const INPUT_COUNT_BITS = 5
export const AGE_SMALL_BITS = 9
export const AGE_SMALL_MAX: number = (1 << (AGE_SMALL_BITS - 1)) - 1

export class InputSource implements FrameSource {
  readonly heap: ValueHeap
  readonly ring: InputRing
  /** The tick of the newest input; -1 before the first. */
  newest: Tick = -1
  readonly #schema: Schema
  readonly #redundancy: number
  /** The newest input in each packet under way, by sequence. */
  readonly #newestIn = new Float64Array(SENT_PACKETS_MAX).fill(-1)
  /** Ticks up to these need not ride: acknowledged; left behind; not of this run. */
  #acked: Tick = -1
  #passed: Tick = -1
  #first: Tick = 0
  #newestSent: Tick = -1
  #filledSequence = -1

  constructor(schema: Schema, redundancy: number = INPUT_REDUNDANCY, heap: ValueHeap = new ValueHeap()) {
    this.heap = heap
    this.#schema = schema
    this.#redundancy = redundancy
    this.ring = new InputRing(schema.laneCount)
  }

  /** How many inputs are not known to be of no use any more. */
  get pendingCount(): number {
    return this.newest < 0 ? 0 : Math.max(0, this.newest - Math.max(this.#passed, this.#first - 1))
  }

  /**
   * Takes the row that was written to `ring.rows` at `ring.at(tick)`, and the tick, with its fraction, that the player
   * looked at. A tick that does not follow the newest begins a new run: what was before is not sent any more.
   */
  push(tick: Tick, viewTick: number = tick): void {
    if (tick !== this.newest + 1 || this.newest < 0) this.restart(tick)
    this.newest = tick
    this.ring.keep(tick, Math.max(0, Math.min(Math.round((tick - viewTick) * AGE_STEPS), AGE_MAX)))
  }

  /** The next input is for another tick than follows: the clock was set. */
  restart(tick: Tick): void {
    this.newest = tick - 1
    this.#first = tick
    this.#acked = Math.min(this.#acked, tick - 1)
    this.#newestSent = Math.min(this.#newestSent, tick - 1)
  }

  /** The authority is past this tick: inputs up to it do not ride any more. */
  prune(tick: Tick): void {
    if (tick > this.#passed) this.#passed = tick
  }

  /** Keeps the values of all inputs here in the coming sweep of the heap. */
  markValues(heap: ValueHeap): void {
    const { rows, laneCount } = this.ring
    for (let at = 0; at < rows.length; at += laneCount) heap.markRow(this.#schema, rows, at)
  }

  /** Only a tick makes it want a packet, and whoever runs ticks wakes the connections. */
  attach(): void {}

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.newest > this.#newestSent ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    const { newest } = this
    if (newest < 0 || sequence === this.#filledSequence) return false
    const wanted = Math.max(newest - this.#acked, this.#redundancy)
    const useful = newest - Math.max(this.#passed, this.#first - 1)
    let count = Math.min(INPUTS_PER_FRAME_MAX, INPUT_WINDOW, wanted, useful)
    while (count > 0 && !this.#write(out, count)) {
      out.rewind(0)
      count >>= 1
    }
    this.#newestSent = newest
    if (count <= 0) return false
    this.#filledSequence = sequence
    this.#newestIn[sequence % SENT_PACKETS_MAX] = newest
    return true
  }

  onDelivered(_now: Millis, sequence: number): void {
    const newest = this.#newestIn[sequence % SENT_PACKETS_MAX]
    if (newest <= this.newest) this.#acked = Math.max(this.#acked, newest)
  }

  onLost(): void {}

  #write(out: BitWriter, count: number): boolean {
    const { ring, newest } = this
    const schema = this.#schema
    const oldest = newest - count + 1
    writeVarint(out, newest)
    out.writeBits(count - 1, INPUT_COUNT_BITS)
    for (let tick = oldest; tick <= newest; tick++) {
      const isFirst = tick === oldest
      const base = isFirst ? schema.initialRow : ring.rows
      writeDelta(out, schema, schema.masks[0], ring.rows, ring.at(tick), base, isFirst ? 0 : ring.at(tick - 1), this.heap)
      if (isFirst) out.writeBits(ring.ageOf(tick), AGE_BITS)
      else writeAge(out, ring.ageOf(tick), ring.ageOf(tick - 1))
    }
    return !out.failed
  }
}

function writeAge(out: BitWriter, age: number, before: number): void {
  const more = age - before
  if (more === 0) {
    out.writeBits(0, 1)
  } else if (more >= -AGE_SMALL_MAX && more <= AGE_SMALL_MAX) {
    out.writeBits(0b10, 2)
    out.writeBits(more & ((1 << AGE_SMALL_BITS) - 1), AGE_SMALL_BITS)
  } else {
    out.writeBits(0b11, 2)
    out.writeBits(age, AGE_BITS)
  }
}
