/**
 * What each packet on its way carried of snapshots: object indexes, and what else its arrival would say of them.
 *
 *   slots    by sequence modulo the packets that can be on their way: sequence, tick, where its entries begin, how many
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
export const RECORD_INDEX = 0xffff
/** No slot. */
export const NO_RECORD = -1

// Constants of this module, for speed: see schema/leaf-table.ts.
const SLOTS = SENT_PACKETS_MAX
const MASK = SLOTS - 1
const FREE = -1
const STORE_FIRST = 256

export class PacketRecords {
  /** By slot. */
  readonly sequences: Float64Array = new Float64Array(SENT_PACKETS_MAX).fill(FREE)
  readonly ticks: Float64Array = new Float64Array(SENT_PACKETS_MAX)
  readonly starts: Int32Array = new Int32Array(SENT_PACKETS_MAX)
  readonly counts: Int32Array = new Int32Array(SENT_PACKETS_MAX)
  /** Entries, at `position & mask`. */
  store: Uint32Array = new Uint32Array(STORE_FIRST)
  mask: number = STORE_FIRST - 1
  /** Positions wrap at 2^32: only differences and low bits count. */
  #head = 0
  #tail = 0

  /** The slot of a packet that is still open; `NO_RECORD` when there is none. @hot */
  find(sequence: number): number {
    const slot = sequence & MASK
    return this.sequences[slot] === sequence ? slot : NO_RECORD
  }

  /** The open packet whose slot another one needs; -1 when the slot is free. */
  occupant(sequence: number): number {
    return this.sequences[sequence & MASK]
  }

  /** Begins the record of a packet. Its slot is free. @hot */
  open(sequence: number, tick: Tick): void {
    const slot = sequence & MASK
    this.sequences[slot] = sequence
    this.ticks[slot] = tick
    this.starts[slot] = this.#head
    this.counts[slot] = 0
  }

  /** Adds an entry to the packet that was opened last. @hot */
  add(sequence: number, entry: number): void {
    if (((this.#head - this.#tail) | 0) === this.store.length) this.#makeRoom()
    this.store[this.#head & this.mask] = entry
    this.#head = (this.#head + 1) | 0
    this.counts[sequence & MASK]++
  }

  /** Adds objects of one block: who was sent, and with whom of them the row before is held. @hot */
  addBlock(sequence: number, block: number, sent: number, held: number): void {
    this.add(sequence, block | RECORD_BLOCK)
    this.add(sequence, sent)
    this.add(sequence, held)
  }

  /** Lets go of a packet whose fate is known. @hot */
  close(slot: number): void {
    this.sequences[slot] = FREE
    this.counts[slot] = 0
  }

  #makeRoom(): void {
    let oldest = 0
    for (let slot = 0; slot < SLOTS; slot++) {
      const back = (this.#head - this.starts[slot]) | 0
      if (this.sequences[slot] !== FREE && back > oldest) oldest = back
    }
    this.#tail = (this.#head - oldest) | 0
    // Half of it in use: another search would come too soon.
    if (2 * oldest > this.store.length) this.#grow()
  }

  #grow(): void {
    const { store, mask } = this
    this.store = new Uint32Array(2 * store.length)
    this.mask = this.store.length - 1
    for (let at = this.#tail; at !== this.#head; at = (at + 1) | 0) this.store[at & this.mask] = store[at & mask]
  }
}
