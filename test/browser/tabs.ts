/**
 * Tabs of one window of a real browser, of which one is in front and the others are really hidden.
 *
 * Playwright makes every page believe that it is visible, and starts the browser with flags that keep the timers of
 * hidden pages running. These tabs are driven by the DevTools protocol itself, without such flags.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { BROWSER_ADVICE, findBrowser } from './browser.ts'

const ARGS = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--no-default-browser-check',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--metrics-recording-only',
  '--remote-debugging-port=0',
]
const LAUNCH_MS_MAX = 60_000
const CLOSE_MS_MAX = 10_000

interface Answer {
  readonly id?: number
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

/** A browser with one window. */
export class TabbedBrowser {
  readonly #child: ChildProcess
  readonly #profile: string
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #count = 0

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    this.#child = child
    this.#profile = profile
    this.#socket = socket
    socket.on('message', (data) => {
      const answer = JSON.parse(String(data)) as Answer
      if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer)
    })
  }

  static async launch(): Promise<TabbedBrowser> {
    const path = findBrowser()
    if (path === undefined) throw new Error(BROWSER_ADVICE)
    const profile = mkdtempSync(join(tmpdir(), 'tickwire-tabs-'))
    const args = [...ARGS, `--user-data-dir=${profile}`, 'about:blank']
    const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    const url = await new Promise<string>((resolve, reject) => {
      let said = ''
      const timer = setTimeout(() => reject(new Error(`the browser did not start: ${said}`)), LAUNCH_MS_MAX)
      child.stderr.on('data', (chunk: Buffer) => {
        said += String(chunk)
        const found = /ws:\/\/\S+/.exec(said)
        if (found === null) return
        clearTimeout(timer)
        resolve(found[0])
      })
    })
    const socket = new WebSocket(url, { perMessageDeflate: false })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    return new TabbedBrowser(child, profile, socket)
  }

  /** Opens a tab, in front of the others. */
  async open(url: string): Promise<Tab> {
    const { targetId } = await this.send('Target.createTarget', { url }) as { targetId: string }
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true }) as { sessionId: string }
    const tab = new Tab(this, targetId, sessionId)
    await tab.until('location.href !== "about:blank" && document.readyState === "complete"')
    return tab
  }

  async send(method: string, params: object, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++this.#count
    const answered = new Promise<Answer>((resolve) => { this.#waiting.set(id, resolve) })
    this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }))
    const { result = {}, error } = await answered
    this.#waiting.delete(id)
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    // A browser that ends by itself takes its other processes with it. Killed ones write to the profile for a moment.
    void this.send('Browser.close', {}).catch(() => {})
    const killing = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_MS_MAX)
    await ended
    clearTimeout(killing)
    this.#socket.close()
    for (const until = performance.now() + CLOSE_MS_MAX; ;) {
      try {
        return rmSync(this.#profile, { recursive: true, force: true })
      } catch (error) {
        if (performance.now() > until) throw error
        await new Promise((resolve) => { setTimeout(resolve, 50) })
      }
    }
  }
}

/** One tab. */
export class Tab {
  readonly #browser: TabbedBrowser
  readonly #target: string
  readonly #session: string

  constructor(browser: TabbedBrowser, target: string, session: string) {
    this.#browser = browser
    this.#target = target
    this.#session = session
  }

  /** Brings it to the front. All others are hidden then. */
  async show(): Promise<void> {
    await this.#browser.send('Target.activateTarget', { targetId: this.#target })
  }

  /** The value of an expression, awaited. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.#browser.send(
      'Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }, this.#session,
    ) as { result: { value: T }; exceptionDetails?: { exception?: { description?: string } } }
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`)
    return result.value
  }

  async until(expression: string, msMax: number = 20_000): Promise<void> {
    for (const deadline = performance.now() + msMax; !(await this.evaluate<boolean>(expression));) {
      if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${expression}`)
      await new Promise((resolve) => { setTimeout(resolve, 20) })
    }
  }
}
