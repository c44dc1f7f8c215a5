/**
 * The process of the game server in development. It can be stopped, and started again with its rooms.
 *
 * Node reports each file that the process loads, because of an environment variable that `node --watch` uses too. So a
 * change of a file that only the page loads does not restart the server.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const POLL_MS = 30
/** A program that does not listen by then does not stop Vite from starting. */
const START_MS_MAX = 15_000
/** A process that does not end by then is killed. */
const STOP_MS_MAX = 3000
/** Files that may be part of the server, if Node reports none. */
const SOURCE = /(?<!\.test)\.[cm]?[jt]s$/

export class GameProcess {
  /** Resolves when the newest process listens, or ended with a mistake. */
  isSettled: Promise<void> = Promise.resolve()
  readonly #root: string
  readonly #program: string
  readonly #port: number
  #child: ChildProcess | undefined
  #files = new Set<string>()

  constructor(root: string, program: string, port: number) {
    this.#root = root
    this.#program = program
    this.#port = port
    process.once('exit', () => this.#child?.kill())
  }

  /** Whether a change of the file changes the server. */
  uses(file: string): boolean {
    return this.#files.size === 0 ? SOURCE.test(file) : this.#files.has(resolve(file))
  }

  async #start(): Promise<void> {
    const child = spawn(process.execPath, [...loaderOf(this.#root), this.#program], {
      cwd: this.#root,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {
        ...process.env,
        PORT: String(this.#port),
        TICKWIRE_KEEP_ROOMS: join(this.#root, 'node_modules', '.tickwire-rooms.json'),
        WATCH_REPORT_DEPENDENCIES: '1',
      },
    })
    this.#child = child
    const files = new Set<string>([this.#program])
    child.on('message', (message: Record<string, readonly string[]>) => {
      for (const path of message['watch:require'] ?? []) files.add(path)
      for (const url of message['watch:import'] ?? []) {
        if (url.startsWith('file:')) files.add(fileURLToPath(url))
      }
      // A program with a mistake loads few files, so the files of the process before count too.
      if (files.size > 1) this.#files = new Set([...this.#files, ...files])
    })
    await this.#listens(child)
  }

  /** Ends the process, which saves its rooms, and starts the program. Restarts run one after another. */
  restart(): void {
    this.isSettled = this.isSettled.then(async () => {
      await this.stop()
      await this.#start()
    })
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    await new Promise<void>((done) => {
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
      child.once('exit', () => {
        clearTimeout(late)
        done()
      })
      child.kill('SIGTERM')
    })
  }

  async #listens(child: ChildProcess): Promise<void> {
    const until = Date.now() + START_MS_MAX
    while (Date.now() < until && child.exitCode === null && child.signalCode === null) {
      if (await answers(this.#port)) return
      await new Promise((done) => setTimeout(done, POLL_MS))
    }
  }
}

/**
 * The arguments with which Node runs TypeScript: tsx where the project has it, otherwise none (Node 22.18 and newer).
 */
function loaderOf(root: string): string[] {
  try {
    createRequire(join(root, 'package.json')).resolve('tsx')
    return ['--import', 'tsx']
  } catch {
    return []
  }
}

/** Whether a program listens on the port. */
function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      done(true)
    })
    socket.once('error', () => done(false))
  })
}
