/** The short form of `npm run engines`: without Firefox, and with a shorter match. */

import { expect, test, vi } from 'vitest'
import { CONTROL } from '../engines/engine-parts.ts'
import {
  bundleParts, controlResults, differences, ENGINES, programOf, recordMatch, recordSkirmish, runEngine, type Outcome,
} from '../engines/run-engines.ts'

vi.setConfig({ testTimeout: 120_000 })

/** V8 and QuickJS come with Node and npm, so they are never missing. */
const SHELLS = ENGINES.filter(({ name }) => name !== 'Firefox')

test('[ENGINE1] every installed engine has the same digest of every part, and the control differs', async (context) => {
  const bundle = await bundleParts(recordMatch(300), recordSkirmish(600))
  const outcomes: Outcome[] = []
  for (const engine of SHELLS) outcomes.push(await runEngine(engine, bundle))
  expect(differences(outcomes)).toEqual([])
  expect(controlResults(outcomes)).toBeGreaterThan(1)
  const [first] = outcomes
  const parts = first !== undefined && 'digests' in first ? Object.keys(first.digests) : []
  const wanted = ['numbers: generators', 'schema', 'codec: packed', 'codec: entropy', 'world',
    'match: tick 300', 'skirmish: tick 600', CONTROL]
  expect(parts).toEqual(expect.arrayContaining(wanted))
  const missing = outcomes.flatMap((each) => ('missing' in each ? [`${each.engine}: ${each.missing}`] : []))
  if (process.env.CI === 'true') expect(missing).toEqual([])
  else if (missing.length > 0) await context.annotate(`skipped: ${missing.join('; ')}`)
})

test('[ENGINE2] a part that differs is named with its engine, and a control that is the same is found', () => {
  const right = { engine: 'V8', program: '', digests: { world: '1', schema: '2', [CONTROL]: '3' } }
  const wrong = { engine: 'Other', program: '', digests: { world: '1', schema: '9', [CONTROL]: '3' } }
  const short = { engine: 'Short', program: '', digests: { world: '1', [CONTROL]: '4' } }
  expect(differences([right, wrong, { engine: 'None', missing: 'no program' }, short])).toEqual([
    { engine: 'Other', part: 'schema', digest: '9' },
    { engine: 'Short', part: 'schema', digest: 'none' },
  ])
  expect(controlResults([right, wrong])).toBe(1)
  expect(controlResults([right, short])).toBe(2)
})

test('[ENGINE2] an engine that is not installed is skipped by name, with the fix', async () => {
  const engine = { ...ENGINES[2]!, programs: ['no-such-shell'] }
  expect(programOf(engine)).toBeUndefined()
  expect(await runEngine(engine, '')).toEqual({
    engine: 'SpiderMonkey',
    missing: 'no program no-such-shell in PATH. Fix: apt-get install libmozjs-102-dev',
  })
})
