/**
 * Plants one bug after the other in defaults and in the places where settings are passed on, and runs the settings test
 * on each.
 *
 * Each bug has its own bundle and its own process. A process that does not end counts as found, because every test
 * notices a hang.
 */

import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSwarm, type SourcePatch } from './sim-bundle.ts'
import { ROOT } from './typecheck.ts'

type Named = SourcePatch & { readonly name: string }

/** The result of one planted bug. `problem` is the message of the settings test. Empty: it found nothing. */
export interface SettingMutantResult {
  readonly name: string
  readonly problem: string
}

export interface SettingMutantOptions {
  /** Only the bugs whose name contains this. */
  readonly only?: string
  /** Only every n-th bug. */
  readonly every?: number
  /** The number of processes at the same time. */
  readonly jobs: number
  readonly onResult?: (result: SettingMutantResult, done: number, total: number) => void
}

const PROCESS_MS_MAX = 180_000

/** Plants the bugs and returns the result of each. The result under the name '' is that of the unchanged engine. */
export async function runSettingMutants({
  only = '',
  every = 1,
  jobs,
  onResult,
}: SettingMutantOptions): Promise<readonly SettingMutantResult[]> {
  const module: { readonly SETTING_MUTANTS: readonly Named[] } = await import(
    pathToFileURL(join(ROOT, 'test', 'sim', 'settings-mutants.ts')).href
  )
  const chosen = module.SETTING_MUTANTS.filter(({ name }) => name.includes(only)).filter((_, at) => at % every === 0)
  const results: SettingMutantResult[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let at = next++; at < chosen.length; at = next++) {
      const result = { name: chosen[at]!.name, problem: await problemOf(at, [chosen[at]!]) }
      results.push(result)
      onResult?.(result, results.length, chosen.length)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return results
}

/** The message of the settings test for the engine with these patches. Empty: it found nothing. */
export async function problemOf(number: number, patches: readonly SourcePatch[]): Promise<string> {
  const path = await bundleSwarm('settings-process.ts', `settings-${process.pid}-${number}`, patches)
  const child = spawn(process.execPath, [path], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err, isKilled] = ['', '', false]
  child.stdout.on('data', (chunk: Buffer) => { out += chunk.toString() })
  child.stderr.on('data', (chunk: Buffer) => { err += chunk.toString() })
  const timer = setTimeout(() => {
    isKilled = true
    child.kill('SIGKILL')
  }, PROCESS_MS_MAX)
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  clearTimeout(timer)
  rmSync(path, { force: true })
  if (isKilled) return 'it never ended'
  const line = out.trim().split('\n').at(-1) ?? ''
  return line.startsWith('{') ? (JSON.parse(line) as { problem: string }).problem : `it crashed: ${err.slice(0, 200)}`
}
