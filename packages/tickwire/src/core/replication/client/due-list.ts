/**
 * What one client must be sent in this tick, and in which order.
 *
 * When the set of relevant objects changed, or objects were spawned or despawned, it walks all of them and finds which
 * entered, stayed and left. An object is due when its row, in the client's field set, changed after the newest row that
 * the client holds or that is in flight. An object that left is due until the client has acknowledged that.
 *
 *   objects.pendings            still to be sent, by block: in the order of the packet
 *   entries[cursor .. count)    the same when room is short: the most urgent first
 *
 * The relevance adds to an object's urgency in each tick that it waits, so no object starves. In a tick in which
 * everything is sent no object waits, so urgencies grow only when a tick turns out to have been too short.
 */

import type { Tick } from '../../base/time.ts'
import type { BulkPath } from '../bulk/bulk-path.ts'
import type { ChangeMarks } from '../changes/change-marks.ts'
import { BLOCK_SHIFT, countBits } from '../changes/blocks.ts'
import { NO_BASE } from '../encode/delta-cache.ts'
import type { Relevance } from '../relevance.ts'
import { NONE, STATE_KNOWN, type ClientObjects } from './client-objects.ts'
import { orderByUrgency } from './urgency-order.ts'

/** The field set that sees every change that any client is sent. */
const SET_WIDEST = 2
const NO_VERSION = -1
/**
 * Ticks between two full rows of one object while the first may still arrive: a client that joins is not sent the whole
 * world in every tick.
 */
const FULL_GAP_TICKS = 3
/** The urgency of an object that left: its entry is short, and an object that is gone must not linger on a screen. */
const GONE_URGENCY = 2 ** 60
/** The least urgency added in a tick: an object with a relevance of 0 is still sent at some time. */
const URGENCY_MIN = 2 ** -20

export class DueList {
  /** The tick of the list. */
  tick: Tick = NONE
  /** How many objects are due, and how many of those are done. */
  count = 0
  cursor = 0
  /** Blocks below this have nothing left to send. */
  block = 0
  /** Whether not everything is likely to fit: then `entries` lists what is due in the order of urgency. */
  isShort = false
  entries: Uint32Array = new Uint32Array(0)
  /** Ticks in which not everything that was due could be sent. */
  shortTicks = 0
  readonly #objects: ClientObjects
  readonly #marks: ChangeMarks
  readonly #relevance: Relevance
  readonly #bulk: BulkPath
  #spare: Uint32Array = new Uint32Array(0)
  /** The version of the relevance that was walked last, and the tick of that walk. */
  #version = NO_VERSION
  #walkTick: Tick = NONE
  /** The most entries that fitted into a tick in which everything due was sent: as many will fit again. */
  #provenCount = 0
  /** Indexed by block: the relevant objects, and those of them that the client sees in a field set other than `all`. */
  #relevants = new Int32Array(0)
  #specials = new Int32Array(0)

  constructor(objects: ClientObjects, marks: ChangeMarks, relevance: Relevance, bulk: BulkPath) {
    this.#objects = objects
    this.#marks = marks
    this.#relevance = relevance
    this.#bulk = bulk
  }

  /** Whether nothing is left to be sent. */
  get isDone(): boolean {
    return this.cursor >= this.count && (this.#bulk.blocksLeft === 0 || this.block >= this.#objects.pendings.length)
  }

  /** Lists what is due in the tick that the marks are of. `mayBulk`: whole blocks may be sent by the bulk path. @hot */
  refresh(mayBulk: boolean): void {
    const { tick, ids, censusTick } = this.#marks
    const relevance = this.#relevance
    const wasShort = this.#close()
    const sentBefore = this.tick
    this.tick = tick
    this.#reserve(ids.length)
    this.#bulk.begin(tick, mayBulk)
    relevance.refresh(tick)
    if (relevance.version !== this.#version || censusTick > this.#walkTick) this.#walk()
    this.#version = relevance.version
    this.#walkTick = tick
    this.#list(sentBefore)
    this.count += this.#bulk.complete(this.#relevants, this.#specials)
    this.#bulk.schedule.count(this.count)
    this.isShort = this.count > 1 && (wasShort || this.count > 2 * this.#provenCount)
    if (this.isShort) this.#order(sentBefore)
  }

  /** Compares the relevant objects with those that the client knows. */
  #walk(): void {
    const { ids, types, tick } = this.#marks
    const { count, indexes, sets } = this.#relevance
    const objects = this.#objects
    const relevants = this.#relevants
    const specials = this.#specials
    relevants.fill(0)
    specials.fill(0)
    for (let at = 0; at < count; at++) {
      const index = indexes[at]
      if (index >= ids.length || ids[index] === 0) continue
      relevants[index >>> BLOCK_SHIFT] |= 1 << index
      if (sets[at] !== 0) specials[index >>> BLOCK_SHIFT] |= 1 << index
    }
    this.#bulk.leaveUncommon(relevants, specials)
    for (let at = 0; at < count; at++) {
      const index = indexes[at]
      const id = index < ids.length ? ids[index] : 0
      if (id === 0 || this.#bulk.has(index >>> BLOCK_SHIFT)) continue
      if (!objects.isKnown(index, id)) {
        objects.enter(index, id, types[index], sets[at], tick)
      } else if (objects.setOf(index) !== sets[at]) {
        objects.restart(index, sets[at], tick)
      }
    }
    for (let block = 0; block < relevants.length; block++) {
      for (let gone = objects.knowns[block] & ~relevants[block]; gone !== 0; gone &= gone - 1) {
        const index = block << BLOCK_SHIFT | 31 - Math.clz32(gone & -gone)
        objects.leave(index, ids[index] !== objects.ids[index], tick)
      }
    }
  }

  /**
   * Finds what is due, block by block: only objects that changed since the tick before, or are restless, are checked.
   */
  #list(sentBefore: Tick): void {
    const { tick, oldest, masks } = this.#marks
    const { knowns, leavings, restless, pendings } = this.#objects
    // There are no marks for ticks before the window: every object may have changed.
    const isBlind = sentBefore < oldest - 1
    const hasGap = tick - sentBefore > 1
    const { bits } = masks
    const commonRow = masks.rowOf(0, tick)
    const widestRow = masks.rowOf(SET_WIDEST, tick)
    let count = 0
    this.block = 0
    for (let block = 0; block < pendings.length; block++) {
      const all = knowns[block] | leavings[block]
      pendings[block] = 0
      if (all === 0) continue
      const changed = isBlind ? -1 : hasGap ? masks.since(SET_WIDEST, block, sentBefore, tick) : bits[widestRow + block]
      const asked = all & (restless[block] | changed)
      if (asked === 0) continue
      // A change in this tick that every client may see was not sent yet. No further lookup is needed.
      const sure = hasGap ? 0 : knowns[block] & ~restless[block] & bits[commonRow + block]
      pendings[block] = sure
      if (asked !== sure) this.#ask(block, asked & ~sure)
      count += countBits(pendings[block])
    }
    this.count = count
  }

  /** Checks objects of a block one by one. */
  #ask(block: number, asked: number): void {
    const { changed, tick } = this.#marks
    const objects = this.#objects
    const { pendings, restless } = objects
    for (let rest = asked; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << BLOCK_SHIFT | 31 - Math.clz32(bit)
      const sent = objects.sentOf(index)
      let isDue = sent === NONE
      let isRestless = false
      if (objects.stateOf(index) === STATE_KNOWN) {
        // Until its first row is acknowledged an object is checked in every tick.
        isRestless = objects.baseOf(index) === NO_BASE
        isDue ||= changed[index << 2 | objects.setOf(index)] > sent && (!isRestless || tick - sent >= FULL_GAP_TICKS)
      } else {
        objects.setUrgency(index, GONE_URGENCY)
      }
      if (isDue) pendings[block] |= bit
      if (isRestless) restless[block] |= bit
      else restless[block] &= ~bit
    }
  }

  /** Ends the tick before. Returns whether not all of it could be sent: the rest is checked again. */
  #close(): boolean {
    const { isDone } = this
    const sent = this.cursor
    this.cursor = 0
    if (isDone) {
      if (sent > this.#provenCount) this.#provenCount = sent
      return false
    }
    this.shortTicks++
    this.#provenCount = sent
    this.#bulk.rest(this.tick)
    if (!this.isShort) this.#weigh()
    const { pendings, restless } = this.#objects
    for (let block = 0; block < pendings.length; block++) restless[block] |= pendings[block]
    return true
  }

  /** Adds to the urgency of all objects that wait. */
  #weigh(): void {
    const { count, indexes, weights } = this.#relevance
    const objects = this.#objects
    const { pendings } = objects
    for (let at = 0; at < count; at++) {
      const index = indexes[at]
      const block = index >>> BLOCK_SHIFT
      if (block >= pendings.length || (pendings[block] & (1 << index)) === 0 || objects.stateOf(index) !== STATE_KNOWN)
        continue
      objects.setUrgency(index, objects.urgencyOf(index) + Math.max(weights[at], URGENCY_MIN))
    }
  }

  /** More is due than ever fitted, so the order must be right from the first packet on. */
  #order(sentBefore: Tick): void {
    // The blocks of the bulk path have no urgency: their objects are sent one by one until there is room again.
    if (this.#bulk.leaveAll()) this.#list(sentBefore)
    const { pendings } = this.#objects
    const { entries } = this
    let count = 0
    for (let block = 0; block < pendings.length; block++) {
      for (let rest = pendings[block]; rest !== 0; rest &= rest - 1) {
        entries[count++] = block << BLOCK_SHIFT | 31 - Math.clz32(rest & -rest)
      }
    }
    this.#weigh()
    orderByUrgency(entries, count, this.#objects, this.#spare)
    this.entries = this.#spare
    this.#spare = entries
  }

  #reserve(need: number): void {
    if (need <= this.entries.length) return
    this.#objects.reserve(need)
    this.#bulk.reserve(need >>> BLOCK_SHIFT)
    this.#relevants = new Int32Array(need >>> BLOCK_SHIFT)
    this.#specials = new Int32Array(need >>> BLOCK_SHIFT)
    this.entries = new Uint32Array(need)
    this.#spare = new Uint32Array(need)
    // The masks are new: the walk must fill them.
    this.#version = NO_VERSION
  }
}
