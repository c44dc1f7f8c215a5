/**
 * Chance from a seed: what the simulated network rolls, and what an endpoint under test takes for secrets.
 *
 * Invariant: the same seed gives the same numbers, in every process and every JavaScript engine.
 *
 * It is no source of secrets: anyone who sees a few numbers can compute the rest.
 */

import type { Entropy } from '../core/base/entropy.ts'
import { Prng } from '../core/base/prng.ts'

/** Seeded dice. Give each concern its own, so that one fault more does not reshuffle the others. */
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

  /** True this often. Rolls even when it is never or always, so that rates can change without shifting what follows. */
  chance(probability: number): boolean {
    return this.#words.nextFloat() < probability
  }

  fill(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length; index++) bytes[index] = this.#words.nextU32() >>> 24
  }
}
