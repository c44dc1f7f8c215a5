/**
 * What each packet in flight carried of one source: its tick, and entries of 32 bits whose meaning belongs to the
 * source (for snapshots: replication/client/record-entry.ts).
 *
 *   slots    indexed by sequence modulo SENT_PACKETS_MAX: sequence, tick, start and count of its entries
 *   store    a ring of entries; those of the oldest open packet are never overwritten
 *
 * Invariant: a packet is closed once. After warm-up nothing is allocated; the ring grows to the maximum ever in flight.
 */

import { SENT_PACKETS_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'

/** No slot. */
export const NO_RECORD = -1

const MASK = SENT_PACKETS_MAX - 1
const FREE = -1
const STORE_FIRST = 256
const AT_TICK = 1
/** Offsets in words. The words of a slot begin at slot << 3. */
const AT_START = 4
const AT_COUNT = 5

export class PacketRecords {
  /** Indexed by slot << 2: sequence, tick. */
  readonly #slots: Float64Array = new Float64Array(SENT_PACKETS_MAX << 2).fill(FREE)
  /** The same memory, indexed by slot << 3: the start of a packet's entries, and their count. */
  readonly #words: Int32Array = new Int32Array(this.#slots.buffer)
  /** Entries. Indexed by `position & mask`. */
  store: Uint32Array = new Uint32Array(STORE_FIRST)
  mask: number = STORE_FIRST - 1
  /** Positions wrap at 2^32: only differences and low bits count. */
  #head = 0
  #tail = 0
  /** No packet before this sequence is open; and the newest that was opened. */
  #oldest = 0
  #newest = -1

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

  /** The open packet in the slot that `sequence` needs; -1 when the slot is free. */
  occupant(sequence: number): number {
    return this.#slots[(sequence & MASK) << 2]
  }

  /** Begins the record of a packet. Its slot must be free. @hot */
  open(sequence: number, tick: Tick): void {
    const slot = sequence & MASK
    this.#newest = sequence
    this.#slots[slot << 2] = sequence
    this.#slots[slot << 2 | AT_TICK] = tick
    this.#words[slot << 3 | AT_START] = this.#head
    this.#words[slot << 3 | AT_COUNT] = 0
  }

  /** Adds an entry to the packet that was opened last. @hot */
  add(sequence: number, entry: number): void {
    if (((this.#head - this.#tail) | 0) === this.store.length) this.#makeRoom()
    this.store[this.#head & this.mask] = entry
    this.#head = (this.#head + 1) | 0
    this.#words[(sequence & MASK) << 3 | AT_COUNT]++
  }

  /** Removes a packet that was delivered or lost. @hot */
  close(slot: number): void {
    this.#slots[slot << 2] = FREE
    this.#words[slot << 3 | AT_COUNT] = 0
  }

  #makeRoom(): void {
    while (this.#oldest <= this.#newest && this.find(this.#oldest) === NO_RECORD) this.#oldest++
    const oldest = this.#oldest > this.#newest ? 0 : (this.#head - this.startOf(this.#oldest & MASK)) | 0
    this.#tail = (this.#head - oldest) | 0
    // At most half of the ring stays in use. Otherwise the next growth would follow too soon.
    while (2 * oldest > this.store.length) this.#grow()
  }

  #grow(): void {
    const { store, mask } = this
    this.store = new Uint32Array(2 * store.length)
    this.mask = this.store.length - 1
    for (let at = this.#tail; at !== this.#head; at = (at + 1) | 0) this.store[at & this.mask] = store[at & mask]
  }
}
