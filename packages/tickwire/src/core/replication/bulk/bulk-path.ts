/**
 * The bulk path of one client: whole blocks of 32 objects, sent as one string of bits that many clients share.
 *
 *   one by one (client-objects.ts)   a baseline for each object; lost rows are sent again    fewest bytes
 *   bulk                             one baseline for the block: a tick                      least work
 *
 * A client that received a complete delta of a block, in one packet, holds the block as of that tick. Only that tick is
 * stored for the block. A lost packet needs no action: the next delta is against the same baseline. Complete deltas are
 * sent once in four snapshots (bulk-schedule.ts). The snapshots between have only what changed since the last snapshot.
 *
 *   one by one ── a complete set of rows was acknowledged ──▶ bulk ── not common, no room, too old ──▶ one by one
 *
 * Only a *common* block is sent in bulk: the client sees all its objects, in the field set that every client may see.
 * While a block is in bulk, client-objects.ts has no state for it. When it leaves, each object gets the block's
 * baseline.
 */

import type { ObjectId, Tick } from '../../base/time.ts'
import { widen } from '../../base/widen.ts'
import type { BitWriter } from '../../bits/bit-writer.ts'
import type { PacketRecords } from '../../packet/packet-records.ts'
import type { ChangeMarks } from '../changes/change-marks.ts'
import { BLOCK_SHIFT, countBits } from '../changes/blocks.ts'
import { NONE, type ClientObjects } from '../client/client-objects.ts'
import type { FrameWriter } from '../client/frame-writer.ts'
import { RECORD_BLOCK } from '../client/record-entry.ts'
import { NO_BASE } from '../encode/delta-cache.ts'
import { NO_BLOCK_DELTA, type BlockDeltas } from './block-deltas.ts'
import type { BulkSchedule } from './bulk-schedule.ts'

/** The field set that every client may see. */
const SET = 0
/**
 * In place of a baseline: the block is sent one by one. A value of READY or below: the block enters bulk with the next
 * tick, with the baseline `READY - value`.
 */
const TRACKED = -1
const READY = -2
/** In place of the tick from which acknowledgements count: none does. */
const NEVER = Infinity
/** A block with an older baseline leaves bulk: the cache of block deltas finds baselines by their last six bits. */
const AGE_MAX = 60
/** Attempts to enter bulk: a block that fits no packet, or whose packets never arrive, is left alone after these. */
const TRIES_MAX = 12
/** Ticks without bulk after a tick in which not everything could be sent: block deltas have no order of urgency. */
const SHORT_TICKS = 120
const NO_BLOCK = -1

export class BulkPath {
  readonly schedule: BulkSchedule
  /** The number of blocks in bulk; and of those not sent yet in this tick. */
  count = 0
  blocksLeft = 0
  /**
   * Indexed by block: the objects that one packet must have of a tracked block to be complete. 0 where it is not
   * wanted.
   */
  completes: Int32Array = new Int32Array(0)
  /** Whether the bulk path is on for this client in this tick. */
  isOn = false
  #deltas: BlockDeltas
  readonly #objects: ClientObjects
  readonly #marks: ChangeMarks
  readonly #records: PacketRecords
  /** Indexed by block: the baseline, and the tick from which acknowledgements count. */
  #bases = new Float64Array(0)
  #since = new Float64Array(0)
  #tries = new Uint8Array(0)
  #hasReady = false
  #tick: Tick = NONE
  /** For a client that was short of room: bulk is off until this tick. */
  #restsUntil: Tick = NONE
  /** The block whose delta did not fit a small packet that was empty. */
  #stuckBlock = NO_BLOCK

  constructor(
    schedule: BulkSchedule, deltas: BlockDeltas, objects: ClientObjects, marks: ChangeMarks, records: PacketRecords,
  ) {
    this.schedule = schedule
    this.#deltas = deltas
    this.#objects = objects
    this.#marks = marks
    this.#records = records
  }

  /** From the next frame on, bits come from a different cache. */
  retrain(deltas: BlockDeltas): void {
    this.#deltas = deltas
  }

  /** Whether a block is in bulk. @hot */
  has(block: number): boolean {
    return this.count > 0 && this.#bases[block] >= 0
  }

  /** The tick whose row of an object in a bulk block the client is known to hold; NO_BASE when there is none. */
  baseOf(index: number, id: ObjectId): Tick {
    const { ids, bornAt } = this.#marks
    const base = this.#bases[index >>> BLOCK_SHIFT]
    return ids[index] === id && bornAt[index] <= base ? base : NO_BASE
  }

  /** Begins a tick. `mayBulk`: this client may receive blocks that are shared with others. */
  begin(tick: Tick, mayBulk: boolean): void {
    this.#tick = tick
    this.isOn = mayBulk && this.schedule.isOn && tick >= this.#restsUntil
    if (this.#hasReady) this.#enterReady()
    if (!this.isOn) this.leaveAll()
    else this.completes.fill(0)
    this.blocksLeft = this.count
  }

  /** The client was short of room in a tick: bulk is off for a while. */
  rest(tick: Tick): void {
    this.#restsUntil = tick + SHORT_TICKS
  }

  /** The relevant objects changed: blocks that are no longer common leave bulk. */
  leaveUncommon(relevants: Int32Array, specials: Int32Array): void {
    if (!this.isOn) return
    for (let block = 0; block < relevants.length; block++) {
      if (!this.#isCommon(block, relevants, specials)) this.leave(block)
    }
    this.blocksLeft = this.count
  }

  /**
   * In a complete tick: makes due all that the client lacks of common blocks that could enter bulk. Returns how many
   * objects that adds.
   */
  complete(relevants: Int32Array, specials: Int32Array): number {
    if (!this.isOn || !this.schedule.isComplete(this.#tick)) return 0
    const { pendings } = this.#objects
    let added = 0
    for (let block = 0; block < relevants.length; block++) {
      if (this.has(block) || !this.#isCommon(block, relevants, specials) || this.#tries[block] === TRIES_MAX) continue
      this.#tries[block]++
      if (this.#since[block] === NEVER) this.#since[block] = this.#tick
      const lacking = this.#lacking(block)
      added += countBits(lacking & ~pendings[block])
      pendings[block] |= lacking
      this.completes[block] = pendings[block]
      // The client already holds all of it.
      if (pendings[block] === 0) this.deliver(block, this.#tick)
    }
    return added
  }

  /**
   * All entries due of a tracked block are in one packet. Records it as complete, if that was wanted and nothing is
   * missing.
   */
  noteComplete(sequence: number, block: number, sent: number): void {
    if (this.isOn && sent !== 0 && sent === this.completes[block]) this.#records.add(sequence, block | RECORD_BLOCK)
  }

  /** A complete set of rows, or a complete delta, of a block was acknowledged. @hot */
  deliver(block: number, tick: Tick): void {
    if (tick < this.#since[block]) return
    if (this.#bases[block] >= 0) {
      if (tick > this.#bases[block]) this.#bases[block] = tick
    } else if (READY - tick < this.#bases[block]) {
      this.#bases[block] = READY - tick
      this.#hasReady = true
    }
  }

  /** Writes the delta of a block; false when it does not fit. `isRoomy`: the packet was nearly empty. @hot */
  fill(sequence: number, out: BitWriter, writer: FrameWriter, block: number, isRoomy: boolean): boolean {
    const deltas = this.#deltas
    const base = this.#bases[block]
    const isStale = this.#tick - base > AGE_MAX || base < this.#marks.oldest || !this.#marks.isStored(base)
    const delta = isStale ? NO_BLOCK_DELTA : deltas.find(block, base)
    const count = delta === NO_BLOCK_DELTA ? 0 : deltas.countOf(delta)
    if (delta === NO_BLOCK_DELTA) {
      this.leave(block)
    } else if (count === 0) {
      // Nothing changed since, so the client holds the block as of now.
      if (deltas.isComplete) this.deliver(block, this.#tick)
    } else if (writer.putBlock(out, deltas, delta)) {
      if (deltas.isComplete) this.#records.add(sequence, block | RECORD_BLOCK)
      this.schedule.count(count)
    } else {
      if (writer.beforeIndex >= 0 || this.#isPatient(block, isRoomy)) return false
      this.leave(block)
    }
    if (this.blocksLeft > 0) this.blocksLeft--
    return true
  }

  /** Sends a block one by one from now on. Acknowledgements of the whole block no longer count. */
  leave(block: number): void {
    const isBulk = this.has(block)
    const base = this.#bases[block]
    this.#bases[block] = TRACKED
    this.#since[block] = NEVER
    if (!isBulk) return
    this.count--
    const { ids, types, bornAt, diedAt, oldest } = this.#marks
    const objects = this.#objects
    const tick = this.#tick
    for (let index = block << BLOCK_SHIFT, end = Math.min(index + 32, ids.length); index < end; index++) {
      if (ids[index] === 0) {
        if (diedAt[index] > base) objects.bury(index, tick)
        continue
      }
      objects.enter(index, ids[index], types[index], SET, tick)
      objects.mayHold(index)
      if (base >= oldest && bornAt[index] <= base) objects.rebaseFromBulk(index, base)
    }
  }

  /** Sends all blocks one by one from now on. Returns whether there were any in bulk. */
  leaveAll(): boolean {
    const hadAny = this.count > 0
    if (!hadAny && !this.#hasReady) return false
    for (let block = 0; block < this.#bases.length; block++) this.leave(block)
    this.#tries.fill(0)
    this.#hasReady = false
    this.blocksLeft = 0
    this.isOn = false
    return hadAny
  }

  reserve(blocks: number): void {
    const { length } = this.#bases
    if (blocks <= length) return
    this.#bases = widen(this.#bases, new Float64Array(blocks).fill(TRACKED, length))
    this.#since = widen(this.#since, new Float64Array(blocks).fill(NEVER, length))
    this.#tries = widen(this.#tries, new Uint8Array(blocks))
    this.completes = new Int32Array(blocks)
  }

  /** Blocks whose complete rows were acknowledged enter bulk: only their baseline is stored from now on. */
  #enterReady(): void {
    this.#hasReady = false
    for (let block = 0; block < this.#bases.length; block++) {
      if (this.#bases[block] > READY) continue
      this.#bases[block] = READY - this.#bases[block]
      this.#tries[block] = 0
      this.count++
      this.#objects.dropBlock(block)
    }
  }

  #isCommon(block: number, relevants: Int32Array, specials: Int32Array): boolean {
    return relevants[block] !== 0 && relevants[block] === this.#marks.alives[block] && specials[block] === 0
  }

  /**
   * The objects of a tracked block whose newest row the client is not known to hold; and those at rest for half a
   * window: the row as of the block's baseline must still be in the window when they move again.
   */
  #lacking(block: number): number {
    const { changed, tick, oldest } = this.#marks
    const objects = this.#objects
    const recent = (oldest + tick) / 2
    let lacking = objects.leavings[block]
    for (let rest = objects.knowns[block]; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << BLOCK_SHIFT | 31 - Math.clz32(bit)
      const base = objects.baseOf(index)
      if (base < recent || base < changed[index << 2 | objects.setOf(index)]) lacking |= bit
    }
    return lacking
  }

  /**
   * Whether a delta that does not fit an empty packet may fit a later one: the packet is small, and it is the first
   * attempt.
   */
  #isPatient(block: number, isRoomy: boolean): boolean {
    if (isRoomy || this.#stuckBlock === block) return false
    this.#stuckBlock = block
    return true
  }
}
