import { afterAll, expect, test } from 'vitest'
import { form } from '../form.ts'
import { certainInputs } from './run-fuzz-inputs.ts'
import { findTargets, FuzzThread } from './run-fuzz-worker.ts'

// A fixed seed and count, so that every machine runs the same inputs; then more inputs for some seconds, shared by all
// targets. `npm run fuzz` runs longer.
const SEED = 20_240_229
const RANDOM_INPUTS = form(100, 2000)
/** Large seeds have thousands of truncations; the short form tries those of the first seeds. */
const INPUTS_MAX = form(300, Infinity)
const SECONDS = form(2, 60)

const all = await findTargets()
const thread = new FuzzThread()
afterAll(() => thread.close())

for (const found of all) {
  const inputs = Math.min(certainInputs(found.target.seeds()) + RANDOM_INPUTS, INPUTS_MAX)
  test(
    `[FUZZ4] ${found.target.name} survives ${inputs} hostile inputs, and as many more as fit`,
    { timeout: 120_000 },
    async () => {
      const fixed = await thread.fuzz(found, { seed: SEED, inputs, seconds: Infinity })
      const further = await thread.fuzz(found, { seed: SEED + 1, inputs: Infinity, seconds: SECONDS / all.length })
      const replays = [...fixed.failures, ...further.failures].map(
        (failure) => `${failure.message}: npm run fuzz -- --target ${fixed.name} --input=${failure.hex}`,
      )
      expect(replays).toEqual([])
      expect(fixed).toMatchObject({ inputs, throws: 0, slow: 0, large: 0 })
      expect(further).toMatchObject({ throws: 0, slow: 0, large: 0 })
    },
  )
}

test('[FUZZ4] every decoder that is fuzzed has seed inputs to start from', () => {
  for (const { target } of all) expect(target.seeds().length, target.name).toBeGreaterThan(0)
})
