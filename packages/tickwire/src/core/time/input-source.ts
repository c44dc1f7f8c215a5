/**
 * Sends a client's inputs, each stamped with the tick of the authority that it is for. Every packet carries all inputs
 * that are not acknowledged.
 *
 *   +----------------------+--------------+---------------------------------------------------------------+
 *   | newest tick, varint  | count - 1, 5 | count inputs, oldest first: a delta, then the age of the view |
 *   +----------------------+--------------+---------------------------------------------------------------+
 *
 *   delta   the first against the initial row, each other against the one before
 *   age     first: 16 bits. Others: 0 unchanged | 10 and 9 bits, the difference, two's complement | 11 and 16 bits
 *
 * A lost packet loses no input: the next packet has it again. An unchanged input costs its mask, one bit per field, and
 * one bit for its age. Inputs for ticks that the authority has already passed are useless and are not sent.
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

/**
 * Every input is sent at least this often, even when acknowledged, so that a lost packet never starves the authority.
 */
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
  /** A frame carries at least this many inputs. */
  readonly redundancy: number
  /** The newest input in each packet in flight. Indexed by sequence modulo the array length. */
  readonly #newestIn = new Float64Array(SENT_PACKETS_MAX).fill(-1)
  /** Ticks up to these are not sent: acknowledged; passed by the authority; before the current run. */
  #acked: Tick = -1
  #passed: Tick = -1
  #first: Tick = 0
  #newestSent: Tick = -1
  #filledSequence = -1

  constructor(schema: Schema, redundancy: number = INPUT_REDUNDANCY, heap: ValueHeap = new ValueHeap()) {
    this.heap = heap
    this.#schema = schema
    this.redundancy = redundancy
    this.ring = new InputRing(schema.laneCount)
  }

  /** The number of inputs that the authority is not known to have passed. */
  get pendingCount(): number {
    return this.newest < 0 ? 0 : Math.max(0, this.newest - Math.max(this.#passed, this.#first - 1))
  }

  /** The newest tick that the authority is known to have passed; -1 before the first. */
  get passed(): Tick {
    return this.#passed
  }

  /**
   * Takes the row that was written to `ring.rows` at `ring.at(tick)`, and the tick, with its fraction, that the player
   * saw. A tick that does not follow the newest starts a new run: earlier inputs are not sent any more.
   */
  push(tick: Tick, viewTick: number = tick): void {
    if (tick !== this.newest + 1 || this.newest < 0) this.restart(tick)
    this.newest = tick
    this.ring.keep(tick, Math.max(0, Math.min(Math.round((tick - viewTick) * AGE_STEPS), AGE_MAX)))
  }

  /** The clock was set: the next input is for this tick instead of the one that follows. */
  restart(tick: Tick): void {
    this.newest = tick - 1
    this.#first = tick
    this.#acked = Math.min(this.#acked, tick - 1)
    this.#passed = Math.min(this.#passed, tick - 1)
    this.#newestSent = Math.min(this.#newestSent, tick - 1)
  }

  /** The authority has passed this tick: inputs up to it are not sent any more. */
  prune(tick: Tick): void {
    if (tick > this.#passed) this.#passed = tick
  }

  /** Marks the values of all inputs here, so that the coming sweep of the heap keeps them. */
  markValues(heap: ValueHeap): void {
    const { rows, laneCount } = this.ring
    for (let at = 0; at < rows.length; at += laneCount) heap.markRow(this.#schema, rows, at)
  }

  /** Only a new tick makes this source want a packet, and the code that runs ticks wakes the connections. */
  attach(): void {}

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.newest > this.#newestSent ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    const { newest } = this
    if (newest < 0 || sequence === this.#filledSequence) return false
    const wanted = Math.max(newest - this.#acked, this.redundancy)
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
      writeDelta(
        out,
        schema,
        schema.masks[0],
        ring.rows,
        ring.at(tick),
        base,
        isFirst ? 0 : ring.at(tick - 1),
        this.heap,
      )
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
