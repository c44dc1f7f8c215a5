/**
 * One receiver's snapshots: what he may know and does not know yet, within the room there is.
 *
 *   frame   [ version varint ] tick varint | entries, ascending by object index (entry-code.ts) | zeros to a whole byte
 *
 * The version is that of the tables, where those are not the handshake's: such frames are of a kind of their own.
 *
 * Once a tick it lists what is due (due-list.ts), then fills packets with it (packet-filler.ts), each of which can be read alone. A packet
 * that arrives makes its rows baselines; one that is lost makes what it carried due again. When not everything fits, the
 * most urgent go first.
 *
 * Bits come from the cache that all receivers share. After warm-up nothing is allocated.
 */

import { assert } from '../base/assert.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { indexOf } from '../world/object-table.ts'
import { ArrivedPackets } from './arrived-packets.ts'
import { ByteCap } from './byte-cap.ts'
import { BLOCK_SHIFT } from './change-masks.ts'
import { NO_BASE } from './delta-cache.ts'
import { DueList } from './due-list.ts'
import { PacketFiller } from './packet-filler.ts'
import { NO_RECORD, PacketRecords, RECORD_ALIKE, RECORD_BLOCK, RECORD_INDEX, RECORD_SHEET } from './packet-records.ts'
import type { Relevance } from './relevance.ts'
import type { Replicator } from './replicator.ts'
import { SheetBlocks } from './sheet-blocks.ts'
import { StateWalker } from './state-walker.ts'
import { ToldBlocks } from './told-blocks.ts'
import { NONE, STATE, ToldObjects } from './told-objects.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { known: KNOWN } = STATE
const FROM_INITIAL = NO_BASE
const NOTHING = NONE
const BLOCK_BIT = RECORD_BLOCK
const ALIKE_BIT = RECORD_ALIKE
const SHEET_BIT = RECORD_SHEET
const INDEX_BITS = RECORD_INDEX
const NOT_OPEN = NO_RECORD
const SHIFT = BLOCK_SHIFT

const NO_SEQUENCE = -1

export interface SnapshotSourceOptions {
  /** Bytes of snapshots a second at most, whatever the path would take. Default: only the path decides. */
  readonly bytesPerSecond?: number
  /** Needed for the cap. */
  readonly tickRate?: number
  /** Looks at every object by itself: the slow twin, which sends the same bits. */
  readonly isOneByOne?: boolean
}

export class SnapshotSource implements FrameSource {
  #replicator: Replicator
  /** Of the tables; 0 = those of the handshake. */
  #version = 0
  readonly #peer: PeerId
  readonly #told: ToldObjects
  readonly #blocks: ToldBlocks
  readonly #arrived: ArrivedPackets
  readonly #records = new PacketRecords()
  readonly #walker: StateWalker
  readonly #sheets: SheetBlocks
  readonly #due: DueList
  readonly #filler: PacketFiller
  /** The tick that is told. */
  #tick: Tick = NOTHING
  #sequence = NO_SEQUENCE
  /** Nothing has arrived yet, and nothing is on its way: even an empty world has a tick that must be known. */
  #mustGreet = true
  #isGreeted = false
  readonly #cap: ByteCap
  /** Whether he may be sent what others are. */
  readonly #isSocial: boolean

  constructor(replicator: Replicator, relevance: Relevance, peer: PeerId, options: SnapshotSourceOptions = {}) {
    const { bytesPerSecond = Infinity, tickRate = 0, isOneByOne = false } = options
    this.#replicator = replicator
    this.#told = new ToldObjects(replicator.strideTicks)
    const usesOlder = replicator.coders.some((coder) => coder.usesOlder === true)
    this.#blocks = new ToldBlocks(this.#told, replicator.marks, replicator.grid, usesOlder, !isOneByOne)
    this.#sheets = new SheetBlocks(this.#told, this.#blocks, replicator.marks, replicator.grid, replicator.needsOlder)
    this.#arrived = new ArrivedPackets(this.#records, this.#blocks, this.#told, replicator.marks, replicator.grid, usesOlder, this.#sheets)
    // Who has a cap of his own is never sent what another is.
    this.#isSocial = !isOneByOne && bytesPerSecond === Infinity
    this.#walker = new StateWalker(replicator.states, this.#blocks, replicator.marks, this.#isSocial)
    this.#due = new DueList(this.#told, this.#blocks, replicator.marks, relevance, this.#walker, this.#sheets, replicator.grid)
    this.#filler = new PacketFiller(replicator, peer, this.#told, this.#blocks, this.#records, this.#due, this.#walker, this.#sheets)
    this.#peer = peer
    this.#cap = new ByteCap(bytesPerSecond, tickRate)
  }

  /** The newest tick that the receiver is known to hold an object's row of; -1 when there is none. */
  baselineOf(id: ObjectId): Tick {
    this.#walker.catchUp()
    const index = indexOf(id)
    if (this.#sheets.has(index >>> SHIFT)) return this.#sheets.baseOf(index, id)
    const isKnown = index < this.#told.ids.length && this.#told.ids[index] === id && this.#told.states[index] === KNOWN
    return isKnown ? this.#blocks.baseOf(index) : FROM_INITIAL
  }

  /** Entries that fit no packet at all, and were not sent. */
  get oversizedCount(): number {
    return this.#filler.oversizedCount
  }

  /** Entries that still wait for room in this tick; blocks that are told by sheets count for one. */
  get waitingCount(): number {
    return this.#due.count - this.#due.cursor + this.#due.sheetsLeft
  }

  /** Objects that are told 32 at a time, for their numbers are like those of others. */
  get memberCount(): number {
    this.#walker.catchUp()
    return this.#blocks.memberCount
  }

  /** Ticks in which not everything that was due could be sent. */
  get shortTicks(): number {
    return this.#due.shortTicks
  }

  /** The receiver asks for an object whole: what he holds of it is of no use to him. */
  handleWanted(id: ObjectId): void {
    const told = this.#told
    const index = indexOf(id)
    this.#sheets.leave(index >>> SHIFT, this.#tick)
    if (index < told.ids.length && told.ids[index] === id && told.states[index] === KNOWN) this.#filler.restart(index, this.#tick)
  }

  /**
   * From the next frame on rows are told by tables of a version that the receiver holds. What he was told before and what is on its way
   * stays what it is: rows are baselines, by whatever tables they came. Whoever calls this changes the kind of the frames.
   */
  retrain(replicator: Replicator, version: number): void {
    assert(replicator.marks === this.#replicator.marks, 'who is retrained is told of the same world')
    this.#walker.move(replicator.states)
    this.#records.unshare()
    this.#filler.retrain(replicator)
    this.#replicator = replicator
    this.#version = version
  }

  /** Only a tick makes it want a packet, and whoever runs ticks wakes the connections. */
  attach(): void {}

  begin(): void {
    this.#replicator.update()
    const { tick } = this.#replicator.marks
    if (tick === this.#tick) return
    this.#tick = tick
    this.#due.refresh(this.#isSocial && !this.#replicator.isProbedOneByOne)
    this.#cap.refill()
  }

  wantsAt(now: Millis): Millis {
    // Nothing has happened yet.
    if (this.#replicator.timeline.newest < 0) return Infinity
    if (this.#replicator.timeline.newest !== this.#tick || this.#mustGreet) return now
    return !this.#due.isDone && this.#cap.bits > 0 ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    // The rows are of a newer tick by now, which another began: what found no room waits for the next that is begun here.
    if (this.#tick === NOTHING || sequence === this.#sequence || this.#replicator.marks.tick !== this.#tick) return false
    if (!this.#mustGreet && (this.#due.isDone || this.#cap.bits <= 0)) return false
    if (this.#version !== 0) writeVarint(out, this.#version)
    writeVarint(out, this.#tick)
    if (out.failed) return false
    const headBits = out.bitLength
    this.#open(sequence)
    this.#filler.fill(sequence, out, this.#tick, this.#cap.bits)
    const entryBits = out.bitLength - headBits
    if (entryBits === 0 && !this.#mustGreet) {
      this.#records.close(this.#records.find(sequence))
      return false
    }
    // Only now: a packet that nobody fills is not sent, and the next one has its number.
    this.#sequence = sequence
    this.#mustGreet = false
    this.#cap.spend(out.bitLength)
    this.#replicator.probe?.onFrame(this.#peer, this.#tick, headBits + (-out.bitLength & 7), entryBits)
    return true
  }

  /** @hot */
  onDelivered(_now: Millis, sequence: number): void {
    const records = this.#records
    const slot = records.find(sequence)
    if (slot === NOT_OPEN) return
    this.#isGreeted = true
    const frame = records.frameOf(slot)
    if (!this.#walker.followDelivered(frame)) {
      this.#arrived.deliver(slot)
      this.#walker.addDelivered(frame, this.#due.count, this.#due.cursor, this.#due.block)
    }
    records.close(slot)
  }

  /** @hot */
  onLost(_now: Millis, sequence: number): void {
    const records = this.#records
    const slot = records.find(sequence)
    if (slot === NOT_OPEN) return
    this.#walker.leave()
    const { store, mask } = records
    const tick = records.tickOf(slot)
    const count = records.countOf(slot)
    for (let step = 0, at = records.startOf(slot); step < count; step++, at++) {
      const entry = store[at & mask]
      const index = entry & INDEX_BITS
      if ((entry & SHEET_BIT) !== 0) continue
      if ((entry & BLOCK_BIT) !== 0) {
        if (!this.#sheets.has(index)) this.#blocks.lose(index, store[(at + 1) & mask] | 0, tick)
        step += (entry & ALIKE_BIT) !== 0 ? 1 : 2
        at += (entry & ALIKE_BIT) !== 0 ? 1 : 2
      } else if (!this.#sheets.has(index >>> SHIFT)) {
        this.#blocks.lose(index >>> SHIFT, 1 << index, tick)
      }
    }
    this.#mustGreet = !this.#isGreeted
    records.close(slot)
  }

  /** Begins the record of a packet. A packet so old that its place is needed is lost. */
  #open(sequence: number): void {
    const occupant = this.#records.occupant(sequence)
    if (occupant >= 0) this.onLost(0, occupant)
    this.#records.open(sequence, this.#tick)
  }
}
