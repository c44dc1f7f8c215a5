/**
 * Simulated time for programs of Node: timers, clocks, random bytes and requests of the real services, in one process.
 *
 * `install` replaces the global timers, clocks and `fetch`, `request` of `node:http`, and the random bytes of
 * `node:crypto`; `uninstall` puts them back. Code that runs belongs to a simulated process (`SimProcess`), also after
 * an `await`. A process that is killed runs no more; one that stands still runs later.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { EventEmitter } from 'node:events'
import http, { type ClientRequest, type RequestOptions } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

/** One process of a simulated machine. */
export interface SimProcess {
  readonly name: string
  isDead: boolean
  /** Until then it stands still: nothing of it runs. */
  frozenUntil: number
}

/** Answers requests of simulated processes. Undefined: there is no answer. Status 0: the connection breaks instead. */
export type Handler = (url: URL, method: string, body: string, headers: Record<string, string>) =>
  Promise<{ readonly status: number; readonly body: string } | undefined>

interface Task {
  at: number
  readonly order: number
  readonly process: SimProcess | undefined
  readonly run: () => void
  readonly everyMs: number
  isOff: boolean
}

interface Timer {
  readonly task: Task
  ref(): Timer
  unref(): Timer
  hasRef(): boolean
  [Symbol.toPrimitive](): number
}

const pause = setImmediate
/** The wall clock at the start: any time. */
const START_MS = 1_800_000_000_000

export class ServicesTime {
  /** True time in ms: it never goes back. */
  now = 1000
  /** The wall clock minus true time: it steps when an operator or NTP sets it. */
  wallOffsetMs = 0
  readonly #dice: Dice
  readonly #handle: Handler
  readonly #inside = new AsyncLocalStorage<SimProcess>()
  #tasks: Task[] = []
  #order = 0
  #restore: () => void = () => {}

  constructor(dice: Dice, handle: Handler) {
    this.#dice = dice
    this.#handle = handle
  }

  /** The process that runs now. */
  get process(): SimProcess | undefined {
    return this.#inside.getStore()
  }

  /** Runs something as a process. */
  run<T>(process: SimProcess, what: () => T): T {
    return this.#inside.run(process, what)
  }

  /** Resolves after `ms` of simulated time. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#add(resolve, ms, 0))
  }

  /** Lets `ms` pass. */
  async advance(ms: number): Promise<void> {
    for (const end = this.now + ms; ;) {
      const due = this.#next(end)
      if (due === undefined) {
        this.now = end
        return
      }
      this.now = Math.max(this.now, due.at)
      this.#run(due)
      // Everything that waited for it runs before the next task.
      await new Promise((resolve) => pause(resolve))
    }
  }

  /** Replaces the globals. */
  install(): void {
    const { randomBytes, randomInt } = crypto
    const { request } = http
    const old = {
      setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, fetch, now: Date.now,
      mono: performance.now, origin: Object.getOwnPropertyDescriptor(performance, 'timeOrigin'),
      timeout: AbortSignal.timeout,
    }
    const clear = (timer?: Timer): void => { if (timer !== undefined) timer.task.isOff = true }
    const set = (name: string, value: unknown): void => { (globalThis as Record<string, unknown>)[name] = value }
    set('setTimeout', (run: () => void, ms = 0, ...rest: never[]) => this.#add(() => run(...rest as []), ms, 0))
    set('setInterval', (run: () => void, ms = 0) => this.#add(run, ms, Math.max(1, ms)))
    set('setImmediate', (run: (...rest: never[]) => void, ...rest: never[]) => this.#add(() => run(...rest), 0, 0))
    for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) set(name, clear)
    set('fetch', (url: string, options: RequestInit) => this.#fetch(url, options))
    Date.now = () => Math.floor(START_MS + this.now + this.wallOffsetMs)
    performance.now = () => this.now
    Object.defineProperty(performance, 'timeOrigin', { value: START_MS, configurable: true })
    AbortSignal.timeout = (ms) => ({ ms }) as unknown as AbortSignal
    crypto.randomBytes = ((size: number) => {
      const bytes = Buffer.alloc(size)
      this.#dice.fill(bytes)
      return bytes
    }) as typeof randomBytes
    crypto.randomInt = ((max: number) => this.#dice.word() % max) as typeof randomInt
    http.request = ((url: string, options: RequestOptions) => this.#request(url, options)) as typeof request
    syncBuiltinESMExports()
    this.#restore = () => {
      const names = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'fetch'] as const
      for (const name of names) set(name, old[name])
      Date.now = old.now
      performance.now = old.mono
      if (old.origin === undefined) Reflect.deleteProperty(performance, 'timeOrigin')
      else Object.defineProperty(performance, 'timeOrigin', old.origin)
      AbortSignal.timeout = old.timeout
      crypto.randomBytes = randomBytes
      crypto.randomInt = randomInt
      http.request = request
      syncBuiltinESMExports()
    }
  }

  /** Puts the globals back, and forgets what was still to run. */
  uninstall(): void {
    this.#restore()
    this.#tasks = []
  }

  #add(run: () => void, ms: number, everyMs: number): Timer {
    const process = this.process
    const task: Task = { at: this.now + Math.max(0, ms), order: this.#order++, process, run, everyMs, isOff: false }
    this.#tasks.push(task)
    const timer: Timer = {
      task, ref: () => timer, unref: () => timer, hasRef: () => true, [Symbol.toPrimitive]: () => task.order,
    }
    return timer
  }

  #next(end: number): Task | undefined {
    let next: Task | undefined
    for (const task of this.#tasks) {
      const { process } = task
      if (task.at > end || task.isOff || process?.isDead === true) continue
      if (process !== undefined && process.frozenUntil > task.at) task.at = process.frozenUntil
      if (task.at > end) continue
      if (next === undefined || task.at < next.at || (task.at === next.at && task.order < next.order)) next = task
    }
    return next
  }

  #run(task: Task): void {
    task.at = task.everyMs > 0 ? this.now + task.everyMs : Infinity
    if (task.everyMs === 0) task.isOff = true
    if (this.#tasks.length > 64)
      this.#tasks = this.#tasks.filter(({ isOff, process }) => !isOff && process?.isDead !== true)
    if (task.process === undefined) task.run()
    else this.#inside.run(task.process, task.run)
  }

  async #fetch(url: string, options: RequestInit): Promise<Response> {
    const { ms = 30_000 } = options.signal as unknown as { ms?: number }
    const { method = 'GET', body = '', headers = {} } = options
    const late = this.sleep(ms).then(() => { throw Object.assign(new Error('timeout'), { name: 'TimeoutError' }) })
    const asked = this.#ask(url, method, String(body), headers as Record<string, string>)
    const answer = await Promise.race([asked, late])
    if (answer === undefined) throw new TypeError('fetch failed')
    return new Response(answer.body, { status: answer.status })
  }

  /** A request of `node:http`, with the events and methods that `requestJson` uses. */
  #request(url: string, { method = 'GET', headers = {} }: RequestOptions): ClientRequest {
    const request = Object.assign(new EventEmitter(), {
      // A request on an idle connection that the server closes is sent again, also if it arrived.
      reusedSocket: this.#dice.chance(0.5),
      end: (text: string) => {
        void this.#ask(url, method, text, headers as Record<string, string>).then((answer) => {
          if (isOver) return
          if (answer === undefined)
            return destroy(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
          isOver = true
          const { status: statusCode, body } = answer
          const response = Object.assign(new EventEmitter(), { statusCode, destroy: () => {} })
          request.emit('response', response)
          response.emit('data', Buffer.from(body))
          response.emit('end')
          request.emit('close')
        })
      },
      destroy: (error: Error) => destroy(error),
    })
    let isOver = false
    const destroy = (error: Error): void => {
      if (isOver) return
      isOver = true
      request.emit('error', error)
      request.emit('close')
    }
    // reason: `requestJson` uses these events and methods, and nothing else of a request.
    return request as unknown as ClientRequest
  }

  /** Never resolves without an answer. Undefined: the connection broke. */
  async #ask(
    url: string, method: string, body: string, headers: Record<string, string>,
  ): Promise<Awaited<ReturnType<Handler>>> {
    const latencyMs = 1 + 4 * this.#dice.fraction()
    await this.sleep(latencyMs)
    const answer = await this.#handle(new URL(url), method, body, headers)
    if (answer === undefined) return await new Promise(() => {})
    await this.sleep(latencyMs)
    return answer.status === 0 ? undefined : answer
  }
}
