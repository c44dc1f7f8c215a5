/**
 * Runs `engine-parts.ts` under every JavaScript engine that is installed, and compares the digests with those of V8.
 *
 * The bundle and the recorded match are the same for all engines, to the byte. The match is recorded here, in Node.
 */

import { build } from 'esbuild'
import type { QuickJSSyncVariant } from 'quickjs-emscripten-core'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalFeed, LockstepRunner, playedMatch } from 'tickwire/lockstep'
import { Dice } from 'tickwire/testing'
import { ordersOfPlayer } from '../../games/skirmish/bots.ts'
import { TICK_RATE } from '../../games/skirmish/rules.ts'
import { Table } from '../../games/skirmish/table.ts'
import { game, Move, Spawn, Take, Unit } from '../sim/lockstep-game.ts'
import { CONTROL, type MatchText } from './engine-parts.ts'

/** The digests of an engine by part, or why there are none. */
export type Outcome =
  | { readonly engine: string; readonly program: string; readonly digests: Readonly<Record<string, string>> }
  | { readonly engine: string; readonly missing: string }

/** An engine, and how it is run. */
export interface Engine {
  readonly name: string
  /** Programs that contain it, in order of preference. Empty: it comes with Node or npm. */
  readonly programs: readonly string[]
  /** Packages of Debian that have such a program, in order of preference. */
  readonly packages: readonly string[]
  /** Runs the bundle and returns what it printed. `program` is a path. */
  run(program: string, bundle: string): Promise<string>
}

const RUN_MS_MAX = 240_000

/** The engines, V8 first: the others are compared with it. */
export const ENGINES: readonly Engine[] = [
  { name: 'V8', programs: [], packages: [], run: (_program, bundle) => runShell(process.execPath, bundle) },
  { name: 'QuickJS', programs: [], packages: [], run: (_program, bundle) => runQuickJs(bundle) },
  {
    name: 'SpiderMonkey',
    programs: ['js102', 'js115', 'js128', 'js140'],
    packages: ['libmozjs-102-dev'],
    run: runShell,
  },
  {
    name: 'JavaScriptCore',
    programs: ['jsc'],
    packages: ['libjavascriptcoregtk-4.0-bin', 'libjavascriptcoregtk-4.1-bin', 'libjavascriptcoregtk-6.0-bin'],
    run: runShell,
  },
  { name: 'Firefox', programs: ['firefox-esr', 'firefox'], packages: ['firefox-esr'], run: runFirefox },
]

/** The path of the engine's program. '': it needs none. undefined: it is not installed. */
export function programOf({ programs }: Engine): string | undefined {
  if (programs.length === 0) return ''
  for (const name of programs) {
    const { status, stdout } = spawnSync('which', [name], { encoding: 'utf8' })
    if (status === 0) return stdout.trim()
  }
  return undefined
}

/** Records a match of three players with random orders. */
export function recordMatch(ticks: number): MatchText {
  const feed = new LocalFeed({ tickRate: game.tickRate, seed: 7, players: 3 })
  const runner = new LockstepRunner(game, feed)
  const dice = new Dice(3)
  for (let now = 0; runner.tick < ticks; now += 1000 / game.tickRate) {
    runner.update(now)
    const own = [...runner.world.each(Unit)].filter(({ owner }) => owner === feed.player).map(({ id }) => id)
    const to = { x: dice.fraction() * 256, y: dice.fraction() * 256 }
    if (dice.chance(0.3)) runner.order(now, Move, { units: own.filter(() => dice.chance(0.5)), to })
    if (dice.chance(0.05)) runner.order(now, Spawn, { count: 2 })
    if (dice.chance(0.05)) runner.order(now, Take, { crate: 1 })
  }
  const match = playedMatch(feed.log, game.tickRate, feed.seed)
  return { ...match, bytes: [...match.bytes] }
}

/** Records skirmish: a bot plays through the orders of a player, against seven bots of the simulation. */
export function recordSkirmish(ticks: number): MatchText {
  const table = new Table({ seed: 11, players: 1 })
  while (table.runner.tick < ticks) {
    table.run(1)
    for (const command of ordersOfPlayer(table.runner.world, 1, 3)) table.order(command)
  }
  const match = playedMatch(table.feed.log, TICK_RATE, table.feed.seed)
  return { ...match, bytes: [...match.bytes] }
}

/** One script: it leaves the digests of all parts as JSON in `engineResult`. */
export async function bundleParts(match: MatchText, battle: MatchText): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { engineDigests } from './engine-parts.ts'
        globalThis.engineResult = JSON.stringify(engineDigests(
          ${JSON.stringify(match)}, ${JSON.stringify(battle)}))`,
      resolveDir: import.meta.dirname,
      loader: 'ts',
    },
    bundle: true, write: false, format: 'iife', target: 'es2022', conditions: ['tickwire-source'], logLevel: 'error',
  })
  return outputFiles[0]?.text ?? ''
}

/** Runs one engine. */
export async function runEngine(engine: Engine, bundle: string): Promise<Outcome> {
  const program = programOf(engine)
  if (program === undefined) {
    const fix = `Fix: apt-get install ${engine.packages[0]}`
    return { engine: engine.name, missing: `no program ${engine.programs.join(' or ')} in PATH. ${fix}` }
  }
  try {
    return { engine: engine.name, program, digests: JSON.parse(await engine.run(program, bundle)) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${engine.name} (${program}): did not run the bundle: ${reason}`, { cause: error })
  }
}

/** The parts in which an engine differs from V8, without the control. */
export function differences(outcomes: readonly Outcome[]): { engine: string; part: string; digest: string }[] {
  const [first, ...others] = outcomes.flatMap((each) => ('digests' in each ? [each] : []))
  return others.flatMap(({ engine, digests }) =>
    [...new Set([...Object.keys(first?.digests ?? {}), ...Object.keys(digests)])]
      .filter((part) => part !== CONTROL && digests[part] !== first?.digests[part])
      .map((part) => ({ engine, part, digest: digests[part] ?? 'none' })))
}

/** How many different results the control has. With 1 the comparison proves nothing. */
export function controlResults(outcomes: readonly Outcome[]): number {
  return new Set(outcomes.flatMap((each) => ('digests' in each ? [each.digests[CONTROL]] : []))).size
}

/** The shells of SpiderMonkey and JavaScriptCore have `print`, Node has a console. */
async function runShell(program: string, bundle: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-engine-'))
  try {
    const path = join(folder, 'bundle.js')
    writeFileSync(path, `${bundle}\n;(typeof print === 'function' ? print : console.log)(globalThis.engineResult)\n`)
    return await outputOf(program, [path])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS_MAX })
  let [out, errors] = ['', '']
  child.stdout.on('data', (chunk) => { out += chunk })
  child.stderr.on('data', (chunk) => { errors += chunk })
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`exit code ${code}: ${errors}`))))
  })
}

async function runQuickJs(bundle: string): Promise<string> {
  const [{ newQuickJSWASMModuleFromVariant }, variant] = await Promise.all([
    import('quickjs-emscripten-core'), import('@jitl/quickjs-wasmfile-release-sync'),
  ])
  const module = await newQuickJSWASMModuleFromVariant(variant.default as unknown as QuickJSSyncVariant)
  const context = module.newContext()
  try {
    const result = context.evalCode(`${bundle}\n;globalThis.engineResult`, 'bundle.js')
    const handle = context.unwrapResult(result)
    const text = context.getString(handle)
    handle.dispose()
    return text
  } finally {
    context.dispose()
  }
}

/** Firefox opens a page that posts its result: that needs no driver. */
async function runFirefox(program: string, bundle: string): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), 'tickwire-firefox-'))
  const script = `${bundle}\n;fetch('/result', { method: 'POST', body: globalThis.engineResult })`
  let child: ReturnType<typeof spawn> | undefined
  const server = createServer()
  try {
    return await new Promise((resolve, reject) => {
      server.on('request', (request, response) => {
        if (request.method !== 'POST') {
          const isScript = request.url === '/bundle.js'
          response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
          response.end(isScript ? script : '<!doctype html><meta charset="utf-8"><script src="/bundle.js"></script>')
          return
        }
        let body = ''
        request.on('data', (chunk) => { body += chunk })
        request.on('end', () => response.end(() => resolve(body)))
      })
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo
        const args = ['--headless', '--no-remote', '--profile', profile, `http://127.0.0.1:${port}/`]
        child = spawn(program, args, { stdio: 'ignore', env: { ...process.env, HOME: profile } })
        child.once('error', reject)
        child.once('exit', (code) => reject(new Error(`it ended with ${code} before its page had a result`)))
        setTimeout(() => reject(new Error(`no result in ${RUN_MS_MAX} ms`)), RUN_MS_MAX).unref()
      })
    })
  } finally {
    server.closeAllConnections()
    server.close()
    if (child !== undefined && child.exitCode === null) {
      const ended = new Promise((resolve) => child?.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}
