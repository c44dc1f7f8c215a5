/**
 * `npm run engines`: one bundle under every JavaScript engine, and their digests compared part by part.
 */

import {
  bundleParts, controlResults, differences, ENGINES, recordMatch, recordSkirmish, runEngine, type Outcome,
} from '../../test/engines/run-engines.ts'
import { CONTROL } from '../../test/engines/engine-parts.ts'
import { commandLine, misuse, wholeNumber } from '../command-line.ts'
import { ensureEngines } from '../engine-install.ts'

const HELP = `
npm run engines -- [options]      The same bits on every JavaScript engine.

  --ticks N        ticks of each recorded lockstep match (default 1800)
  --only NAME      this engine and V8
  --no-install     install nothing
  --json           the last line printed is the report as JSON

Exact numbers, schemas, codecs, a world and recorded lockstep matches run under V8, QuickJS, SpiderMonkey,
JavaScriptCore and headless Firefox. Missing engines are installed from Debian's packages, as root; where that is not
possible they are skipped by name, and with CI=true they are a failure.

A control of native functions must differ between two engines. Otherwise the comparison proves nothing, and fails.
Exit code: 0 all engines agree; 1 a part differs, the control does not, or (with CI=true) an engine is missing.`

const { values, positionals } = commandLine(HELP, {
  ticks: { type: 'string' },
  only: { type: 'string' },
  'no-install': { type: 'boolean' },
  json: { type: 'boolean' },
})
if (positionals.length > 0) misuse(HELP, `unknown argument ${JSON.stringify(positionals[0])}`)
const { only } = values
const names = ENGINES.map(({ name }) => name)
if (only !== undefined && !names.includes(only)) misuse(HELP, `no engine ${only}; there are: ${names.join(', ')}`)
process.exitCode = await compareEngines()

async function compareEngines(): Promise<number> {
  const engines = ENGINES.filter(({ name }) => only === undefined || name === only || name === 'V8')
  if (values['no-install'] !== true) ensureEngines(engines, console.error)
  const ticks = wholeNumber(HELP, 'ticks', values.ticks, 1800, 30)
  const bundle = await bundleParts(recordMatch(ticks), recordSkirmish(ticks))
  const outcomes: Outcome[] = []
  for (const engine of engines) {
    const startedAt = performance.now()
    const outcome = await runEngine(engine, bundle)
    outcomes.push(outcome)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.log('missing' in outcome
      ? `${outcome.engine}: skipped: ${outcome.missing}`
      : `${outcome.engine}: ${Object.keys(outcome.digests).length} parts in ${seconds} s ${outcome.program}`.trimEnd())
  }
  return report(outcomes)
}

function report(outcomes: readonly Outcome[]): number {
  const different = differences(outcomes)
  const missing = outcomes.flatMap((each) => ('missing' in each ? [each.engine] : []))
  const controls = controlResults(outcomes)
  const isMissingWrong = process.env.CI === 'true' && missing.length > 0
  const ranCount = outcomes.length - missing.length
  // A run of V8 alone has nothing to compare.
  const isControlWrong = ranCount > 1 && controls < 2
  for (const { engine, part, digest } of different) console.log(`differs: ${engine}, ${part}: ${digest}`)
  if (isControlWrong) console.log(`${CONTROL}: the same everywhere, so the comparison proves nothing`)
  if (isMissingWrong) console.log(`missing, and required with CI=true: ${missing.join(', ')}`)
  const isRight = different.length === 0 && !isControlWrong && !isMissingWrong
  console.log(`${ranCount} engines, ${different.length} differences, ${controls} results of the control`)
  if (values.json === true)
    console.log(JSON.stringify({ isRight, missing, differences: different, controlResults: controls, outcomes }))
  return isRight ? 0 : 1
}
