/**
 * `npm run bench`: finds `bench/*.bench.ts` and runs one of them here, or all of them, each in a fresh process: what
 * one benchmark does to the optimiser and the heap must not show in the next one's figures.
 */

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { figuresTable, formatTable, isWithinBudget, type Bench, type BenchResult } from '../../bench/harness.ts'

const HELP = `
npm run bench -- [NAME] [options]      Figures, beside those of others. Without a NAME, all benchmarks in turn.

  --list           the benchmarks' names
  --json           the last line printed (of each benchmark) is its figures as JSON
  --strict         exit with 1 when a figure misses its budget
  --help           this; after a NAME, the options of that benchmark too

Close what else is running: figures are medians of interleaved rounds, but a busy machine still shows.`

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bench')
const SUFFIX = '.bench.ts'
const OWN_FLAGS = ['--list', '--json', '--strict', '--help', '-h']

// npm takes the two dashes away; whoever calls the front door himself may leave them in.
const args = process.argv.slice(2).filter((arg, index) => index > 0 || arg !== '--')
const has = (flag: string): boolean => args.includes(flag)
const names = readdirSync(FOLDER).filter((file) => file.endsWith(SUFFIX)).map((file) => file.slice(0, -SUFFIX.length)).sort()
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
  const unknown = args.find((arg) => !OWN_FLAGS.includes(arg))
  if (unknown === undefined) runAll()
  else misuse(`${unknown} is no option of the command itself; options of a benchmark follow its name.`)
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
  if (has('--json')) console.log(jsonLine(one, result))
}

/** What `parseArgs` throws in a benchmark: the command line made no sense, nothing is broken. */
function isWrongOption(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}

function jsonLine(one: string, result: BenchResult): string {
  const figures = result.figures.map(({ name: figure, value, unit, against }) => ({ name: figure, value, unit, against }))
  return JSON.stringify({ bench: one, figures })
}

function runAll(): void {
  for (const one of names) {
    console.log(`== ${one}`)
    const child = spawnSync(process.execPath, [...process.execArgv, process.argv[1]!, one, ...args], { stdio: 'inherit' })
    if (child.status !== 0) process.exitCode = 1
  }
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
