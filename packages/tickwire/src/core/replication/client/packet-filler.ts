/**
 * Fills packets with what is due to one client, and records what each packet carried.
 *
 * Entries are written in the order of object indexes: one by one, or a whole block at once where the block is sent in
 * bulk (bulk-path.ts). When room is short, the most urgent objects are chosen first and then written in that order.
 */

import { DATAGRAM_BYTES_SAFE } from '../../base/limits.ts'
import type { PeerId, Tick } from '../../base/time.ts'
import type { BitWriter } from '../../bits/bit-writer.ts'
import type { PacketRecords } from '../../packet/packet-records.ts'
import type { BulkPath } from '../bulk/bulk-path.ts'
import { BLOCK_SHIFT } from '../changes/blocks.ts'
import { DELTA, isPairedBy, NO_BASE, NO_DELTA } from '../encode/delta-cache.ts'
import { REASON } from '../probe.ts'
import type { Replicator } from '../replicator.ts'
import { NONE, STATE_KNOWN, type ClientObjects } from './client-objects.ts'
import type { DueList } from './due-list.ts'
import { FrameWriter } from './frame-writer.ts'
import { RECORD_GONE, RECORD_PAIRED } from './record-entry.ts'
import { sortAscending } from './urgency-order.ts'

/** In place of a delta: the object is sent as gone, and has no bits. */
const GONE = -2
/** The approximate bits of an entry beside its delta: to choose how many objects fit. */
const HEAD_BITS_GUESS = 12
/** Room in a packet that is nearly empty: an entry that does not fit there is itself too large. */
const ROOMY_BITS = DATAGRAM_BYTES_SAFE * 7
const NO_INDEX = -1

export class PacketFiller {
  /** Entries that fit no packet at all, and were not sent. */
  oversizedCount = 0
  #replicator: Replicator
  #writer: FrameWriter
  readonly #peer: PeerId
  readonly #objects: ClientObjects
  readonly #records: PacketRecords
  readonly #due: DueList
  readonly #bulk: BulkPath
  #tick: Tick = NONE
  /** Indexed like the entries that are chosen for a packet: their deltas. */
  #deltas = new Int32Array(0)
  /** Whether the packet was nearly empty when it was begun. */
  #isRoomy = false
  /** Objects of the block that is being written that went into the packet. */
  #sentMask = 0
  /** The object that did not fit a small packet that was empty. */
  #stuckIndex = NO_INDEX

  constructor(
    replicator: Replicator, peer: PeerId, objects: ClientObjects, records: PacketRecords, due: DueList, bulk: BulkPath,
  ) {
    this.#replicator = replicator
    this.#writer = new FrameWriter(replicator.cache)
    this.#peer = peer
    this.#objects = objects
    this.#records = records
    this.#due = due
    this.#bulk = bulk
  }

  /** From the next frame on, bits come from a different cache. */
  retrain(replicator: Replicator): void {
    this.#replicator = replicator
    this.#writer = new FrameWriter(replicator.cache)
    this.#bulk.retrain(replicator.blockDeltas)
  }

  /** Writes entries of a tick after the head of a frame, within `capBits` for the whole frame. @hot */
  fill(sequence: number, out: BitWriter, tick: Tick, capBits: number): void {
    this.#tick = tick
    this.#isRoomy = out.bitsLeft >= ROOMY_BITS
    this.#writer.begin(tick, capBits)
    if (this.#due.isShort) while (this.#fillChosen(sequence, out, capBits)) continue
    else this.#fillInOrder(sequence, out)
  }

  /** Writes what is due in the order of object indexes, as long as it fits. */
  #fillInOrder(sequence: number, out: BitWriter): void {
    const due = this.#due
    const { pendings } = this.#objects
    for (; due.block < pendings.length; due.block++) {
      if (this.#bulk.has(due.block)) {
        if (!this.#bulk.fill(sequence, out, this.#writer, due.block, this.#isRoomy)) return
        continue
      }
      this.#sentMask = 0
      while (pendings[due.block] !== 0) {
        const low = pendings[due.block] & -pendings[due.block]
        if (!this.#put(sequence, out, due.block << BLOCK_SHIFT | 31 - Math.clz32(low))) return
      }
      this.#bulk.noteComplete(sequence, due.block, this.#sentMask)
    }
  }

  /** Writes the entry of an object; false when it waits for the next packet. */
  #put(sequence: number, out: BitWriter, index: number): boolean {
    if (!this.#write(sequence, out, index, this.#deltaOf(index))) {
      if (!this.#isTooLarge(index)) return false
      this.#skip(index)
    }
    this.#due.cursor++
    return true
  }

  /** Chooses the most urgent objects that will fit, and writes them in order; returns whether to choose again. */
  #fillChosen(sequence: number, out: BitWriter, capBits: number): boolean {
    const due = this.#due
    const { entries, count, cursor: first } = due
    if (entries.length > this.#deltas.length) this.#deltas = new Int32Array(entries.length)
    const deltas = this.#deltas
    let room = Math.min(out.bitsLeft, capBits)
    let end = first
    while (end < count && (room > 0 || end === first)) {
      const delta = this.#deltaOf(entries[end])
      deltas[end++] = delta
      room -= HEAD_BITS_GUESS + (delta < 0 ? 0 : this.#replicator.cache.bits[delta])
    }
    sortAscending(entries, deltas, first, end)
    for (let at = first; at < end; at++) {
      const index = entries[at]
      if (!this.#write(sequence, out, index, deltas[at])) {
        if (!this.#isTooLarge(index)) continue
        this.#skip(index)
      }
      entries[at] = entries[due.cursor]
      entries[due.cursor++] = index
    }
    // All chosen entries are too large: others may fit.
    return this.#writer.beforeIndex < 0 && due.cursor > first && due.cursor < count
  }

  /**
   * Whether an entry that did not fit is itself too large: alone in a large packet, or for the second time in a small
   * one. It waits for a later tick, and does not delay other entries.
   */
  #isTooLarge(index: number): boolean {
    if (this.#writer.beforeIndex >= 0) return false
    if (this.#isRoomy || this.#stuckIndex === index) return true
    this.#stuckIndex = index
    return false
  }

  /** An object is not sent in this tick: it will be due in the next. */
  #skip(index: number): void {
    this.#objects.pendings[index >>> BLOCK_SHIFT] &= ~(1 << index)
    this.#objects.restless[index >>> BLOCK_SHIFT] |= 1 << index
  }

  /** The delta that an object needs now; `GONE` when it left. @hot */
  #deltaOf(index: number): number {
    const objects = this.#objects
    if (objects.stateOf(index) !== STATE_KNOWN) return GONE
    const set = objects.setOf(index)
    if (!objects.mayHaveDropped(index, this.#replicator.marks.oldest)) {
      const delta = this.#replicator.deltaFor(index, set, objects.baseOf(index), objects.isPaired(index))
      if (delta !== NO_DELTA) return delta
    }
    objects.restart(index, set, this.#tick)
    return this.#replicator.deltaFor(index, set, NO_BASE, false)
  }

  /** Writes an entry and records it, or gives it up for its size; false when it does not fit. @hot */
  #write(sequence: number, out: BitWriter, index: number, delta: number): boolean {
    const objects = this.#objects
    if (delta !== GONE && (this.#replicator.cache.flags[delta] & DELTA.oversized) !== 0) {
      // Counts as sent: nothing can be done before the object changes.
      this.oversizedCount++
      objects.send(index, this.#tick, false)
      return true
    }
    const { bitLength } = out
    const isWritten = delta === GONE
      ? this.#writer.putGone(out, index, objects.isDespawned(index))
      : this.#writer.put(out, index, delta)
    if (isWritten) this.#record(sequence, index, delta, out.bitLength - bitLength)
    return isWritten
  }

  /** An entry is in the packet. */
  #record(sequence: number, index: number, delta: number, bits: number): void {
    const objects = this.#objects
    const { probe, cache, strideTicks } = this.#replicator
    const base = delta === GONE ? NO_BASE : cache.bases[delta]
    const isPaired = base !== NO_BASE && isPairedBy(base, this.#tick, cache.flags[delta], strideTicks)
    this.#records.add(sequence, delta === GONE ? index | RECORD_GONE : isPaired ? index | RECORD_PAIRED : index)
    if (probe !== undefined) {
      const reason = delta === GONE ? REASON.gone : objects.reasonOf(index)
      probe.onEntry(this.#peer, index, objects.typeOf(index), reason, bits)
    }
    objects.send(index, this.#tick, delta !== GONE)
    this.#sentMask |= 1 << index
  }
}
