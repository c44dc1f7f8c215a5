/** Planted bugs and marks: each still finds its line, and two of the bugs are planted and found. */

import { describe, expect, test, vi } from 'vitest'
import { patchedSource } from '../../tools/sim-bundle.ts'
import { runMutants } from '../../tools/sim-mutants.ts'
import { MARK_NAMES, MARK_PATCHES } from './marks.ts'
import { MUTANTS } from './mutants.ts'

// It takes seconds on an idle machine, and longer on a busy one.
vi.setConfig({ testTimeout: 240_000 })

describe('planted bugs', () => {
  test('[SIM8] there are at least 120 planted bugs, each with its own name', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
    expect(MUTANTS.length).toBeGreaterThanOrEqual(120)
  })

  test.each(MUTANTS)('[SIM8] $name: its line is still in the source', (mutant) => {
    expect(patchedSource(mutant.file, [mutant])).not.toBe(patchedSource(mutant.file, []))
  })

  test('[SIM8] a replayed packet and mixed fragments are found, in a process of its own', async () => {
    const options = { endpointTicksMax: 100_000, jobs: 1, onResult: () => {} }
    const results = [
      ...(await runMutants({ ...options, only: 'replay window marks nothing' })),
      ...(await runMutants({ ...options, only: 'a block is allocated twice' })),
    ]
    expect(results.map(({ name, isCaught, by }) => [name, isCaught, by])).toEqual([
      ['replay window marks nothing', true, 'I7'], ['a block is allocated twice', true, 'I4'],
    ])
  })
})

describe('marks', () => {
  test('[SIM12] there are at least two hundred marks, each with its own name', () => {
    expect(new Set(MARK_NAMES).size).toBe(MARK_NAMES.length)
    expect(MARK_NAMES.length).toBeGreaterThanOrEqual(200)
  })

  test.each(MARK_PATCHES)('[SIM12] the line of $file is still in the source: $find', (patch) => {
    expect(patchedSource(patch.file, [patch])).toContain(patch.replace)
  })
})
