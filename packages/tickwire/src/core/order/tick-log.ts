/**
 * All ticks of a match as one run of bytes, and where each of them ends.
 *
 * A relay appends ticks that it closed and sends them from here. A client appends bytes that it received and steps the
 * ticks from here. Both have the same bytes, so this is also the recording of the match.
 *
 *   bytes    tick 1 | tick 2 | tick 3 | … | a part of the next tick (client only)
 *   ends     0      | end of tick 1 | end of tick 2 | …
 *
 * A client that went on from an image has a gap: the ticks between those that it had and the image. They are added
 * later (`skip`, `fill`); until then the log is not a recording.
 */

import { TICK_LOG_BYTES_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import { TickBodyReader } from './tick-body.ts'

const FIRST_BYTES = 1024
const FIRST_TICKS = 64

/** Ticks in the middle of a log that are not there yet. */
interface Gap {
  /** Where it began. The first tick that is missing now, and the last. */
  readonly firstTick: Tick
  tick: Tick
  readonly lastTick: Tick
  /** Bytes up to here are there, and up to there they are missing. */
  filled: number
  readonly end: number
}

/** The ticks of a match, from tick 1 on. */
export class TickLog {
  /** The bytes of all ticks. Only the first `length` are valid. */
  bytes: Uint8Array = new Uint8Array(FIRST_BYTES)
  /** How many bytes there are. Bytes after the end of tick `newest` belong to a tick that is not complete. */
  length = 0
  /** The newest complete tick; 0: none. */
  newest: Tick = 0
  /** Indexed by tick: where it ends. */
  #ends = new Uint32Array(FIRST_TICKS)
  #gap: Gap | undefined
  readonly #reader = new TickBodyReader()

  /** Whether no tick is missing. A client that went on from an image gets the ticks before it later. */
  get isWhole(): boolean {
    return this.#gap === undefined
  }

  /** Where the missing bytes begin; -1: none are missing. */
  get missingFrom(): number {
    return this.#gap?.filled ?? -1
  }

  /** The last tick that is missing; 0: none is. */
  get lastMissing(): Tick {
    return this.#gap?.lastTick ?? 0
  }

  /** Whether a tick is there. */
  has(tick: Tick): boolean {
    const gap = this.#gap
    return tick > 0 && tick <= this.newest && (gap === undefined || tick < gap.tick || tick > gap.lastTick)
  }

  /** Where a tick begins. */
  startOf(tick: Tick): number {
    return this.#ends[tick - 1]
  }

  /** Where a tick ends; tick 0 ends at 0. */
  endOf(tick: Tick): number {
    return this.#ends[tick]
  }

  /** The newest tick that ends at or before a position. @hot */
  tickAt(position: number): Tick {
    let low = 0
    let high = this.newest
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#ends[middle] <= position) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Adds one complete tick. False when the log is full. */
  append(body: Uint8Array, count: number): boolean {
    if (!this.#push(body, 0, count)) return false
    this.#end(this.length)
    return true
  }

  /**
   * Adds received bytes at the end, and finds the ticks that they complete. `last`: the newest tick that ends within
   * them or before. Afterwards `newest` is `last`, or the bytes are invalid and nothing was added.
   */
  receive(bytes: Uint8Array, from: number, count: number, last: Tick): 'ok' | 'corrupted' | 'full' {
    const [length, newest] = [this.length, this.newest]
    if (!this.#push(bytes, from, count)) return 'full'
    let at = this.endOf(newest)
    while (this.newest < last) {
      const end = this.#reader.scan(this.bytes, at, this.length, this.newest === last - 1)
      if (end <= 0) break
      this.#end(end)
      at = end
    }
    if (this.newest === last && (at === this.length || this.#reader.scan(this.bytes, at, this.length, false) === 0))
      return 'ok'
    this.length = length
    this.newest = newest
    return 'corrupted'
  }

  /**
   * Goes on after a tick that ends at a position. The ticks up to it are missing until `fill` has added them. False:
   * that is not possible, and nothing has changed.
   */
  skip(tick: Tick, position: number): boolean {
    this.dropPart()
    if (tick <= this.newest) return true
    const gap = this.#gap
    const [firstTick, from] = [gap?.firstTick ?? this.newest + 1, this.length]
    // A tick has at least one byte.
    if (position - from < tick - this.newest || position > TICK_LOG_BYTES_MAX) return false
    this.#reserve(position)
    while (this.newest < tick) this.#end(from)
    this.#ends[tick] = position
    this.length = position
    this.#gap = {
      firstTick, tick: gap?.tick ?? firstTick, lastTick: tick, filled: gap?.filled ?? from, end: position,
    }
    return true
  }

  /**
   * Adds missing bytes; there may be more than are missing. False: they do not belong there, or the ticks are invalid;
   * then all of them are missing.
   */
  fill(position: number, bytes: Uint8Array): boolean {
    const gap = this.#gap
    if (gap === undefined || position !== gap.filled) return false
    const count = Math.min(bytes.length, gap.end - position)
    this.bytes.set(bytes.subarray(0, count), position)
    gap.filled += count
    const isAll = gap.filled === gap.end
    let at = this.endOf(gap.tick - 1)
    let end = at
    while (gap.tick <= gap.lastTick && end >= 0) {
      end = this.#reader.scan(this.bytes, at, gap.filled, isAll && gap.tick === gap.lastTick)
      if (end <= 0) break
      at = end
      this.#ends[gap.tick++] = end
    }
    if (isAll && gap.tick > gap.lastTick && at === gap.end) this.#gap = undefined
    else if (isAll || end < 0 || gap.tick > gap.lastTick) return this.#refill(gap)
    return true
  }

  /** Forgets what was added to a gap. */
  #refill(gap: Gap): false {
    const from = this.endOf(gap.firstTick - 1)
    for (let tick = gap.firstTick; tick < gap.lastTick; tick++) this.#ends[tick] = from
    this.#ends[gap.lastTick] = gap.end
    gap.tick = gap.firstTick
    gap.filled = from
    return false
  }

  /** Forgets all bytes after the newest complete tick. */
  dropPart(): void {
    this.length = this.endOf(this.newest)
  }

  /** Forgets the ticks after one. Where it ends is not known while it is missing: then the log ends before the gap. */
  retreat(tick: Tick): void {
    const gap = this.#gap
    const isInGap = gap !== undefined && tick < gap.lastTick
    const last = isInGap ? Math.min(tick, gap.tick - 1) : tick
    if (isInGap) this.#gap = undefined
    if (last < this.newest) this.newest = last
    this.dropPart()
  }

  #push(bytes: Uint8Array, from: number, count: number): boolean {
    if (this.length + count > TICK_LOG_BYTES_MAX) return false
    this.#reserve(this.length + count)
    for (let at = 0; at < count; at++) this.bytes[this.length + at] = bytes[from + at]
    this.length += count
    return true
  }

  #reserve(count: number): void {
    if (count <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(2 * this.bytes.length, count))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }

  #end(at: number): void {
    this.newest++
    if (this.newest >= this.#ends.length) {
      const grown = new Uint32Array(2 * this.#ends.length)
      grown.set(this.#ends)
      this.#ends = grown
    }
    this.#ends[this.newest] = at
  }
}
