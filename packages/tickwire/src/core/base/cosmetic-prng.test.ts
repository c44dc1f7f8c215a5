import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, expectTypeOf, test } from 'vitest'
import { CosmeticPrng } from './cosmetic-prng.ts'
import type { KeyedPrng } from './keyed-prng.ts'
import type { RandomWords } from './prng-draws.ts'
import type { Prng } from './prng.ts'

test('[RNG7] its numbers are in range', () => {
  const dice = new CosmeticPrng(1)
  for (let i = 0; i < 1000; i++) {
    const x = dice.between(-2, 5)
    if (!(x >= -2 && x < 5 && dice.float() < 1 && Number.isFinite(dice.gaussian()))) expect.fail(`at draw ${i}`)
    if (![1, 2, 3].includes(dice.int(1, 3))) expect.fail(`at draw ${i}`)
  }
})

test('[RNG7] the types of cosmetic and simulated chance do not fit each other', () => {
  expectTypeOf<CosmeticPrng>().not.toExtend<Prng>()
  expectTypeOf<CosmeticPrng>().not.toExtend<KeyedPrng>()
  expectTypeOf<CosmeticPrng>().not.toExtend<RandomWords>()
  expectTypeOf<Prng>().not.toExtend<CosmeticPrng>()
  expectTypeOf<KeyedPrng>().not.toExtend<CosmeticPrng>()
})

test('[RNG7] no file of core imports it, including the door of core: the platform doors export it', () => {
  const core = fileURLToPath(new URL('..', import.meta.url))
  const importers = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(path) &&
      /from '[^']*cosmetic-prng\.ts'/.test(readFileSync(`${core}/${path}`, 'utf8')),
  )
  expect(importers).toEqual([])
})
