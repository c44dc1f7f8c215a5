/**
 * What one receiver must be told in this tick, and in which order.
 *
 * Once a tick it walks two ascending lists side by side, who is relevant now and who was told of before, and so finds who
 * came, who stayed and who left. Due is whose row, in the receiver's field set, changed since the newest row that he holds
 * or that is on its way; and who left, until that was understood.
 *
 *   entries[cursor .. count)    still to be sent: ascending by index, or, when room is short, the most urgent first
 *
 * Urgency is what the relevance adds in each tick that an object waits; so nobody starves.
 */

import type { Tick } from '../base/time.ts'
import type { ChangeMarks } from './change-marks.ts'
import { NO_BASE } from './delta-cache.ts'
import type { Relevance } from './relevance.ts'
import { NONE, STATE, type ToldObjects } from './told-objects.ts'
import { orderByUrgency } from './urgency-order.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { none: UNKNOWN, known: KNOWN } = STATE
const NOTHING = NONE
const FROM_INITIAL = NO_BASE

/** Ticks between two full rows of one object, the first of which may still arrive: who joins is not sent the world every tick. */
const FULL_GAP_TICKS = 3
/** What is added to who leaves: telling it is cheap, and a ghost is worse than a late row. */
const GONE_URGENCY = 2 ** 60
/** The least that is added a tick: a relevance that says 0 still means "some time". */
const URGENCY_MIN = 2 ** -20

export class DueList {
  /** The tick that it is of. */
  tick: Tick = NOTHING
  entries: Uint32Array = new Uint32Array(0)
  count = 0
  cursor = 0
  /** Whether entries stand in the order of their urgency. */
  isShort = false
  /** Ticks in which not everything that was due could be sent. */
  shortTicks = 0
  readonly #told: ToldObjects
  readonly #marks: ChangeMarks
  readonly #relevance: Relevance
  /** Indexes, ascending, of everything that is known or leaving; and the list that is being made of the next tick. */
  #known = new Uint32Array(0)
  #knownNext = new Uint32Array(0)
  #knownCount = 0
  #spare: Uint32Array = new Uint32Array(0)
  /** The most entries that went out in one tick, all that were due: as many will fit again. */
  #provenCount = 0

  constructor(told: ToldObjects, marks: ChangeMarks, relevance: Relevance) {
    this.#told = told
    this.#marks = marks
    this.#relevance = relevance
  }

  /** Lists what is due in the tick that the marks are of. @hot */
  refresh(): void {
    const { tick, ids, types, changed } = this.#marks
    const relevance = this.#relevance
    const wasShort = this.#close()
    this.tick = tick
    this.#reserve(ids.length)
    relevance.refresh(tick)
    const { count, indexes, weights, sets } = relevance
    const told = this.#told
    const { bases, sents, urgencies, states } = told
    const known = this.#known
    const knownNext = this.#knownNext
    const entries = this.entries
    const knownCount = this.#knownCount
    let knownAt = 0
    this.#knownCount = 0
    this.count = 0
    for (let at = 0; at < count; at++) {
      const index = indexes[at]
      while (knownAt < knownCount && known[knownAt] < index) this.#leave(known[knownAt++])
      const id = index < ids.length ? ids[index] : 0
      if (id === 0) continue
      if (knownAt < knownCount && known[knownAt] === index) knownAt++
      const set = sets[at]
      if (states[index] !== KNOWN || told.ids[index] !== id) told.enter(index, id, types[index], set, tick)
      else if (told.sets[index] !== set) told.restart(index, set, tick)
      knownNext[this.#knownCount++] = index
      const sent = sents[index]
      if (changed[index << 2 | set] > sent && (bases[index] !== FROM_INITIAL || sent === NOTHING || tick - sent >= FULL_GAP_TICKS)) {
        entries[this.count++] = index
        urgencies[index] += weights[at] > URGENCY_MIN ? weights[at] : URGENCY_MIN
      }
    }
    while (knownAt < knownCount) this.#leave(known[knownAt++])
    this.#known = knownNext
    this.#knownNext = known
    this.#order(wasShort)
  }

  /** Somebody who was told of an object is to forget it. */
  #leave(index: number): void {
    const told = this.#told
    told.leave(index, this.#marks.ids[index] !== told.ids[index], this.tick)
    if (told.states[index] === UNKNOWN) return
    this.#knownNext[this.#knownCount++] = index
    if (told.sents[index] !== NOTHING) return
    told.urgencies[index] = GONE_URGENCY
    this.entries[this.count++] = index
  }

  /** How the tick before went decides how the next is filled: whether not all of it could be sent. */
  #close(): boolean {
    const isDone = this.cursor === this.count
    if (!isDone) this.shortTicks++
    if (!isDone) this.#provenCount = this.cursor
    else if (this.count > this.#provenCount) this.#provenCount = this.count
    this.cursor = 0
    return !isDone
  }

  /** Far more than ever fitted, and nobody knows whether it will: then the order must be right from the first packet on. */
  #order(wasShort: boolean): void {
    this.isShort = this.count > 1 && (wasShort || this.count > 2 * this.#provenCount)
    if (!this.isShort) return
    const { entries } = this
    orderByUrgency(entries, this.count, this.#told.urgencies, this.#spare)
    this.entries = this.#spare
    this.#spare = entries
  }

  #reserve(need: number): void {
    if (need <= this.entries.length) return
    this.#told.reserve(need)
    const known = new Uint32Array(need)
    known.set(this.#known)
    this.#known = known
    this.#knownNext = new Uint32Array(need)
    this.entries = new Uint32Array(need)
    this.#spare = new Uint32Array(need)
  }
}
