/**
 * A server that learns while it plays: its games' tables (`entropy(priors)`) from its own matches, without anybody at hand.
 *
 * ```
 * somebody is there ──▶ the last minute is kept ──▶ another process, of lower priority, learns from it and tries it ──▶ if it pays, every room
 *   of that type hands it to its players (`retraining.ts`), and it is written into a folder, from which the next start takes it
 * ```
 *
 * For each type of room one room is listened to at a time, and one study is under way at a time. Nothing that fails here touches a match.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError, RecordingRing, type Game, type Priors, type Recorder, type Room } from '../core/index.ts'
import type { StudyResult, StudyTask } from './learning-process.ts'
import type { ServeLog } from './status-log.ts'

/** When a server learns, and what becomes of it. */
export interface LearnOptions {
  /** From one study to the next. Default: ten minutes. */
  readonly everyMs?: number
  /** How much of a match is learnt from, and how long after its first player the first study begins. Default: a minute. */
  readonly windowMs?: number
  /** Where what was learnt is kept, a file a type of room (`match.json` of `serve`), as `tickwire train` writes it. Default: nowhere. */
  readonly folder?: string
  /** A study that takes longer is given up. Default: five minutes. */
  readonly studyMsMax?: number
}

const EVERY_MS = 600_000
const WINDOW_MS = 60_000
const WATCH_MS = 1000
const STUDY_MS_MAX = 300_000
/** Timers that are set to more go off at once. */
const TIMER_MS_MAX = 2 ** 31 - 1
const SAID_CHARS_MAX = 1000

/** One type of room. */
interface Subject {
  readonly name: string
  /** Tables that its rooms are told by: what was learnt, or those of the build. */
  inForce: Priors
  isLearnt: boolean
  version: number
  dueAt: number
  heard: { readonly room: Room; readonly recorder: Recorder; readonly since: number } | undefined
}

export class Learning {
  readonly #subjects: readonly Subject[]
  readonly #rooms: () => readonly Room[]
  readonly #log: ServeLog
  readonly #now: () => number
  readonly #everyMs: number
  readonly #windowMs: number
  readonly #studyMsMax: number
  readonly #folder: string | undefined
  readonly #timer: NodeJS.Timeout
  /** By room: the tables that it was handed. */
  readonly #handed = new WeakMap<Room, Priors>()
  #child: ChildProcess | undefined
  #isClosed = false

  constructor(types: { readonly [name: string]: { readonly game: Game } }, options: LearnOptions, rooms: () => readonly Room[], log: ServeLog, now: () => number) {
    const { everyMs = EVERY_MS, windowMs = WINDOW_MS, studyMsMax = STUDY_MS_MAX, folder } = options
    for (const [name, ms] of Object.entries({ everyMs, windowMs, studyMsMax })) {
      if (!(ms > 0)) throw new ConfigError(`learn.${name}`, `${ms}`, 'Give milliseconds, more than none.')
    }
    this.#rooms = rooms
    this.#log = log
    this.#now = now
    this.#everyMs = everyMs
    this.#windowMs = windowMs
    this.#studyMsMax = Math.min(studyMsMax, TIMER_MS_MAX)
    this.#folder = folder
    this.#subjects = Object.entries(types).map(([name, { game }]) => this.#subjectOf(name, game))
    this.#timer = setInterval(() => this.#watch(), Math.min(WATCH_MS, windowMs))
    this.#timer.unref()
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#child?.kill('SIGKILL')
    for (const subject of this.#subjects) forget(subject)
  }

  #subjectOf(name: string, game: Game): Subject {
    if (game.codec.name !== 'entropy') throw new ConfigError('learn', `${name} is told by ${game.codec.name}, which has no tables`, 'Say codec: entropy(), or leave it out.')
    const kept = this.#folder === undefined ? undefined : this.#read(fileOf(this.#folder, name), game)
    return { name, inForce: kept ?? game.codec.priors, isLearnt: kept !== undefined, version: 1, dueAt: 0, heard: undefined }
  }

  /** What an earlier process learnt, if it fits the game of today. */
  #read(path: string, game: Game): Priors | undefined {
    if (!existsSync(path)) return undefined
    try {
      const priors = JSON.parse(readFileSync(path, 'utf8')) as Priors
      game.codersBy(priors)
      return priors
    } catch (error) {
      this.#log({ level: 'warn', event: 'learnt-unusable', message: `${path} is left alone, and learnt anew: ${reasonOf(error)}` })
      return undefined
    }
  }

  #watch(): void {
    const rooms = this.#rooms()
    for (const subject of this.#subjects) {
      const own = rooms.filter(({ typeName }) => typeName === subject.name)
      for (const room of own) this.#hand(room, subject)
      if (subject.heard !== undefined && !own.includes(subject.heard.room)) forget(subject)
      const busiest = own.reduce<Room | undefined>((most, room) => toldIn(room) > (most === undefined ? 0 : toldIn(most)) ? room : most, undefined)
      if (subject.heard === undefined && busiest !== undefined && this.#now() >= subject.dueAt) this.#listen(subject, busiest)
      if (subject.heard !== undefined && this.#now() >= subject.heard.since + this.#windowMs && this.#child === undefined) this.#study(subject, subject.heard.recorder)
    }
  }

  /** A room is told by what was learnt, whenever it was made. */
  #hand(room: Room, { inForce, isLearnt }: Subject): void {
    if (!isLearnt || this.#handed.get(room) === inForce) return
    this.#handed.set(room, inForce)
    try {
      room.retrain(inForce)
    } catch (error) {
      this.#log({ level: 'warn', event: 'learnt-unusable', message: `what was learnt cannot be handed out: ${reasonOf(error)}` })
    }
  }

  #listen(subject: Subject, room: Room): void {
    subject.heard = { room, recorder: room.record(new RecordingRing({ windowMs: this.#windowMs })), since: this.#now() }
  }

  #study(subject: Subject, recorder: Recorder): void {
    const bytes = recorder.save()
    forget(subject)
    subject.dueAt = this.#now() + this.#everyMs
    const path = new URL(`./learning-process${extname(fileURLToPath(import.meta.url))}`, import.meta.url)
    if (bytes === undefined) return
    if (!existsSync(path)) return this.#giveUp(subject, `${fileURLToPath(path)} is not there: a server in one bundle cannot learn`)
    this.#ask(path, { bytes, inForce: subject.inForce, version: subject.version }, (result) => {
      if (!('problem' in result)) this.#adopt(subject, result.priors, result.bitsBefore, result.bitsAfter)
      else if (result.isForGood) this.#giveUp(subject, result.problem)
      else this.#log({ level: 'warn', event: 'learning-failed', message: `nothing was learnt of ${subject.name} this time: ${result.problem}` })
    })
  }

  /** Has another process do it; `onDone` hears what came of it, or why nothing did. */
  #ask(path: URL, task: StudyTask, onDone: (result: StudyResult) => void): void {
    let child: ChildProcess
    try {
      child = fork(path, { serialization: 'advanced', stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    } catch (error) {
      return onDone({ problem: `no process could be started. ${reasonOf(error)}`, isForGood: false })
    }
    this.#child = child
    let isTooLong = false
    // Not by asking it to: what was loaded into it with the server may listen to that, and never come to it in the middle of a study.
    const limit = setTimeout(() => { isTooLong = child.kill('SIGKILL') }, this.#studyMsMax)
    let result: StudyResult | undefined
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => { said = `${said}${String(chunk)}`.slice(0, SAID_CHARS_MAX) })
    child.once('message', (found: StudyResult) => { result = found })
    child.on('error', (error) => { said += error.message })
    child.once('close', (code: number | null, signal: string | null) => {
      clearTimeout(limit)
      this.#child = undefined
      const end = child.pid === undefined ? 'could not be started' : isTooLong ? `took longer than ${this.#studyMsMax} ms` : signal === null ? `has ended with ${code}` : `was ended by ${signal}`
      if (!this.#isClosed) onDone(result ?? { problem: `the process that learns ${end}. ${said}`.trimEnd(), isForGood: false })
    })
    // Where there is no file or no memory left for it: then it has no channel either.
    if (child.pid === undefined) return
    try {
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    } catch {
      // Where that may not be, it is as important as others.
    }
    child.send(task, () => {})
  }

  #adopt(subject: Subject, priors: Priors | undefined, bitsBefore: number, bitsAfter: number): void {
    if (priors === undefined) return this.#log({ level: 'debug', event: 'learnt-nothing', message: `${subject.name} goes on as it is: nothing new saves more than handing it out takes` })
    const percent = Math.round(100 * (1 - bitsAfter / bitsBefore))
    subject.inForce = priors
    subject.isLearnt = true
    subject.version++
    this.#log({ level: 'info', event: 'learnt', message: `${subject.name} is told in ${percent} % fewer bits from now on`, facts: { type: subject.name, percent } })
    for (const room of this.#rooms()) if (room.typeName === subject.name) this.#hand(room, subject)
    if (this.#folder !== undefined) this.#write(this.#folder, subject)
  }

  /** At once or not at all: whoever starts meanwhile reads the one before. */
  #write(folder: string, { name, inForce }: Subject): void {
    const path = fileOf(folder, name)
    try {
      mkdirSync(folder, { recursive: true })
      writeFileSync(`${path}.new`, `${JSON.stringify(inForce)}\n`)
      renameSync(`${path}.new`, path)
    } catch (error) {
      this.#log({ level: 'warn', event: 'learnt-unwritten', message: `what was learnt could not be kept: ${reasonOf(error)}` })
    }
  }

  #giveUp(subject: Subject, problem: string): void {
    subject.dueAt = Infinity
    this.#log({ level: 'warn', event: 'learning-failed', message: `nothing can be learnt of ${subject.name}: ${problem}` })
  }
}

/** Types of rooms may be called anything. */
function fileOf(folder: string, name: string): string {
  return join(folder, `${encodeURIComponent(name)}.json`)
}

/** How many a room is told to. */
function toldIn({ seats }: Room): number {
  return seats.players + seats.spectators
}

function forget(subject: Subject): void {
  subject.heard?.recorder.close()
  subject.heard = undefined
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
