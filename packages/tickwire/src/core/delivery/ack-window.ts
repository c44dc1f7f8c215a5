/**
 * Which packets were received and could be used, in the form of the ack block, and when an ack must be sent.
 *
 * Sequences count from 1. Before the first packet the newest is 0 and everything before it counts as received, so the
 * block of a new connection is as short as that of an old one.
 *
 * Invariant: a packet is acknowledged only after all of its frames were accepted and no sink returned 'no-ack' (ACK4).
 *
 * This class does not detect duplicates (`crypto/replay-window.ts`) and does not send: the connection reads `dueAt`.
 */

import type { Millis } from '../base/time.ts'
import { ACK_DELAY_SATURATED, ACK_DELAY_UNIT_MS, type AckBlock } from '../packet/ack-block.ts'

/** The ack of a packet with frames is delayed by at most this. Loss detection allows for it. */
export const ACK_DELAY_MS_MAX = 100

/** After this many packets with frames an ack is sent at once: the peer's ring of sent packets must not run full. */
export const ACK_EVERY_PACKETS = 16

// Imported constants as module constants: a constant read through an import is loaded again at every use.
const EVERY_PACKETS = ACK_EVERY_PACKETS
const DELAY_MS_MAX = ACK_DELAY_MS_MAX

/** The receiving half of acknowledgements. */
export class AckWindow {
  #latest: number = 0
  #latestAt: Millis = 0
  #lo: number = 0xffff_ffff
  #hi: number = 0xffff_ffff
  #owed: number = 0
  /** In a typed array: a time in a field of an object would be a number on the heap. */
  readonly #due = new Float64Array([Infinity])

  /** The newest sequence that is acknowledged; 0 before the first. */
  get latest(): number {
    return this.#latest
  }

  /** When an ack must be sent even if nothing else is. Infinity: no ack is due. */
  get dueAt(): Millis {
    return this.#due[0]
  }

  /**
   * Records a usable packet. A packet with frames must be acknowledged. A packet without frames need not be, or two
   * idle peers would acknowledge each other without end. @hot
   */
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

  /** The next packet must be sent at once: the peer cannot know yet that its packets arrive. */
  hurry(now: Millis): void {
    this.#due[0] = now
  }

  /** Writes the ack block as of `now`. @hot */
  fill(now: Millis, block: AckBlock): void {
    block.latest = this.#latest & 0xffff
    block.lo = this.#lo
    block.hi = this.#hi
    const units = this.#latest === 0 ? 0 : Math.floor((now - this.#latestAt) / ACK_DELAY_UNIT_MS)
    block.delayUnits = units < 0 ? 0 : units > ACK_DELAY_SATURATED ? ACK_DELAY_SATURATED : units
  }

  /** A packet with our ack block was sent: no ack is due until the next packet arrives. */
  settle(): void {
    this.#owed = 0
    this.#due[0] = Infinity
  }

  #owe(now: Millis): void {
    this.#owed++
    const due = this.#due
    due[0] = Math.min(due[0], now + (this.#owed >= EVERY_PACKETS ? 0 : DELAY_MS_MAX))
  }

  /** Shifts the vector by `distance` and sets the bit of the previous latest packet. */
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
