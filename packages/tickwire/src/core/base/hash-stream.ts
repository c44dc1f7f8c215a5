/**
 * The content hash of words that come one by one: for state that does not lie in one array, such as what a game keeps
 * outside its schema and hashes through `external.hash`.
 *
 * Invariant: the result equals `hashWords` over all words in the order they came (HASH4). A double counts as its low
 * half, then its high half; every NaN counts as one and the same, because engines may keep different bits for it; 0
 * and -0 are different.
 */

import { finishLanes, laneA, laneB, laneC, laneD, tailA, tailB, tailC } from './hash-lanes.ts'
import { highHalf, lowHalf } from './math-bits.ts'

const NAN_HIGH = 0x7ff80000

export class HashStream {
  readonly #lanes = new Int32Array(4)
  /** Words of the block that is not full yet. */
  readonly #block = new Int32Array(4)
  #count = 0

  constructor(seed: number = 0) {
    this.reset(seed)
  }

  /** Starts over with nothing. */
  reset(seed: number = 0): this {
    this.#lanes.fill(seed)
    this.#block.fill(0)
    this.#count = 0
    return this
  }

  /** @hot Appends one 32-bit word. */
  word(value: number): this {
    const block = this.#block
    block[this.#count & 3] = value
    this.#count += 1
    if ((this.#count & 3) === 0) {
      const lanes = this.#lanes
      const a = laneA(lanes[0], block[0], lanes[1])
      const b = laneB(lanes[1], block[1], lanes[2])
      const c = laneC(lanes[2], block[2], lanes[3])
      lanes[3] = laneD(lanes[3], block[3], a)
      lanes[0] = a
      lanes[1] = b
      lanes[2] = c
      block.fill(0)
    }
    return this
  }

  /** @hot Appends a double as two words. */
  double(value: number): this {
    if (value !== value) return this.word(0).word(NAN_HIGH)
    return this.word(lowHalf(value)).word(highHalf(value))
  }

  /** @hot Writes the hash of what came so far: out[at] low, out[at + 1] high. More may follow. */
  finish(out: Uint32Array, at: number): void {
    const lanes = this.#lanes
    const block = this.#block
    const a = tailA(lanes[0], block[0])
    const b = tailB(lanes[1], block[1])
    const c = tailC(lanes[2], block[2])
    finishLanes(a, b, c, lanes[3], this.#count * 4, out, at)
  }
}
