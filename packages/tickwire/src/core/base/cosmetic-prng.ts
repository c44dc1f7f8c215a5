/**
 * Dice for what is only seen or heard: sparks, camera shake, which of three footsteps.
 *
 * It is apart from the simulation's generators on purpose. Its state is not saved, hashed or rolled back, so one
 * draw from it inside `step` would be a desync: only edges import this file, so that a game's rules, which import
 * the core's door, do not find it; and its type is its own, so that it cannot be passed where simulation code asks
 * for a `Prng` or a `KeyedPrng`, nor they where effects ask for it.
 */

import { Prng } from './prng.ts'

export class CosmeticPrng {
  readonly #words: Prng

  /** Any seed will do; the edges take it from their entropy. */
  constructor(seed: number) {
    this.#words = new Prng(seed)
  }

  /** @hot A fraction in [0, 1). */
  float(): number {
    return this.#words.nextFloat()
  }

  /** @hot A number from min up to, but not including, max. */
  between(min: number, max: number): number {
    return min + (max - min) * this.#words.nextFloat()
  }

  /** @hot A whole number from min to max, both included. */
  int(min: number, max: number): number {
    return this.#words.nextInt(min, max)
  }

  /** @hot A normally distributed number, mean 0, deviation 1. */
  gaussian(): number {
    return this.#words.nextGaussian()
  }
}
