import { expect, test } from 'vitest'
import { certainInputs } from './run-fuzz-inputs.ts'
import { findTargets, fuzzGuarded } from './run-fuzz-worker.ts'

// Fixed seed and count, so that it is the same run on every machine. `npm run fuzz` goes on where this stops.
const SEED = 20_240_229
const RANDOM_INPUTS = 4000

for (const found of await findTargets()) {
  const inputs = certainInputs(found.target.seeds()) + RANDOM_INPUTS
  test(`[FUZZ4] ${found.target.name} survives ${inputs} hostile inputs`, { timeout: 60_000 }, async () => {
    const report = await fuzzGuarded(found, { seed: SEED, inputs, seconds: Infinity })
    const replays = report.failures.map((failure) =>
      `${failure.message}: npm run fuzz -- --target ${report.name} --input=${failure.hex}`)
    expect(replays).toEqual([])
    expect(report).toMatchObject({ inputs, throws: 0, slow: 0, large: 0 })
  })
}

test('[FUZZ4] every decoder that is fuzzed has seed inputs to start from', async () => {
  for (const { target } of await findTargets()) expect(target.seeds().length, target.name).toBeGreaterThan(0)
})
