/**
 * One worker as the first process sees it: a child process that runs the same program, and is started again when it
 * dies. What happens inside is in `worker-process.ts`.
 */

import { fork, type ChildProcess } from 'node:child_process'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { ConfigError } from '../core/base/assert.ts'
import { monotonicNow as now } from './clock.ts'
import { originOfSocket } from './request-origin.ts'
import type { ServeLog } from './status-log.ts'
import { headOf, refuseUpgrade } from './upgrade.ts'
import { WORKER_VARIABLE } from './worker-index.ts'
import type { FromWorker, Questions, SocketFacts, ToWorker, WorkerSetup, WorkerState } from './worker-messages.ts'
import type { PlacedWorker } from './worker-places.ts'

/** A program that has not reached `serve` by then waits for something that only the first process has. */
const START_MS = 30_000
const ANSWER_MS = 5000
/** Pause before a worker is started again. It doubles while workers die within `STABLE_MS`. */
const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 10_000
const STABLE_MS = 10_000
/** A worker that does not end within this time after its deadline is killed. */
const LATE_MS = 5000

const NO_STATE: WorkerState = {
  rooms: [], roomCount: 0, players: 0, transports: { websocket: { path: '' }, missing: {} },
}

/** Options of the debugger would collide, because all processes would use the same port. */
const DEBUGGER = /^--inspect/

export class Worker implements PlacedWorker {
  /** How often it has died. */
  deaths = 0
  state: WorkerState = NO_STATE
  isOpen = false
  /** Called when it has died, before it is started again. */
  onDeath: () => void = () => {}
  readonly #setup: WorkerSetup
  readonly #log: ServeLog
  readonly #asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  #lastId = 0
  #child: ChildProcess | undefined
  #pauseMs = PAUSE_MS_MIN
  #pause: NodeJS.Timeout | undefined
  #isEnding = false

  constructor(setup: WorkerSetup, log: ServeLog) {
    this.#setup = setup
    this.#log = log
  }

  get index(): number {
    return this.#setup.place.index
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get rooms(): WorkerState['rooms'] {
    return this.state.rooms
  }

  get players(): number {
    return this.state.players
  }

  /** Starts the process. Resolves when rooms can be joined there. */
  start(): Promise<void> {
    const startedAt = now()
    const script = process.argv[1]
    if (script === undefined) {
      throw new ConfigError('workers', 'this program has no file, so it cannot run twice', 'run it from a file.')
    }
    const child = fork(script, process.argv.slice(2), {
      env: { ...process.env, [WORKER_VARIABLE]: String(this.index) },
      execArgv: process.execArgv.filter((each) => !DEBUGGER.test(each)),
      serialization: 'advanced',
    })
    this.#child = child
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new ConfigError(
          'workers',
          `a worker has not reached \`serve\` within ${START_MS / 1000} s`,
          'call it with `workers` once, before code that waits for something that only one process can have.',
        ))
        child.kill('SIGKILL')
      }, START_MS)
      const fail = (problem: string): void => reject(new Error(`workers: worker ${this.index} ${problem}`))
      child.on('message', (message: FromWorker) => {
        if (message.kind === 'hello') this.#tell({ kind: 'begin', setup: this.#setup })
        else if (message.kind === 'failed') fail(`could not serve: ${message.message}`)
        else if (message.kind === 'open') {
          clearTimeout(timer)
          this.isOpen = true
          resolve()
        } else this.#handle(message)
      })
      child.on('error', (error) => fail(`could not be started: ${error.message}`))
      child.on('exit', (code, signal) => {
        clearTimeout(timer)
        fail(`ended before it served (${signal ?? code})`)
        if (this.#child === child) this.#handleExit(startedAt, String(signal ?? code))
      })
    })
  }

  /** Asks for something. Rejects when the worker has no answer, or ends. */
  ask<Q extends keyof Questions>(question: Q, asked: Questions[Q]['asked']): Promise<Questions[Q]['answer']> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle.reject(new Error(`worker ${this.index} does not answer`)), ANSWER_MS)
      const done = (): void => {
        clearTimeout(timer)
        this.#asked.delete(id)
      }
      const settle = {
        resolve: (value: unknown): void => { done(); resolve(value as Questions[Q]['answer']) },
        reject: (error: Error): void => { done(); reject(error) },
      }
      this.#asked.set(id, settle)
      const isSent = this.#tell({ kind: 'ask', id, question, asked })
      if (!isSent) settle.reject(new Error(`worker ${this.index} does not run`))
    })
  }

  /** Passes on the request of a WebSocket, with its socket. */
  adopt(request: IncomingMessage, socket: Duplex, early: Buffer): void {
    const tcp = request.socket
    const origin = originOfSocket(tcp)
    const facts: SocketFacts = {
      head: Buffer.concat([headOf(request), early]),
      source: origin === tcp.remoteAddress ? undefined : origin,
      remoteAddress: tcp.remoteAddress,
      remotePort: tcp.remotePort,
    }
    if (tcp instanceof TLSSocket || socket !== tcp) this.#pipe(socket, facts)
    else this.#handOver(tcp, facts)
  }

  /** Ends the process, when all players have left or after `ms`. `'now'` disconnects them. */
  async end(ms: number | 'now'): Promise<void> {
    this.#isEnding = true
    clearTimeout(this.#pause)
    const child = this.#child
    if (child === undefined) return
    const ended = new Promise<void>((resolve) => { child.once('exit', () => resolve()) })
    const limit = setTimeout(() => child.kill('SIGKILL'), (ms === 'now' ? 0 : ms) + LATE_MS)
    if (!this.#tell(ms === 'now' ? { kind: 'close' } : { kind: 'drain', ms })) child.kill('SIGKILL')
    await ended
    clearTimeout(limit)
  }

  /** The kernel's socket goes to the worker. This process closes its own reference, without a word to the client. */
  #handOver(socket: Socket, facts: SocketFacts): void {
    // Bytes that arrive from now on belong to the worker. `pause` alone would still read some.
    const { _handle: handle } = socket as Socket & { readonly _handle: { readStop(): void } | null }
    if (handle === null || socket.destroyed) return
    handle.readStop()
    // Otherwise this process would count the socket twice when it goes, and its server would wait for the worker.
    Object.assign(socket, { server: null })
    const isSent = this.#tell({ kind: 'socket', facts }, socket, () => socket.destroy())
    if (!isSent) refuseUpgrade(socket, '503 Service Unavailable')
  }

  /** Only this process can decrypt the stream, so it carries the bytes of both directions. */
  #pipe(socket: Duplex, { head, ...rest }: SocketFacts): void {
    const pipe = connect(this.#setup.pipePath)
    const end = (): void => {
      pipe.destroy()
      socket.destroy()
    }
    for (const each of [pipe, socket]) each.on('error', end).on('close', end)
    pipe.write(`${JSON.stringify(rest)}\n`)
    pipe.write(head)
    socket.pipe(pipe)
    pipe.pipe(socket)
  }

  #handle(message: FromWorker): void {
    if (message.kind === 'state') this.state = message.state
    else if (message.kind === 'answer') this.#asked.get(message.id)?.resolve(message.value)
    else if (message.kind === 'problem') this.#asked.get(message.id)?.reject(new Error(message.message))
  }

  #handleExit(startedAt: number, how: string): void {
    const wasOpen = this.isOpen
    this.isOpen = false
    this.#child = undefined
    for (const { reject } of [...this.#asked.values()]) reject(new Error(`worker ${this.index} has ended`))
    if (this.#isEnding) return
    const { roomCount: rooms, players } = this.state
    this.state = NO_STATE
    // The first start is reported to the caller of `serve`.
    if (!wasOpen && this.deaths === 0) return
    this.deaths++
    this.onDeath()
    this.#log({
      level: 'error',
      event: 'worker-died',
      message: `worker ${this.index} died (${how}) with ${rooms} rooms and ${players} players, and is started again`,
      facts: { worker: this.index, how, rooms, players },
    })
    this.#pauseMs = now() - startedAt > STABLE_MS ? PAUSE_MS_MIN : Math.min(2 * this.#pauseMs, PAUSE_MS_MAX)
    this.#pause = setTimeout(() => {
      this.start().catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        this.#log({ level: 'error', event: 'worker-failed', message })
      })
    }, this.#pauseMs)
  }

  #tell(message: ToWorker, socket?: Socket, onSent: () => void = () => {}): boolean {
    if (this.#child?.connected !== true) return false
    this.#child.send(message, socket, {}, () => onSent())
    return true
  }
}
