/**
 * Fills packets with blocks that are told by sheets (sheet-blocks.ts), each in one stroke, and remembers those that say something of what is held then.
 *
 * A sheet is never cut: what does not fit waits for the next packet, and what fits none is told one by one from then on.
 */

import type { BitWriter } from '../bits/bit-writer.ts'
import type { DueList } from './due-list.ts'
import type { PacketRecords } from './packet-records.ts'
import type { Replicator } from './replicator.ts'
import type { SheetBlocks } from './sheet-blocks.ts'
import { NO_SHEET, SHEET_SHIFT } from './sheet-cache.ts'
import { NO_SHEET_FRAME } from './sheet-frames.ts'
import type { SnapshotFrame } from './snapshot-frame.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const NOT_THERE = NO_SHEET
const NOTHING = NO_SHEET_FRAME
const NO_LEVEL = -1
const SHIFT = SHEET_SHIFT
const NO_BLOCK = -1

export class SheetFiller {
  #replicator: Replicator
  readonly #blocks: SheetBlocks
  readonly #records: PacketRecords
  readonly #due: DueList
  /** Whose sheet did not fit a small packet that was empty. */
  #stuckBlock = NO_BLOCK

  constructor(replicator: Replicator, blocks: SheetBlocks, records: PacketRecords, due: DueList) {
    this.#replicator = replicator
    this.#blocks = blocks
    this.#records = records
    this.#due = due
  }

  /** From the next frame on bits come from elsewhere. */
  retrain(replicator: Replicator): void {
    this.#replicator = replicator
  }

  /** Copies a whole packet that another was sent, from the block on that is next; false when there is none. @hot */
  copy(sequence: number, out: BitWriter): boolean {
    const due = this.#due
    const blocks = this.#blocks
    const { sheets, sheetFrames: frames } = this.#replicator
    const first = due.block
    const level = blocks.has(first) && (out.bitLength & 7) === 0 ? blocks.levelOf(first) : NO_LEVEL
    frames.begin(first, level, out.bitLength >>> 3)
    const slot = level === NO_LEVEL ? NOTHING : frames.find(first, level, out.bitsLeft)
    if (slot === NOTHING || blocks.runOf(first, level, frames.ends[slot]) < frames.ends[slot]) return false
    const count = frames.ends[slot] - first
    frames.put(slot, out)
    if (sheets.isComplete) this.#records.addSheets(sequence, first, count, sheets.isEnd)
    due.block = frames.ends[slot]
    due.sheetEntries += frames.counts[slot]
    due.sheetsLeft = Math.max(0, due.sheetsLeft - count)
    return true
  }

  /** Lets others copy the packet that was filled since, if it has nothing in it that is not for all. */
  keep(out: BitWriter): void {
    this.#replicator.sheetFrames.keep(out)
  }

  /** Writes all of a block; false when it does not fit. `isRoomy`: the packet was nearly empty. @hot */
  fill(sequence: number, out: BitWriter, frame: SnapshotFrame, block: number, isRoomy: boolean): boolean {
    const due = this.#due
    const blocks = this.#blocks
    const cache = this.#replicator.sheets
    const frames = this.#replicator.sheetFrames
    const { tick } = due
    const level = blocks.levelOf(block)
    const sheet = blocks.isStale(block, tick) ? NOT_THERE : cache.find(block, level)
    const count = sheet === NOT_THERE ? 0 : cache.sheets[sheet << SHIFT]
    if (sheet === NOT_THERE) {
      frames.spoil()
      blocks.leave(block, tick)
    } else if (count === 0) {
      frames.add(block, level, sheet, 0, 0, 0)
      // Nothing happened since, so he holds it as of now.
      if (cache.isComplete) blocks.hear(block, tick, cache.isEnd)
    } else if (frame.putSheet(out, cache, sheet)) {
      frames.add(block, level, sheet, count, frame.leadHeadBits, frame.deltaHeadBits)
      if (cache.isComplete) this.#records.addSheets(sequence, block, 1, cache.isEnd)
      due.sheetEntries += count
    } else {
      if (frame.beforeIndex >= 0 || this.#isPatient(block, isRoomy)) return false
      frames.spoil()
      blocks.leave(block, tick)
    }
    if (due.sheetsLeft > 0) due.sheetsLeft--
    return true
  }

  /** Whether a sheet that does not fit an empty packet is not to blame: the packet is small, and it is the first such. */
  #isPatient(block: number, isRoomy: boolean): boolean {
    if (isRoomy || this.#stuckBlock === block) return false
    this.#stuckBlock = block
    return true
  }
}
