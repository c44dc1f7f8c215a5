/**
 * The streaming generator: a long sequence of uniform words from a seed, for lockstep and for tests.
 *
 * It is sfc32 ("small fast counter", by Chris Doty-Humphrey): three mixed words and a counter, so that its period is at
 * least 2^32 from any state and 2^127 on average; it has no bad states, and passes PractRand beyond any game's needs.
 *
 *   state    a  b  c  counter        four uint32 words; copy them to save, put them back to load
 *
 * Invariant: there is no other state. Same state, same future, on every engine.
 *
 * Not for secrets (a few outputs reveal the state), and not for code that only some peers run: one draw more or less
 * shifts all that follow. Use keyed-prng.ts for that.
 */

import { drawFloat, drawGaussian, drawInt } from './prng-draws.ts'

/** Rounds after seeding, until every bit of the seed has reached every bit of the state. */
const WARM_UP = 12

const TWO_32 = 4294967296

export class Prng {
  /** The whole state. Save slots copy it; no other code writes it. */
  readonly state: Uint32Array = new Uint32Array(4)

  /** `seed` is a whole number below 2^53; different seeds give unrelated streams. */
  constructor(seed: number) {
    this.reseed(seed)
  }

  /** Starts over, as if newly created with this seed. */
  reseed(seed: number): void {
    this.state[0] = 0
    this.state[1] = seed >>> 0
    this.state[2] = Math.floor(seed / TWO_32) >>> 0
    this.state[3] = 1
    for (let i = 0; i < WARM_UP; i++) this.nextU32()
  }

  /** @hot The next word, 0 .. 2^32 - 1. */
  nextU32(): number {
    const state = this.state
    const b = state[1]
    const c = state[2]
    const word = (state[0] + b + state[3]) >>> 0
    state[3] = state[3] + 1
    state[0] = b ^ (b >>> 9)
    state[1] = c + (c << 3)
    state[2] = ((c << 21) | (c >>> 11)) + word
    return word
  }

  /** @hot A fraction in [0, 1) of 53 bits. Takes two words. */
  nextFloat(): number {
    return drawFloat(this)
  }

  /** @hot A whole number from min to max, both included, without bias. */
  nextInt(min: number, max: number): number {
    return drawInt(this, min, max)
  }

  /** @hot A normally distributed number, mean 0, deviation 1. Takes four words. */
  nextGaussian(): number {
    return drawGaussian(this)
  }
}
