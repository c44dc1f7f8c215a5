/**
 * Who changed in each tick of the window, 32 objects a word: the marks of change-marks.ts, for who asks of many at once.
 *
 *   block   32 object indexes; bit `index & 31` of word `index >>> 5`
 *   bits    by tick modulo a power of two, by field set, by block
 *
 * Invariant: what is asked lies within the Timeline's window. Outside of it nobody knows any more, and old words stand there.
 */

import type { Tick } from '../base/time.ts'

/** Indexes of a block, as a shift. */
export const BLOCK_SHIFT = 5

const SETS = 3

export class ChangeMasks {
  /** Blocks that there is room for. */
  capacity = 0
  /** Read in loops over all blocks: those of a field set in a tick begin at `rowOf`. */
  bits: Int32Array = new Int32Array(0)
  readonly #slots: number

  constructor(windowTicks: number) {
    let slots = 1
    while (slots < windowTicks) slots *= 2
    this.#slots = slots
  }

  /** Where in `bits` the first block of a field set in a tick stands. @hot */
  rowOf(set: number, tick: Tick): number {
    return ((tick & (this.#slots - 1)) * SETS + set) * this.capacity
  }

  /** Who of a block changed in a tick, as far as a field set sees. @hot */
  at(set: number, block: number, tick: Tick): number {
    return this.bits[this.rowOf(set, tick) + block]
  }

  /** Who of a block changed after a tick and up to another. @hot */
  since(set: number, block: number, from: Tick, to: Tick): number {
    const { bits, capacity } = this
    const rowStep = SETS * capacity
    let changed = 0
    let at = this.rowOf(set, from + 1) + block
    for (let left = to - from; left > 0; left--) {
      changed |= bits[at]
      at += rowStep
      if (at >= bits.length) at -= bits.length
    }
    return changed
  }

  /** @hot */
  put(set: number, block: number, tick: Tick, bits: number): void {
    this.bits[this.rowOf(set, tick) + block] = bits
  }

  /** Makes room for so many blocks. */
  reserve(need: number): void {
    if (need <= this.capacity) return
    const { capacity } = this
    const bits = new Int32Array(this.#slots * SETS * need)
    for (let row = 0; row < this.#slots * SETS; row++) bits.set(this.bits.subarray(row * capacity, (row + 1) * capacity), row * need)
    this.bits = bits
    this.capacity = need
  }
}

/** How many bits of a word are set. @hot */
export function countBits(word: number): number {
  let count = word - (word >>> 1 & 0x5555_5555)
  count = (count & 0x3333_3333) + (count >>> 2 & 0x3333_3333)
  return Math.imul(count + (count >>> 4) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
