/**
 * When each object last changed, for each of those who may see more or less of it.
 *
 * A row that moved only in what a client may not see has not changed for him: no byte, no place in a queue, no other
 * baseline. So changes are marked by field set, and everything that decides what is sent asks these marks and never the
 * row itself.
 *
 *   changed   the last tick at which what the set holds changed, or the object or its owner did
 *   before    the one before that
 *   settled   the last one that has left the Timeline's window: from there on an older row is the oldest one there
 *
 * Marks of an object stand at `index << 2 | set`. They are of who lives at the index now (`ids`).
 */

import { assert } from '../base/assert.ts'
import type { Tick } from '../base/time.ts'
import type { Schema } from '../schema/schema.ts'
import { ROW_BITS, ROW_MASK, type Timeline } from '../world/timeline.ts'
import { BLOCK_SHIFT, ChangeMasks } from './change-masks.ts'

const SETS = 3
/** In the place of a field set: nobody who is told anything can see it. */
const HIDDEN = 3
const NO_TICK = -1
/** Of a last change: it was before the window, and nobody knows when. */
export const LONG_AGO = -2
const BLOCK = 1 << BLOCK_SHIFT

export class ChangeMarks {
  /** The newest tick looked at. */
  tick: Tick = NO_TICK
  /** The oldest tick of the window that ends with it. */
  oldest: Tick = NO_TICK
  /** Every index in use is below this. */
  highWater = 0
  /** By index, at the newest tick: who lives there (0 nobody), his type, owner, and where his row lies in its pool. */
  ids: Uint32Array = new Uint32Array(0)
  types: Uint8Array = new Uint8Array(0)
  owners: Uint32Array = new Uint32Array(0)
  rowAts: Uint32Array = new Uint32Array(0)
  /** By index: since when he lives there, and since when he has his owner. */
  bornAt: Float64Array = new Float64Array(0)
  ownedAt: Float64Array = new Float64Array(0)
  /** By index: since when nobody lives there, of who lived there last. */
  diedAt: Float64Array = new Float64Array(0)
  /** By block of 32 indexes: where somebody lives. */
  alives: Int32Array = new Int32Array(0)
  /** By index << 2 | set. */
  changed: Float64Array = new Float64Array(0)
  before: Float64Array = new Float64Array(0)
  settled: Float64Array = new Float64Array(0)
  /** The same by 32 objects, for the ticks of the window. */
  readonly masks: ChangeMasks
  /** The last tick in which anybody came or went. */
  censusTick: Tick = NO_TICK
  readonly #timeline: Timeline
  /** By type, by lane: the first field set that holds it. */
  readonly #laneSets: readonly Uint8Array[]

  constructor(timeline: Timeline, schemas: readonly Schema[]) {
    this.#timeline = timeline
    this.#laneSets = schemas.map(laneSetsOf)
    this.masks = new ChangeMasks(timeline.windowTicks)
  }


  /** Looks at the ticks that the Timeline has and these marks have not seen. @hot */
  update(): void {
    const { newest, windowTicks } = this.#timeline
    if (newest === this.tick) return
    assert(newest > this.tick, 'what was told is not taken back: a Timeline that is replicated is never cut')
    const first = Math.max(this.tick + 1, newest - windowTicks + 1, 0)
    for (let tick = first; tick <= newest; tick++) this.#look(tick)
  }

  /** Where the row that an object had at a tick, as far as `set` sees it, lies in its pool; -1 when nobody knows any more. @hot */
  rowAtOf(index: number, set: number, tick: Tick): number {
    const { oldest } = this
    if (tick >= oldest) return this.#timeline.find(this.types[index], this.ids[index], tick)
    return this.settled[index << 2 | set] <= tick ? this.#timeline.find(this.types[index], this.ids[index], oldest) : -1
  }

  /** Whether what `set` sees of an object stood still from a tick until the one before the newest. @hot */
  isRested(index: number, set: number, since: Tick): boolean {
    const at = index << 2 | set
    return (this.changed[at] === this.tick ? this.before[at] : this.changed[at]) <= since
  }

  /** Whether what `set` sees of an object changed after a tick of the window and up to another. @hot */
  hasChanged(index: number, set: number, from: Tick, to: Tick): boolean {
    return (this.masks.since(set, index >>> BLOCK_SHIFT, from, to) & 1 << index) !== 0
  }

  /** The last tick up to `tick` in which what `set` sees of an object changed; `LONG_AGO` when nobody knows any more. @hot */
  lastChange(index: number, set: number, tick: Tick): Tick {
    const at = index << 2 | set
    if (this.changed[at] <= tick) return this.changed[at]
    if (this.before[at] <= tick) return this.before[at]
    const { oldest } = this
    for (let each = tick; each >= oldest; each--) if ((this.masks.at(set, index >>> BLOCK_SHIFT, each) >>> index & 1) !== 0) return each
    return this.settled[at] <= tick ? this.settled[at] : LONG_AGO
  }

  /** The first tick of the window after `tick` in which what `set` sees of an object changed; the newest when there is none. @hot */
  firstChange(index: number, set: number, tick: Tick): Tick {
    let each = tick < this.oldest ? this.oldest : tick + 1
    while (each < this.tick && (this.masks.at(set, index >>> BLOCK_SHIFT, each) >>> index & 1) === 0) each++
    return each
  }

  #look(tick: Tick): void {
    const references = this.#timeline.references(tick)
    const earlier = this.#timeline.references(tick === this.tick + 1 ? tick - 1 : NO_TICK)
    this.#reserve(references.length)
    this.tick = tick
    this.oldest = tick - this.#timeline.windowTicks + 1
    this.#settle(this.oldest)
    let high = 0
    for (let first = 0; first < references.length; first += BLOCK) {
      let all = 0
      let team = 0
      let owner = 0
      let alive = 0
      for (let index = first; index < first + BLOCK; index++) {
        const reference = references[index]
        if (reference === 0) {
          if (this.ids[index] !== 0) this.#bury(index)
          continue
        }
        high = index + 1
        alive |= 1 << index
        if (reference === earlier[index]) continue
        const set = this.#mark(index, reference, index < earlier.length ? earlier[index] : 0)
        const bit = 1 << index
        if (set === 0) all |= bit
        if (set <= 1) team |= bit
        if (set <= 2) owner |= bit
      }
      this.alives[first >>> BLOCK_SHIFT] = alive
      this.masks.put(0, first >>> BLOCK_SHIFT, tick, all)
      this.masks.put(1, first >>> BLOCK_SHIFT, tick, team)
      this.masks.put(2, first >>> BLOCK_SHIFT, tick, owner)
    }
    this.highWater = high
  }

  #bury(index: number): void {
    this.ids[index] = 0
    this.diedAt[index] = this.tick
    this.censusTick = this.tick
  }

  /** An object has a row that it did not have before: the first field set that sees it, or `HIDDEN`. */
  #mark(index: number, reference: number, earlier: number): number {
    const type = reference >>> ROW_BITS
    const { ids, owners, rows, laneCount } = this.#timeline.pools[type]
    const row = reference & ROW_MASK
    const was = earlier & ROW_MASK
    const isBorn = earlier === 0 || earlier >>> ROW_BITS !== type || ids[was] !== ids[row]
    const isOwned = isBorn || owners[was] !== owners[row]
    if (isBorn) {
      this.censusTick = this.tick
      this.bornAt[index] = this.tick
    }
    if (isOwned) this.ownedAt[index] = this.tick
    this.ids[index] = ids[row]
    this.types[index] = type
    this.owners[index] = owners[row]
    this.rowAts[index] = row * laneCount
    const set = isOwned ? 0 : firstSet(this.#laneSets[type], rows, row * laneCount, was * laneCount)
    for (let at = index << 2 | set; at < (index << 2) + SETS; at++) {
      this.before[at] = isBorn ? this.tick : this.changed[at]
      this.changed[at] = this.tick
      if (isBorn) this.settled[at] = this.tick
    }
    return set
  }

  /** A tick is the oldest of the window now: what changed in it can be found no further back. */
  #settle(oldest: Tick): void {
    // Whether or not the Timeline has it still: where several ticks are looked at together, it has gone on already.
    if (oldest < 0) return
    const { masks } = this
    for (let block = 0; block < masks.capacity; block++) {
      for (let set = 0; set < SETS; set++) {
        for (let bits = masks.at(set, block, oldest); bits !== 0; bits &= bits - 1) {
          const at = (block << BLOCK_SHIFT | 31 - Math.clz32(bits & -bits)) << 2 | set
          // Who was born since has settled later than this.
          if (this.settled[at] < oldest) this.settled[at] = oldest
        }
      }
    }
  }

  #reserve(need: number): void {
    if (need <= this.ids.length) return
    this.ids = widen(this.ids, new Uint32Array(need))
    this.types = widen(this.types, new Uint8Array(need))
    this.owners = widen(this.owners, new Uint32Array(need))
    this.rowAts = widen(this.rowAts, new Uint32Array(need))
    this.bornAt = widen(this.bornAt, new Float64Array(need))
    this.ownedAt = widen(this.ownedAt, new Float64Array(need))
    this.diedAt = widen(this.diedAt, new Float64Array(need))
    this.alives = widen(this.alives, new Int32Array(need >>> BLOCK_SHIFT))
    this.changed = widen(this.changed, new Float64Array(need << 2))
    this.before = widen(this.before, new Float64Array(need << 2))
    this.settled = widen(this.settled, new Float64Array(need << 2))
    this.masks.reserve(need >>> BLOCK_SHIFT)
  }
}

/** The first field set that holds a lane in which two rows of a pool differ; `HIDDEN` when none does. @hot */
function firstSet(laneSets: Uint8Array, rows: Int32Array, at: number, wasAt: number): number {
  let first = HIDDEN
  for (let lane = 0; lane < laneSets.length; lane++) {
    if (rows[at + lane] !== rows[wasAt + lane] && laneSets[lane] < first) first = laneSets[lane]
  }
  return first
}

function laneSetsOf({ laneCount, masks }: Schema): Uint8Array {
  const sets = new Uint8Array(laneCount).fill(HIDDEN)
  for (let set = SETS - 1; set >= 0; set--) {
    for (const { lane, laneCount: count } of masks[set].members) sets.fill(set, lane, lane + count)
  }
  return sets
}

function widen<T extends Uint8Array | Int32Array | Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
