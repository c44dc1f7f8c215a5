/**
 * `npm run fuzz`: the seeded mutating fuzzer over every decoder, for a given time.
 */

import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { commandLine, misuse, wholeNumber } from '../command-line.ts'
import { ROOT } from '../typecheck.ts'
import { replayInput, type FuzzReport } from '../../test/fuzz/run-fuzz.ts'
import { findTargets, FuzzThread, targetsOf, type FoundTarget } from '../../test/fuzz/run-fuzz-worker.ts'

const HELP = `
npm run fuzz -- [options]      Feeds every decoder random, mutated and truncated bytes.

  --seconds N      total time, shared between the targets (default 30)
  --jobs N         targets at once (default: as many as there are cores)
  --inputs N       stop each target after N inputs; such a run is reproducible
  --seed S         the seed (default: random, and printed)
  --target NAME    only this target
  --input HEX      run this one input through --target and show what happens
  --file PATH      the targets of this file, instead of all of test/fuzz
  --save-corpus    keeps inputs that reach new lines in test/fuzz/corpus: --inputs N of each target (default 5000);
                   they are seeds of the target from then on
  --list           the targets' names
  --json           the last line printed is the report as JSON

A target fails when it throws, takes over 50 ms (five times in a row on the same input), or allocates above its limit
(twice).
A new target is a file test/fuzz/NAME.fuzz.ts; its contract is test/fuzz/target.ts.`

const { values } = commandLine(HELP, {
  seconds: { type: 'string' },
  jobs: { type: 'string' },
  inputs: { type: 'string' },
  seed: { type: 'string' },
  target: { type: 'string' },
  input: { type: 'string' },
  file: { type: 'string' },
  list: { type: 'boolean' },
  'save-corpus': { type: 'boolean' },
  json: { type: 'boolean' },
})

const all = values.file === undefined ? await findTargets() : await targetsOf(resolve(values.file))
const chosen = values.target === undefined ? all : all.filter((found) => found.target.name === values.target)
const names = all.map((found) => found.target.name).join(', ') || 'none'
if (values.target !== undefined && chosen.length === 0) misuse(HELP, `no target ${values.target}; there are: ${names}`)

if (values.list === true) {
  for (const { target } of chosen) console.log(target.name)
} else if (values['save-corpus'] === true) {
  process.exitCode = saveCorpus(values.target === undefined ? [] : [values.target])
} else if (values.input === undefined) {
  process.exitCode = await fuzzAll(chosen)
} else {
  const only = chosen.length === 1 ? chosen[0] : undefined
  if (only === undefined) misuse(HELP, `--input needs --target, one of: ${names}`)
  replay(only, values.input)
}

/** Does not catch the error, so that its stack is printed. */
function replay({ target }: FoundTarget, hex: string): void {
  const startedAt = performance.now()
  replayInput(target, hex)
  const elapsedMs = (performance.now() - startedAt).toFixed(3)
  console.log(`${target.name} took ${hex.length / 2} bytes in ${elapsedMs} ms and threw nothing`)
}

/** In a process of its own, because coverage makes everything slow. */
function saveCorpus(targets: readonly string[]): number {
  const inputs = wholeNumber(HELP, 'inputs', values.inputs, 5000, 1)
  const seed = wholeNumber(HELP, 'seed', values.seed, 1)
  const file = join(ROOT, 'test', 'fuzz', 'corpus-process.ts')
  const args = ['--conditions=tickwire-source', '--import', 'tsx', file, String(seed), String(inputs), ...targets]
  return spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }).status ?? 1
}

async function fuzzAll(targets: readonly FoundTarget[]): Promise<number> {
  const seed = wholeNumber(HELP, 'seed', values.seed, Math.floor(Math.random() * 0x7fffffff))
  const inputs = wholeNumber(HELP, 'inputs', values.inputs, Infinity, 1)
  const seconds = wholeNumber(HELP, 'seconds', values.seconds, values.inputs === undefined ? 30 : Infinity, 1)
  console.log(`${targets.length} targets, seed ${seed}`)
  const jobs = Math.min(targets.length, wholeNumber(HELP, 'jobs', values.jobs, availableParallelism(), 1))
  const reports = new Map<FoundTarget, FuzzReport>()
  const waiting = [...targets]
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      const thread = new FuzzThread()
      for (let found = waiting.shift(); found !== undefined; found = waiting.shift()) {
        const report = await thread.fuzz(found, { seed, inputs, seconds: (seconds * jobs) / targets.length })
        reports.set(found, report)
        print(report)
      }
      await thread.close()
    }),
  )
  const inputsPerSecond = Math.round(
    ([...reports.values()].reduce((sum, each) => sum + each.inputs, 0) / (performance.now() - startedAt)) * 1000,
  )
  const { user, system } = process.cpuUsage(cpuBefore)
  const count = [...reports.values()].reduce((sum, each) => sum + each.inputs, 0)
  // By processor time, so that a busy machine does not change it.
  const inputsPerCpuSecond = Math.round((count / (user + system)) * 1e6)
  type Count = 'inputs' | 'throws' | 'slow' | 'large'
  const total = (key: Count): number => [...reports.values()].reduce((sum, each) => sum + each[key], 0)
  const sums = { inputs: total('inputs'), throws: total('throws'), slow: total('slow'), large: total('large') }
  if (values.json === true) {
    console.log(
      JSON.stringify({
        ...sums,
        inputsPerSecond,
        inputsPerCpuSecond,
        seed,
        targets: targets.map((found) => reports.get(found)!).map(({ failures: _, ...counts }) => counts),
      }),
    )
  } else {
    const rate = `${inputsPerCpuSecond} a second of one core`
    console.log(`${sums.inputs} inputs: ${sums.throws} threw, ${sums.slow} slow, ${sums.large} large; ${rate}`)
  }
  return sums.throws + sums.slow + sums.large === 0 ? 0 : 1
}

function print(report: FuzzReport): void {
  const { name, inputs, throws, slow, large, maxAllocatedBytes } = report
  console.log(`${name}: ${inputs} inputs, ${throws} threw, ${slow} slow, ${large} large`)
  console.log(`  allocated at most ${maxAllocatedBytes} bytes`)
  for (const failure of report.failures) {
    console.log(`  ${failure.kind}: ${failure.message}`)
    console.log(`    input   ${failure.hex || '(no bytes)'}`)
    const file = values.file === undefined ? '' : ` --file ${values.file}`
    console.log(`    replay  npm run fuzz -- --target ${name}${file} --input=${failure.hex}`)
  }
}
