/**
 * Random numbers for `step`: each number is a function of the seed, the tick, the object it is drawn for, and how many
 * were drawn for that object in this tick before.
 *
 * So a client that steps one of 24 players draws for that player the same numbers as the server, and an extra draw for
 * one object does not change the numbers of others. Numbers for the world itself (`random.float(world)`) are equal on
 * peers that make the same draws for it in the same order.
 *
 * Between ticks (`onJoin`, `onLeave`) the numbers differ from those of the tick before and of the tick after.
 */

import { KeyedPrng } from '../base/keyed-prng.ts'
import { shuffle } from '../base/prng-draws.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { indexOf, WORD, type ObjectTable } from './object-table.ts'

/** What a number is drawn for: an object, or the world. */
export interface DrawnFor {
  readonly id: ObjectId
}

/** Draws between ticks are numbered from here, those of a tick from 0. */
const BETWEEN_TICKS = 0x8000_0000

/** The draw counters of a world. */
export interface DrawCounts {
  readonly tick: Tick
  readonly objects: ObjectTable
  /** Whether a tick is being stepped. */
  isStepping: boolean
  /** How many words were drawn for the world itself in this tick. */
  worldDraws: number
  /** Whether any number was drawn in this tick. */
  hasDraws: boolean
}

export class StepRandom {
  /** Changes with every draw: object and number of the draw. A cheap sign of equal draws. */
  fold = 0
  readonly #counts: DrawCounts
  readonly #words: KeyedPrng

  constructor(seed: number, counts: DrawCounts) {
    this.#words = new KeyedPrng(seed)
    this.#counts = counts
  }

  /** Starts over, as if newly created with this seed. */
  reseed(seed: number): void {
    this.#words.reseed(seed)
  }

  /** A random word, 0 .. 2^32 - 1. */
  u32(of: DrawnFor): number {
    this.#begin(of)
    const word = this.#words.nextU32()
    this.#end(of)
    return word
  }

  /** A fraction in [0, 1). */
  float(of: DrawnFor): number {
    this.#begin(of)
    const fraction = this.#words.nextFloat()
    this.#end(of)
    return fraction
  }

  /** An integer from min to max, both included. */
  int(of: DrawnFor, min: number, max: number): number {
    this.#begin(of)
    const whole = this.#words.nextInt(min, max)
    this.#end(of)
    return whole
  }

  /** A normally distributed number, mean 0, deviation 1. */
  gaussian(of: DrawnFor): number {
    this.#begin(of)
    const number = this.#words.nextGaussian()
    this.#end(of)
    return number
  }

  /** Puts the items in a random order. */
  shuffle(of: DrawnFor, items: unknown[]): void {
    this.#begin(of)
    shuffle(this.#words, items)
    this.#end(of)
  }

  /** Continues where the last draw for this object ended. */
  #begin({ id }: DrawnFor): void {
    const { tick, objects, worldDraws, isStepping } = this.#counts
    if (id !== 0 && (indexOf(id) >= objects.highWater || objects.idAt(indexOf(id)) !== id)) {
      throw new RangeError(`world.random: no object has the id ${id}. Fix: draw for a living object, or for the world.`)
    }
    const drawn = id === 0 ? worldDraws : objects.words[(indexOf(id) << WORD.shift) + WORD.draws]
    this.#words.at(tick, id, isStepping ? drawn : BETWEEN_TICKS + drawn)
  }

  #end({ id }: DrawnFor): void {
    const counts = this.#counts
    const drawn = this.#words.ordinal - (counts.isStepping ? 0 : BETWEEN_TICKS)
    counts.hasDraws = true
    this.fold = (Math.imul(this.fold ^ id, 0x0100_0193) + drawn) | 0
    if (id === 0) counts.worldDraws = drawn
    else counts.objects.words[(indexOf(id) << WORD.shift) + WORD.draws] = drawn
  }
}
