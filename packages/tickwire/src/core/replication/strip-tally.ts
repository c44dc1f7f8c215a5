/**
 * How often the entries of strips (strip-cache.ts) were copied: counted by runs, and told entry by entry when the tick is over.
 *
 *   place     0   1   2   3   4   5
 *   firsts    1   1                        a run from 0 to 2, and another from 1 to 4
 *   lasts             1       1
 *   sent      1   2   2   1   1   0        firsts up to there, less lasts before
 *
 * The head of a run's first is written for its receiver, and counted by itself: all other bits are those that the strip has.
 *
 * It also remembers of which runs a frame was made that will be copied whole (frame-tally.ts).
 */

import { BLOCK_SHIFT } from './change-masks.ts'
import { REASON, type Adder } from './probe.ts'

/** The strips whose places are meant. */
export interface TalliedStrips {
  /** By strip: its block, and the objects in it. */
  readonly blocks: Int32Array
  readonly masks: Int32Array
  /** By strip << 5 | place: where the delta's bits begin and end. */
  readonly starts: Int32Array
  readonly ends: Int32Array
}

/** Told of an entry: which object, and its bits. */
export type Note = (index: number, bits: number) => void

// Constants of this module, for speed: see schema/leaf-table.ts.
const { changed: CHANGED } = REASON
const SHIFT = BLOCK_SHIFT
const LAST_PLACE = 31
/** Bits of heads are below runs in one number, which is exact: heads of a tick are shorter than this. */
const RUN = 2 ** 26
const STRIPS_FIRST = 8
const RUNS_FIRST = 64
const RUN_WORDS = 3

export class StripTally {
  /** By strip << 5 | place, twice: runs that begin there, with the bits of their heads, and runs that end there. */
  #cells = new Float64Array(0)
  /** Runs of the frame: first and last place, and bits of the head; or of an entry by itself ~index, and its bits. */
  #runs = new Int32Array(RUNS_FIRST * RUN_WORDS)
  #runWords = 0
  #isLogging = false

  /** Has room for so many strips. What was counted is kept. */
  reserve(strips: number): void {
    const cells = this.#cells
    if (strips << SHIFT + 1 <= cells.length) return
    this.#cells = new Float64Array(Math.max(STRIPS_FIRST << SHIFT + 1, 2 * cells.length))
    this.#cells.set(cells)
  }

  /** Another frame begins, of which each run is remembered or not. @hot */
  begin(isLogging: boolean): void {
    this.#isLogging = isLogging
    this.#runWords = 0
  }

  /** A run of a strip was copied, from one place to another, after a head of so many bits. @hot */
  add(first: number, last: number, headBits: number): void {
    this.#cells[first << 1] += RUN + headBits
    this.#cells[last << 1 | 1]++
    if (this.#isLogging) this.#log(first, last, headBits)
  }

  /** An entry was written by itself: it is told, and only the frame has it here. @hot */
  addSingle(index: number, bits: number): void {
    if (this.#isLogging) this.#log(~index, 0, bits)
  }

  /** Tells what was counted of a strip, and begins anew. */
  tell(adder: Adder, strip: number, { blocks, masks, starts, ends }: TalliedStrips, types: Uint8Array): void {
    const cells = this.#cells
    let count = 0
    let before = 0
    for (let place = 0; place <= LAST_PLACE; place++) {
      const at = strip << SHIFT | place
      if ((masks[strip] >>> place & 1) === 0) continue
      const cell = cells[at << 1]
      const first = Math.floor(cell / RUN)
      count += first
      if (count > 0) {
        const index = blocks[strip] << SHIFT | place
        adder.onEntries(index, types[index], CHANGED, count, (count - first) * (ends[at] - before) + first * (ends[at] - starts[at]) + cell - first * RUN)
        count -= cells[at << 1 | 1]
        cells[at << 1] = 0
        cells[at << 1 | 1] = 0
      }
      before = ends[at]
    }
  }

  /** The entries of the last frame, one by one. */
  noteRuns({ blocks, masks, starts, ends }: TalliedStrips, note: Note): void {
    const runs = this.#runs
    for (let run = 0; run < this.#runWords; run += RUN_WORDS) {
      const first = runs[run]
      const bits = runs[run + 2]
      if (first < 0) {
        note(~first, bits)
        continue
      }
      const strip = first >>> SHIFT
      let before = starts[first] - bits
      for (let at = first; at <= runs[run + 1]; at++) {
        if ((masks[strip] >>> (at & LAST_PLACE) & 1) === 0) continue
        note(blocks[strip] << SHIFT | at & LAST_PLACE, ends[at] - before)
        before = ends[at]
      }
    }
  }

  #log(first: number, last: number, bits: number): void {
    if (this.#runWords === this.#runs.length) this.#grow()
    const at = this.#runWords
    this.#runs[at] = first
    this.#runs[at + 1] = last
    this.#runs[at + 2] = bits
    this.#runWords = at + RUN_WORDS
  }

  #grow(): void {
    const runs = this.#runs
    this.#runs = new Int32Array(2 * runs.length)
    this.#runs.set(runs)
  }
}
