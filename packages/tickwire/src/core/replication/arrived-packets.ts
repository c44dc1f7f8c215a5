/**
 * What the arrival of a packet says of all that was in it, in one loop over its record (packet-records.ts).
 *
 * Of most blocks that is little, and what it is depends on where in its cell (baseline-grid.ts) the packet's tick lies:
 *
 *   pass   in the middle: who moves on waits for the end, and nothing is to be done
 *   step   the one before the end: who moves on is noted
 *   rise   the end: everybody who changed since the level is in the packet, and the whole block rises
 *
 * What is the same for all blocks of a packet is looked up once. All else is left to rising-blocks.ts, which would come to the same of
 * every block, by a longer way; test/sim/replication-blocks.test.ts holds both to what is done of single objects.
 */

import type { Tick } from '../base/time.ts'
import type { BaselineGrid } from './baseline-grid.ts'
import type { ChangeMarks } from './change-marks.ts'
import { BLOCK_SHIFT } from './change-masks.ts'
import { RECORD_ALIKE, RECORD_BLOCK, RECORD_COUNT_SHIFT, RECORD_END, RECORD_GONE, RECORD_INDEX, RECORD_NONE_HELD, RECORD_PAIRED, RECORD_SHEET, type PacketRecords } from './packet-records.ts'
import { RisingBlocks } from './rising-blocks.ts'
import type { SheetBlocks } from './sheet-blocks.ts'
import { PLANE, type ToldBlocks } from './told-blocks.ts'
import { STATE, type ToldObjects } from './told-objects.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { known: KNOWN, leaving: LEAVING } = STATE
const { aheads: AHEADS, sets: SETS, paireds: PAIREDS, steps: STEPS, stepTicks: STEP_TICKS, waits: WAITS } = PLANE
const BLOCK_BIT = RECORD_BLOCK
const ALIKE_BIT = RECORD_ALIKE
const NONE_HELD_BIT = RECORD_NONE_HELD
const GONE_BIT = RECORD_GONE
const PAIRED_BIT = RECORD_PAIRED
const SHEET_BIT = RECORD_SHEET
const END_BIT = RECORD_END
const COUNT_SHIFT = RECORD_COUNT_SHIFT
const SHIFT = BLOCK_SHIFT
const INDEX_BITS = RECORD_INDEX
/** Where the tick of a packet lies in its cell, as far as there is a short way. */
const NO_WAY = 0
const PASS = 1
const STEP = 2
const RISE = 3

export class ArrivedPackets {
  readonly #records: PacketRecords
  readonly #blocks: ToldBlocks
  readonly #told: ToldObjects
  readonly #marks: ChangeMarks
  readonly #grid: BaselineGrid
  readonly #rising: RisingBlocks
  readonly #sheets: SheetBlocks
  /** Whether any coder looks at the row before the baseline. */
  readonly #usesOlder: boolean
  /** Of the packet: the lowest level of a block for which there is a short way. */
  #levelMin: Tick = 0
  /** Whether rows of the tick before, above the baselines, are still of use. */
  #isBeforeFresh = false

  constructor(records: PacketRecords, blocks: ToldBlocks, told: ToldObjects, marks: ChangeMarks, grid: BaselineGrid, usesOlder: boolean, sheets: SheetBlocks) {
    this.#sheets = sheets
    this.#records = records
    this.#blocks = blocks
    this.#told = told
    this.#marks = marks
    this.#grid = grid
    this.#usesOlder = usesOlder
    this.#rising = new RisingBlocks(blocks, told, marks, grid, usesOlder)
  }

  /** A packet has arrived: members first, whom others may join then. @hot */
  deliver(slot: number): void {
    const records = this.#records
    const { store, mask } = records
    const tick = records.tickOf(slot)
    const start = records.startOf(slot)
    const end = start + records.countOf(slot)
    // Sheets that are not complete say nothing.
    if (end === start) return
    const way = this.#wayOf(tick)
    const levelMin = this.#levelMin
    const { words, levels, capacity } = this.#blocks
    const { masks } = this.#marks
    const { bits } = masks
    // Who changed in the tick that was told next, by field set.
    const nextRow = masks.rowOf(0, tick + this.#grid.strideTicks)
    const rowStep = masks.rowOf(1, 0)
    const setsAt = SETS * capacity
    let singles = 0
    for (let at = start; at < end; at++) {
      const entry = store[at & mask]
      if ((entry & BLOCK_BIT) === 0) {
        singles++
        continue
      }
      const block = entry & INDEX_BITS
      if ((entry & SHEET_BIT) !== 0) {
        for (let each = 0; each < entry >>> COUNT_SHIFT; each++) this.#sheets.hear(block + each, tick, (entry & END_BIT) !== 0)
        continue
      }
      const sent = store[++at & mask] | 0
      const pairs = (entry & ALIKE_BIT) === 0 ? store[++at & mask] | 0 : (entry & NONE_HELD_BIT) === 0 ? sent : 0
      // What it was told before that is of no use now.
      if (this.#sheets.has(block)) continue
      if ((sent & ~words[block]) === 0 && levels[block] >= levelMin) {
        if (way === RISE) {
          if (this.#rise(block, sent, pairs, tick)) continue
        } else if (way !== NO_WAY) {
          const left = sent & ~bits[nextRow + words[setsAt + block] * rowStep + block]
          if (way === PASS ? left === 0 || this.#pass(block, left, tick) : left === 0 && this.#step(block, sent, tick)) continue
        }
      }
      this.#rising.deliver(block, sent, pairs, tick)
    }
    for (let at = start; singles > 0; at++) {
      const entry = store[at & mask]
      if ((entry & BLOCK_BIT) !== 0) {
        at += (entry & SHEET_BIT) !== 0 ? 0 : (entry & ALIKE_BIT) !== 0 ? 1 : 2
      } else {
        singles--
        this.#deliverSingle(entry, tick)
      }
    }
  }

  /** Looks up what is the same for all blocks of a packet of a tick. */
  #wayOf(tick: Tick): number {
    const { oldest } = this.#marks
    const { strideTicks, lagTicks } = this.#grid
    const blocks = this.#blocks
    const next = tick + strideTicks
    const before = tick - strideTicks | 0
    this.#rising.hear(tick)
    const { end } = this.#rising
    this.#levelMin = end === tick ? oldest : Math.max(oldest, tick - lagTicks)
    this.#isBeforeFresh = blocks.freshOf(before) !== 0
    if (tick < oldest) return NO_WAY
    if (end === tick) return RISE
    return next > blocks.sentBefore ? NO_WAY : next !== end || !this.#usesOlder ? PASS : STEP
  }

  /** Whether nothing is to be done of a block, some of whom did not change in the tick told next: they did later in the cell, or have risen above it. */
  #pass(block: number, left: number, tick: Tick): boolean {
    const blocks = this.#blocks
    const ahead = blocks.aheads[block]
    const rest = ahead !== 0 && blocks.aheadLevels[block] >= tick ? left & ~ahead : left
    const to = Math.min(this.#rising.end, blocks.sentBefore)
    return (rest & ~this.#marks.masks.since(blocks.sets[block], block, tick + this.#grid.strideTicks, to)) === 0
  }

  /** Notes who holds the row before the end of a cell, and moves on; false when there is more to it. */
  #step(block: number, sent: number, tick: Tick): boolean {
    const { words, levels, aheadLevels, capacity } = this.#blocks
    const stepsAt = STEPS * capacity + block
    const ticksAt = STEP_TICKS * capacity + block
    const ahead = words[AHEADS * capacity + block]
    if (words[WAITS * capacity + block] !== 0 || (words[stepsAt] !== 0 && words[ticksAt] !== (tick | 0))) return false
    const newer = tick <= levels[block] ? 0 : ahead !== 0 && tick <= aheadLevels[block] ? sent & ~ahead : sent
    if (newer === 0) return true
    words[stepsAt] |= newer
    words[ticksAt] = tick
    return true
  }

  /** A block rises to the end of a cell: who is not there already changed in the packet, or rests. False when there is more to it. */
  #rise(block: number, sent: number, pairs: number, tick: Tick): boolean {
    const { words, levels, aheadLevels, capacity } = this.#blocks
    const { masks } = this.#marks
    const level = levels[block]
    const ahead = words[AHEADS * capacity + block]
    if (level >= tick || words[WAITS * capacity + block] !== 0 || (ahead !== 0 && aheadLevels[block] !== tick)) return false
    const set = words[SETS * capacity + block]
    const risen = sent & ~ahead
    const resting = words[block] & ~ahead & ~sent
    if (risen === 0) return true
    if (resting !== 0 && (resting & masks.since(set, block, level, tick)) !== 0) return false
    if (this.#usesOlder) {
      const { strideTicks } = this.#grid
      const stepsAt = STEPS * capacity + block
      const isNext = level === tick - strideTicks
      if (isNext && words[stepsAt] !== 0) return false
      const stepped = this.#isBeforeFresh && words[STEP_TICKS * capacity + block] === (tick - strideTicks | 0) ? words[stepsAt] : 0
      const held = risen & (pairs | (isNext ? masks.at(set, block, level) : stepped))
      // Who did not change in the tick before was not on the move, and has nothing to wait for.
      if (held !== risen && (!isNext || strideTicks > 1)) return false
      words[PAIREDS * capacity + block] = words[PAIREDS * capacity + block] & ~risen | held
      words[stepsAt] &= ~risen
    }
    words[AHEADS * capacity + block] = 0
    levels[block] = tick
    return true
  }

  #deliverSingle(entry: number, tick: Tick): void {
    const index = entry & INDEX_BITS
    if (this.#sheets.has(index >>> SHIFT)) return
    if ((entry & GONE_BIT) === 0) {
      this.#rising.promote(index, tick, (entry & PAIRED_BIT) !== 0)
      return
    }
    this.#told.forget(index, tick)
    if (this.#told.states[index] !== KNOWN) this.#blocks.leave(index, this.#told.states[index] === LEAVING)
  }
}
