/**
 * `npm run sim`: whole matches from seeds. One seed is one match, weather included; a failure is its seed.
 *
 * The matches come from `test/sim/swarm.ts`, which exports `runSwarm(options: SwarmOptions): SwarmReport`, or a promise
 * of it. This file only draws the seeds, prints and counts.
 */

import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { commandLine, wholeNumber } from '../command-line.ts'
import { ROOT } from '../typecheck.ts'
import { runVitest } from '../vitest-run.ts'

const HELP = `
npm run sim -- [file...] [options]      Runs whole matches on a simulated network, each from one seed.

  --seeds N      how many matches (default 200)
  --start S      the first seed; the others follow it (default 1)
  --seed S       only this one: replays a failure (so does SEED=S in front)
  --json         the last line printed is the report as JSON

With a file, the simulated tests whose path contains it run instead, with SEED in their environment.`

/** Which matches to run: seeds start .. start + seeds - 1. */
export interface SwarmOptions {
  readonly start: number
  readonly seeds: number
  /** To be called after each match, for whoever watches. */
  readonly onMatch: (seed: number, problem: string | undefined) => void
}

/** What became of them. Further keys are printed with `--json` as they are. */
export interface SwarmReport {
  readonly matches: number
  readonly failures: readonly { readonly seed: number; readonly problem: string }[]
}

interface Swarm {
  runSwarm(options: SwarmOptions): SwarmReport | Promise<SwarmReport>
}

const { values, positionals } = commandLine(HELP, {
  seeds: { type: 'string' },
  start: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean' },
})
const one = wholeNumber(HELP, 'seed', values.seed ?? process.env.SEED, -1)
const start = one >= 0 ? one : wholeNumber(HELP, 'start', values.start, 1)
const seeds = one >= 0 ? 1 : wholeNumber(HELP, 'seeds', values.seeds, 200, 1)
const swarmPath = join(ROOT, 'test', 'sim', 'swarm.ts')

if (positionals.length > 0) {
  if (one >= 0) process.env.SEED = String(one)
  const { failed } = await runVitest(ROOT, positionals.map((file) => (file.includes('/') ? file : `test/sim/${file}`)))
  process.exitCode = failed === 0 ? 0 : 1
} else if (existsSync(swarmPath)) {
  process.exitCode = await swarm()
} else {
  console.log('There is no test/sim/swarm.ts: running the simulated tests of test/sim with their own seeds.')
  const { failed } = await runVitest(ROOT, ['test/sim/'])
  process.exitCode = failed === 0 ? 0 : 1
}

async function swarm(): Promise<number> {
  const module: Swarm = await import(pathToFileURL(swarmPath).href)
  const startedAt = performance.now()
  const onMatch: SwarmOptions['onMatch'] = (seed, problem) => {
    if (problem === undefined) return
    console.log(`seed ${seed}: ${problem}`)
    console.log(`  replay  npm run sim -- --seed ${seed}`)
  }
  const report = await module.runSwarm({ start, seeds, onMatch })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${report.matches} matches from seed ${start}: ${report.failures.length} failed (${seconds} s)`)
  if (values.json === true) console.log(JSON.stringify(report))
  return report.failures.length === 0 ? 0 : 1
}
