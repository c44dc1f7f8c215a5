/**
 * Seeded randomness: for the simulated network, and as the entropy of an endpoint under test.
 *
 * Invariant: the same seed gives the same numbers, in every process and every JavaScript engine.
 *
 * It is not secure: the rest of the sequence can be computed from a few numbers.
 */

import type { Entropy } from '../core/base/entropy.ts'
import { Prng } from '../core/base/prng.ts'

/** A seeded generator. Use one for each concern, so that another fault does not change the numbers of the others. */
export class Dice implements Entropy {
  #words: Prng

  /** `seed` is a whole number below 2^53. */
  constructor(seed: number) {
    this.#words = new Prng(seed)
  }

  /** A whole number, 0 to 2^32 - 1. */
  word(): number {
    return this.#words.nextU32()
  }

  /** From 0 up to, not including, 1. */
  fraction(): number {
    return this.#words.nextFloat()
  }

  /** True with this probability. It draws even for 0 and 1, so that a rate can change without shifting what follows. */
  chance(probability: number): boolean {
    return this.#words.nextFloat() < probability
  }

  fill(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length; index++) bytes[index] = this.#words.nextU32() >>> 24
  }
}
