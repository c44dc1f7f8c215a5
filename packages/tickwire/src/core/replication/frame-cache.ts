/**
 * Whole frames of this tick, for receivers who are told the very same: who have the same objects due from the same baselines, in
 * packets of the same size.
 *
 *   slot    by what is due of a frame's first blocks, from which level, and the room: seen by one, kept from the second on, copied
 *           by all others; one of a few places from a hash on
 *
 * What a frame was made of is compared block by block before it is copied; a slot says only where to look. Nothing is kept where
 * views differ, but the mark of who was seen. Frames with entries that were written one by one are not kept.
 */

import type { Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { countBits } from './change-masks.ts'
import { FrameStore } from './frame-store.ts'
import { FrameTally } from './frame-tally.ts'
import { RECORD_ALIKE, RECORD_INDEX, type PacketRecords } from './packet-records.ts'
import { PLANE, type ToldBlocks } from './told-blocks.ts'

/** No frame. */
export const NO_FRAME = -1

// Constants of this module, for speed: see schema/leaf-table.ts.
const NOTHING = NO_FRAME
const { aheads: AHEADS, sets: SETS, pendings: PENDINGS, paireds: PAIREDS } = PLANE
const SLOTS = 32
const SLOT_BITS = 5
/** Blocks that a frame spans at most: a packet of the largest size with the smallest entries. */
const BLOCKS_MAX = 64
const BLOCKS_SHIFT = 6
/** Words of a record: three a block. */
const ENTRIES_MAX = 3 * BLOCKS_MAX
/** Places that are looked at for a frame: two frames of one tick must not keep each other out. */
const PROBES = 4
const DIGEST_BLOCKS = 4
/** The largest number of a frame: with two bits more it is still a small integer. */
const NUMBER_MAX = 0x0fff_ffff
const FREE = 0
const SEEN = 1
const KEPT = 2

export class FrameCache {
  /** Frames that were copied, ever. */
  copyCount = 0
  readonly tally: FrameTally = new FrameTally(SLOTS)
  #number = 0
  readonly #store = new FrameStore(SLOTS)
  /** By slot: what its frame begins with, how much room there was, how many blocks it spans, and its entries. */
  readonly #states = new Uint8Array(SLOTS)
  readonly #blocks = new Int32Array(SLOTS)
  readonly #digests = new Int32Array(SLOTS)
  readonly #firstLevels = new Float64Array(SLOTS)
  readonly #rooms = new Int32Array(SLOTS)
  readonly #spans = new Int32Array(SLOTS)
  readonly counts: Int32Array = new Int32Array(SLOTS)
  /** By slot: the number of its frame, which no other has. */
  readonly numbers: Int32Array = new Int32Array(SLOTS)
  /** Whether nothing was left when it was written; else it spans the block of the entry that did not fit. */
  readonly #areLast = new Uint8Array(SLOTS)
  /** By slot << BLOCKS_SHIFT | block from the first on: what was due and sent, and from what. Made when first needed. */
  #dues = new Int32Array(0)
  #sents = new Int32Array(0)
  #paireds = new Int32Array(0)
  #levels = new Float64Array(0)
  #sets = new Uint8Array(0)
  /** By slot: the words of its record. */
  #entries = new Uint32Array(0)
  readonly #entryCounts = new Int32Array(SLOTS)

  /** Forgets everything: another tick. */
  clear(): void {
    this.#states.fill(FREE)
    this.tally.clear()
  }

  /** Writes the frame that is due from a block on, if another receiver was sent it, and records it; gives its slot, or `NO_FRAME`. @hot */
  copy(out: BitWriter, first: number, waiting: number, blocks: ToldBlocks, records: PacketRecords, sequence: number): number {
    const slot = this.#find(first, digestOf(blocks.pendings, first), blocks.levels[first], out.bitsLeft)
    if (slot < 0 || this.#states[slot] !== KEPT) return NOTHING
    if ((this.#areLast[slot] === 1 && this.counts[slot] !== waiting) || !this.#isSame(slot, first, blocks)) return NOTHING
    const { pendings } = blocks
    const at = slot << BLOCKS_SHIFT
    for (let step = 0; step < this.#spans[slot]; step++) pendings[first + step] &= ~this.#sents[at + step]
    this.put(slot, out, records, sequence)
    return slot
  }

  /** Whether a slot still has the frame of a number. @hot */
  has(slot: number, number: number): boolean {
    return this.numbers[slot] === number && this.#states[slot] === KEPT
  }

  /** Writes a frame that is kept, and records it. @hot */
  put(slot: number, out: BitWriter, records: PacketRecords, sequence: number): void {
    this.copyCount++
    this.tally.add(slot)
    this.#store.put(slot, out)
    records.addShared(sequence, this.#entries, slot * ENTRIES_MAX, this.#entryCounts[slot], this.numbers[slot])
  }

  /**
   * Whether the frame that is due from a block on should be kept when it is written: somebody else was sent one that begins
   * alike, or waits for it (`isAwaited`). @hot
   */
  wants(first: number, { pendings, levels }: ToldBlocks, room: number, isAwaited: boolean): number {
    const digest = digestOf(pendings, first)
    const level = levels[first]
    const slot = this.#find(first, digest, level, room)
    if (slot < 0 || this.#states[slot] === KEPT) return NOTHING
    if (this.#states[slot] === SEEN) return slot
    this.#states[slot] = SEEN
    this.#blocks[slot] = first
    this.#digests[slot] = digest
    this.#firstLevels[slot] = level
    this.#rooms[slot] = room
    return isAwaited ? slot : NOTHING
  }

  /** Keeps a frame that was written, and recorded in blocks alone: its bits are those of `out` from a byte on. */
  keep(slot: number, out: BitWriter, byteOffset: number, blocks: ToldBlocks, records: PacketRecords, sequence: number): boolean {
    const first = this.#blocks[slot]
    const { store, mask } = records
    const record = records.find(sequence)
    const stop = records.startOf(record) + records.countOf(record)
    let last = first
    for (let at = records.startOf(record); at < stop; at += sizeOf(store[at & mask])) last = store[at & mask] & RECORD_INDEX
    let end = last
    if (blocks.pendings[last] === 0) while (++end < blocks.pendings.length && blocks.pendings[end] === 0) continue
    const isLast = end === blocks.pendings.length
    if (isLast) end = last
    if (end - first >= BLOCKS_MAX || !this.#store.keep(slot, out, byteOffset)) return false
    this.#reserve()
    const at = slot << BLOCKS_SHIFT
    this.#sents.fill(0, at, at + BLOCKS_MAX)
    let entryCount = 0
    for (let each = records.startOf(record); each < stop; each++) this.#entries[slot * ENTRIES_MAX + entryCount++] = store[each & mask]
    for (let each = records.startOf(record); each < stop; each += sizeOf(store[each & mask])) {
      this.#sents[at + (store[each & mask] & RECORD_INDEX) - first] = store[(each + 1) & mask]
    }
    this.#entryCounts[slot] = entryCount
    let count = 0
    for (let block = first; block <= end; block++) {
      const sent = this.#sents[at + block - first]
      count += countBits(sent)
      this.#dues[at + block - first] = sent | blocks.pendings[block]
      this.#paireds[at + block - first] = blocks.paireds[block]
      this.#levels[at + block - first] = blocks.levels[block]
      this.#sets[at + block - first] = blocks.sets[block]
    }
    this.#spans[slot] = end - first + 1
    this.#areLast[slot] = isLast ? 1 : 0
    this.counts[slot] = count
    this.#states[slot] = KEPT
    // Numbers wrap: what has an equal one was sent long before.
    this.#number = this.#number === NUMBER_MAX ? 1 : this.#number + 1
    this.numbers[slot] = this.#number
    records.share(sequence, this.#number)
    return true
  }

  /** The slot of frames that begin like this, or a free one for them; -1 when all places are taken. */
  #find(first: number, digest: number, level: Tick, room: number): number {
    const from = Math.imul(first * 0x2f0b + 1 ^ digest, 0x9e37_79b1) >>> (32 - SLOT_BITS)
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = (from + probe) & (SLOTS - 1)
      if (this.#states[slot] === FREE) return slot
      if (this.#digests[slot] === digest && this.#blocks[slot] === first && this.#firstLevels[slot] === level && this.#rooms[slot] === room) return slot
    }
    return NOTHING
  }

  /** Whether a receiver has the same due, from the same rows. */
  #isSame(slot: number, first: number, { words, capacity, levels }: ToldBlocks): boolean {
    const at = slot << BLOCKS_SHIFT
    const end = first + this.#spans[slot]
    if (end > capacity) return false
    for (let block = first, step = at; block < end; block++, step++) {
      const due = this.#dues[step]
      if (words[PENDINGS * capacity + block] !== due) return false
      if (due === 0) continue
      if ((due & (~words[block] | words[AHEADS * capacity + block] | words[PAIREDS * capacity + block] ^ this.#paireds[step])) !== 0) return false
      if (levels[block] !== this.#levels[step] || words[SETS * capacity + block] !== this.#sets[step]) return false
    }
    return true
  }

  #reserve(): void {
    if (this.#dues.length > 0) return
    this.#dues = new Int32Array(SLOTS << BLOCKS_SHIFT)
    this.#sents = new Int32Array(SLOTS << BLOCKS_SHIFT)
    this.#entries = new Uint32Array(SLOTS * ENTRIES_MAX)
    this.#paireds = new Int32Array(SLOTS << BLOCKS_SHIFT)
    this.#levels = new Float64Array(SLOTS << BLOCKS_SHIFT)
    this.#sets = new Uint8Array(SLOTS << BLOCKS_SHIFT)
  }
}

/** What is due of the first blocks of a frame: who has one block alike with another by chance has not the next. @hot */
function digestOf(pendings: Int32Array, first: number): number {
  const end = Math.min(first + DIGEST_BLOCKS, pendings.length)
  let digest = 0
  for (let block = first; block < end; block++) digest = Math.imul(digest ^ pendings[block], 0x9e37_79b1)
  return digest
}

/** Words of a block's record. */
function sizeOf(entry: number): number {
  return (entry & RECORD_ALIKE) !== 0 ? 2 : 3
}
