/**
 * Which rows a delta is made from: the one of now, the baseline's, and perhaps the one told before that.
 *
 * Of one object they are found by `keyFor` and `prepare`. Of a block that is told from one level, `aim` first finds what all have in common
 * (level-rows.ts), and `keyAimed` and `prepareAimed` do the same for who is direct there: without asking each row whose it is, which
 * is far away in memory. 6 % of a tick in which a hundred clients have lines of their own (bench scenario --lines real). The two agree:
 * test/sim/replication-blocks.test.ts, where the slow twin knows only the first.
 */

import { assert } from '../base/assert.ts'
import type { Tick } from '../base/time.ts'
import { RowPair, type FieldSet, type RowCoder } from '../codec/row-coder.ts'
import { ROW_MASK, type Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import type { Tokens } from './authority/token.ts'
import type { ChangeMarks } from './change-marks.ts'
import { DELTA, NO_DELTA } from './delta-cache.ts'
import { LevelRows } from './level-rows.ts'
import { RowFinder } from './row-finder.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { rested: RESTED, owned: OWNED, older: OLDER } = DELTA
const NOT_THERE = NO_DELTA

/** In a key of the cache, beside the field set: the row before the baseline is used. */
const KEY_OLDER = 4

export class DeltaRows {
  /** What is prepared: the rows, of which object, for which field set, and whether the owner is another than at the baseline. */
  readonly pair: RowPair = new RowPair()
  index = 0
  set: FieldSet = 0
  isOwned = false
  readonly #world: World
  readonly #timeline: Timeline
  readonly #marks: ChangeMarks
  readonly #coders: readonly RowCoder[]
  readonly #tokens: Tokens | undefined
  readonly #strideTicks: number
  /** Rows of the ticks that were last asked for: deltas that are made one after the other are often from the same. */
  readonly #baseRows: RowFinder
  readonly #olderRows: RowFinder
  readonly #level: LevelRows

  constructor(world: World, timeline: Timeline, marks: ChangeMarks, coders: readonly RowCoder[], tokens: Tokens | undefined, strideTicks: number) {
    this.#world = world
    this.#timeline = timeline
    this.#marks = marks
    this.#coders = coders
    this.#tokens = tokens
    this.#strideTicks = strideTicks
    this.#baseRows = new RowFinder(marks, timeline)
    this.#olderRows = new RowFinder(marks, timeline)
    this.#level = new LevelRows(marks, timeline, strideTicks)
  }

  /** Another tick was sampled. */
  clear(): void {
    this.#baseRows.clear()
    this.#olderRows.clear()
    this.#level.clear()
  }

  /** What a delta is kept by in the cache, for who holds a row and perhaps the one before it; `NO_DELTA` when nobody knows the row any more. @hot */
  keyFor(index: number, set: number, base: Tick, isPaired: boolean): number {
    const marks = this.#marks
    const { windowTicks } = this.#timeline
    const age = marks.tick - base
    // Who holds a baseline for longer than the window was told nothing since: any entry after it would have been of a change.
    if (age >= windowTicks && marks.rowAtOf(index, set, base) < 0) return NOT_THERE
    if (!isPaired || age + this.#strideTicks >= windowTicks || this.#coders[marks.types[index]].usesOlder !== true) return set
    // Whoever rested after it does not go on as before.
    return marks.hasChanged(index, set, base, base + this.#strideTicks) ? set | KEY_OLDER : set
  }

  /** Finds the rows of a delta whose baseline is known; gives its flags, unless nothing has changed. @hot */
  prepare(index: number, base: Tick, key: number): number {
    const marks = this.#marks
    const set = fieldSet(key)
    const type = marks.types[index]
    const baseRow = this.#baseRows.find(index, set, base)
    assert(baseRow >= 0, 'a delta has a baseline that is still known')
    this.set = set
    const olderRow = (key & KEY_OLDER) === 0 ? -1 : this.#olderRows.find(index, set, base - this.#strideTicks)
    return this.#point(index, type, base, baseRow, olderRow, marks.isRested(index, set, base))
  }

  /** Looks at a block from a level; who is direct there, for the two below. @hot */
  aim(block: number, set: number, level: Tick): number {
    this.#level.aim(block, set, level)
    this.set = fieldSet(set)
    return this.#level.direct
  }

  /** As `keyFor`. @hot */
  keyAimed(index: number, set: number, isPaired: boolean): number {
    return isPaired && (this.#level.moving & 1 << index) !== 0 && this.#coders[this.#marks.types[index]].usesOlder === true ? set | KEY_OLDER : set
  }

  /** As `prepare`. @hot */
  prepareAimed(index: number, key: number): number {
    const marks = this.#marks
    const { level, references, olderReferences, rested } = this.#level
    const type = marks.types[index]
    // Who was born since then has nobody there, or another.
    const hasOlder = (key & KEY_OLDER) !== 0 && marks.bornAt[index] <= level - this.#strideTicks
    return this.#point(index, type, level, references[index] & ROW_MASK, hasOlder ? olderReferences[index] & ROW_MASK : -1, (rested & 1 << index) !== 0)
  }

  /** The first tick that the owner of a shared object writes, as of the tick that is told: transfers since are of another. */
  tokenTick(index: number, type: number): Tick {
    const tokens = this.#tokens
    if (tokens === undefined || !this.#world.stores[type].isShared) return 0
    const { ids, tick } = this.#marks
    return tokens.authorityTickAfter === undefined ? tokens.authorityTickAt(index) : tokens.authorityTickAfter(ids[index], tick)
  }

  /** The rows of who is told whole. */
  prepareFull(index: number, key: number): void {
    const type = this.#marks.types[index]
    this.index = index
    this.set = fieldSet(key)
    const { pair } = this
    pair.rows = this.#timeline.pools[type].rows
    pair.at = this.#marks.rowAts[index]
    pair.baseRows = this.#world.stores[type].schema.initialRow
    pair.baseAt = 0
    pair.age = 0
    pair.olderAt = -1
  }

  #point(index: number, type: number, base: Tick, baseRow: number, olderRow: number, isRested: boolean): number {
    const { rows, owners, laneCount } = this.#timeline.pools[type]
    const marks = this.#marks
    const { pair } = this
    const age = marks.tick - base
    const isOthers = marks.ownedAt[index] > base && owners[baseRow] !== marks.owners[index]
    // What came back to an owner since is his anew.
    this.isOwned = isOthers || (this.#tokens !== undefined && this.tokenTick(index, type) > base + 1)
    this.index = index
    pair.rows = rows
    pair.at = marks.rowAts[index]
    pair.baseRows = rows
    pair.baseAt = baseRow * laneCount
    pair.olderRows = rows
    const flags = (isRested ? RESTED : 0) | (this.isOwned ? OWNED : 0)
    if (isRested && age > 1) {
      // Both know that the baseline's row held in the last two ticks: no motion is to go on over a rest.
      pair.age = 1
      pair.olderAt = pair.baseAt
      pair.olderTicks = 1
      return flags
    }
    pair.age = age
    pair.olderTicks = this.#strideTicks
    pair.olderAt = olderRow < 0 ? -1 : olderRow * laneCount
    return olderRow < 0 ? flags : flags | OLDER
  }
}

function fieldSet(key: number): FieldSet {
  const set = key & 3
  return set === 0 ? 0 : set === 1 ? 1 : 2
}
