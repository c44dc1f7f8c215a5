/**
 * Which packets are waited for together: those of one span of ticks, the same span for every receiver.
 *
 *   ticks     0 1 2 3 | 4 5 6 7 | 8 9 ..        a span of four
 *   packets   a b c d | e f g h | i j           each is settled when all of it arrived or was given up
 *
 * Baselines move when a span is settled, to what was told last in it. So receivers on lines of their own have few baselines between
 * them, and what is encoded for one is good for many; the price is that baselines are a little older.
 *
 * A span that carried nothing is none. Its number is that of its first packet's slot: nothing else is at one time in that place.
 */

import { SENT_PACKETS_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import { type FrameChains, NO_CHAIN, OWN_CHAIN } from './frame-chains.ts'

/** No span. */
export const NO_SPAN = -1

// Constants of this module, for speed: see schema/leaf-table.ts.
const NOTHING = NO_SPAN
const MASK = SENT_PACKETS_MAX - 1
const OPEN = -1

export class PacketSpans {
  /** By span: its first and last packet, its last tick that was told, or -1 while that may be another. */
  readonly firsts: Float64Array = new Float64Array(SENT_PACKETS_MAX)
  readonly lasts: Float64Array = new Float64Array(SENT_PACKETS_MAX)
  readonly ends: Float64Array = new Float64Array(SENT_PACKETS_MAX)
  /** By span: the chain of its frames (frame-chains.ts), if all of them arrived as far as is known. */
  readonly chains: Int32Array = new Int32Array(SENT_PACKETS_MAX)
  /** Whether any that is complete waits to be settled. */
  isDue = false
  readonly #waitings = new Int32Array(SENT_PACKETS_MAX)
  /** By slot of a packet: its span. */
  readonly #spans = new Int16Array(SENT_PACKETS_MAX)
  /** Spans that are not settled, the oldest first. */
  readonly #queue = new Int16Array(SENT_PACKETS_MAX)
  #head = 0
  #count = 0
  /** The one that packets are added to. */
  #current = NOTHING

  /** How many are not settled. */
  get count(): number {
    return this.#count
  }

  /** The n-th oldest of those that are not settled. @hot */
  at(n: number): number {
    return this.#queue[(this.#head + n) & MASK]
  }

  /** A packet is on its way, with a frame that others have too, or 0. @hot */
  add(sequence: number, frame: number, chains: FrameChains): void {
    let span = this.#current
    if (span === NOTHING) {
      span = sequence & MASK
      this.#current = span
      this.firsts[span] = sequence
      this.ends[span] = OPEN
      this.chains[span] = NO_CHAIN
      this.#waitings[span] = 0
      this.#queue[(this.#head + this.#count++) & MASK] = span
    }
    this.lasts[span] = sequence
    this.chains[span] = chains.follow(this.chains[span], frame)
    this.#waitings[span]++
    this.#spans[sequence & MASK] = span
  }

  /** What became of a packet is known. @hot */
  resolve(sequence: number, isArrived: boolean): void {
    const span = this.#spans[sequence & MASK]
    if (!isArrived) this.chains[span] = OWN_CHAIN
    if (--this.#waitings[span] === 0 && this.ends[span] !== OPEN) this.isDue = true
  }

  /** What comes is of another span; the last tick that was told in this one. @hot */
  close(tick: Tick): void {
    const span = this.#current
    if (span === NOTHING) return
    this.#current = NOTHING
    this.ends[span] = tick
    if (this.#waitings[span] === 0) this.isDue = true
  }

  /** Whether all is known of a span. @hot */
  isComplete(span: number): boolean {
    return this.#waitings[span] === 0 && this.ends[span] !== OPEN
  }

  /** Lets go of the n-th oldest. @hot */
  remove(n: number): void {
    for (let at = n; at > 0; at--) this.#queue[(this.#head + at) & MASK] = this.#queue[(this.#head + at - 1) & MASK]
    this.#head = (this.#head + 1) & MASK
    this.#count--
  }

  /** Nobody else was sent what is on its way. */
  unshare(): void {
    this.chains.fill(OWN_CHAIN)
  }
}
