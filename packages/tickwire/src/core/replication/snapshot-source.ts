/**
 * One client's snapshots: the rows that the client may know and does not have yet, within the available room.
 *
 *   frame   [ version varint ] tick varint | entries, ascending by object index (entry-code.ts) | zeros to a whole byte
 *
 * The version is that of the tables, where those are not the handshake's: such frames have a kind of their own.
 *
 * Once a tick it lists what is due (client/due-list.ts), then fills packets with it (client/packet-filler.ts). Each
 * packet can be read alone. An acknowledged packet makes its rows baselines; a lost one makes its content due again.
 * When not everything fits, the most urgent objects go first.
 *
 * Bits come from the cache that all clients share (replicator.ts). After warm-up nothing is allocated.
 */

import { assert, ConfigError } from '../base/assert.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { NO_RECORD, PacketRecords } from '../packet/packet-records.ts'
import { indexOf } from '../world/object-table.ts'
import { BulkPath } from './bulk/bulk-path.ts'
import { BLOCK_SHIFT } from './changes/blocks.ts'
import { ClientObjects, NONE } from './client/client-objects.ts'
import { DueList } from './client/due-list.ts'
import { PacketFiller } from './client/packet-filler.ts'
import { RECORD_BLOCK, RECORD_GONE, RECORD_INDEX, RECORD_PAIRED } from './client/record-entry.ts'
import { NO_BASE } from './encode/delta-cache.ts'
import type { Relevance } from './relevance.ts'
import type { Replicator } from './replicator.ts'

const NO_SEQUENCE = -1
/** The seconds of a cap that may accumulate: enough for a burst of one packet flight, not for a flood after silence. */
const SAVED_SECONDS = 0.25

/** In place of the bits left: no limit. A small integer, because a double would be boxed when it is passed. */
const NO_CAP = 0x3fff_ffff

export interface SnapshotSourceOptions {
  /** The most bytes of snapshots per second, whatever the path allows. Default: only the path decides. */
  readonly bytesPerSecond?: number
  /** Ticks per second. Needed for the cap. */
  readonly tickRate?: number
}

export class SnapshotSource implements FrameSource {
  #replicator: Replicator
  /** The version of the tables; 0 = those of the handshake. */
  #version = 0
  readonly #peer: PeerId
  readonly #objects: ClientObjects
  readonly #records = new PacketRecords()
  readonly #bulk: BulkPath
  readonly #due: DueList
  readonly #filler: PacketFiller
  readonly #cap: ByteCap
  /** A client with a cap of its own is never sent a block in bulk: block deltas have no order of urgency. */
  readonly #mayBulk: boolean
  /** The tick being sent. */
  #tick: Tick = NONE
  #sequence = NO_SEQUENCE
  /** Nothing has arrived yet and nothing is in flight: the client must receive the tick even of an empty world. */
  #mustGreet = true
  #isGreeted = false

  constructor(replicator: Replicator, relevance: Relevance, peer: PeerId, options: SnapshotSourceOptions = {}) {
    const { bytesPerSecond = Infinity, tickRate = 0 } = options
    const { marks, blockDeltas, schedule, strideTicks, coders } = replicator
    this.#replicator = replicator
    this.#peer = peer
    this.#objects = new ClientObjects(strideTicks, coders.some(({ usesOlder }) => usesOlder === true))
    this.#bulk = new BulkPath(schedule, blockDeltas, this.#objects, marks, this.#records)
    this.#due = new DueList(this.#objects, marks, relevance, this.#bulk)
    this.#filler = new PacketFiller(replicator, peer, this.#objects, this.#records, this.#due, this.#bulk)
    this.#cap = new ByteCap(bytesPerSecond, tickRate)
    this.#mayBulk = bytesPerSecond === Infinity
  }

  /** The newest tick of an object's row that the client is known to hold; -1 when there is none. */
  baselineOf(id: ObjectId): Tick {
    const index = indexOf(id)
    if (this.#bulk.has(index >>> BLOCK_SHIFT)) return this.#bulk.baseOf(index, id)
    return this.#objects.isKnown(index, id) ? this.#objects.baseOf(index) : NO_BASE
  }

  /** Entries that fit no packet at all, and were not sent. */
  get oversizedCount(): number {
    return this.#filler.oversizedCount
  }

  /** Entries that still wait for room in this tick; a block in bulk counts as one. */
  get waitingCount(): number {
    return this.#due.count - this.#due.cursor + this.#bulk.blocksLeft
  }

  /** Blocks that are sent in bulk. */
  get bulkCount(): number {
    return this.#bulk.count
  }

  /** Ticks in which not everything that was due could be sent. */
  get shortTicks(): number {
    return this.#due.shortTicks
  }

  /** The client requests a full row of an object, because it cannot use the rows that it holds. */
  handleWanted(id: ObjectId): void {
    const objects = this.#objects
    const index = indexOf(id)
    if (index >= objects.ids.length) return
    this.#bulk.leave(index >>> BLOCK_SHIFT)
    if (objects.isKnown(index, id)) objects.restart(index, objects.setOf(index), this.#tick)
  }

  /**
   * From the next frame on, rows are encoded with tables of a version that the client has. Rows sent before, and rows
   * in flight, stay valid baselines, whatever tables encoded them. The caller changes the kind of the frames.
   */
  retrain(replicator: Replicator, version: number): void {
    assert(replicator.marks === this.#replicator.marks, 'a retrained client is sent the same world')
    this.#filler.retrain(replicator)
    this.#replicator = replicator
    this.#version = version
  }

  /** Only a tick makes it want a packet, and the host that runs ticks wakes the connections. */
  attach(): void {}

  begin(): void {
    this.#replicator.update()
    const { tick } = this.#replicator.marks
    if (tick === this.#tick) return
    this.#tick = tick
    this.#due.refresh(this.#mayBulk && !this.#replicator.isProbedOneByOne)
    this.#cap.refill()
  }

  wantsAt(now: Millis): Millis {
    // No tick has been stepped yet.
    if (this.#replicator.timeline.newest < 0) return Infinity
    if (this.#replicator.timeline.newest !== this.#tick || this.#mustGreet) return now
    return !this.#due.isDone && this.#cap.bits > 0 ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    // A different client began a newer tick: entries without room wait for the next tick that begins here.
    if (this.#tick === NONE || sequence === this.#sequence || this.#replicator.marks.tick !== this.#tick) return false
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
    // Only now: an empty packet is not sent, and the next one gets its number.
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
    if (slot === NO_RECORD) return
    this.#isGreeted = true
    const { store, mask } = records
    const { oldest } = this.#replicator.marks
    const tick = records.tickOf(slot)
    const start = records.startOf(slot)
    for (let at = start, end = start + records.countOf(slot); at < end; at++) {
      const entry = store[at & mask]
      const index = entry & RECORD_INDEX
      if ((entry & RECORD_BLOCK) !== 0) this.#bulk.deliver(index, tick)
      else if ((entry & RECORD_GONE) !== 0) this.#objects.forget(index, tick)
      else this.#objects.promote(index, tick, (entry & RECORD_PAIRED) !== 0, oldest)
    }
    records.close(slot)
  }

  /** @hot */
  onLost(_now: Millis, sequence: number): void {
    const records = this.#records
    const slot = records.find(sequence)
    if (slot === NO_RECORD) return
    const { store, mask } = records
    const tick = records.tickOf(slot)
    const start = records.startOf(slot)
    for (let at = start, end = start + records.countOf(slot); at < end; at++) {
      const entry = store[at & mask]
      // Nothing to do for a block: its next delta is against the same baseline.
      if ((entry & RECORD_BLOCK) === 0) this.#objects.lose(entry & RECORD_INDEX, tick)
    }
    this.#mustGreet = !this.#isGreeted
    records.close(slot)
  }

  /** Begins the record of a packet. A packet so old that its slot is needed counts as lost. */
  #open(sequence: number): void {
    const occupant = this.#records.occupant(sequence)
    if (occupant >= 0) this.onLost(0, occupant)
    this.#records.open(sequence, this.#tick)
  }
}

/** The bits of snapshots that a client may still be sent: a rate in bytes per second, credited tick by tick. */
class ByteCap {
  /** The bits left; a frame's first entry may overdraw it. */
  bits = 0
  readonly #bitsPerTick: number
  readonly #bitsMax: number
  /** The same with its fraction. */
  readonly #exact = new Float64Array(1)

  constructor(bytesPerSecond: number, tickRate: number) {
    if (!(bytesPerSecond > 0))
      throw new ConfigError(
        'bytesPerSecond',
        `invalid rate (expected above 0, got ${bytesPerSecond})`,
        'give a rate above 0, or leave it out.',
      )
    if (bytesPerSecond !== Infinity && !(tickRate > 0))
      throw new ConfigError(
        'tickRate',
        `invalid rate (expected above 0, got ${tickRate})`,
        'give the tick rate: a cap needs it.',
      )
    this.#bitsPerTick = bytesPerSecond === Infinity ? Infinity : (bytesPerSecond * 8) / tickRate
    this.#bitsMax = Math.min(Math.max(bytesPerSecond * 8 * SAVED_SECONDS, this.#bitsPerTick), NO_CAP)
  }

  /** Credits a new tick. @hot */
  refill(): void {
    if (this.#bitsPerTick === Infinity) {
      this.bits = NO_CAP
      return
    }
    this.#exact[0] = Math.min(this.#exact[0] + this.#bitsPerTick, this.#bitsMax)
    this.bits = Math.ceil(this.#exact[0]) | 0
  }

  /** Debits a frame that was written. @hot */
  spend(bits: number): void {
    if (this.#bitsPerTick === Infinity) return
    this.#exact[0] -= bits
    this.bits = Math.ceil(this.#exact[0]) | 0
  }
}
