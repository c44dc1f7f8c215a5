/**
 * Random numbers for visual and audio effects only: sparks, camera shake, which of three footsteps.
 *
 * It is separate from the simulation's generators on purpose. Its state is not saved, hashed or rolled back, so one
 * draw from it inside `step` would be a desync. Only edges import this file, so a game's rules, which import the entry
 * point of core, cannot reach it. Its type is distinct, so it cannot be passed where simulation code expects a `Prng`
 * or a `KeyedPrng`, and those cannot be passed where effects expect this one.
 */

import { Prng } from './prng.ts'

/** A generator for effects that do not change the game: sparks, shakes, sounds. */
export class CosmeticPrng {
  readonly #words: Prng

  /** Any seed works; the edges draw it from their entropy. */
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
