/**
 * The mutation run of `npm run sim -- --mutants`: each planted bug is bundled, searched for in a separate process, and
 * reported.
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
}

export interface MutantOptions {
  /** Only the bugs of this part, or whose name or file contains it. */
  readonly only?: string
  readonly endpointTicksMax: number
  /** The number of processes at the same time. */
  readonly jobs: number
  readonly onResult: (result: MutantResult, done: number, total: number) => void
}

/** Generous: a hunt that finds nothing takes minutes on a busy machine. */
const HUNT_MS_MAX = 1_800_000

/** Folders of what carries bytes. */
const BYTES = /^core\/(crypto|delivery|channel|connection|endpoint)\//

type Named = SourcePatch & { readonly name: string; readonly part?: string }

/** Plants and hunts them all. */
export async function runMutants({
  only = '',
  endpointTicksMax,
  jobs,
  onResult,
}: MutantOptions): Promise<readonly MutantResult[]> {
  const module: { readonly MUTANTS: readonly Named[] } = await import(
    pathToFileURL(join(ROOT, 'test', 'sim', 'mutants.ts')).href
  )
  const isPart = module.MUTANTS.some(({ part }) => part === only)
  const chosen = module.MUTANTS.filter(({ name, file, part }) =>
    isPart ? part === only : name.includes(only) || file.includes(only))
  const results: MutantResult[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let mutant = chosen[next++]; mutant !== undefined; mutant = chosen[next++]) {
      const result = await huntOne(mutant, endpointTicksMax)
      results.push(result)
      onResult(result, results.length, chosen.length)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return results
}

/** The number of bundles so far: each has its own file. */
let bundleCount = 0

async function huntOne(mutant: Named, endpointTicksMax: number): Promise<MutantResult> {
  const { name, file } = mutant
  const path = await bundleSwarm('mutants-process.ts', `mutant-${process.pid}-${bundleCount++}`, [mutant])
  const part = mutant.part ?? (BYTES.test(file) ? '0.8' : '0')
  const { out, err, isKilled } = await runChild(path, endpointTicksMax, part)
  rmSync(path, { force: true })
  const line = out.trim().split('\n').at(-1) ?? ''
  if (isKilled)
    return { name, file, isCaught: true, by: 'hang', endpointTicks: endpointTicksMax, problem: 'it never ended' }
  if (!line.startsWith('{'))
    return { name, file, isCaught: true, by: 'crash', endpointTicks: 0, problem: err.slice(0, 300) }
  const { endpointTicks, invariant, problem } = JSON.parse(line) as {
    endpointTicks: number
    invariant?: string
    problem: string
  }
  return {
    name,
    file,
    isCaught: invariant !== undefined && endpointTicks <= endpointTicksMax,
    by: invariant ?? '',
    endpointTicks,
    problem,
  }
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
