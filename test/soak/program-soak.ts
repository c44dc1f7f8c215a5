/**
 * A long run of programs with crowds around them, each in a process of its own. It looks for what grows, and at the end
 * kills every process once without warning.
 *
 * Memory and descriptors of the programs are read from outside (`/proc`), so the programs are exactly those that users
 * start. Slopes are taken from the first four fifths of the time, without its first tenth.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { growthOf, quantile, readProcess, type Growth, type Point } from './growth.ts'
import type { CrowdMessage, CrowdOrder, CrowdSample } from './program-messages.ts'

/** A run. */
export interface ProgramSoak {
  readonly minutes: number
  /** By name: starts a program under test, again after it was killed. Resolves when it is ready. */
  readonly programs: Readonly<Record<string, () => Promise<ChildProcess>>>
  /** By name: the bundled file of a crowd, and its arguments. */
  readonly crowds: Readonly<Record<string, readonly [file: string, ...args: string[]]>>
  /** How long a killed program stays down. */
  readonly downMs: number
  /** Crowds must be back within this time. */
  readonly backMsMax: number
  onProgress?(line: string): void
}

export interface ProgramReport {
  readonly minutes: number
  /** By program. */
  readonly programs: Readonly<Record<string, { readonly rssMiB: Growth; readonly descriptors: Growth }>>
  /** By crowd, at the end. */
  readonly crowds: Readonly<Record<string, Omit<CrowdSample, 'took'>>>
  /** By what took it. */
  readonly tookMs: Readonly<Record<string, { readonly count: number; readonly p50: number; readonly p99: number }>>
  readonly kills: readonly { readonly killed: string; readonly backMs: readonly number[] }[]
  readonly faults: readonly string[]
}

const FIRST_LIFE = 0.8
const WARM_UP = 0.1
const MINUTE_MS = 60_000
const PROGRESS_MS = 10_000
const RSS_SLOPE_MAX = 20
/** Not 0: the number of descriptors varies while players come and go. */
const DESCRIPTOR_SLOPE_MAX = 10
/** Shorter runs have no meaningful slope: the garbage collector's period is longer. */
const SLOPE_MINUTES_MIN = 10

class Crowd {
  readonly child: ChildProcess
  last: CrowdSample = { active: 0, joins: 0, leaves: 0, ends: {}, faults: [], took: {} }
  readonly backs: number[] = []

  constructor([file, ...args]: readonly [string, ...string[]], took: Map<string, number[]>) {
    this.child = fork(file, args)
    this.child.on('message', (message: CrowdMessage) => {
      if ('backMs' in message) {
        this.backs.push(message.backMs)
        return
      }
      this.last = message.sample
      for (const [what, list] of Object.entries(message.sample.took))
        took.set(what, [...(took.get(what) ?? []), ...list])
    })
  }

  say(order: CrowdOrder): void {
    if (this.child.connected) this.child.send(order)
  }
}

export async function soakPrograms(options: ProgramSoak): Promise<ProgramReport> {
  const run = new Run(options)
  const { minutes, onProgress = () => {} } = options
  const timers = [setInterval(() => run.look(), 1000), setInterval(() => onProgress(run.line), PROGRESS_MS)]
  try {
    await run.start()
    await sleep(minutes * MINUTE_MS * FIRST_LIFE)
    const programs = run.judge()
    const names = [...Object.keys(options.programs), ...Object.keys(options.crowds)]
    const pauseMs = minutes * MINUTE_MS * (1 - FIRST_LIFE) / (names.length + 1)
    for (const name of names) {
      await sleep(pauseMs)
      onProgress(await run.kill(name))
    }
    await sleep(pauseMs)
    return run.report(programs)
  } finally {
    for (const timer of timers) clearInterval(timer)
    run.end()
  }
}

class Run {
  readonly #options: ProgramSoak
  readonly #programs = new Map<string, ChildProcess>()
  readonly #crowds = new Map<string, Crowd>()
  /** By what took it: durations in ms. */
  readonly #took = new Map<string, number[]>()
  /** By program: memory and descriptors over time. */
  readonly #points = new Map<string, { readonly rss: Point[]; readonly descriptors: Point[] }>()
  readonly #kills: { readonly killed: string; readonly backMs: readonly number[] }[] = []
  readonly #faults: string[] = []

  constructor(options: ProgramSoak) {
    this.#options = options
  }

  async start(): Promise<void> {
    for (const [name, start] of Object.entries(this.#options.programs)) this.#programs.set(name, await start())
    for (const [name, crowd] of Object.entries(this.#options.crowds))
      this.#crowds.set(name, new Crowd(crowd, this.#took))
  }

  /** Takes a sample of every program. */
  look(): void {
    for (const [name, { pid }] of this.#programs) {
      const seen = pid === undefined ? undefined : readProcess(pid)
      if (seen === undefined) continue
      const list = this.#points.get(name) ?? { rss: [], descriptors: [] }
      list.rss.push([performance.now(), seen.rssMiB])
      list.descriptors.push([performance.now(), seen.descriptors])
      this.#points.set(name, list)
    }
  }

  /** What the programs have grown by until now. */
  judge(): ProgramReport['programs'] {
    const life = [...this.#points].map(([name, { rss, descriptors }]) => {
      const warm = Math.floor(rss.length * WARM_UP)
      return [name, { rssMiB: growthOf(rss.slice(warm)), descriptors: growthOf(descriptors.slice(warm)) }] as const
    })
    for (const [name, { rssMiB, descriptors }] of this.#options.minutes < SLOPE_MINUTES_MIN ? [] : life) {
      if (rssMiB.slopePerHour > RSS_SLOPE_MAX) this.#faults.push(`resident memory of ${name} grows`)
      if (descriptors.slopePerHour > DESCRIPTOR_SLOPE_MAX) this.#faults.push(`descriptors of ${name} grow`)
    }
    return Object.fromEntries(life)
  }

  /** Kills a program or a crowd, and starts it again. Returns what happened, as a line. */
  async kill(name: string): Promise<string> {
    const { downMs, backMsMax, programs, crowds } = this.#options
    const witnesses = [...this.#crowds].filter(([other]) => other !== name).map(([, crowd]) => crowd)
    const before = witnesses.map(({ backs }) => backs.length)
    for (const crowd of witnesses) crowd.say('killed')
    const child = this.#programs.get(name) ?? this.#crowds.get(name)!.child
    child.kill('SIGKILL')
    await once(child, 'exit')
    await sleep(downMs)
    const start = programs[name]
    if (start !== undefined) this.#programs.set(name, await start())
    else this.#crowds.set(name, new Crowd(crowds[name]!, this.#took))
    for (const crowd of witnesses) crowd.say('returned')
    const isBack = (): boolean => witnesses.every(({ backs }, at) => backs.length > before[at]!)
    for (let waited = 0; !isBack() && waited < 3 * backMsMax; waited += 50) await sleep(50)
    const backMs = witnesses.flatMap(({ backs }, at) => backs.slice(before[at], before[at]! + 1))
    const slowest = Math.max(...backMs)
    this.#kills.push({ killed: name, backMs })
    if (backMs.length < witnesses.length) this.#faults.push(`${name} was killed, and not all were back`)
    else if (slowest > backMsMax) this.#faults.push(`${name} was killed, and all were back after ${slowest} ms only`)
    return `killed ${name}: back after ${backMs.map(Math.round).join(', ')} ms`
  }

  report(programs: ProgramReport['programs']): ProgramReport {
    const faults = [...this.#faults]
    for (const [name, { child, last }] of this.#crowds) {
      if (child.exitCode !== null) faults.push(`${name} ended with ${child.exitCode}`)
      faults.push(...last.faults.map((words) => `${name}: ${words}`))
    }
    const took = [...this.#took].map(([what, list]) =>
      [what, { count: list.length, p50: quantile(list, 0.5), p99: quantile(list, 0.99) }] as const)
    const crowds = [...this.#crowds].map(([name, { last: { took: _, ...last } }]) => [name, last] as const)
    return {
      minutes: this.#options.minutes, programs, kills: this.#kills, faults,
      tookMs: Object.fromEntries(took), crowds: Object.fromEntries(crowds),
    }
  }

  end(): void {
    for (const child of this.#programs.values()) child.kill('SIGKILL')
    for (const { child } of this.#crowds.values()) child.kill('SIGKILL')
  }

  get line(): string {
    const memory = [...this.#programs].map(([name, { pid }]) => {
      const seen = pid === undefined ? undefined : readProcess(pid)
      if (seen === undefined) return `${name} is gone`
      return `${name} ${seen.rssMiB.toFixed(1)} MiB, ${seen.descriptors} descriptors`
    })
    const active = [...this.#crowds].map(([name, { last: { active: count, joins, leaves, ends } }]) =>
      `${name} ${count} active, ${joins} joins, ${leaves} leaves, ends ${JSON.stringify(ends)}`)
    return [...memory, ...active].join('; ')
  }
}
