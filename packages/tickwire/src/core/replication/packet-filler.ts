/**
 * Fills packets with what is due to one receiver, and remembers what each carried.
 *
 * In the order of the packet: whole frames that another receiver was sent (frame-cache.ts), else runs of members that strips have
 * (strip-cache.ts), else entries one by one. When room is short: the most urgent, one by one. All of these write the same bits.
 */

import { DATAGRAM_BYTES_SAFE } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { BLOCK_SHIFT, countBits } from './change-masks.ts'
import { NO_CAP } from './byte-cap.ts'
import { DELTA, isPairedBy, NO_BASE, NO_DELTA } from './delta-cache.ts'
import type { DueList } from './due-list.ts'
import { NO_FRAME } from './frame-cache.ts'
import { RECORD_GONE, RECORD_PAIRED, type PacketRecords } from './packet-records.ts'
import { REASON } from './probe.ts'
import type { Replicator } from './replicator.ts'
import type { SheetBlocks } from './sheet-blocks.ts'
import { SheetFiller } from './sheet-filler.ts'
import { SnapshotFrame } from './snapshot-frame.ts'
import type { StateWalker } from './state-walker.ts'
import { NO_STRIP } from './strip-cache.ts'
import { PLANE, type ToldBlocks } from './told-blocks.ts'
import { FLAG, NONE, STATE, type ToldObjects } from './told-objects.ts'
import { sortAscending } from './urgency-order.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { oversized: OVERSIZED } = DELTA
const { known: KNOWN } = STATE
const { despawned: DESPAWNED, mayHold: MAY_HOLD } = FLAG
const FROM_INITIAL = NO_BASE
const NOT_THERE = NO_DELTA
const NOTHING = NONE
const GONE_BIT = RECORD_GONE
const PAIRED_BIT = RECORD_PAIRED
const NOT_KEPT = NO_FRAME
const NOT_STRIPPED = NO_STRIP
const SHIFT = BLOCK_SHIFT
const UNCAPPED = NO_CAP
const { aheads: AHEADS, sets: SETS, pendings: PENDINGS, paireds: PAIREDS } = PLANE
const { gone: REASON_GONE, changed: REASON_CHANGED } = REASON

/** In the place of a delta: the object is gone, and there are no bits of it. */
const GONE = -2
/** What an entry takes beside its delta, about: for choosing who fits. */
const HEAD_BITS_GUESS = 12
/** Bits of a packet that is nearly empty: what does not fit there does not fit because of its own size. */
const ROOMY_BITS = DATAGRAM_BYTES_SAFE * 7

export class PacketFiller {
  /** Entries that fit no packet at all, and were not sent. */
  oversizedCount = 0
  #replicator: Replicator
  readonly #peer: PeerId
  readonly #told: ToldObjects
  readonly #blocks: ToldBlocks
  readonly #records: PacketRecords
  readonly #due: DueList
  readonly #walker: StateWalker
  readonly #sheets: SheetBlocks
  readonly #sheetFiller: SheetFiller
  #frame: SnapshotFrame
  #tick: Tick = NOTHING
  #capBits = 0
  /** Beside the entries that are chosen for a packet: their deltas. */
  #deltas = new Int32Array(0)
  /** Whether the packet was nearly empty that is being written. */
  #isRoomy = false
  /** Of the block that is being written: members who are in the packet, and those with whom the row before is held. */
  #sentMask = 0
  #heldMask = 0
  /** The strip in use, whom it has for others, and what it is of. */
  #strip: number = NO_STRIP
  #unfit = 0
  #stripBlock = -1
  #stripLevel: Tick = NOTHING
  /** Whether all that the packet has of this came from members at the lower level of their blocks. */
  #isPlain = false
  /** Somebody of the block that is being written was left out of it. */
  #isCut = false
  /** Who did not fit a small packet that was empty. */
  #stuckIndex = -1

  constructor(replicator: Replicator, peer: PeerId, told: ToldObjects, blocks: ToldBlocks, records: PacketRecords, due: DueList, walker: StateWalker, sheets: SheetBlocks) {
    this.#sheets = sheets
    this.#sheetFiller = new SheetFiller(replicator, sheets, records, due)
    this.#replicator = replicator
    this.#peer = peer
    this.#told = told
    this.#blocks = blocks
    this.#records = records
    this.#due = due
    this.#walker = walker
    this.#frame = new SnapshotFrame(replicator.cache, replicator.strips)
  }

  /** From the next frame on bits come from elsewhere. */
  retrain(replicator: Replicator): void {
    this.#replicator = replicator
    this.#frame = new SnapshotFrame(replicator.cache, replicator.strips)
    this.#sheetFiller.retrain(replicator)
  }

  /** Writes entries of a tick after the head of a frame, within so many bits of it all. @hot */
  fill(sequence: number, out: BitWriter, tick: Tick, capBits: number): void {
    const due = this.#due
    const walker = this.#walker
    if (due.isSheeted && this.#sheetFiller.copy(sequence, out)) return
    // Who is short of bits, or looked at, has frames of his own.
    const isOwn = due.isShort || due.isSheeted || capBits !== UNCAPPED || this.#replicator.isProbedOneByOne || (out.bitLength & 7) !== 0
    if (isOwn) walker.leave()
    else if (!walker.isAlone && this.#follow(sequence, out)) return
    walker.catchUp()
    if (due.entries.length > this.#deltas.length) this.#grow(due.entries.length)
    this.#tick = tick
    this.#capBits = capBits
    this.#frame.begin(tick, capBits)
    this.#replicator.strips.tally.begin(false)
    this.#stripBlock = -1
    this.#isRoomy = out.bitsLeft >= ROOMY_BITS
    if (due.isShort) while (this.#fillChosen(sequence, out)) continue
    else if (!isOwn) this.#fillShared(sequence, out)
    else this.#fillInOrder(sequence, out)
    if (due.isSheeted) this.#sheetFiller.keep(out)
  }

  #grow(need: number): void {
    this.#deltas = new Int32Array(need)
  }

  /** The receiver must be told an object whole: nothing that he holds of it can be built on. */
  restart(index: number, tick: Tick): void {
    this.#walker.leave()
    this.#sheets.leave(index >>> SHIFT, tick)
    this.#told.restart(index, this.#told.sets[index], tick)
    this.#blocks.enter(index)
  }

  /** Copies the frame of another receiver, or writes one that others may copy. */
  #fillShared(sequence: number, out: BitWriter): void {
    const due = this.#due
    const walker = this.#walker
    const { frames, strips } = this.#replicator
    const { bitsLeft: room, bitLength: headBits } = out
    const { pendings } = this.#blocks
    while (due.block < pendings.length && pendings[due.block] === 0) due.block++
    if (due.block === pendings.length) return walker.leave()
    let slot = frames.copy(out, due.block, due.count - due.cursor, this.#blocks, this.#records, sequence)
    if (slot !== NOT_KEPT) {
      due.cursor += frames.counts[slot]
    } else {
      slot = frames.wants(due.block, this.#blocks, room, !walker.isAlone)
      this.#isPlain = true
      strips.tally.begin(slot !== NOT_KEPT)
      this.#fillInOrder(sequence, out)
      const isKept = slot !== NOT_KEPT && this.#isPlain && out.bitLength > headBits
      if (!isKept || !frames.keep(slot, out, headBits >>> 3, this.#blocks, this.#records, sequence)) slot = NOT_KEPT
      else if (strips.adder !== undefined) frames.tally.keep(slot, strips.tally, strips)
    }
    if (slot === NOT_KEPT) walker.leave()
    else walker.addFill(room, due.count, due.cursor, due.block, slot, frames.numbers[slot])
  }

  /** Copies the frame of who was in the same state, and is in the next with him. */
  #follow(sequence: number, out: BitWriter): boolean {
    const { frames, states } = this.#replicator
    const step = this.#walker.findFill(out.bitsLeft)
    if (step < 0 || !frames.has(states.frames[step], states.frameNumbers[step])) return false
    frames.put(states.frames[step], out, this.#records, sequence)
    this.#walker.followFill(step)
    this.#due.cursor = states.cursors[this.#walker.state]
    this.#due.block = states.blocks[this.#walker.state]
    return true
  }

  /** Writes what is due in the order of the packet. */
  #fillInOrder(sequence: number, out: BitWriter): void {
    const due = this.#due
    const { pendings } = this.#blocks
    for (; due.block < pendings.length; due.block++) {
      if (this.#sheets.has(due.block)) {
        if (!this.#sheetFiller.fill(sequence, out, this.#frame, due.block, this.#isRoomy)) return
        continue
      }
      const pending = pendings[due.block]
      if (pending === 0) continue
      this.#isCut = false
      this.#replicator.sheetFrames.spoil()
      if (!this.#fillWhole(sequence, out, due.block)) {
        this.#sentMask = 0
        this.#heldMask = 0
        const isDone = this.#fillBlock(sequence, out, due.block)
        if (this.#sentMask !== 0) this.#records.addBlock(sequence, due.block, this.#sentMask, this.#heldMask)
        if (!isDone) return
      }
      if (due.isSheeted && pending === due.completes[due.block] && !this.#isCut) this.#records.addSheets(sequence, due.block, 1, this.#replicator.grid.isEnd(this.#tick))
    }
  }

  /** Where everything that is due of a block stands in one strip, and nothing else: most blocks are like that where all see all. */
  #fillWhole(sequence: number, out: BitWriter, block: number): boolean {
    const { words, capacity, levels } = this.#blocks
    const pending = words[PENDINGS * capacity + block]
    if ((pending & (~words[block] | words[AHEADS * capacity + block])) !== 0 || this.#replicator.isProbedOneByOne) return false
    const { strips } = this.#replicator
    const strip = strips.findWhole(block, words[SETS * capacity + block], levels[block], pending, words[PAIREDS * capacity + block])
    if (strip === NOT_STRIPPED || !this.#frame.putStrip(out, block, strip)) return false
    this.#records.addBlock(sequence, block, pending, pending & strips.helds[strip])
    words[PENDINGS * capacity + block] = 0
    this.#due.cursor += countBits(pending)
    return true
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
      if (isAhead) this.#isPlain = false
      // Members of one level, up to the first who is something else.
      const group = pending & (isAhead ? aheads[block] : cohort & ~aheads[block])
      const others = pending & ~group
      const wanted = others === 0 ? pending : pending & ((others & -others) - 1)
      const level = isAhead ? aheadLevels[block] : levels[block]
      if (block !== this.#stripBlock || level !== this.#stripLevel) this.#findStrip(block, level, group)
      if (this.#putRuns(out, block, wanted)) {
        if (this.#frame.isFull) return false
        continue
      }
      if (this.#putMembers(out, block, wanted, level)) continue
      if (this.#frame.beforeIndex >= 0) return false
      // What does not even fit an empty packet is looked at by itself.
      this.#blocks.loosen(block, low)
    }
    return true
  }

  /** Writes an entry by itself; false when it does not fit, and is not to blame for that. */
  #putLoose(sequence: number, out: BitWriter, index: number): boolean {
    this.#isPlain = false
    if (!this.#write(sequence, out, index, this.#deltaOf(index))) {
      if (!this.#isTooLarge(index)) return false
      this.#skip(index)
    }
    this.#due.cursor++
    return true
  }

  /** One strip is good for all runs of a block. */
  #findStrip(block: number, level: Tick, group: number): void {
    const { strips } = this.#replicator
    const set = this.#blocks.sets[block]
    const paired = this.#blocks.paireds[block] | ~strips.pairable(block, set, level)
    this.#strip = strips.find(block, set, level, group, paired)
    this.#unfit = this.#strip === NOT_STRIPPED ? 0 : strips.unfit(this.#strip, paired)
    this.#stripBlock = block
    this.#stripLevel = level
  }

  /** Writes runs of a block as long as there is nothing to it; false when that is at the first. */
  #putRuns(out: BitWriter, block: number, wanted: number): boolean {
    if (this.#strip === NOT_STRIPPED || this.#replicator.isProbedOneByOne) return false
    const sent = this.#frame.putRuns(out, block, wanted, this.#strip, this.#unfit)
    if (sent === 0) return false
    this.#heldMask |= sent & this.#replicator.strips.helds[this.#strip]
    this.#sentMask |= sent
    this.#blocks.pendings[block] &= ~sent
    this.#due.cursor += countBits(sent)
    return true
  }

  /** Writes as many members of a block from the lowest on as one run has; false when there is none that fits. */
  #putMembers(out: BitWriter, block: number, wanted: number, level: Tick): boolean {
    const { strips, cache, probe } = this.#replicator
    const blocks = this.#blocks
    const low = wanted & -wanted
    const strip = this.#strip
    const { bitLength } = out
    let sent = low
    if (strip !== NOT_STRIPPED && (strips.masks[strip] & ~this.#unfit & low) !== 0) {
      sent = this.#frame.putRun(out, block, wanted, strip, this.#unfit)
      if (sent === 0) return false
      this.#heldMask |= sent & strips.helds[strip]
      if (strips.adder !== undefined) this.#frame.count(out, bitLength, strip, sent)
      else if (probe !== undefined) this.#frame.tell(probe, out, bitLength, strip, sent, this.#peer, block, this.#told.types)
    } else {
      const index = block << SHIFT | 31 - Math.clz32(low)
      const delta = strips.deltaAt(index, blocks.sets[block], level, (blocks.paireds[block] & low) !== 0)
      if (delta === NOT_THERE || (cache.flags[delta] & OVERSIZED) !== 0) {
        blocks.loosen(block, low)
        return true
      }
      if (!this.#frame.put(out, index, delta)) return false
      if (isPairedBy(cache.bases[delta], this.#tick, cache.flags[delta], this.#replicator.strideTicks)) this.#heldMask |= low
      if (probe !== undefined) probe.onEntry(this.#peer, index, this.#told.types[index], REASON_CHANGED, out.bitLength - bitLength)
      if (strips.adder !== undefined) strips.tally.addSingle(index, out.bitLength - bitLength)
    }
    this.#sentMask |= sent
    blocks.pendings[block] &= ~sent
    this.#due.cursor += countBits(sent)
    return true
  }

  /** Chooses from the front of the list what will fit, and writes it in the order of the packet; whether to choose again. */
  #fillChosen(sequence: number, out: BitWriter): boolean {
    const due = this.#due
    const { entries, count, cursor: first } = due
    const deltas = this.#deltas
    let room = Math.min(out.bitsLeft, this.#capBits)
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
    this.#isCut = true
    this.#blocks.pendings[index >>> SHIFT] &= ~(1 << index)
    this.#blocks.restless[index >>> SHIFT] |= 1 << index
  }

  /** The delta that a loose object needs now; `GONE` when it needs to be gone. @hot */
  #deltaOf(index: number): number {
    const told = this.#told
    if (told.states[index] !== KNOWN) return GONE
    const set = told.sets[index]
    const delta = this.#replicator.deltaFor(index, set, told.bases[index], told.paireds[index] === 1)
    if (delta !== NOT_THERE) return delta
    this.restart(index, this.#tick)
    return this.#replicator.deltaFor(index, set, FROM_INITIAL, false)
  }

  /** Writes an entry and remembers it, or counts it out for its size; false when it does not fit, and nothing is written. @hot */
  #write(sequence: number, out: BitWriter, index: number, delta: number): boolean {
    if (delta !== GONE && (this.#replicator.cache.flags[delta] & OVERSIZED) !== 0) {
      // As if sent: nothing can be done before it changes.
      this.#isCut = true
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
    const isPaired = base !== FROM_INITIAL && isPairedBy(base, this.#tick, cache.flags[delta], this.#replicator.strideTicks)
    this.#records.add(sequence, delta === GONE ? index | GONE_BIT : isPaired ? index | PAIRED_BIT : index)
    if (probe !== undefined) probe.onEntry(this.#peer, index, told.types[index], delta === GONE ? REASON_GONE : told.reasons[index], bits)
    this.#blocks.pendings[index >>> SHIFT] &= ~(1 << index)
    told.sents[index] = this.#tick
    told.urgencies[index] = 0
    if (delta === GONE) return
    if (base !== FROM_INITIAL) told.reasons[index] = REASON_CHANGED
    told.flags[index] |= MAY_HOLD
  }
}
