/**
 * What each packet on its way carried of snapshots: object indexes, and what else its arrival would say of them.
 *
 *   slots    by sequence modulo the packets that can be on their way: sequence, tick, where its entries begin, how many, and its
 *            frame; in one place, for with many receivers they are far away in memory whenever they are asked
 *   store    a ring of entries; what the oldest open packet has not let go of is never overwritten
 *
 * Invariant: a packet is closed once. After warm-up nothing is allocated; the ring grows to what was ever on its way at
 * one time.
 */

import { SENT_PACKETS_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'

/** In an entry, above the object index: it was said to be gone. */
export const RECORD_GONE = 0x1_0000
/** With its row the one of the tick before is held: that was the baseline, or the object rested until then. */
export const RECORD_PAIRED = 0x2_0000
/** Not an object but 32 of them: a block, then a word of who was sent, then one of those with whom the row before is held. */
export const RECORD_BLOCK = 0x4_0000
/** Of a block: with all of them it is, or with none, and there is no third word. */
export const RECORD_ALIKE = 0x8_0000
/** Beside that: with none. Where there are cells (baseline-grid.ts), nine blocks of ten are so. */
export const RECORD_NONE_HELD = 0x10_0000
/** Of blocks from one on, so many (`RECORD_COUNT_SHIFT`): they were told completely (sheet-blocks.ts), and there is no second word. */
export const RECORD_SHEET = 0x20_0000
/** Beside that: in the last tick of a cell, and not in the one told before it. */
export const RECORD_END = 0x40_0000
export const RECORD_COUNT_SHIFT = 23
export const RECORD_INDEX = 0xffff
/** No slot. */
export const NO_RECORD = -1

// Constants of this module, for speed: see schema/leaf-table.ts.
const SLOTS = SENT_PACKETS_MAX
const MASK = SLOTS - 1
const FREE = -1
const STORE_FIRST = 256
const BLOCK_WORDS_MAX = 3
const AT_TICK = 1
/** In words: those of a slot begin at slot << 3. */
const AT_START = 4
const AT_COUNT = 5
const AT_FRAME = 6

export class PacketRecords {
  /** By slot << 2: sequence, tick. */
  readonly #slots: Float64Array = new Float64Array(SENT_PACKETS_MAX << 2).fill(FREE)
  /** The same memory, by slot << 3: where its entries begin, how many, and the frame that others were sent too, by its number; 0 = of his own. */
  readonly #words: Int32Array = new Int32Array(this.#slots.buffer)
  /** Entries, at `position & mask`. */
  store: Uint32Array = new Uint32Array(STORE_FIRST)
  mask: number = STORE_FIRST - 1
  /** Positions wrap at 2^32: only differences and low bits count. */
  #head = 0
  #tail = 0

  /** The slot of a packet that is still open; `NO_RECORD` when there is none. @hot */
  find(sequence: number): number {
    const slot = sequence & MASK
    return this.#slots[slot << 2] === sequence ? slot : NO_RECORD
  }

  tickOf(slot: number): Tick {
    return this.#slots[slot << 2 | AT_TICK]
  }

  /** The position of the first entry in `store`. */
  startOf(slot: number): number {
    return this.#words[slot << 3 | AT_START]
  }

  countOf(slot: number): number {
    return this.#words[slot << 3 | AT_COUNT]
  }

  /** The number of the frame that it carries, if others carry it too; else 0. */
  frameOf(slot: number): number {
    return this.#words[slot << 3 | AT_FRAME]
  }

  /** The packet that was opened last carries a frame that others carry too. @hot */
  share(sequence: number, frame: number): void {
    this.#words[(sequence & MASK) << 3 | AT_FRAME] = frame
  }

  /** Nobody else carries what is on its way: numbers of frames are of those who are told by the same tables. */
  unshare(): void {
    for (let slot = 0; slot < SLOTS; slot++) this.#words[slot << 3 | AT_FRAME] = 0
  }

  /** The open packet whose slot another one needs; -1 when the slot is free. */
  occupant(sequence: number): number {
    return this.#slots[(sequence & MASK) << 2]
  }

  /** Begins the record of a packet. Its slot is free. @hot */
  open(sequence: number, tick: Tick): void {
    const slot = sequence & MASK
    this.#slots[slot << 2] = sequence
    this.#slots[slot << 2 | AT_TICK] = tick
    this.#words[slot << 3 | AT_START] = this.#head
    this.#words[slot << 3 | AT_COUNT] = 0
    this.#words[slot << 3 | AT_FRAME] = 0
  }

  /** Adds an entry to the packet that was opened last. @hot */
  add(sequence: number, entry: number): void {
    if (((this.#head - this.#tail) | 0) === this.store.length) this.#makeRoom(1)
    this.store[this.#head & this.mask] = entry
    this.#head = (this.#head + 1) | 0
    this.#words[(sequence & MASK) << 3 | AT_COUNT]++
  }

  /** Adds objects of one block: who was sent, and with whom of them the row before is held. @hot */
  addBlock(sequence: number, block: number, sent: number, held: number): void {
    if (((this.#head - this.#tail) | 0) > this.store.length - BLOCK_WORDS_MAX) this.#makeRoom(BLOCK_WORDS_MAX)
    const { store, mask } = this
    const head = this.#head
    const isMixed = held !== 0 && held !== sent
    const size = isMixed ? BLOCK_WORDS_MAX : BLOCK_WORDS_MAX - 1
    store[head & mask] = block | (isMixed ? RECORD_BLOCK : held === 0 ? RECORD_BLOCK | RECORD_ALIKE | RECORD_NONE_HELD : RECORD_BLOCK | RECORD_ALIKE)
    store[(head + 1) & mask] = sent
    if (isMixed) store[(head + 2) & mask] = held
    this.#head = (head + size) | 0
    this.#words[(sequence & MASK) << 3 | AT_COUNT] += size
  }

  /** Adds blocks that were told completely, fewer than 128. @hot */
  addSheets(sequence: number, block: number, count: number, isEnd: boolean): void {
    const entry = block | RECORD_BLOCK | RECORD_SHEET | count << RECORD_COUNT_SHIFT
    this.add(sequence, isEnd ? entry | RECORD_END : entry)
  }

  /** Adds all entries of a packet that another receiver was sent too: words of `entries`, and the frame's number. @hot */
  addShared(sequence: number, entries: Uint32Array, from: number, count: number, frame: number): void {
    if (((this.#head - this.#tail) | 0) > this.store.length - count) this.#makeRoom(count)
    const { store, mask } = this
    const head = this.#head
    for (let step = 0; step < count; step++) store[(head + step) & mask] = entries[from + step]
    this.#head = (head + count) | 0
    this.#words[(sequence & MASK) << 3 | AT_COUNT] += count
    this.#words[(sequence & MASK) << 3 | AT_FRAME] = frame
  }

  /** Lets go of a packet whose fate is known. @hot */
  close(slot: number): void {
    this.#slots[slot << 2] = FREE
    this.#words[slot << 3 | AT_COUNT] = 0
  }

  #makeRoom(need: number): void {
    let oldest = 0
    for (let slot = 0; slot < SLOTS; slot++) {
      const back = (this.#head - this.startOf(slot)) | 0
      if (this.#slots[slot << 2] !== FREE && back > oldest) oldest = back
    }
    this.#tail = (this.#head - oldest) | 0
    // Half of it in use: another search would come too soon.
    while (2 * oldest > this.store.length || oldest + need > this.store.length) this.#grow()
  }

  #grow(): void {
    const { store, mask } = this
    this.store = new Uint32Array(2 * store.length)
    this.mask = this.store.length - 1
    for (let at = this.#tail; at !== this.#head; at = (at + 1) | 0) this.store[at & this.mask] = store[at & mask]
  }
}
