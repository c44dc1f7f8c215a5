/**
 * One server and its clients of the end-to-end bench. Both are bundled, run in separate processes on separate processor
 * cores, and are measured for a while.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { ClientsReport } from './clients-report.ts'
import type { ServerReport } from './server-report.ts'

/** Modules that are not bundled: they are native, or are looked up at run time. */
const EXTERNAL = ['sodium-native', 'ws', '@matrixai/*', 'node-datachannel', 'werift', 'bufferutil', 'utf-8-validate']

// Bundled packages may call `require`.
const REQUIRE = `import { createRequire as makeRequire } from 'node:module'
const require = makeRequire(import.meta.url)`

/** A pair of programs. */
export interface Rival {
  readonly name: string
  /** The bundles, by path. */
  readonly server: string
  readonly clients: string
  readonly args: readonly string[]
}

/** The result of one run. */
export interface RivalRun extends ServerReport {
  /** Players that the first client saw at the end. */
  readonly seen: number
  /** CPU time that the clients used. If it is close to the wall time, the clients were the bottleneck. */
  readonly clientsCpuMs: number
}

/** Bundles one program; `tickwire` leads to the sources under `tree`. */
export async function bundle(entry: string, outfile: string, tree: string): Promise<string> {
  mkdirSync(join(outfile, '..'), { recursive: true })
  const source = join(tree, 'packages/tickwire/src')
  // Versions before the door `tickwire/engine` had one door for both.
  const engine = [join(source, 'engine/index.ts'), join(source, 'core/index.ts')].find((path) => existsSync(path))!
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile,
    alias: {
      'tickwire/node': join(source, 'node/index.ts'),
      'tickwire/engine': engine,
      'tickwire/lockstep': join(source, 'lockstep/index.ts'),
      'tickwire': join(source, 'core/index.ts'),
    },
    banner: { js: REQUIRE },
    external: EXTERNAL,
    logLevel: 'error',
  })
  return outfile
}

/** How a run is made. */
export interface RunOptions {
  readonly players: number
  readonly seconds: number
  readonly warmupSeconds: number
  /** The bundle of a bad connection between clients and server (`line-process.ts`). Default: none. */
  readonly line?: string | undefined
}

/** Runs a rival. Throws when one of its processes ends early. */
export async function run(rival: Rival, options: RunOptions): Promise<RivalRun> {
  const { players, seconds, warmupSeconds } = options
  const server = start(0, rival.server, [String(players), ...rival.args])
  let line: ChildProcess | undefined
  try {
    let { port } = (await next(server)) as { readonly port: number }
    if (options.line !== undefined) {
      line = start(1, options.line, [rival.args.includes('udp') ? 'udp' : 'tcp', String(port)])
      port = ((await next(line)) as { readonly port: number }).port
    }
    const clients = start(1, rival.clients, [String(port), String(players), ...rival.args])
    try {
      await next(clients)
      await sleep(warmupSeconds)
      server.send('measure')
      clients.send('measure')
      await sleep(seconds)
      server.send('report')
      const report = (await next(server)) as ServerReport
      clients.send('report')
      const { seen, cpuMs } = (await next(clients)) as ClientsReport
      return { ...report, seen, clientsCpuMs: cpuMs }
    } finally {
      clients.kill()
    }
  } finally {
    server.kill()
    line?.kill()
  }
}

/** Starts a program on one core, where there are two and the system can pin. */
function start(core: number, path: string, args: readonly string[]): ChildProcess {
  const command = [process.execPath, path, ...args]
  const canPin = process.platform === 'linux' && availableParallelism() > 1
  const [program, ...rest] = canPin ? ['taskset', '-c', String(core), ...command] : command
  // Some servers print to the standard output, which belongs to the result.
  return spawn(program!, rest, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}

function next(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`A process of the bench ended with ${code}.`)))
  })
}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000)
  })
}
