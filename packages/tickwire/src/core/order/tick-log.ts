/**
 * All ticks of a match as one run of bytes, and where each of them ends.
 *
 * A relay appends ticks that it closed and sends them from here. A client appends bytes that it received and steps the
 * ticks from here. Both have the same bytes, so this is also the recording of the match.
 *
 *   bytes    tick 1 | tick 2 | tick 3 | … | a part of the next tick (client only)
 *   ends     0      | end of tick 1 | end of tick 2 | …
 */

import { TICK_LOG_BYTES_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import { TickBodyReader } from './tick-body.ts'

const FIRST_BYTES = 1024
const FIRST_TICKS = 64

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
  readonly #reader = new TickBodyReader()

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

  /** Forgets all bytes after the newest complete tick. */
  dropPart(): void {
    this.length = this.endOf(this.newest)
  }

  #push(bytes: Uint8Array, from: number, count: number): boolean {
    if (this.length + count > TICK_LOG_BYTES_MAX) return false
    if (this.length + count > this.bytes.length) {
      const grown = new Uint8Array(Math.max(2 * this.bytes.length, this.length + count))
      grown.set(this.bytes.subarray(0, this.length))
      this.bytes = grown
    }
    for (let at = 0; at < count; at++) this.bytes[this.length + at] = bytes[from + at]
    this.length += count
    return true
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
