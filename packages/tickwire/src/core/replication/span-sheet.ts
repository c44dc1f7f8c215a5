/**
 * What the packets of a span said of each object, gathered 32 objects at a time: for each the last that was told of him in the span, and
 * whether that arrived.
 *
 * Packets are read from the last to the first, so that what is seen first is the last word; the row before it is held if the packet of
 * a stride before arrived too. One sheet is enough for all receivers: it is filled and read in one go.
 */

import type { Tick } from '../base/time.ts'
import { BLOCK_SHIFT } from './change-masks.ts'
import { RECORD_ALL_HELD, RECORD_BLOCK, RECORD_GONE, RECORD_INDEX, RECORD_PAIRED, type PacketRecords } from './packet-records.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const BLOCK_BIT = RECORD_BLOCK
const ALL_HELD_BIT = RECORD_ALL_HELD
const GONE_BIT = RECORD_GONE
const PAIRED_BIT = RECORD_PAIRED
const INDEX_BITS = RECORD_INDEX
const SHIFT = BLOCK_SHIFT

export class SpanSheet {
  /** The last tick of the span, and the first of which a packet was read. */
  end: Tick = 0
  begin: Tick = 0
  /** Blocks that anything was told of. */
  blocks: Int32Array = new Int32Array(0)
  count = 0
  /** By block: of whom the last word arrived; with whom the row before is held; whose last word is of an earlier tick than the last. */
  arriveds: Int32Array = new Int32Array(0)
  paireds: Int32Array = new Int32Array(0)
  earliers: Int32Array = new Int32Array(0)
  /** By block: whose last word was told by itself, perhaps in another tick than that of a change. */
  singles: Int32Array = new Int32Array(0)
  /** By block: how long before the end its first word of the span is, and of whom that is the last and arrived. */
  ages: Int32Array = new Int32Array(0)
  firsts: Int32Array = new Int32Array(0)
  /** By index, of the earlier ones: how long before the end. */
  #objectAges: Int32Array = new Int32Array(0)
  /** By block: of whom anything was told; the tick read before the one at hand, as an age, and whose last word was in it. */
  #tolds = new Int32Array(0)
  #ageBefore = new Int32Array(0)
  #firstsBefore = new Int32Array(0)

  /** The tick of the last word on an object. @hot */
  tickOf(index: number): Tick {
    return (this.earliers[index >>> SHIFT] & 1 << index) === 0 ? this.end : this.end - this.#objectAges[index]
  }

  /** Begins another span, with so many blocks. */
  clear(end: Tick, blocks: number): void {
    if (blocks > this.arriveds.length) this.#grow(blocks)
    for (let at = 0; at < this.count; at++) this.#tolds[this.blocks[at]] = 0
    this.count = 0
    this.end = end
  }

  /** Reads a packet, an earlier one than the last that was read. @hot */
  add(records: PacketRecords, slot: number, strideTicks: number): void {
    const { store, mask } = records
    const tick = records.tickOf(slot)
    const age = this.end - tick
    this.begin = tick
    const isArrived = records.isArrived(slot)
    const count = records.countOf(slot)
    for (let step = 0, at = records.startOf(slot); step < count; step++, at++) {
      const entry = store[at & mask]
      const index = entry & INDEX_BITS
      if ((entry & BLOCK_BIT) !== 0) {
        const isAllHeld = (entry & ALL_HELD_BIT) !== 0
        const sent = store[(at + 1) & mask] | 0
        this.#take(index, sent, isAllHeld ? sent : store[(at + 2) & mask] | 0, 0, age, isArrived, strideTicks)
        step += isAllHeld ? 1 : 2
        at += isAllHeld ? 1 : 2
      } else if ((entry & GONE_BIT) === 0) {
        const bit = 1 << index
        this.#take(index >>> SHIFT, bit, (entry & PAIRED_BIT) !== 0 ? bit : 0, bit, age, isArrived, strideTicks)
      }
    }
  }

  #take(block: number, sent: number, held: number, single: number, age: number, isArrived: boolean, strideTicks: number): void {
    const told = this.#tolds[block]
    if (told === 0) {
      this.blocks[this.count++] = block
      this.arriveds[block] = 0
      this.paireds[block] = 0
      this.earliers[block] = 0
      this.singles[block] = 0
      this.ages[block] = age
      this.firsts[block] = 0
      this.#firstsBefore[block] = 0
    } else if (this.ages[block] !== age) {
      this.#ageBefore[block] = this.ages[block]
      this.#firstsBefore[block] = this.firsts[block]
      this.ages[block] = age
      this.firsts[block] = 0
    }
    this.#tolds[block] = told | sent
    if (!isArrived) return
    const last = sent & ~told
    this.arriveds[block] |= last
    this.firsts[block] |= last
    this.paireds[block] |= last & held
    this.singles[block] |= last & single
    if (age - this.#ageBefore[block] === strideTicks) this.paireds[block] |= sent & this.#firstsBefore[block]
    if (age === 0 || last === 0) return
    this.earliers[block] |= last
    for (let rest = last; rest !== 0; rest &= rest - 1) this.#objectAges[block << SHIFT | 31 - Math.clz32(rest & -rest)] = age
  }

  #grow(blocks: number): void {
    this.blocks = new Int32Array(blocks)
    this.arriveds = new Int32Array(blocks)
    this.paireds = new Int32Array(blocks)
    this.earliers = new Int32Array(blocks)
    this.singles = new Int32Array(blocks)
    this.ages = new Int32Array(blocks)
    this.firsts = new Int32Array(blocks)
    this.#objectAges = new Int32Array(blocks << SHIFT)
    this.#tolds = new Int32Array(blocks)
    this.#ageBefore = new Int32Array(blocks)
    this.#firstsBefore = new Int32Array(blocks)
    this.count = 0
  }
}
