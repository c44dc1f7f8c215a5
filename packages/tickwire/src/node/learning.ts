/**
 * A server that learns while it plays: it trains its games' tables (`entropy(priors)`) on its own matches, unattended.
 *
 * ```
 * a client is connected ──▶ the last minute is recorded ──▶ a process of lower priority trains on it and tests it
 *   ──▶ if it saves bytes: every room of that type switches its clients to it (`retraining.ts`), and it is saved to a
 *   folder, from which the next start loads it
 * ```
 *
 * One room of each type is recorded at a time, and one study runs at a time. A failure here never affects a match.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../core/base/assert.ts'
import type { Priors } from '../core/codec/snapshot-codec.ts'
import type { Game } from '../core/game/define-game.ts'
import type { Match } from '../core/game/match.ts'
import type { Recorder } from '../core/replay/recorder.ts'
import { RecordingRing } from '../core/replay/recording-ring.ts'
import type { StudyResult, StudyTask } from './learning-process.ts'
import type { ServeLog } from './status-log.ts'

/** When a server learns, and where the result is kept. */
export interface LearnOptions {
  /** Interval between studies. Default: ten minutes. */
  readonly everyMs?: number
  /** Length of match to train on, and delay from the first player to the first study. Default: a minute. */
  readonly windowMs?: number
  /**
   * Where learnt tables are kept, one file per type of room (`match.json` for `serve`), in the format of `tickwire
   * train`. Default: they are not kept.
   */
  readonly folder?: string
  /** A study that takes longer is stopped. Default: five minutes. */
  readonly studyMsMax?: number
}

const EVERY_MS = 600_000
const WINDOW_MS = 60_000
const WATCH_MS = 1000
const STUDY_MS_MAX = 300_000
/** A timer with a longer delay fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1
const SAID_CHARS_MAX = 1000

/** One type of room. */
interface Subject {
  readonly name: string
  /** Tables that its rooms send with: the learnt ones, or those of the build. */
  inForce: Priors
  isLearnt: boolean
  version: number
  dueAt: number
  recording: { readonly room: Match; readonly recorder: Recorder; readonly since: number } | undefined
}

export class Learning {
  readonly #subjects: readonly Subject[]
  readonly #rooms: () => readonly Match[]
  readonly #log: ServeLog
  readonly #now: () => number
  readonly #everyMs: number
  readonly #windowMs: number
  readonly #studyMsMax: number
  readonly #folder: string | undefined
  readonly #timer: NodeJS.Timeout
  /** The tables that each room was given. */
  readonly #handed = new WeakMap<Match, Priors>()
  #child: ChildProcess | undefined
  #isClosed = false

  constructor(
    types: { readonly [name: string]: { readonly game: Game } },
    options: LearnOptions,
    rooms: () => readonly Match[],
    log: ServeLog,
    now: () => number,
  ) {
    const { everyMs = EVERY_MS, windowMs = WINDOW_MS, studyMsMax = STUDY_MS_MAX, folder } = options
    for (const [name, ms] of Object.entries({ everyMs, windowMs, studyMsMax })) {
      if (!(ms > 0))
        throw new ConfigError(
          `learn.${name}`,
          `invalid time (expected above 0 ms, got ${ms})`,
          'give milliseconds above 0.',
        )
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
    if (game.codec.name !== 'entropy')
      throw new ConfigError(
        'learn',
        `${name} uses the codec ${game.codec.name}, which has no tables`,
        'write codec: entropy(), or leave `learn` out.',
      )
    const kept = this.#folder === undefined ? undefined : this.#read(fileOf(this.#folder, name), game)
    return {
      name,
      inForce: kept ?? game.codec.priors,
      isLearnt: kept !== undefined,
      version: 1,
      dueAt: 0,
      recording: undefined,
    }
  }

  /** Tables that an earlier process learnt, if they fit the current game. */
  #read(path: string, game: Game): Priors | undefined {
    if (!existsSync(path)) return undefined
    try {
      const priors = JSON.parse(readFileSync(path, 'utf8')) as Priors
      game.codersBy(priors)
      return priors
    } catch (error) {
      this.#log({
        level: 'warn',
        event: 'learnt-unusable',
        message: `${path} cannot be used, and is not changed: ${reasonOf(error)}`,
      })
      return undefined
    }
  }

  #watch(): void {
    const rooms = this.#rooms()
    for (const subject of this.#subjects) {
      const own = rooms.filter(({ typeName }) => typeName === subject.name)
      for (const room of own) this.#hand(room, subject)
      if (subject.recording !== undefined && !own.includes(subject.recording.room)) forget(subject)
      const busiest = own.reduce<Match | undefined>(
        (most, room) => (clientsIn(room) > (most === undefined ? 0 : clientsIn(most)) ? room : most),
        undefined,
      )
      if (subject.recording === undefined && busiest !== undefined && this.#now() >= subject.dueAt)
        this.#listen(subject, busiest)
      if (
        subject.recording !== undefined
        && this.#now() >= subject.recording.since + this.#windowMs
        && this.#child === undefined
      )
        this.#study(subject, subject.recording.recorder)
    }
  }

  /** Gives a room the learnt tables if it does not have them yet, whenever the room was made. */
  #hand(room: Match, { inForce, isLearnt }: Subject): void {
    if (!isLearnt || this.#handed.get(room) === inForce) return
    this.#handed.set(room, inForce)
    try {
      room.retrain(inForce)
    } catch (error) {
      this.#log({
        level: 'warn',
        event: 'learnt-unusable',
        message: `trained tables cannot be sent to clients: ${reasonOf(error)}`,
      })
    }
  }

  #listen(subject: Subject, room: Match): void {
    const recorder = room.record(new RecordingRing({ windowMs: this.#windowMs }))
    subject.recording = { room, recorder, since: this.#now() }
  }

  #study(subject: Subject, recorder: Recorder): void {
    const bytes = recorder.save()
    forget(subject)
    subject.dueAt = this.#now() + this.#everyMs
    const path = new URL(`./learning-process${extname(fileURLToPath(import.meta.url))}`, import.meta.url)
    if (bytes === undefined) return
    if (!existsSync(path))
      return this.#giveUp(subject, `${fileURLToPath(path)} is not there: a server in one bundle cannot learn`)
    this.#ask(path, { bytes, inForce: subject.inForce, version: subject.version }, (result) => {
      if (!('problem' in result)) this.#adopt(subject, result.priors, result.bitsBefore, result.bitsAfter)
      else if (result.isForGood) this.#giveUp(subject, result.problem)
      else
        this.#log({
          level: 'warn',
          event: 'learning-failed',
          message: `training for ${subject.name} failed this time: ${result.problem}`,
        })
    })
  }

  /** Runs a study in a child process. `onDone` receives its result, or why there is none. */
  #ask(path: URL, task: StudyTask, onDone: (result: StudyResult) => void): void {
    let child: ChildProcess
    try {
      child = fork(path, { serialization: 'advanced', stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    } catch (error) {
      return onDone({ problem: `no process could be started. ${reasonOf(error)}`, isForGood: false })
    }
    this.#child = child
    let isTooLong = false
    // SIGKILL: modules preloaded into the child may handle other signals, and a handler never runs in the middle of a
    // study.
    const limit = setTimeout(() => { isTooLong = child.kill('SIGKILL') }, this.#studyMsMax)
    let result: StudyResult | undefined
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => { said = `${said}${String(chunk)}`.slice(0, SAID_CHARS_MAX) })
    child.once('message', (found: StudyResult) => { result = found })
    child.on('error', (error) => { said += error.message })
    child.once('close', (code: number | null, signal: string | null) => {
      clearTimeout(limit)
      this.#child = undefined
      const end =
        child.pid === undefined
          ? 'could not be started'
          : isTooLong
            ? `took longer than ${this.#studyMsMax} ms`
            : signal === null
              ? `has ended with ${code}`
              : `was ended by ${signal}`
      if (!this.#isClosed)
        onDone(result ?? { problem: `the training process ${end}. ${said}`.trimEnd(), isForGood: false })
    })
    // The file is missing, or memory ran out: then there is no channel either.
    if (child.pid === undefined) return
    try {
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    } catch {
      // Lowering the priority may not be allowed. Then the child runs at normal priority.
    }
    child.send(task, () => {})
  }

  #adopt(subject: Subject, priors: Priors | undefined, bitsBefore: number, bitsAfter: number): void {
    if (priors === undefined)
      return this.#log({
        level: 'debug',
        event: 'learnt-nothing',
        message: `${subject.name} keeps its tables: new ones would save less than sending them costs`,
      })
    const percent = Math.round(100 * (1 - bitsAfter / bitsBefore))
    subject.inForce = priors
    subject.isLearnt = true
    subject.version++
    this.#log({
      level: 'info',
      event: 'learnt',
      message: `${subject.name} is sent in ${percent} % fewer bits from now on`,
      facts: { type: subject.name, percent },
    })
    for (const room of this.#rooms()) if (room.typeName === subject.name) this.#hand(room, subject)
    if (this.#folder !== undefined) this.#write(this.#folder, subject)
  }

  /** Writes atomically: a process that starts meanwhile reads the previous file. */
  #write(folder: string, { name, inForce }: Subject): void {
    const path = fileOf(folder, name)
    try {
      mkdirSync(folder, { recursive: true })
      writeFileSync(`${path}.new`, `${JSON.stringify(inForce)}\n`)
      renameSync(`${path}.new`, path)
    } catch (error) {
      this.#log({
        level: 'warn',
        event: 'learnt-unwritten',
        message: `trained tables could not be saved: ${reasonOf(error)}`,
      })
    }
  }

  #giveUp(subject: Subject, problem: string): void {
    subject.dueAt = Infinity
    this.#log({
      level: 'warn',
      event: 'learning-failed',
      message: `tables for ${subject.name} cannot be trained: ${problem}`,
    })
  }
}

/** A type of room may have any name, so it is encoded. */
function fileOf(folder: string, name: string): string {
  return join(folder, `${encodeURIComponent(name)}.json`)
}

/** How many clients a room sends to. */
function clientsIn({ seats }: Match): number {
  return seats.players + seats.spectators
}

function forget(subject: Subject): void {
  subject.recording?.recorder.close()
  subject.recording = undefined
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
