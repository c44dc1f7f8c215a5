/** Failures that the swarm found, made small and kept: every file of `regressions/` is played in every test. */

import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { describeViolation } from './invariants.ts'
import { keptRegressions, playRegression } from './swarm-regressions.ts'

// It takes seconds on an idle machine, and longer on a busy one.
vi.setConfig({ testTimeout: 120_000 })

const kept = keptRegressions(join(import.meta.dirname, 'regressions'))

test.each(kept)('[SIM11] %s', async (_name, regression) => {
  const violation = await playRegression(regression)
  expect(violation && describeViolation(violation)).toBeUndefined()
})

test('[SIM11] each file says which failure it was, and is small enough to be read', () => {
  for (const [name, regression] of kept) {
    expect(regression.problem, name).not.toBe('')
    expect(JSON.stringify(regression).length, name).toBeLessThan(4096)
  }
})
