/**
 * Effects by tier, each with random numbers of its own kind:
 *
 *   coupled   made by the rules in `step`, from the generator of the world: it changes the match
 *   synced    shown alike by every page and every replay: from what happened, such as the id of what fell
 *   free      of this page alone: from a generator that is not part of the match
 *
 * A draw of the wrong kind would be a desync in one direction, and sparks that differ between pages in the other.
 */

import type { World } from 'tickwire'
import { CosmeticPrng } from 'tickwire/browser'

/** Random numbers of a synced effect. */
export class SyncedPrng {
  readonly #words: CosmeticPrng

  /** `cause`: what happened, the same on every page. */
  constructor(cause: number) {
    this.#words = new CosmeticPrng(cause)
  }

  /** A fraction in [0, 1). */
  float(): number {
    return this.#words.float()
  }
}

/** The generator of each tier. */
export interface TierDice {
  readonly coupled: World['random']
  readonly synced: SyncedPrng
  readonly free: CosmeticPrng
}

type Tier = keyof TierDice

function tierOf(dice: TierDice[Tier]): Tier {
  return dice instanceof CosmeticPrng ? 'free' : dice instanceof SyncedPrng ? 'synced' : 'coupled'
}

/** Makes an effect of a tier. It throws when it is given the random numbers of another one. */
export function effect<T extends Tier, Args extends readonly unknown[]>(
  name: string, tier: T, play: (dice: TierDice[T], ...args: Args) => void,
): (dice: TierDice[T], ...args: Args) => void {
  return (dice, ...args) => {
    const given = tierOf(dice)
    if (given !== tier) throw new TypeError(`effect ${name}: wrong random numbers (expected ${tier}, got ${given}). `
      + `Fix: pass those of its tier.`)
    play(dice, ...args)
  }
}
