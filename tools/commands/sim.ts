/**
 * `npm run sim`: worlds from seeds. One seed is one world with its network faults; a failure is reported by its seed.
 *
 * The worlds come from `test/sim/swarm.ts`, which exports `runSwarm(options: SwarmOptions): Promise<SwarmReport>`,
 * bundled with marks in the engine (`test/sim/marks.ts`). This file only chooses the seeds, prints, counts, and saves
 * failures.
 */

import { pathToFileURL } from 'node:url'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine, misuse, wholeNumber } from '../command-line.ts'
import { bundleMarked } from '../sim-bundle.ts'
import { judgeSurvivors, runMutants } from '../sim-mutants.ts'
import { SWARM_PARTS, type SwarmFailure, type SwarmOptions, type SwarmReport } from '../sim-report.ts'
import { appendRun, sumRuns } from '../sim-runs.ts'
import { ROOT } from '../typecheck.ts'
import { runVitest } from '../vitest-run.ts'

const HELP = `
npm run sim -- [file...] [options]      Plays whole worlds on a simulated network, each from one seed.

  --seeds N      how many (default 200)
  --start S      the first seed; the others follow it (default 1)
  --seed S       only this one: replays a failure (so does SEED=S in front)
  --only PART    transport: endpoints and channels only; match: whole matches only (a twentieth of the seeds otherwise);
                 crowd: 24 players and 8 spectators on a bad network (a hundredth of the seeds otherwise);
                 lockstep: matches with an order relay (a fiftieth of the seeds otherwise);
                 mesh: lockstep matches of two or three peers without a relay (a fiftieth of the seeds otherwise);
                 path: two peers behind routers, with packet relays (a twentieth of the seeds otherwise);
                 services: fleet, tracker and store with their players (a fiftieth of the seeds otherwise);
                 rtype: worlds with R-Type clients (a twentieth of the seeds otherwise);
                 or the name of a feature: whole matches that have it, such as resume, attacker, shared, rekey
  --minutes M    as many seeds as fit into M minutes, instead of --seeds
  --each N       plays every part until it has N endpoint ticks, instead of a share of the seeds
  --log FILE     appends the result to FILE, one line of JSON
  --sum FILE     plays nothing: sums the runs of the last commit in FILE, by part. Fails unless they have 10^8 endpoint
                 ticks (--ticks N: another number), 10^6 of each part (--each N), no violation, and passed every mark
  --json         the last line printed is the report as JSON
  --marks        prints how often every mark was passed, and fails if one never was. A run of ten minutes or more
                 always does this
  --no-save      does not save failures below test/sim/regressions
  --mutants      plants bugs, one after the other, and prints which are found; --only NAME: those of the part NAME
                 (lockstep, mesh, handover, path, rtype, services), or whose name or file contains it; --ticks N: at
                 most N endpoint ticks for each (default 1000000); --jobs N: at once (default 2). Fails if the same
                 worlds fail without a bug, or if a bug is missed that has no reason to survive

With a file, the simulated tests whose path contains it run instead, with SEED in their environment.`

interface Swarm {
  runSwarm(options: SwarmOptions): Promise<SwarmReport>
  readonly FEATURE_NAMES: readonly string[]
}

const PROGRESS_MS = 5000

const { values, positionals } = commandLine(HELP, {
  seeds: { type: 'string' },
  start: { type: 'string' },
  seed: { type: 'string' },
  only: { type: 'string' },
  minutes: { type: 'string' },
  each: { type: 'string' },
  log: { type: 'string' },
  sum: { type: 'string' },
  json: { type: 'boolean' },
  marks: { type: 'boolean' },
  'no-save': { type: 'boolean' },
  mutants: { type: 'boolean' },
  ticks: { type: 'string' },
  jobs: { type: 'string' },
})
const one = wholeNumber(HELP, 'seed', values.seed ?? process.env.SEED, -1)
const minutes = minutesOf(values.minutes)
const each = values.each === undefined ? undefined : wholeNumber(HELP, 'each', values.each, 1, 1)
const isOpen = minutes !== undefined || each !== undefined
const start = one >= 0 ? one : wholeNumber(HELP, 'start', values.start, 1)
const seeds =
  one >= 0
    ? 1
    : wholeNumber(HELP, 'seeds', values.seeds, !isOpen ? 200 : Number.MAX_SAFE_INTEGER - start, 1)
const PARTS: readonly string[] = SWARM_PARTS
/** A run of this many minutes must pass every mark. Otherwise something is never tried. */
const LONG_MINUTES = 10

if (positionals.length > 0) {
  if (one >= 0) process.env.SEED = String(one)
  const { failed } = await runVitest(ROOT, positionals.map((file) => (file.includes('/') ? file : `test/sim/${file}`)))
  process.exitCode = failed === 0 ? 0 : 1
} else if (values.sum !== undefined) {
  const total = wholeNumber(HELP, 'ticks', values.ticks, 100_000_000, 1)
  const { lines, isMet } = sumRuns(values.sum, { total, each: each ?? 1_000_000 })
  for (const line of lines) console.log(line)
  process.exitCode = isMet ? 0 : 1
} else {
  process.exitCode = values.mutants === true ? await mutants() : await swarm()
}

async function swarm(): Promise<number> {
  const { only } = values
  const module: Swarm = await import(pathToFileURL(await bundleMarked()).href)
  if (only !== undefined && !PARTS.includes(only) && !module.FEATURE_NAMES.includes(only)) {
    misuse(
      HELP,
      `--only takes ${PARTS.join(', ')} or one of ${module.FEATURE_NAMES.join(', ')}, not ${JSON.stringify(only)}`,
    )
  }
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  let saidAt = startedAt
  const report = await module.runSwarm({
    start, seeds, clock: cpuMs, ...(only !== undefined && { only }), ...(each !== undefined && { each }),
    ...(minutes !== undefined && { isOver: () => performance.now() - startedAt >= minutes * 60_000 }),
    onSeed: (seed, failures, endpointTicks, { hit, all }) => {
      for (const failure of failures) printFailure(failure)
      const now = performance.now()
      if (now - saidAt < PROGRESS_MS) return
      saidAt = now
      const rate = rateOf(endpointTicks, now - startedAt)
      console.log(`seed ${seed}: ${millions(endpointTicks)} endpoint-ticks, ${rate} a second; ${hit} of ${all} marks`)
    },
  })
  const ms = performance.now() - startedAt
  const cpu = process.cpuUsage(cpuBefore)
  const { parts } = report
  // By processor time. The rate is that of bare endpoints where there are any: a tick of a whole player does a hundred
  // times the work.
  const rates = Object.fromEntries(
    Object.entries(parts).map(([part, { endpointTicks, ms: spent }]) => [
      part,
      endpointTicks === 0 ? 0 : rateOf(endpointTicks, spent),
    ]),
  )
  const endpointTicksPerSecond = rates.transport || rateOf(report.endpointTicks, ms)
  console.log(
    `${report.worlds} worlds, ${report.matches} matches and ${report.crowds} crowds from seed ${start}: `
      + `${report.violations} violations; ${millions(report.endpointTicks)} endpoint-ticks `
      + `in ${(ms / 1000).toFixed(1)} s; trace ${report.traceHash}`,
  )
  for (const [part, { worlds, endpointTicks }] of Object.entries(parts))
    if (worlds > 0)
      console.log(`  ${part.padEnd(10)} ${millions(endpointTicks)} endpoint-ticks, ${rates[part]} a second of one core`)
  if (values.log !== undefined) {
    const seconds = Math.round(ms / 1000)
    appendRun(values.log, { start, seconds, at: new Date(), ...(only !== undefined && { only }) }, report)
  }
  const isCovered = only !== undefined || judgeMarks(report.marks)
  if (values.json === true) {
    const endpointTicksPerCpuSecond = rateOf(report.endpointTicks, (cpu.user + cpu.system) / 1000)
    console.log(
      JSON.stringify({
        ...report,
        endpointTicksPerSecond,
        endpointTicksPerCpuSecond,
        partTicksPerSecond: rates,
        seconds: Number((ms / 1000).toFixed(2)),
      }),
    )
  }
  return report.violations === 0 && isCovered ? 0 : 1
}

function printFailure({ seed, part, problem, invariant, weather, shrunk, regression }: SwarmFailure): void {
  console.log(`seed ${seed} (${part}): ${problem}`)
  console.log(`  weather  ${weather}`)
  console.log(`  shrunk   ${shrunk}`)
  const isFeature = part === 'match' && values.only !== undefined && !PARTS.includes(values.only)
  console.log(`  replay   npm run sim -- --seed ${seed} --only ${isFeature ? values.only : part}`)
  if (regression === undefined || values['no-save'] === true) return
  const name = `${part}-${seed}-${invariant}.json`
  const folder = join(ROOT, 'test', 'sim', 'regressions')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), `${JSON.stringify(regression, undefined, 2)}\n`)
  console.log(`  kept     test/sim/regressions/${name}: commit it, and it is played in every test`)
}

/** Prints the marks that were never passed. True if there are none, or if that does not matter. */
function judgeMarks(marks: Readonly<Record<string, number>>): boolean {
  const missed = Object.keys(marks).filter((name) => marks[name] === 0)
  if (values.marks === true)
    for (const [name, count] of Object.entries(marks)) console.log(`${String(count).padStart(12)}  ${name}`)
  const all = Object.keys(marks).length
  const never = missed.length > 0 && missed.length < all / 2 ? `; never: ${missed.join('; ')}` : ''
  console.log(`${all - missed.length} of ${all} marks were passed${never}`)
  const isAsked = values.marks === true || (minutes ?? 0) >= LONG_MINUTES
  return missed.length === 0 || !isAsked
}

/** Plants bugs, and prints which are found. */
async function mutants(): Promise<number> {
  const results = await runMutants({
    ...(values.only !== undefined && { only: values.only }),
    endpointTicksMax: wholeNumber(HELP, 'ticks', values.ticks, 1_000_000, 1),
    jobs: wholeNumber(HELP, 'jobs', values.jobs, 2, 1),
    onResult: ({ name, isCaught, by, endpointTicks, problem }, done, total) => {
      const ticks = `${endpointTicks} endpoint-ticks`
      const details = isCaught ? `${by} after ${ticks}` : `not in ${ticks}`
      console.log(`${done}/${total} ${isCaught ? 'found ' : 'MISSED'} ${name}: ${details}`)
      if (isCaught) console.log(`        ${problem}`)
    },
  })
  const caught = results.filter(({ isCaught }) => isCaught).length
  const median =
    results
      .filter(({ isCaught }) => isCaught)
      .map(({ endpointTicks }) => endpointTicks)
      .toSorted((a, b) => a - b)[caught >> 1] ?? 0
  const share = ((100 * caught) / Math.max(1, results.length)).toFixed(1)
  console.log(
    `${caught} of ${results.length} planted bugs were found (${share} %), half of them within ${median} endpoint-ticks`,
  )
  const { lines, isGood } = judgeSurvivors(results)
  for (const line of lines) console.log(line)
  if (values.json === true)
    console.log(JSON.stringify({ mutants: results.length, caught, medianEndpointTicks: median, results }))
  return isGood ? 0 : 1
}

function minutesOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  return value > 0 ? value : misuse(HELP, `--minutes takes a number above 0, not ${JSON.stringify(text)}`)
}

/** Processor time of this process. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function millions(count: number): string {
  return `${(count / 1e6).toFixed(2)} million`
}

function rateOf(count: number, ms: number): number {
  return Math.round(count / (ms / 1000))
}
