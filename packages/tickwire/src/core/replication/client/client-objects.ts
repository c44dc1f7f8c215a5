/**
 * What one client is known to hold: a few numbers for every object, indexed by object index.
 *
 *   none ──enter──▶ known ──leave──▶ leaving ──gone acked──▶ none
 *                     ▲                 │
 *                     └─────enter───────┘
 *
 *   base      the baseline: a tick whose row the client is known to hold. NO_BASE before the first. It is the newest
 *             such tick, except after a loss, while an older one has a pair and the newest has none
 *   sent      the newest tick that the client holds or that is in flight. NONE when the object must be sent again
 *   epoch     packets of earlier ticks say nothing: they were of another object, field set or stay
 *   urgency   what was added since the object was last sent (due-list.ts)
 *   paired    whether the row one stride before the baseline is known to be held too
 *
 * The same by blocks of 32 objects, one bit each, so that a tick looks at most objects 32 at a time:
 *
 *   knowns, leavings   objects in these states
 *   restless           objects that are looked at in the next tick even if they do not change
 *   pendings           objects that are still to be sent in this tick
 *
 * Invariants: base <= sent where both are ticks; an acknowledgement of a tick before the epoch promotes nothing.
 *
 * All numbers of an object are in two places of memory. With a hundred clients the numbers of one client are never in
 * the nearest cache when they are needed, and each further place would be one more cache miss.
 */

import type { ObjectId, Tick } from '../../base/time.ts'
import { widen } from '../../base/widen.ts'
import { BLOCK_SHIFT } from '../changes/blocks.ts'
import { NO_BASE } from '../encode/delta-cache.ts'
import { REASON } from '../probe.ts'

/** States of an object, as in the picture above. */
export const STATE_NONE = 0
export const STATE_KNOWN = 1
export const STATE_LEAVING = 2
/** In place of a tick: nothing was sent, or all of it was lost. */
export const NONE = -1

/** The numbers of an object begin at index << 2: first the base. */
const SENT = 1
const EPOCH = 2
const URGENCY = 3
/** The layout of an object's word: type 8 bits, reason 3, field set 2, state 2, four flags, ahead 3. */
const TYPE_MASK = 0xff
const REASON_SHIFT = 8
const REASON_MASK = 7 << REASON_SHIFT
const SET_SHIFT = 11
const SET_MASK = 3 << SET_SHIFT
const STATE_SHIFT = 13
const STATE_MASK = 3 << STATE_SHIFT
const PAIRED = 1 << 15
/** The object left the world, not only the client's view. */
const DESPAWNED = 1 << 16
/** A row was sent, in this stay or an earlier one. The client may hold it and must be sent that the object is gone. */
const MAY_HOLD = 1 << 17
/**
 * Newer rows than the baseline were sent, over another baseline. Such a row makes the client drop the baseline with the
 * window; a delta over the baseline makes the client keep it.
 */
const OVERTAKEN = 1 << 18
/**
 * After a loss: the client also holds the row this many strides after the baseline, but not the row before that one.
 * The acknowledgement of a row beside it makes a pair, and the baseline moves there. 0: there is no such row.
 */
const AHEAD_SHIFT = 19
const AHEAD_BITS = 7
const AHEAD_MASK = AHEAD_BITS << AHEAD_SHIFT
/** A pair that is older than this is given up for a newer row alone. */
const AHEAD_MAX = 4

export class ClientObjects {
  /** Indexed by object index. */
  ids: Uint32Array = new Uint32Array(0)
  /** Indexed by block. */
  knowns: Int32Array = new Int32Array(0)
  leavings: Int32Array = new Int32Array(0)
  restless: Int32Array = new Int32Array(0)
  pendings: Int32Array = new Int32Array(0)
  #numbers = new Float64Array(0)
  #words = new Int32Array(0)
  readonly #strideTicks: number
  readonly #usesPairs: boolean

  /** `strideTicks`: ticks from one snapshot to the next. `usesPairs`: the coders use the row before a baseline. */
  constructor(strideTicks: number, usesPairs: boolean) {
    this.#strideTicks = strideTicks
    this.#usesPairs = usesPairs
  }

  /** @hot */
  baseOf(index: number): Tick {
    return this.#numbers[index << 2]
  }

  /** @hot */
  sentOf(index: number): Tick {
    return this.#numbers[index << 2 | SENT]
  }

  /** @hot */
  urgencyOf(index: number): number {
    return this.#numbers[index << 2 | URGENCY]
  }

  /** @hot */
  stateOf(index: number): number {
    return this.#words[index] >>> STATE_SHIFT & 3
  }

  /** @hot */
  setOf(index: number): number {
    return this.#words[index] >>> SET_SHIFT & 3
  }

  /** @hot */
  typeOf(index: number): number {
    return this.#words[index] & TYPE_MASK
  }

  /** Why the next row of an object is sent (probe.ts). @hot */
  reasonOf(index: number): number {
    return this.#words[index] >>> REASON_SHIFT & 7
  }

  /** @hot */
  isPaired(index: number): boolean {
    return (this.#words[index] & PAIRED) !== 0
  }

  /** Whether the client may have dropped the baseline. `oldest`: the client drops older rows. @hot */
  mayHaveDropped(index: number, oldest: Tick): boolean {
    const base = this.#numbers[index << 2]
    return base !== NO_BASE && base < oldest && (this.#words[index] & OVERTAKEN) !== 0
  }

  /** For an object that is leaving: whether it left the world. @hot */
  isDespawned(index: number): boolean {
    return (this.#words[index] & DESPAWNED) !== 0
  }

  /** @hot */
  isKnown(index: number, id: ObjectId): boolean {
    return index < this.ids.length && this.ids[index] === id && this.stateOf(index) === STATE_KNOWN
  }

  /** @hot */
  setUrgency(index: number, urgency: number): void {
    this.#numbers[index << 2 | URGENCY] = urgency
  }

  /** The client may know an object from now on, in a field set. */
  enter(index: number, id: ObjectId, type: number, set: number, tick: Tick): void {
    const mayHold = this.stateOf(index) !== STATE_NONE
    this.ids[index] = id
    this.#words[index] = type | STATE_KNOWN << STATE_SHIFT
    this.#numbers[index << 2 | URGENCY] = 0
    this.restart(index, set, tick)
    this.#setReason(index, REASON.entered)
    if (!mayHold) this.#words[index] &= ~MAY_HOLD
    this.#mask(index)
  }

  /** No row that the client holds of an object can be a baseline any more: the next row is a full one. */
  restart(index: number, set: number, tick: Tick): void {
    this.#words[index] &= ~(SET_MASK | PAIRED | OVERTAKEN | AHEAD_MASK)
    this.#words[index] |= set << SET_SHIFT | MAY_HOLD
    this.#setReason(index, REASON.full)
    this.#numbers[index << 2] = NO_BASE
    this.#numbers[index << 2 | SENT] = NONE
    this.#numbers[index << 2 | EPOCH] = tick
    this.restless[index >>> BLOCK_SHIFT] |= 1 << index
  }

  /** The client must forget an object. A client that was never sent a row of it has nothing to forget. */
  leave(index: number, isDespawned: boolean, tick: Tick): void {
    if (this.stateOf(index) !== STATE_KNOWN) return
    if ((this.#words[index] & MAY_HOLD) === 0) {
      this.#setState(index, STATE_NONE)
    } else {
      this.#setState(index, STATE_LEAVING)
      if (isDespawned) this.#words[index] |= DESPAWNED
      else this.#words[index] &= ~DESPAWNED
      this.#numbers[index << 2 | SENT] = NONE
      this.#numbers[index << 2 | EPOCH] = tick
      this.restless[index >>> BLOCK_SHIFT] |= 1 << index
    }
    this.#mask(index)
  }

  /**
   * An entry of an object is in a packet of this tick. `isRow`: it is a row; otherwise the message that it is gone.
   * @hot
   */
  send(index: number, tick: Tick, isRow: boolean): void {
    this.pendings[index >>> BLOCK_SHIFT] &= ~(1 << index)
    this.#numbers[index << 2 | SENT] = tick
    this.#numbers[index << 2 | URGENCY] = 0
    if (!isRow) return
    this.#words[index] = this.#words[index] & ~OVERTAKEN | MAY_HOLD
    if (this.#numbers[index << 2] !== NO_BASE) this.#setReason(index, REASON.changed)
  }

  /**
   * A row of this tick was acknowledged. `isPaired`: with it the client also holds the row of one stride before.
   * `oldest`: the client drops older rows, except the newest one that it was sent. @hot
   */
  promote(index: number, tick: Tick, isPaired: boolean, oldest: Tick): void {
    const at = index << 2
    const base = this.#numbers[at]
    if (this.stateOf(index) !== STATE_KNOWN || tick < this.#numbers[at | EPOCH] || tick <= base) return
    if (tick < oldest && this.#numbers[at | SENT] !== tick) return
    const strides = base === NO_BASE ? Infinity : (tick - base) / this.#strideTicks
    const ahead = this.#words[index] >>> AHEAD_SHIFT & AHEAD_BITS
    if (strides + 1 === ahead) this.rebase(index, tick + this.#strideTicks, true)
    else if (isPaired || strides === 1 || (ahead !== 0 && strides - 1 === ahead)) this.rebase(index, tick, true)
    else if (!this.#keepsPair(index, tick, strides)) this.rebase(index, tick, false)
    else if (strides > ahead) this.#words[index] = this.#words[index] & ~AHEAD_MASK | strides << AHEAD_SHIFT
  }

  /** Whether a baseline with its pair is better than the row of this tick alone: newer rows are on their way. @hot */
  #keepsPair(index: number, tick: Tick, strides: number): boolean {
    return this.isPaired(index) && strides <= AHEAD_MAX && Number.isInteger(strides) && this.sentOf(index) > tick
  }

  /** The client is known to hold the row of a tick, whatever it held before. @hot */
  rebase(index: number, tick: Tick, isPaired: boolean): void {
    const at = index << 2
    if (this.#numbers[at] === NO_BASE) this.#setReason(index, REASON.changed)
    this.#words[index] = this.#words[index] & ~(PAIRED | AHEAD_MASK) | (isPaired && this.#usesPairs ? PAIRED : 0)
    this.#numbers[at] = tick
    if (this.#numbers[at | SENT] > tick) this.#words[index] |= OVERTAKEN
    else this.#words[index] &= ~OVERTAKEN
    if (this.#numbers[at | SENT] < tick) this.#numbers[at | SENT] = tick
  }

  /** The client acknowledged that an object is gone. @hot */
  forget(index: number, tick: Tick): void {
    if (this.stateOf(index) !== STATE_LEAVING || tick < this.#numbers[index << 2 | EPOCH]) return
    this.#setState(index, STATE_NONE)
    this.#mask(index)
  }

  /** A packet of this tick was lost, with its entry of an object. @hot */
  lose(index: number, tick: Tick): void {
    const at = index << 2
    const state = this.stateOf(index)
    if (state === STATE_NONE || tick < this.#numbers[at | EPOCH] || this.#numbers[at | SENT] !== tick) return
    this.#numbers[at | SENT] = state === STATE_LEAVING ? NONE : this.#numbers[at]
    if (this.#numbers[at] !== NO_BASE) this.#setReason(index, REASON.lost)
    this.restless[index >>> BLOCK_SHIFT] |= 1 << index
  }

  /** The client may hold a row of an object that the bulk path sent. */
  mayHold(index: number): void {
    this.#words[index] |= MAY_HOLD
  }

  /** The client is known to hold the row of a tick. The bulk path may have sent newer rows over another baseline. */
  rebaseFromBulk(index: number, tick: Tick): void {
    this.rebase(index, tick, false)
    this.#words[index] |= OVERTAKEN
  }

  /** The client may hold an object that was despawned, and must be sent that it is gone. */
  bury(index: number, tick: Tick): void {
    this.#setState(index, STATE_KNOWN)
    this.#words[index] |= MAY_HOLD
    this.leave(index, true, tick)
  }

  /** Forgets everything about the objects of a block: the bulk path keeps track of it (bulk-path.ts). */
  dropBlock(block: number): void {
    const first = block << BLOCK_SHIFT
    this.#words.fill(0, first, first + 32)
    this.knowns[block] = 0
    this.leavings[block] = 0
    this.restless[block] = 0
    this.pendings[block] = 0
  }

  /** Makes room for `need` indexes, a multiple of 32. */
  reserve(need: number): void {
    if (need <= this.ids.length) return
    this.ids = widen(this.ids, new Uint32Array(need))
    this.#numbers = widen(this.#numbers, new Float64Array(need << 2))
    this.#words = widen(this.#words, new Int32Array(need))
    const blocks = need >>> BLOCK_SHIFT
    this.knowns = widen(this.knowns, new Int32Array(blocks))
    this.leavings = widen(this.leavings, new Int32Array(blocks))
    this.restless = widen(this.restless, new Int32Array(blocks))
    this.pendings = widen(this.pendings, new Int32Array(blocks))
  }

  #setState(index: number, state: number): void {
    this.#words[index] = this.#words[index] & ~STATE_MASK | state << STATE_SHIFT
  }

  #setReason(index: number, reason: number): void {
    this.#words[index] = this.#words[index] & ~REASON_MASK | reason << REASON_SHIFT
  }

  /** Brings the masks of an object's block in line with its state. */
  #mask(index: number): void {
    const block = index >>> BLOCK_SHIFT
    const bit = 1 << index
    const state = this.stateOf(index)
    if (state === STATE_KNOWN) this.knowns[block] |= bit
    else this.knowns[block] &= ~bit
    if (state === STATE_LEAVING) this.leavings[block] |= bit
    else this.leavings[block] &= ~bit
    if (state === STATE_NONE) this.restless[block] &= ~bit
  }
}
