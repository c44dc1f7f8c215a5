/**
 * Bugs planted in defaults and in places that pass a setting on: each still finds its line, and a few are planted. All
 * of them: `npm run prove -- settings-mutants`.
 */

import { expect, test, vi } from 'vitest'
import { patchedSource } from '../../tools/sim-bundle.ts'
import { problemOf, runSettingMutants } from '../../tools/settings-mutants.ts'
import { SETTING_MUTANTS } from './settings-mutants.ts'

// It takes seconds on an idle machine, and longer on a busy one.
vi.setConfig({ testTimeout: 240_000 })

test('[SET5] there is a bug for every default and every place that passes one on, with its own name', () => {
  expect(new Set(SETTING_MUTANTS.map(({ name }) => name)).size).toBe(SETTING_MUTANTS.length)
  expect(SETTING_MUTANTS.length).toBeGreaterThanOrEqual(150)
})

test.each(SETTING_MUTANTS)('[SET5] its line is still in the source: $name', (mutant) => {
  expect(patchedSource(mutant.file, [mutant])).not.toBe(patchedSource(mutant.file, []))
})

test('[SET5] the engine as it is passes, and every fortieth bug is found', async () => {
  expect(await problemOf(9999, [])).toBe('')
  const results = await runSettingMutants({ every: 40, jobs: 2 })
  expect(results.length).toBeGreaterThanOrEqual(4)
  expect(results.filter(({ problem }) => problem === '')).toEqual([])
})
