/**
 * The processes of a chaos row: services, game servers, Redis, players, HAProxy. All end with the row.
 *
 * Programs of the repository are bundled once: twenty processes that compile themselves would be most of the load.
 */

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePrograms } from '../bundle-programs.ts'
import { RedisServer } from '../contract/redis-server.ts'
import { Guests } from './code-players.ts'
import { Players } from './players.ts'

let programs: Promise<string> | undefined

/** The folder of the bundled programs, which ends with this process. */
async function bundled(): Promise<string> {
  programs ??= bundlePrograms({
    tickwire: 'packages/services/src/cli/index.ts', 'records-process': 'packages/services/src/store/records-process.ts',
    'game-server-process': 'test/chaos/game-server-process.ts', 'players-process': 'test/chaos/players-process.ts',
    'code-players-process': 'test/chaos/code-players-process.ts',
  }).then(({ folder, remove }) => {
    process.once('exit', remove)
    return folder
  })
  return await programs
}

/** A game server in a process of its own. */
export interface ServerProcess {
  readonly child: ChildProcess
  readonly url: string
}

/** A match that is joined by a code or an address, in a process of its own. */
export interface MatchProcess {
  readonly child: ChildProcess
  /** The code or the address, which may change. */
  readonly where: string
}

/** A relay in a process of its own. */
export interface RelayProcess {
  readonly child: ChildProcess
  readonly port: number
  /** `ip:port`. */
  readonly address: string
}

/** A service of HTTP in a process of its own. */
export interface ServiceProcess {
  readonly child: ChildProcess
  readonly port: number
  readonly url: string
}

export class ChaosStage {
  /** A folder of the row. */
  readonly folder: string = mkdtempSync(join(tmpdir(), 'tickwire-chaos-'))
  readonly #children: ChildProcess[] = []
  readonly #redis: RedisServer[] = []

  /** Ends all processes but Redis. */
  kill(): void {
    for (const child of this.#children) {
      child.kill('SIGCONT')
      child.kill('SIGKILL')
    }
  }

  async close(): Promise<void> {
    this.kill()
    for (const redis of this.#redis) {
      redis.thaw()
      await redis.kill()
    }
    rmSync(this.folder, { recursive: true, force: true })
  }

  async redis(): Promise<RedisServer> {
    const redis = await RedisServer.start()
    this.#redis.push(redis)
    return redis
  }

  /** Starts any program, which ends with the row. */
  spawn(command: string, args: readonly string[], env: { readonly [name: string]: string } = {}): ChildProcess {
    const child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, NODE_ENV: 'production', ...env },
    })
    this.#children.push(child)
    return child
  }

  /** Starts `tickwire COMMAND`, and resolves when it answers at its port of HTTP. */
  async service(
    command: string, options: readonly string[] = [], port: number | undefined = undefined,
    env: { readonly [name: string]: string } = {},
  ): Promise<ServiceProcess> {
    const at = port ?? await freePort()
    const child = this.spawn(process.execPath, [
      join(await bundled(), 'tickwire.mjs'), command, '--address', '127.0.0.1', '--port', `${at}`, '--ops', '0',
      ...options,
    ], env)
    const url = `http://127.0.0.1:${at}`
    await until(async () => (await status(`${url}/healthz`)) === 200, `the ${command} service answers`)
    return { child, port: at, url }
  }

  /** Starts `tickwire fleet`, and resolves when it answers. */
  async fleet(
    options: readonly string[] = [], port: number | undefined = undefined, env: { [name: string]: string } = {},
  ): Promise<ServiceProcess> {
    return await this.service('fleet', ['--rate-limit', '1000000000', ...options], port, env)
  }

  /** Starts a game server, and resolves when the fleet lists it. */
  async server(
    fleet: string, version = '1', capacity = 8, env: { readonly [name: string]: string } = {},
  ): Promise<ServerProcess> {
    const child = await this.#fork('game-server-process', [fleet, version, `${capacity}`], env)
    const url = await new Promise<string>((resolve, reject) => {
      child.once('message', (message) => resolve((message as { url: string }).url))
      child.once('exit', (code) => reject(new Error(`a game server ended with ${code}`)))
    })
    return { child, url }
  }

  /** Starts players in `processes` processes. They join at `perSecond` in all, with `env` each. */
  async players(
    fleet: string, count: number, perSecond: number, processes = 1, env: { readonly [name: string]: string } = {},
  ): Promise<Players> {
    const share = Math.ceil(count / processes)
    const args = [fleet, `${share}`, `${perSecond / processes}`]
    return new Players(await Promise.all(Array.from({ length: processes }, async () =>
      await this.#fork('players-process', args, env))))
  }

  /** Starts `tickwire relay`, and resolves when it answers. */
  async relay(issuer: string, port: number | undefined = undefined): Promise<RelayProcess> {
    const [at, ops] = [port ?? await freePort(), await freePort()]
    const child = this.spawn(process.execPath, [
      join(await bundled(), 'tickwire.mjs'), 'relay', '--address', '127.0.0.1', '--relayed', '127.0.0.1',
      '--port', `${at}`, '--no-ws', '--ops', `${ops}`, '--issuer', issuer,
    ])
    await until(async () => (await status(`http://127.0.0.1:${ops}/healthz`)) === 200, 'the relay answers')
    return { child, port: at, address: `127.0.0.1:${at}` }
  }

  /** Starts a match, and resolves when players can join it. */
  async match(args: readonly string[]): Promise<MatchProcess> {
    const child = await this.#fork('code-players-process', args)
    const match = { child, where: '' }
    child.on('message', (message) => { match.where = (message as { where: string }).where })
    await until(() => match.where !== '', 'the match is open')
    return match
  }

  /** Starts guests of such a match. */
  async guests(args: readonly string[]): Promise<Guests> {
    return new Guests(await this.#fork('code-players-process', ['guests', ...args]))
  }

  async #fork(
    name: string, args: readonly string[], env: { readonly [name: string]: string } = {},
  ): Promise<ChildProcess> {
    const child = fork(join(await bundled(), `${name}.mjs`), [...args], {
      execArgv: [], env: { ...process.env, NODE_ENV: 'production', ...env },
    })
    this.#children.push(child)
    return child
  }
}

/** Waits until it is true. Throws after `ms`. */
export async function until(isTrue: () => boolean | Promise<boolean>, what: string, ms = 60_000): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    if (await isTrue()) return performance.now() - startedAt
    if (performance.now() - startedAt > ms) throw new Error(`not within ${ms} ms: ${what}`)
    await sleep(20)
  }
}

/** Resolves when the process has ended. */
export async function ended(child: ChildProcess, ms = 60_000): Promise<void> {
  await until(() => child.exitCode !== null || child.signalCode !== null, 'a process ends', ms)
}

export async function sleep(ms: number): Promise<void> {
  await new Promise((resolve) => { setTimeout(resolve, ms) })
}

/** The status of an answer; 0 when there is none within a second. */
export async function status(
  url: string, ms = 1000, headers: { readonly [name: string]: string } = {},
): Promise<number> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(ms) })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}

/** Rooms and whether the list is old, as a player sees them. */
export async function roomsOf(
  fleet: string,
): Promise<{ readonly isStale: boolean; readonly rooms: readonly { id: string; players: number }[] }> {
  return await (await fetch(`${fleet}/rooms`, { signal: AbortSignal.timeout(2000) })).json() as never
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => { server.close(resolve) })
  return port
}
