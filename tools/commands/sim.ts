/**
 * `npm run sim`: worlds from seeds. One seed is one world, weather included; a failure is its seed.
 *
 * The worlds come from `test/sim/swarm.ts`, which exports `runSwarm(options: SwarmOptions): SwarmReport`. This file only
 * draws the seeds, prints and counts.
 */

import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { commandLine, misuse, wholeNumber } from '../command-line.ts'
import { ROOT } from '../typecheck.ts'
import { runVitest } from '../vitest-run.ts'

const HELP = `
npm run sim -- [file...] [options]      Runs whole worlds on a simulated network, each from one seed.

  --seeds N      how many (default 200)
  --start S      the first seed; the others follow it (default 1)
  --seed S       only this one: replays a failure (so does SEED=S in front)
  --only PART    transport: endpoints and channels only; match: whole games only (a twentieth of the seeds otherwise);
                 crowd: 24 players and 8 spectators in foul weather (a hundredth of the seeds otherwise)
  --minutes M    as many seeds as fit into M minutes, instead of --seeds
  --json         the last line printed is the report as JSON

With a file, the simulated tests whose path contains it run instead, with SEED in their environment.`

export type SwarmPart = 'transport' | 'match' | 'crowd'

/** Which worlds to run: seeds start .. start + seeds - 1. */
export interface SwarmOptions {
  readonly start: number
  readonly seeds: number
  readonly only?: SwarmPart
  /** Called after each seed, for whoever watches. */
  readonly onSeed?: (seed: number, failures: readonly SwarmFailure[], endpointTicks: number) => void
  /** Asked before each seed: whether it is enough. */
  readonly isOver?: () => boolean
}

/** A seed that broke something. */
export interface SwarmFailure {
  readonly seed: number
  readonly part: SwarmPart
  readonly invariant: string
  readonly problem: string
  readonly weather: string
  /** The least weather in which the same invariant does not hold. */
  readonly shrunk: string
}

/** What became of them. Further keys are printed with `--json` as they are. */
export interface SwarmReport {
  readonly seeds: number
  readonly worlds: number
  readonly matches: number
  readonly crowds: number
  readonly violations: number
  readonly failures: readonly SwarmFailure[]
  /** One endpoint, awake, advanced by a sixtieth of a simulated second. */
  readonly endpointTicks: number
  readonly simulatedSeconds: number
  readonly traceHash: string
}

interface Swarm {
  runSwarm(options: SwarmOptions): SwarmReport
}

const PROGRESS_MS = 5000

const { values, positionals } = commandLine(HELP, {
  seeds: { type: 'string' },
  start: { type: 'string' },
  seed: { type: 'string' },
  only: { type: 'string' },
  minutes: { type: 'string' },
  json: { type: 'boolean' },
})
const one = wholeNumber(HELP, 'seed', values.seed ?? process.env.SEED, -1)
const minutes = minutesOf(values.minutes)
const start = one >= 0 ? one : wholeNumber(HELP, 'start', values.start, 1)
const seeds = one >= 0 ? 1 : wholeNumber(HELP, 'seeds', values.seeds, minutes === undefined ? 200 : Number.MAX_SAFE_INTEGER - start, 1)
const only = partOf(values.only)

if (positionals.length > 0) {
  if (one >= 0) process.env.SEED = String(one)
  const { failed } = await runVitest(ROOT, positionals.map((file) => (file.includes('/') ? file : `test/sim/${file}`)))
  process.exitCode = failed === 0 ? 0 : 1
} else {
  process.exitCode = await swarm()
}

async function swarm(): Promise<number> {
  const module: Swarm = await import(pathToFileURL(join(ROOT, 'test', 'sim', 'swarm.ts')).href)
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  let saidAt = startedAt
  const report = module.runSwarm({
    start, seeds, ...(only !== undefined && { only }),
    ...(minutes !== undefined && { isOver: () => performance.now() - startedAt >= minutes * 60_000 }),
    onSeed: (seed, failures, endpointTicks) => {
      for (const failure of failures) printFailure(failure)
      const now = performance.now()
      if (now - saidAt < PROGRESS_MS) return
      saidAt = now
      console.log(`seed ${seed}: ${millions(endpointTicks)} endpoint-ticks, ${rateOf(endpointTicks, now - startedAt)} a second`)
    },
  })
  const ms = performance.now() - startedAt
  const cpu = process.cpuUsage(cpuBefore)
  const endpointTicksPerSecond = rateOf(report.endpointTicks, ms)
  console.log(`${report.worlds} worlds, ${report.matches} matches and ${report.crowds} crowds from seed ${start}: ${report.violations} violations; `
    + `${millions(report.endpointTicks)} endpoint-ticks, ${endpointTicksPerSecond} a second (${(ms / 1000).toFixed(1)} s); trace ${report.traceHash}`)
  if (values.json === true) {
    const endpointTicksPerCpuSecond = rateOf(report.endpointTicks, (cpu.user + cpu.system) / 1000)
    console.log(JSON.stringify({ ...report, endpointTicksPerSecond, endpointTicksPerCpuSecond, seconds: Number((ms / 1000).toFixed(2)) }))
  }
  return report.violations === 0 ? 0 : 1
}

function printFailure({ seed, part, problem, weather, shrunk }: SwarmFailure): void {
  console.log(`seed ${seed} (${part}): ${problem}`)
  console.log(`  weather  ${weather}`)
  console.log(`  shrunk   ${shrunk}`)
  console.log(`  replay   npm run sim -- --seed ${seed} --only ${part}`)
}

function partOf(text: string | undefined): SwarmPart | undefined {
  if (text === undefined || text === 'transport' || text === 'match' || text === 'crowd') return text
  return misuse(HELP, `--only takes transport, match or crowd, not ${JSON.stringify(text)}`)
}

function minutesOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  return value > 0 ? value : misuse(HELP, `--minutes takes a number above 0, not ${JSON.stringify(text)}`)
}

function millions(count: number): string {
  return `${(count / 1e6).toFixed(2)} million`
}

function rateOf(count: number, ms: number): number {
  return Math.round(count / (ms / 1000))
}
