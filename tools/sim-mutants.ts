/**
 * The mutation run of `npm run sim -- --mutants`: each planted bug is bundled, searched for in a separate process, and
 * reported.
 *
 * First a control plays the same worlds without a bug. In worlds that fail anyway every bug would count as found.
 *
 * A process that neither finds anything nor ends is killed and counts as found, because every user notices a match that
 * hangs.
 */

import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { bundleSwarm, type SourcePatch } from './sim-bundle.ts'
import { ROOT } from './typecheck.ts'

/** The result of one planted bug. */
export interface MutantResult {
  readonly name: string
  readonly file: string
  readonly isCaught: boolean
  /** What found it: an invariant, `hang` or `crash`. */
  readonly by: string
  readonly endpointTicks: number
  readonly problem: string
  /** Why no world can find it. Undefined: it must be found. */
  readonly survives: string | undefined
}

export interface MutantOptions {
  /** Only the bugs of this part, or whose name or file contains it. */
  readonly only?: string
  readonly endpointTicksMax: number
  /** The number of processes at the same time. */
  readonly jobs: number
  readonly onResult: (result: MutantResult, done: number, total: number) => void
  /** Patches of every bundle, also of the control. Default: none. */
  readonly patches?: readonly SourcePatch[]
}

/** Generous: a hunt that finds nothing takes minutes on a busy machine. */
const HUNT_MS_MAX = 1_800_000

/** Folders of what carries bytes. */
const BYTES = /^core\/(crypto|delivery|channel|connection|endpoint)\//

type Named = SourcePatch & { readonly name: string; readonly part?: string; readonly survives?: string }

/** What a process of a hunt has found. */
type Hunt = Pick<MutantResult, 'isCaught' | 'by' | 'endpointTicks' | 'problem'>

/** Plants and hunts them all. Throws if worlds without a bug fail. */
export async function runMutants({
  only = '',
  endpointTicksMax,
  jobs,
  onResult,
  patches = [],
}: MutantOptions): Promise<readonly MutantResult[]> {
  const module: { readonly MUTANTS: readonly Named[] } = await import(
    pathToFileURL(join(ROOT, 'test', 'sim', 'mutants.ts')).href
  )
  const isPart = module.MUTANTS.some(({ part }) => part === only)
  const chosen = module.MUTANTS.filter(({ name, file, part }) =>
    isPart ? part === only : name.includes(only) || file.includes(only))
  for (const part of new Set(chosen.map(partOf))) {
    const { isCaught, by, problem } = await hunt(patches, part, endpointTicksMax)
    if (!isCaught) continue
    throw new Error(
      `sim: the worlds of part ${part} fail without a planted bug (expected no violation, got ${by}: ${problem}). `
        + 'Fix: find the cause first, because every planted bug would count as found.',
    )
  }
  const results: MutantResult[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let mutant = chosen[next++]; mutant !== undefined; mutant = chosen[next++]) {
      const { name, file, survives } = mutant
      const found = await hunt([...patches, mutant], partOf(mutant), endpointTicksMax)
      const result = { name, file, survives, ...found }
      results.push(result)
      onResult(result, results.length, chosen.length)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return results
}

/** The lines to print about bugs that survive, and whether each bug that was missed has a reason. */
export function judgeSurvivors(
  results: readonly MutantResult[],
): { readonly lines: readonly string[]; readonly isGood: boolean } {
  const missed = results.filter(({ isCaught }) => !isCaught)
  const unnamed = missed.filter(({ survives }) => survives === undefined)
  const wrong = results.filter(({ isCaught, survives }) => isCaught && survives !== undefined)
  return {
    lines: [
      ...missed.flatMap(({ name, survives }) => survives === undefined ? [] : [`survives: ${name}: ${survives}`]),
      ...unnamed.map(({ name }) => `missed without a reason: ${name}. Fix: add a check, or say why it survives.`),
      ...wrong.map(({ name, by }) => `found by ${by} in spite of its reason to survive: ${name}. Fix: remove it.`),
    ],
    isGood: unnamed.length === 0,
  }
}

/** The worlds of a bug: those of its part; else the share of worlds of endpoints. */
function partOf({ part, file }: Named): string {
  return part ?? (BYTES.test(file) ? '0.8' : '0')
}

/** The number of bundles so far: each has its own file. */
let bundleCount = 0

async function hunt(patches: readonly SourcePatch[], part: string, endpointTicksMax: number): Promise<Hunt> {
  const path = await bundleSwarm('mutants-process.ts', `mutant-${process.pid}-${bundleCount++}`, patches)
  const { out, err, isKilled } = await runChild(path, endpointTicksMax, part)
  rmSync(path, { force: true })
  const line = out.trim().split('\n').at(-1) ?? ''
  if (isKilled) return { isCaught: true, by: 'hang', endpointTicks: endpointTicksMax, problem: 'it never ended' }
  if (!line.startsWith('{')) return { isCaught: true, by: 'crash', endpointTicks: 0, problem: err.slice(0, 300) }
  const { endpointTicks, invariant, problem } = JSON.parse(line) as {
    endpointTicks: number
    invariant?: string
    problem: string
  }
  const isCaught = invariant !== undefined && endpointTicks <= endpointTicksMax
  return { isCaught, by: invariant ?? '', endpointTicks, problem }
}

async function runChild(
  path: string,
  endpointTicksMax: number,
  part: string,
): Promise<{ out: string; err: string; isKilled: boolean }> {
  const child = spawn(process.execPath, [path, String(endpointTicksMax), part], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err, isKilled] = ['', '', false]
  child.stdout.on('data', (chunk: Buffer) => { out += chunk.toString() })
  child.stderr.on('data', (chunk: Buffer) => { err += chunk.toString() })
  const timer = setTimeout(() => {
    isKilled = true
    child.kill('SIGKILL')
  }, HUNT_MS_MAX)
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  clearTimeout(timer)
  return { out, err, isKilled }
}
