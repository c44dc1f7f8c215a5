/**
 * One receiver's snapshots: what he may know and does not know yet, within the room there is.
 *
 *   frame   tick varint | entries, ascending by object index (entry-code.ts) | zeros to a whole byte
 *
 * Once a tick it lists what is due (due-list.ts), then fills packets from the list, each of which can be read alone. A packet
 * that arrives makes its rows baselines; one that is lost makes what it carried due again. When not everything fits, the
 * most urgent go first.
 *
 * Bits come from the cache that all receivers share. After warm-up nothing is allocated.
 */

import { DATAGRAM_BYTES_SAFE } from '../base/limits.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { indexOf } from '../world/object-table.ts'
import { ByteCap } from './byte-cap.ts'
import { BLOCK_SHIFT, countBits } from './change-masks.ts'
import { DELTA, NO_BASE, NO_DELTA } from './delta-cache.ts'
import { DueList } from './due-list.ts'
import { NO_RECORD, PacketRecords, RECORD_BLOCK, RECORD_GONE, RECORD_INDEX, RECORD_PAIRED } from './packet-records.ts'
import { REASON } from './probe.ts'
import type { Relevance } from './relevance.ts'
import type { Replicator } from './replicator.ts'
import { SnapshotFrame } from './snapshot-frame.ts'
import { NO_STRIP } from './strip-cache.ts'
import { ToldBlocks } from './told-blocks.ts'
import { FLAG, NONE, STATE, ToldObjects } from './told-objects.ts'
import { sortAscending } from './urgency-order.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { rested: RESTED, oversized: OVERSIZED } = DELTA
const { known: KNOWN, leaving: LEAVING } = STATE
const { despawned: DESPAWNED, mayHold: MAY_HOLD } = FLAG
const FROM_INITIAL = NO_BASE
const NOT_THERE = NO_DELTA
const NOTHING = NONE
const BLOCK_BIT = RECORD_BLOCK
const GONE_BIT = RECORD_GONE
const PAIRED_BIT = RECORD_PAIRED
const INDEX_BITS = RECORD_INDEX
const NOT_OPEN = NO_RECORD
const NOT_STRIPPED = NO_STRIP
const SHIFT = BLOCK_SHIFT
const { gone: REASON_GONE, changed: REASON_CHANGED } = REASON

const NO_SEQUENCE = -1
/** In the place of a delta: the object is gone, and there are no bits of it. */
const GONE = -2
/** What an entry takes beside its delta, about: for choosing who fits. */
const HEAD_BITS_GUESS = 12
/** Bits of a packet that is nearly empty: what does not fit there does not fit because of its own size. */
const ROOMY_BITS = DATAGRAM_BYTES_SAFE * 7

export interface SnapshotSourceOptions {
  /** Bytes of snapshots a second at most, whatever the path would take. Default: only the path decides. */
  readonly bytesPerSecond?: number
  /** Needed for the cap. */
  readonly tickRate?: number
  /** Looks at every object by itself: the slow twin, which sends the same bits. */
  readonly isOneByOne?: boolean
}

export class SnapshotSource implements FrameSource {
  /** Entries that fit no packet at all, and were not sent. */
  oversizedCount = 0
  readonly #replicator: Replicator
  readonly #peer: PeerId
  readonly #told = new ToldObjects()
  readonly #blocks: ToldBlocks
  readonly #records = new PacketRecords()
  readonly #due: DueList
  readonly #frame: SnapshotFrame
  /** The tick that is told. */
  #tick: Tick = NOTHING
  /** Beside the entries that are chosen for a packet: their deltas. */
  #deltas = new Int32Array(0)
  #sequence = NO_SEQUENCE
  /** Nothing has arrived yet, and nothing is on its way: even an empty world has a tick that must be known. */
  #mustGreet = true
  #isGreeted = false
  readonly #cap: ByteCap
  /** Whether the packet was nearly empty that is being written. */
  #isRoomy = false
  /** Of the block that is being written: members who are in the packet, and those with whom the row before is held. */
  #sentMask = 0
  #heldMask = 0
  /** Who did not fit a small packet that was empty. */
  #stuckIndex = -1

  constructor(replicator: Replicator, relevance: Relevance, peer: PeerId, options: SnapshotSourceOptions = {}) {
    const { bytesPerSecond = Infinity, tickRate = 0, isOneByOne = false } = options
    this.#replicator = replicator
    this.#blocks = new ToldBlocks(this.#told, replicator.marks, replicator.coders.some(({ usesOlder }) => usesOlder === true), !isOneByOne)
    this.#due = new DueList(this.#told, this.#blocks, replicator.marks, relevance)
    this.#frame = new SnapshotFrame(replicator.cache, replicator.strips)
    this.#peer = peer
    this.#cap = new ByteCap(bytesPerSecond, tickRate)
  }

  /** The newest tick that the receiver is known to hold an object's row of; -1 when there is none. */
  baselineOf(id: ObjectId): Tick {
    const index = indexOf(id)
    const isKnown = index < this.#told.ids.length && this.#told.ids[index] === id && this.#told.states[index] === KNOWN
    return isKnown ? this.#blocks.baseOf(index) : FROM_INITIAL
  }

  /** Entries that still wait for room in this tick. */
  get waitingCount(): number {
    return this.#due.count - this.#due.cursor
  }

  /** Objects that are told 32 at a time, for their numbers are like those of others. */
  get memberCount(): number {
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
    if (index < told.ids.length && told.ids[index] === id && told.states[index] === KNOWN) this.#restart(index)
  }

  /** Only a tick makes it want a packet, and whoever runs ticks wakes the connections. */
  attach(): void {}

  begin(): void {
    this.#replicator.update()
    const { tick } = this.#replicator.marks
    if (tick === this.#tick) return
    this.#tick = tick
    this.#due.refresh()
    this.#cap.refill()
    if (this.#due.entries.length > this.#deltas.length) this.#deltas = new Int32Array(this.#due.entries.length)
  }

  wantsAt(now: Millis): Millis {
    // Nothing has happened yet.
    if (this.#replicator.timeline.newest < 0) return Infinity
    if (this.#replicator.timeline.newest !== this.#tick || this.#mustGreet) return now
    return this.#due.cursor < this.#due.count && this.#cap.bits > 0 ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#tick === NOTHING || sequence === this.#sequence) return false
    if (!this.#mustGreet && (this.#due.cursor >= this.#due.count || this.#cap.bits <= 0)) return false
    writeVarint(out, this.#tick)
    if (out.failed) return false
    const headBits = out.bitLength
    this.#frame.begin(this.#tick, this.#cap.bits)
    this.#isRoomy = out.bitsLeft >= ROOMY_BITS
    this.#open(sequence)
    if (this.#due.isShort) while (this.#fillChosen(sequence, out)) continue
    else this.#fillInOrder(sequence, out)
    const entryBits = out.bitLength - headBits
    if (entryBits === 0 && !this.#mustGreet) {
      this.#records.close(this.#records.find(sequence))
      return false
    }
    // Only now: a packet that nobody fills is not sent, and the next one has its number.
    this.#sequence = sequence
    this.#mustGreet = false
    this.#cap.bits -= out.bitLength
    this.#replicator.probe?.onFrame(this.#peer, this.#tick, headBits + (-out.bitLength & 7), entryBits)
    return true
  }

  /** @hot */
  onDelivered(_now: Millis, sequence: number): void {
    const { store, mask, starts, counts, ticks } = this.#records
    const slot = this.#records.find(sequence)
    if (slot === NOT_OPEN) return
    const blocks = this.#blocks
    this.#isGreeted = true
    const tick = ticks[slot]
    const start = starts[slot]
    const count = counts[slot]
    const isLate = this.#tick - tick >= this.#replicator.timeline.windowTicks
    for (let at = 0; at < count; at++) {
      const entry = store[(start + at) & mask]
      const index = entry & INDEX_BITS
      if ((entry & BLOCK_BIT) !== 0) {
        blocks.deliver(index, store[(start + at + 1) & mask] | 0, store[(start + at + 2) & mask] | 0, tick, isLate)
        at += 2
      } else if ((entry & GONE_BIT) !== 0) {
        this.#told.forget(index, tick)
        if (this.#told.states[index] !== KNOWN) blocks.leave(index, this.#told.states[index] === LEAVING)
      } else {
        blocks.promote(index, tick, (entry & PAIRED_BIT) !== 0, isLate)
      }
    }
    this.#records.close(slot)
  }

  /** @hot */
  onLost(_now: Millis, sequence: number): void {
    const { store, mask, starts, counts, ticks } = this.#records
    const slot = this.#records.find(sequence)
    if (slot === NOT_OPEN) return
    for (let at = 0, start = starts[slot]; at < counts[slot]; at++) {
      const entry = store[(start + at) & mask]
      const index = entry & INDEX_BITS
      if ((entry & BLOCK_BIT) !== 0) {
        this.#blocks.lose(index, store[(start + at + 1) & mask] | 0, ticks[slot])
        at += 2
      } else {
        this.#blocks.lose(index >>> SHIFT, 1 << index, ticks[slot])
      }
    }
    this.#mustGreet = !this.#isGreeted
    this.#records.close(slot)
  }

  /** Writes what is due in the order of the packet. */
  #fillInOrder(sequence: number, out: BitWriter): void {
    const due = this.#due
    const { pendings } = this.#blocks
    for (; due.block < pendings.length; due.block++) {
      if (pendings[due.block] === 0) continue
      this.#sentMask = 0
      this.#heldMask = 0
      const isDone = this.#fillBlock(sequence, out, due.block)
      if (this.#sentMask !== 0) this.#records.addBlock(sequence, due.block, this.#sentMask, this.#heldMask)
      if (!isDone) return
    }
  }

  /** Writes what is due of a block; false when not all of it fits. */
  #fillBlock(sequence: number, out: BitWriter, block: number): boolean {
    const { pendings, cohorts, aheads, levels, aheadLevels } = this.#blocks
    while (pendings[block] !== 0) {
      const pending = pendings[block]
      const cohort = cohorts[block]
      const low = pending & -pending
      if ((cohort & low) === 0) {
        if (!this.#putLoose(sequence, out, block << SHIFT | 31 - Math.clz32(low))) return false
        continue
      }
      const isAhead = (aheads[block] & low) !== 0
      // Members of one level, up to the first who is something else.
      const others = pending & ~(isAhead ? aheads[block] : cohort & ~aheads[block])
      const wanted = others === 0 ? pending : pending & ((others & -others) - 1)
      if (this.#putMembers(out, block, wanted, isAhead ? aheadLevels[block] : levels[block])) continue
      if (this.#frame.beforeIndex >= 0) return false
      // What does not even fit an empty packet is looked at by itself.
      this.#blocks.loosen(block, low)
    }
    return true
  }

  /** Writes an entry by itself; false when it does not fit, and is not to blame for that. */
  #putLoose(sequence: number, out: BitWriter, index: number): boolean {
    if (!this.#write(sequence, out, index, this.#deltaOf(index))) {
      if (!this.#isTooLarge(index)) return false
      this.#skip(index)
    }
    this.#due.cursor++
    return true
  }

  /** Writes as many members of a block from the lowest on as one run has; false when there is none that fits. */
  #putMembers(out: BitWriter, block: number, wanted: number, level: Tick): boolean {
    const { strips, cache, probe } = this.#replicator
    const blocks = this.#blocks
    const set = blocks.sets[block]
    const low = wanted & -wanted
    const { bitLength } = out
    const strip = strips.find(block, set, level, wanted, blocks.paireds[block])
    let sent = low
    if (strip !== NOT_STRIPPED && (strips.masks[strip] & low) !== 0) {
      sent = this.#frame.putRun(out, block, wanted, strip)
      if (sent === 0) return false
      this.#heldMask |= sent & strips.helds[strip]
      if (probe !== undefined) this.#frame.tell(probe, out, bitLength, strip, sent, this.#peer, block, this.#told.types)
    } else {
      const index = block << SHIFT | 31 - Math.clz32(low)
      const delta = strips.deltaAt(index, set, level, (blocks.paireds[block] & low) !== 0)
      if (delta === NOT_THERE || (cache.flags[delta] & OVERSIZED) !== 0) {
        blocks.loosen(block, low)
        return true
      }
      if (!this.#frame.put(out, index, delta)) return false
      if (cache.bases[delta] === this.#tick - 1 || (cache.flags[delta] & RESTED) !== 0) this.#heldMask |= low
      if (probe !== undefined) probe.onEntry(this.#peer, index, this.#told.types[index], REASON_CHANGED, out.bitLength - bitLength)
    }
    this.#sentMask |= sent
    blocks.pendings[block] &= ~sent
    this.#due.cursor += countBits(sent)
    return true
  }

  /** Chooses from the front of the list what will fit, and writes it in the order of the packet; whether to choose again. */
  #fillChosen(sequence: number, out: BitWriter): boolean {
    const due = this.#due
    const { entries, count } = due
    const deltas = this.#deltas
    const first = due.cursor
    let room = Math.min(out.bitsLeft, this.#cap.bits)
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
    // All that was chosen is too large: others may fit.
    return this.#frame.beforeIndex < 0 && due.cursor > first && due.cursor < count
  }

  /**
   * Whether an entry that did not fit is itself to blame: alone in a large packet, or for the second time in a small one. It
   * waits for another tick, and holds nobody up.
   */
  #isTooLarge(index: number): boolean {
    if (this.#frame.beforeIndex >= 0) return false
    if (this.#isRoomy || this.#stuckIndex === index) return true
    this.#stuckIndex = index
    return false
  }

  /** An entry is not sent in this tick: it will be due in the next. */
  #skip(index: number): void {
    this.#blocks.pendings[index >>> SHIFT] &= ~(1 << index)
    this.#blocks.restless[index >>> SHIFT] |= 1 << index
  }

  /** The delta that a loose object needs now; `GONE` when it needs to be gone. @hot */
  #deltaOf(index: number): number {
    const told = this.#told
    if (told.states[index] !== KNOWN) return GONE
    const set = told.sets[index]
    const delta = this.#replicator.deltaFor(index, set, told.bases[index], told.pairs[index])
    if (delta !== NOT_THERE) return delta
    this.#restart(index)
    return this.#replicator.deltaFor(index, set, FROM_INITIAL, FROM_INITIAL)
  }

  #restart(index: number): void {
    this.#told.restart(index, this.#told.sets[index], this.#tick)
    this.#blocks.enter(index)
  }

  /** Writes an entry and remembers it, or counts it out for its size; false when it does not fit, and nothing is written. @hot */
  #write(sequence: number, out: BitWriter, index: number, delta: number): boolean {
    if (delta !== GONE && (this.#replicator.cache.flags[delta] & OVERSIZED) !== 0) {
      // As if sent: nothing can be done before it changes.
      this.oversizedCount++
      this.#told.sents[index] = this.#tick
      this.#blocks.pendings[index >>> SHIFT] &= ~(1 << index)
      return true
    }
    const { bitLength } = out
    const isWritten = delta === GONE
      ? this.#frame.putGone(out, index, (this.#told.flags[index] & DESPAWNED) !== 0)
      : this.#frame.put(out, index, delta)
    if (isWritten) this.#remember(sequence, index, delta, out.bitLength - bitLength)
    return isWritten
  }

  /** An entry is in the packet: who it is of has been told, until the packet is lost. */
  #remember(sequence: number, index: number, delta: number, bits: number): void {
    const told = this.#told
    const { probe, cache } = this.#replicator
    const base = delta === GONE ? FROM_INITIAL : cache.bases[delta]
    const isPaired = base !== FROM_INITIAL && (base === this.#tick - 1 || (cache.flags[delta] & RESTED) !== 0)
    this.#records.add(sequence, delta === GONE ? index | GONE_BIT : isPaired ? index | PAIRED_BIT : index)
    if (probe !== undefined) probe.onEntry(this.#peer, index, told.types[index], delta === GONE ? REASON_GONE : told.reasons[index], bits)
    this.#blocks.pendings[index >>> SHIFT] &= ~(1 << index)
    told.sents[index] = this.#tick
    told.urgencies[index] = 0
    if (delta === GONE) return
    if (base !== FROM_INITIAL) told.reasons[index] = REASON_CHANGED
    told.flags[index] |= MAY_HOLD
  }

  /** Begins the record of a packet. A packet so old that its place is needed is lost. */
  #open(sequence: number): void {
    const occupant = this.#records.occupant(sequence)
    if (occupant >= 0) this.onLost(0, occupant)
    this.#records.open(sequence, this.#tick)
  }
}
