/**
 * What we have received and can use, as the ack block tells it; and when the peer must be told.
 *
 * Sequences count from 1. Before the first packet the newest is 0 and everything before it counts as received, so
 * the block of a young connection is as short as that of an old one.
 *
 * Invariant: a packet is acknowledged only after all of its frames were accepted and none asked for no ack (ACK4).
 *
 * It does not detect duplicates (`crypto/replay-window.ts`) and never sends: the connection asks `dueAt`.
 */

import type { Millis } from '../base/time.ts'
import { ACK_DELAY_SATURATED, ACK_DELAY_UNIT_MS, type AckBlock } from '../packet/ack-block.ts'

/** A packet with frames waits this long at most for its ack, and so does a loss detector for the ack. */
export const ACK_DELAY_MS_MAX = 100

/** This many packets with frames are acknowledged at once: their ring of sent packets must not run full. */
export const ACK_EVERY_PACKETS = 16

// Imported constants as the module's own: read through an import they are loaded anew each time.
const DELAY_SATURATED = ACK_DELAY_SATURATED
const DELAY_UNIT_MS = ACK_DELAY_UNIT_MS
const EVERY_PACKETS = ACK_EVERY_PACKETS
const DELAY_MS_MAX = ACK_DELAY_MS_MAX

/** The receiving half of acknowledgements. */
export class AckWindow {
  #latest: number = 0
  #latestAt: Millis = 0
  #lo: number = 0xffff_ffff
  #hi: number = 0xffff_ffff
  #owed: number = 0
  /** In a cell: a time that goes through a field of an object is a number on the heap. */
  readonly #due = new Float64Array([Infinity])

  /** The newest sequence that is acknowledged; 0 before the first. */
  get latest(): number {
    return this.#latest
  }

  /** When an ack must be on its way even if nothing else is. Infinity: nothing is owed. */
  get dueAt(): Millis {
    return this.#due[0]
  }

  /** Takes note of a useful packet. One with frames is owed an ack; one without is not, or two idle peers would acknowledge for ever. @hot */
  mark(now: Millis, sequence: number, hasFrames: boolean): void {
    const distance = sequence - this.#latest
    if (distance > 0) {
      this.#shift(distance)
      this.#latest = sequence
      this.#latestAt = now
    } else if (distance >= -64) {
      const bit = -distance - 1
      if (bit < 0) return
      if (bit < 32) this.#lo = (this.#lo | (1 << bit)) >>> 0
      else this.#hi = (this.#hi | (1 << (bit - 32))) >>> 0
    }
    if (hasFrames) this.#owe(now)
  }

  /** The next packet must go out at once: the peer cannot know yet that we hear him. */
  hurry(now: Millis): void {
    this.#due[0] = now
  }

  /** Writes what the peer should know at `now`. @hot */
  fill(now: Millis, block: AckBlock): void {
    block.latest = this.#latest & 0xffff
    block.lo = this.#lo
    block.hi = this.#hi
    const units = this.#latest === 0 ? 0 : Math.floor((now - this.#latestAt) / DELAY_UNIT_MS)
    block.delayUnits = units < 0 ? 0 : units > DELAY_SATURATED ? DELAY_SATURATED : units
  }

  /** A packet with our block has gone out: nothing is owed until the next arrives. */
  settle(): void {
    this.#owed = 0
    this.#due[0] = Infinity
  }

  #owe(now: Millis): void {
    this.#owed++
    const due = this.#due
    due[0] = Math.min(due[0], now + (this.#owed >= EVERY_PACKETS ? 0 : DELAY_MS_MAX))
  }

  /** Moves the vector up by `distance` and sets the bit of what was the latest. */
  #shift(distance: number): void {
    if (distance > 64) {
      this.#lo = 0
      this.#hi = 0
      return
    }
    const lo = this.#lo
    if (distance >= 32) {
      this.#hi = distance === 64 ? 0 : (lo << (distance - 32)) >>> 0
      this.#lo = 0
    } else {
      this.#hi = ((this.#hi << distance) | (lo >>> (32 - distance))) >>> 0
      this.#lo = (lo << distance) >>> 0
    }
    const bit = distance - 1
    if (bit < 32) this.#lo = (this.#lo | (1 << bit)) >>> 0
    else this.#hi = (this.#hi | (1 << (bit - 32))) >>> 0
  }
}
