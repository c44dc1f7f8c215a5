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
import type { SnapshotFrame } from './snapshot-frame.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const NOT_THERE = NO_SHEET
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

  /** Writes all of a block; false when it does not fit. `isRoomy`: the packet was nearly empty. @hot */
  fill(sequence: number, out: BitWriter, frame: SnapshotFrame, block: number, isRoomy: boolean): boolean {
    const due = this.#due
    const blocks = this.#blocks
    const cache = this.#replicator.sheets
    const { tick } = due
    const sheet = blocks.isStale(block, tick) ? NOT_THERE : cache.find(block, blocks.levelOf(block))
    if (sheet === NOT_THERE) {
      blocks.leave(block, tick)
    } else if (cache.sheets[sheet << SHIFT] === 0) {
      // Nothing happened since, so he holds it as of now.
      if (cache.isComplete) blocks.hear(block, tick, cache.isEnd)
    } else if (frame.putSheet(out, cache, sheet)) {
      if (cache.isComplete) this.#records.addSheet(sequence, block, cache.isEnd)
      due.sheetEntries += cache.sheets[sheet << SHIFT]
    } else {
      if (frame.beforeIndex >= 0 || this.#isPatient(block, isRoomy)) return false
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
