/**
 * Chance from a seed: what the simulated network rolls, and what an endpoint under test takes for secrets.
 *
 * Invariant: the same seed gives the same numbers, in every process and every JavaScript engine.
 *
 * It is no source of secrets: anyone who sees a few numbers can compute the rest.
 */

import type { Entropy } from '../core/base/entropy.ts'

/** Seeded numbers (splitmix32). Give each concern its own, so that one fault more does not reshuffle the others. */
export class Dice implements Entropy {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** A whole number, 0 to 2^32 - 1. */
  word(): number {
    this.#state = (this.#state + 0x9e37_79b9) | 0
    let word = this.#state
    word = Math.imul(word ^ (word >>> 16), 0x21f0_aaad)
    word = Math.imul(word ^ (word >>> 15), 0x735a_2d97)
    return (word ^ (word >>> 15)) >>> 0
  }

  /** From 0 up to, not including, 1. */
  fraction(): number {
    return this.word() / 0x1_0000_0000
  }

  /** True this often. Rolls even when it is never or always, so that rates can change without shifting what follows. */
  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  fill(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length; index++) bytes[index] = this.word() >>> 24
  }
}
