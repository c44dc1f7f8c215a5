/**
 * What one receiver was told: a row of numbers for every object, by index.
 *
 *   none ──enter──▶ known ──leave──▶ leaving ──gone acked──▶ none
 *                     ▲                 │
 *                     └─────enter───────┘
 *
 *   bases    newest tick whose row he is known to hold; NO_BASE before the first
 *   sents    newest tick that he holds or that is on its way; NONE when he must be told anew
 *   paireds  whether the row told before the baseline is known to be held too
 *   epochs   what was sent before this tick is of no use: another object, another field set, another stay
 *
 * Invariant: bases <= sents where they are ticks; only ticks from the epoch on are promoted.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import { NO_BASE } from './delta-cache.ts'
import { REASON } from './probe.ts'

export const STATE = { none: 0, known: 1, leaving: 2 } as const
/** In the place of a tick: nothing was sent, or all of it went under. */
export const NONE = -1
/** What else there is to know. */
export const FLAG = {
  /** The object is gone from the world, not only from view. */
  despawned: 1,
  /** Something was sent, of this stay or an earlier one: he may hold it, and must be told that it is gone. */
  mayHold: 2,
} as const

// Constants of this module, for speed: see schema/leaf-table.ts.
const { none: UNKNOWN, known: KNOWN, leaving: LEAVING } = STATE
const { despawned: DESPAWNED, mayHold: MAY_HOLD } = FLAG
const { changed: CHANGED, lost: LOST } = REASON
const FROM_INITIAL = NO_BASE

export class ToldObjects {
  ids: Uint32Array = new Uint32Array(0)
  types: Uint8Array = new Uint8Array(0)
  states: Uint8Array = new Uint8Array(0)
  sets: Uint8Array = new Uint8Array(0)
  flags: Uint8Array = new Uint8Array(0)
  reasons: Uint8Array = new Uint8Array(0)
  paireds: Uint8Array = new Uint8Array(0)
  /** How urgent it has become: what was added since it was last sent. */
  urgencies: Float32Array = new Float32Array(0)
  /** Ticks of rows that are held above the baseline, which is better for now, in 32 bits (ToldBlocks); 0 when there is none. */
  steps: Int32Array = new Int32Array(0)
  waits: Int32Array = new Int32Array(0)
  bases: Float64Array = new Float64Array(0)
  sents: Float64Array = new Float64Array(0)
  epochs: Float64Array = new Float64Array(0)
  readonly #strideTicks: number

  constructor(strideTicks: number) {
    this.#strideTicks = strideTicks
  }

  /** The receiver shall know an object from now on, in a field set. */
  enter(index: number, id: ObjectId, type: number, set: number, tick: Tick): void {
    const mayHold = this.states[index] !== UNKNOWN
    this.ids[index] = id
    this.types[index] = type
    this.states[index] = KNOWN
    this.urgencies[index] = 0
    this.restart(index, set, tick)
    this.flags[index] = mayHold ? MAY_HOLD : 0
    this.reasons[index] = REASON.entered
  }

  /** Nothing that he holds can be built on any more: a full row must come. */
  restart(index: number, set: number, tick: Tick): void {
    this.sets[index] = set
    this.flags[index] = MAY_HOLD
    this.reasons[index] = REASON.full
    this.bases[index] = FROM_INITIAL
    this.paireds[index] = 0
    this.steps[index] = 0
    this.waits[index] = 0
    this.sents[index] = NONE
    this.epochs[index] = tick
  }

  /** The receiver shall forget an object. Whoever was never told of it has nothing to forget. */
  leave(index: number, isDespawned: boolean, tick: Tick): void {
    if (this.states[index] !== KNOWN) return
    if ((this.flags[index] & MAY_HOLD) === 0) {
      this.states[index] = UNKNOWN
      return
    }
    this.states[index] = LEAVING
    this.flags[index] = isDespawned ? DESPAWNED : 0
    this.sents[index] = NONE
    this.epochs[index] = tick
  }

  /**
   * A row of this tick has arrived. `isPaired`: with that of a stride before. `isYoung`: the baseline is not too old to wait for something
   * newer, which is on its way. `isMoving`: it is worth it to wait for the row of a stride before. `isLast`: it is the last of its cell
   * (baseline-grid.ts); `isNextLast`: the next is, and ends it. @hot
   */
  promote(index: number, tick: Tick, isPaired: boolean, isYoung: boolean, isMoving: boolean, isLast: boolean, isNextLast: boolean): void {
    if (this.states[index] !== KNOWN || tick < this.epochs[index]) return
    const base = this.bases[index]
    if (tick <= base) return
    const isHeld = isPaired || (base !== FROM_INITIAL && base === tick - this.#strideTicks)
    // Where something newer is to come, the last row of a cell with the row before it is worth more than a newer one without.
    if (!isYoung || (isLast && (isHeld || !isMoving || this.paireds[index] === 0))) this.rebase(index, tick, isHeld)
    else if (isLast) this.waits[index] = tick
    else if (isNextLast) this.steps[index] = tick
  }

  /** Has another baseline from now on. @hot */
  rebase(index: number, tick: Tick, isPaired: boolean): void {
    if (this.bases[index] === FROM_INITIAL) this.reasons[index] = CHANGED
    this.bases[index] = tick
    this.paireds[index] = isPaired ? 1 : 0
    this.steps[index] = 0
    this.waits[index] = 0
    if (this.sents[index] < tick) this.sents[index] = tick
  }

  /** That an object is gone was understood. @hot */
  forget(index: number, tick: Tick): void {
    if (this.states[index] === LEAVING && tick >= this.epochs[index]) this.states[index] = UNKNOWN
  }

  /** What was sent of an object in this tick has gone under. @hot */
  lose(index: number, tick: Tick): void {
    if (tick < this.epochs[index] || this.sents[index] !== tick) return
    const isLeaving = this.states[index] === LEAVING
    this.sents[index] = isLeaving ? NONE : this.bases[index]
    if (this.bases[index] !== FROM_INITIAL) this.reasons[index] = LOST
  }

  /** Makes room for so many indexes. */
  reserve(need: number): void {
    if (need <= this.ids.length) return
    this.ids = widen(this.ids, new Uint32Array(need))
    this.types = widen(this.types, new Uint8Array(need))
    this.states = widen(this.states, new Uint8Array(need))
    this.sets = widen(this.sets, new Uint8Array(need))
    this.flags = widen(this.flags, new Uint8Array(need))
    this.reasons = widen(this.reasons, new Uint8Array(need))
    this.urgencies = widen(this.urgencies, new Float32Array(need))
    this.bases = widen(this.bases, new Float64Array(need))
    this.paireds = widen(this.paireds, new Uint8Array(need))
    this.steps = widen(this.steps, new Int32Array(need))
    this.waits = widen(this.waits, new Int32Array(need))
    this.sents = widen(this.sents, new Float64Array(need))
    this.epochs = widen(this.epochs, new Float64Array(need))
  }
}

function widen<T extends Uint8Array | Int32Array | Uint32Array | Float32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
