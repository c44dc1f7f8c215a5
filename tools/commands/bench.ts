/**
 * `npm run bench`: finds `bench/*.bench.ts` and runs one of them here, or all of them, each in a new process, so that
 * the optimiser and the heap of one benchmark do not affect the next. A run of all benchmarks writes bench/RESULTS.md.
 */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { figuresTable, formatTable, isWithinBudget, type Bench, type BenchResult } from '../../bench/harness.ts'
import { describeMachine, renderResults, type Measured } from '../../bench/results.ts'

const HELP = `
npm run bench -- [NAME] [options]

Runs a benchmark, beside other libraries. Without a NAME it runs all benchmarks in turn, each three times. Those write
bench/RESULTS.md, and take almost an hour.

  --list           the benchmarks' names
  --times N        without a NAME: how often each benchmark runs (default 3)
  --only A,B       without a NAME: only these; bench/RESULTS.md is not written
  --json           the last line printed (of each benchmark) is its figures as JSON
  --strict         exit with 1 when a figure misses its budget
  --help           this; after a NAME, the options of that benchmark too

Close other programs: figures are medians of interleaved rounds, but a busy machine still affects them.`

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bench')
const SUFFIX = '.bench.ts'
const RESULTS = join(FOLDER, 'RESULTS.md')
const OWN_FLAGS = ['--list', '--json', '--strict', '--help', '-h']
/** The file for the result of a benchmark, in a run of all benchmarks. */
const RESULT_VARIABLE = 'TICKWIRE_BENCH_RESULT'
const TIMES = 3
/** Packages that are used but not compared: Tickwire itself, and the physics of a scene. */
const OWN_PARTS = ['tickwire', '@dimforge/rapier3d-deterministic-compat']

// npm removes the two dashes; a direct call of tools/run.mjs may leave them in.
const args = process.argv.slice(2).filter((arg, index) => index > 0 || arg !== '--')
const has = (flag: string): boolean => args.includes(flag)
const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .sort()
const name = args[0]?.startsWith('-') === false ? args[0] : undefined

if (name !== undefined && !names.includes(name)) {
  misuse(`There is no benchmark ${JSON.stringify(name)}; there are: ${names.join(', ')}.`)
} else if (has('--help') || has('-h')) {
  await printHelp()
} else if (has('--list')) {
  for (const one of names) console.log(`${one.padEnd(16)}${(await load(one)).summary}`)
} else if (name !== undefined) {
  await runHere(name, args.slice(1).filter((arg) => !OWN_FLAGS.includes(arg)))
} else {
  const times = Number(valueOf('--times') ?? TIMES)
  const only = valueOf('--only')?.split(',')
  const unknown = args.find(
    (arg, index) =>
      !OWN_FLAGS.includes(arg) && !['--times', '--only'].some((flag) => arg === flag || args[index - 1] === flag),
  )
  const absent = only?.find((one) => !names.includes(one))
  if (unknown !== undefined)
    misuse(`${unknown} is not an option of the command itself; options of a benchmark follow its name.`)
  else if (absent !== undefined) misuse(`There is no benchmark ${JSON.stringify(absent)}.`)
  else if (!Number.isInteger(times) || times < 1) misuse('--times is a number from 1 on.')
  else await runAll(only ?? names, times, only === undefined)
}

function valueOf(flag: string): string | undefined {
  const index = args.indexOf(flag)
  return index < 0 ? undefined : args[index + 1] ?? ''
}

async function load(one: string): Promise<Bench> {
  const { bench } = (await import(pathToFileURL(join(FOLDER, one + SUFFIX)).href)) as { bench: Bench }
  if (bench.name !== one) throw new Error(`bench/${one}${SUFFIX} calls itself ${bench.name}`)
  return bench
}

async function runHere(one: string, rest: readonly string[]): Promise<void> {
  const bench = await load(one)
  const result = await bench.run(rest).catch((error: unknown) => {
    if (!isWrongOption(error)) throw error
    misuse(`${one}: ${error.message}`)
    return null
  })
  if (result === null) return
  for (const table of [...result.tables, figuresTable(result.figures)]) console.log(`${formatTable(table)}\n`)
  const missed = result.figures.filter((figure) => !isWithinBudget(figure))
  for (const figure of missed) console.error(`${one}: ${figure.name} misses its budget`)
  if (has('--strict') && missed.length > 0) process.exitCode = 1
  const file = process.env[RESULT_VARIABLE]
  if (file !== undefined) writeFileSync(file, JSON.stringify(result))
  if (has('--json')) console.log(jsonLine(one, result))
}

/** The error that `parseArgs` throws in a benchmark: the command line is wrong, not the benchmark. */
function isWrongOption(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}

function jsonLine(one: string, result: BenchResult): string {
  const figures = result.figures.map(({ name: figure, value, unit, against }) => ({
    name: figure,
    value,
    unit,
    against,
  }))
  return JSON.stringify({ bench: one, figures })
}

/** Round after round, not one benchmark after the other: a slow phase of the machine then affects all of them. */
async function runAll(chosen: readonly string[], times: number, isWhole: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-bench-'))
  const results = new Map<string, BenchResult[]>(chosen.map((one) => [one, []]))
  const flags = OWN_FLAGS.filter(has)
  for (let round = 1; round <= times; round++) {
    for (const [index, one] of chosen.entries()) {
      console.log(`== ${one} (${index + 1} of ${chosen.length}, round ${round} of ${times})`)
      const file = join(folder, `${one}-${round}.json`)
      const child = spawnSync(process.execPath, [...process.execArgv, process.argv[1]!, one, ...flags], {
        stdio: 'inherit', env: { ...process.env, [RESULT_VARIABLE]: file },
      })
      if (child.status !== 0) process.exitCode = 1
      else results.get(one)?.push(resultIn(file))
    }
  }
  rmSync(folder, { recursive: true })
  if (!isWhole) return
  const measured: Measured[] = []
  for (const [one, runs] of results)
    if (runs.length > 0) measured.push({ name: one, summary: (await load(one)).summary, runs })
  writeFileSync(RESULTS, renderResults(measured, describeMachine(), peers()))
  console.log(`written: ${RESULTS}`)
}

/** JSON has no NaN: a value that could not be measured is null. */
function resultIn(file: string): BenchResult {
  return JSON.parse(readFileSync(file, 'utf8'), (key, value: unknown) =>
    key === 'value' && value === null ? Number.NaN : value,
  ) as BenchResult
}


function peers(): Record<string, string> {
  const { dependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => !OWN_PARTS.includes(name)))
}

async function printHelp(): Promise<void> {
  console.log(HELP.trim())
  if (name === undefined) return
  const bench = await load(name)
  console.log(`\n${name}: ${bench.summary}`)
  for (const line of bench.options) console.log(`  ${line}`)
}

function misuse(problem: string): void {
  console.error(`${problem}\n\n${HELP.trim()}`)
  process.exitCode = 2
}
