/**
 * What is in the frames that receivers copy from each other (frame-cache.ts), and how often each was copied: told when the tick is over.
 *
 * Who wrote a frame was told of by itself; these are the others.
 */

import { REASON, type Adder } from './probe.ts'
import type { StripTally, TalliedStrips } from './strip-tally.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { changed: CHANGED } = REASON
const NOTES_FIRST = 1024
/** In a note the index is above the bits of the entry, which are fewer than those of a packet. */
const INDEX_SHIFT = 16
const BITS_MASK = 0xffff

export class FrameTally {
  /** Entries of frames, one frame after the other. */
  #notes = new Uint32Array(NOTES_FIRST)
  #count = 0
  /** By slot: where the notes of its frame begin and end, and how often it was copied. */
  readonly #starts: Int32Array
  readonly #ends: Int32Array
  readonly #copies: Int32Array

  constructor(slots: number) {
    this.#starts = new Int32Array(slots)
    this.#ends = new Int32Array(slots)
    this.#copies = new Int32Array(slots)
  }

  /** The last frame is the one of a slot. */
  keep(slot: number, tally: StripTally, strips: TalliedStrips): void {
    this.#starts[slot] = this.#count
    tally.noteRuns(strips, this.#note)
    this.#ends[slot] = this.#count
  }

  /** Somebody was sent the frame of a slot. @hot */
  add(slot: number): void {
    this.#copies[slot]++
  }

  /** Tells what all copies had in them. */
  tell(adder: Adder, types: Uint8Array): void {
    for (let slot = 0; slot < this.#copies.length; slot++) {
      const copies = this.#copies[slot]
      if (copies === 0) continue
      this.#copies[slot] = 0
      for (let at = this.#starts[slot]; at < this.#ends[slot]; at++) {
        const index = this.#notes[at] >>> INDEX_SHIFT
        adder.onEntries(index, types[index], CHANGED, copies, copies * (this.#notes[at] & BITS_MASK))
      }
    }
  }

  /** Another tick: all frames are forgotten. */
  clear(): void {
    this.#copies.fill(0)
    this.#starts.fill(0)
    this.#ends.fill(0)
    this.#count = 0
  }

  readonly #note = (index: number, bits: number): void => {
    if (this.#count === this.#notes.length) this.#grow()
    this.#notes[this.#count++] = index << INDEX_SHIFT | bits
  }

  #grow(): void {
    const notes = this.#notes
    this.#notes = new Uint32Array(2 * notes.length)
    this.#notes.set(notes)
  }
}
