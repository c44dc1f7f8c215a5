/** Planted bugs and marks: each still finds its line, and two of the bugs are planted and found. */

import { describe, expect, test, vi } from 'vitest'
import { patchedSource } from '../../tools/sim-bundle.ts'
import { judgeSurvivors, runMutants } from '../../tools/sim-mutants.ts'
import { MARK_NAMES, MARK_PATCHES } from './marks.ts'
import { MUTANTS } from './mutants.ts'

// It takes seconds on an idle machine, and longer on a busy one.
vi.setConfig({ testTimeout: 240_000 })

describe('planted bugs', () => {
  test('[SIM8] there are at least 120 planted bugs, each with its own name', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
    expect(MUTANTS.length).toBeGreaterThanOrEqual(120)
  })

  test('[SIM8] at most 3 % of the planted bugs have a reason to survive', () => {
    const survivors = MUTANTS.filter(({ survives }) => survives !== undefined)
    expect(survivors.filter(({ survives }) => (survives ?? '').length < 20)).toEqual([])
    expect(survivors.length).toBeLessThanOrEqual(0.03 * MUTANTS.length)
  })

  test.each(MUTANTS)('[SIM8] $name: its line is still in the source', (mutant) => {
    expect(patchedSource(mutant.file, [mutant])).not.toBe(patchedSource(mutant.file, []))
  })

  test('[SIM8] a replayed packet and mixed fragments are found, in a process of its own', async () => {
    const options = { endpointTicksMax: 10_000, jobs: 1, onResult: () => {} }
    const results = [
      ...(await runMutants({ ...options, only: 'replay window marks nothing' })),
      ...(await runMutants({ ...options, only: 'a block is allocated twice' })),
    ]
    expect(results.map(({ name, isCaught, by }) => [name, isCaught, by])).toEqual([
      ['replay window marks nothing', true, 'I7'], ['a block is allocated twice', true, 'I4'],
    ])
  })

  test('[SIM8] nothing is hunted in worlds that fail without a planted bug', async () => {
    const patches = MUTANTS.filter(({ name }) => name === 'replay window marks nothing')
    const names: string[] = []
    const hunt = runMutants({
      only: 'a block is allocated twice', endpointTicksMax: 10_000, jobs: 1, patches,
      onResult: ({ name }) => { names.push(name) },
    })
    await expect(hunt).rejects.toThrow(/^sim: the worlds of part 0\.8 fail without a planted bug \(.*I7/)
    expect(names).toEqual([])
  })

  test('[SIM8] a bug that is missed needs a reason, and a bug that is found must not have one', () => {
    const result = { file: 'a.ts', by: 'I1', endpointTicks: 1, problem: '', isCaught: true, survives: undefined }
    const [found, missed] = [{ ...result, name: 'found' }, { ...result, name: 'missed', by: '', isCaught: false }]
    const named = { ...missed, name: 'named', survives: 'no world does this' }
    expect(judgeSurvivors([found, named])).toEqual({ lines: ['survives: named: no world does this'], isGood: true })
    expect(judgeSurvivors([found, named, missed])).toMatchObject({ isGood: false })
    const { lines, isGood } = judgeSurvivors([{ ...found, survives: 'no world does this' }])
    expect(lines).toEqual(['found by I1 in spite of its reason to survive: found. Fix: remove it.'])
    expect(isGood).toBe(true)
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
