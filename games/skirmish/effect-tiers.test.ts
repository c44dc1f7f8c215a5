import { expect, expectTypeOf, test } from 'vitest'
import { World } from 'tickwire'
import { CosmeticPrng } from 'tickwire/browser'
import { effect, SyncedPrng, type TierDice } from './page/effect-tiers.ts'

test('[SKIRM28] an effect of each tier refuses the random numbers of the two others', () => {
  const { random } = new World([], { seed: 1 })
  const dice: TierDice = { coupled: random, synced: new SyncedPrng(1), free: new CosmeticPrng(1) }
  const tiers = ['coupled', 'synced', 'free'] as const
  for (const tier of tiers) {
    const played: unknown[] = []
    const shown = effect('spark', tier, (_dice, place: number) => { played.push(place) })
    for (const given of tiers) {
      const show = (): void => { shown(dice[given] as never, 7) }
      if (given === tier) show()
      else expect(show).toThrow(`effect spark: wrong random numbers (expected ${tier}, got ${given})`)
    }
    expect(played).toEqual([7])
  }
})

test('[SKIRM28] the types of the tiers do not fit each other', () => {
  const fall = effect('fall', 'synced', () => {})
  const impact = effect('impact', 'free', () => {})
  expectTypeOf<CosmeticPrng>().not.toExtend<Parameters<typeof fall>[0]>()
  expectTypeOf<TierDice['coupled']>().not.toExtend<Parameters<typeof fall>[0]>()
  expectTypeOf<SyncedPrng>().not.toExtend<Parameters<typeof impact>[0]>()
  expectTypeOf<TierDice['coupled']>().not.toExtend<Parameters<typeof impact>[0]>()
})

test('[SKIRM28] a synced effect is the same on every page', () => {
  const numbers = (cause: number): number[] => {
    const dice = new SyncedPrng(cause)
    return [dice.float(), dice.float(), dice.float()]
  }
  expect(numbers(65_540)).toEqual(numbers(65_540))
  expect(numbers(65_540)).not.toEqual(numbers(65_541))
})
