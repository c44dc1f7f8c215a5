/**
 * The keyed generator: random words that are a function of (seed, tick, object, ordinal) and of nothing else.
 *
 * A client that steps one of 24 players draws for that player exactly the numbers that the server drew, and an
 * additional draw for one object does not change the numbers of other objects. Nothing needs to be saved or rolled
 * back.
 *
 * It is Philox4x32-10 (Salmon and others, 2011; published with known answers): a ten-round bijection of a 128-bit
 * counter under a 64-bit key, one block giving four words.
 *
 *   key      seed low, seed high
 *   counter  ordinal / 4, object, tick low, tick high         word (ordinal % 4) of the block is the answer
 *
 * Not for secrets: an attacker that knows the seed knows every number.
 */

import { multiplyHigh } from './math-words.ts'
import { drawFloat, drawGaussian, drawInt } from './prng-draws.ts'

const TWO_32 = 4294967296
const ROUNDS = 10
const MULTIPLY_0 = 0xd2511f53 | 0
const MULTIPLY_2 = 0xcd9e8d57 | 0
const KEY_STEP_0 = 0x9e3779b9 | 0
const KEY_STEP_1 = 0xbb67ae85 | 0

export class KeyedPrng {
  /** The index of the next word for this tick and object. Pass it to `at` to continue later. */
  ordinal: number = 0
  readonly #key = new Int32Array(2)
  /** counter words 1 .. 3; word 0 is the block, made from the ordinal. */
  readonly #place = new Int32Array(3)
  readonly #block = new Uint32Array(4)
  #blockNumber = -1

  /** `seed` is a whole number below 2^53. */
  constructor(seed: number) {
    this.reseed(seed)
  }

  /** Starts over, as if newly created with this seed. */
  reseed(seed: number): void {
    this.#key[0] = seed
    this.#key[1] = Math.floor(seed / TWO_32)
    this.at(0, 0)
  }

  /** @hot Moves to a tick and an object. Object 0 stands for the world itself. */
  at(tick: number, object: number, ordinal: number = 0): this {
    this.#place[0] = object
    this.#place[1] = tick
    this.#place[2] = Math.floor(tick / TWO_32)
    this.#blockNumber = -1
    this.ordinal = ordinal
    return this
  }

  /** @hot The next word at this place, 0 .. 2^32 - 1. */
  nextU32(): number {
    const ordinal = this.ordinal
    const block = ordinal >>> 2
    if (block !== this.#blockNumber) {
      philox(block, this.#place, this.#key, this.#block)
      this.#blockNumber = block
    }
    this.ordinal = ordinal + 1
    return this.#block[ordinal & 3]
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

/** @hot The four words of one block. */
export function philox(block: number, place: Int32Array, key: Int32Array, out: Uint32Array): void {
  let c0 = block | 0
  let c1 = place[0]
  let c2 = place[1]
  let c3 = place[2]
  let key0 = key[0]
  let key1 = key[1]
  for (let round = 0; round < ROUNDS; round++) {
    const high0 = multiplyHigh(c0, MULTIPLY_0)
    const high2 = multiplyHigh(c2, MULTIPLY_2)
    const low0 = Math.imul(c0, MULTIPLY_0)
    const low2 = Math.imul(c2, MULTIPLY_2)
    c0 = high2 ^ c1 ^ key0
    c1 = low2
    c2 = high0 ^ c3 ^ key1
    c3 = low0
    key0 = (key0 + KEY_STEP_0) | 0
    key1 = (key1 + KEY_STEP_1) | 0
  }
  out[0] = c0
  out[1] = c1
  out[2] = c2
  out[3] = c3
}
