/**
 * The content hash of words that arrive one by one: for state that is not in one array, such as state that a game keeps
 * outside its schema and hashes through `external.hash`.
 *
 * Invariant: the result equals `hashWords` over all words in the order of arrival (HASH4). A double counts as its low
 * half, then its high half. All NaNs count as the same one, because engines may store different bits for them. 0 and -0
 * are different.
 */

import { finishAccumulators, accA, accB, accC, accD, tailA, tailB, tailC } from './hash-accumulators.ts'
import { highHalf, lowHalf } from './math-bits.ts'

const NAN_HIGH = 0x7ff80000

/** Hashes words and doubles that arrive one by one. */
export class HashStream {
  readonly #accumulators = new Int32Array(4)
  /** Words of the incomplete block. */
  readonly #block = new Int32Array(4)
  #count = 0

  constructor(seed: number = 0) {
    this.reset(seed)
  }

  /** Starts over with no content. */
  reset(seed: number = 0): this {
    this.#accumulators.fill(seed)
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
      const accumulators = this.#accumulators
      const a = accA(accumulators[0], block[0], accumulators[1])
      const b = accB(accumulators[1], block[1], accumulators[2])
      const c = accC(accumulators[2], block[2], accumulators[3])
      accumulators[3] = accD(accumulators[3], block[3], a)
      accumulators[0] = a
      accumulators[1] = b
      accumulators[2] = c
      block.fill(0)
    }
    return this
  }

  /** @hot Appends a double as two words. */
  double(value: number): this {
    if (value !== value) return this.word(0).word(NAN_HIGH)
    return this.word(lowHalf(value)).word(highHalf(value))
  }

  /** @hot Writes the hash of the content so far: out[at] low, out[at + 1] high. More may follow. */
  finish(out: Uint32Array, at: number): void {
    const accumulators = this.#accumulators
    const block = this.#block
    const a = tailA(accumulators[0], block[0])
    const b = tailB(accumulators[1], block[1])
    const c = tailC(accumulators[2], block[2])
    finishAccumulators(a, b, c, accumulators[3], this.#count * 4, out, at)
  }
}
