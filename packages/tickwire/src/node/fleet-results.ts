/**
 * Results of matches on their way to the fleet: each is signed by the identity of this game server, and sent again
 * until the fleet has stored it. A result that was stored twice counts once, because it has an id.
 *
 *   signed bytes: "tickwire/v1/result" LF id LF game LF room LF at LF body
 */

import { randomBytes } from 'node:crypto'
import { RESULT_BYTES_MAX, RESULT_CHARS_MAX, RESULTS_WAITING_MAX } from '../core/base/limits-fleet.ts'
import type { Match } from '../core/game/match.ts'
import { monotonicNow as now } from './clock.ts'
import type { FleetAnswer, FleetLink } from './fleet-link.ts'
import type { ServeLog } from './status-log.ts'

/** What a match ended with: JSON of the game. */
export type MatchResult = { readonly [name: string]: unknown }

/**
 * What became of a result. `refused`: it is too large, or the fleet will never store it. `dropped`: 1,000 newer ones
 * waited, or the server closed before the fleet acknowledged it.
 */
export type ReportAnswer = 'stored' | 'refused' | 'dropped'

/** What results need of their server. */
export interface ResultsHome {
  readonly identity: Uint8Array
  sign(bytes: Uint8Array): Uint8Array
  readonly log: ServeLog
}

interface Waiting {
  readonly body: { readonly id: string }
  readonly done: (answer: ReportAnswer) => void
}

const RETRY_MS = 1000

export class FleetResults {
  readonly #link: FleetLink
  readonly #home: ResultsHome
  readonly #waiting: Waiting[] = []
  /** The last request. It has an answer, or will have one in two seconds. */
  #asking: Promise<FleetAnswer> | undefined
  #isSending = false
  #isClosed = false

  constructor(link: FleetLink, home: ResultsHome) {
    this.#link = link
    this.#home = home
  }

  /** How many wait. */
  get count(): number {
    return this.#waiting.length
  }

  /** Resolves when the fleet has stored it, or never will. */
  async add({ id: room, typeName: game }: Pick<Match, 'id' | 'typeName'>, result: MatchResult): Promise<ReportAnswer> {
    if (this.#isClosed) return 'dropped'
    const id = randomBytes(16).toString('hex')
    const at = Date.now()
    const text = JSON.stringify(result)
    const { identity, sign } = this.#home
    const signature = Buffer.from(sign(resultBytes({ id, game, room, at, text }))).toString('hex')
    const body = { id, game, room, at, text, identity: Buffer.from(identity).toString('hex'), signature }
    if (text.length > RESULT_CHARS_MAX || Buffer.byteLength(JSON.stringify(body)) > RESULT_BYTES_MAX)
      return this.#refuse(`it has ${text.length} characters (expected at most ${RESULT_CHARS_MAX})`)
    return await new Promise((resolve) => {
      if (this.#waiting.length >= RESULTS_WAITING_MAX) this.#waiting.shift()?.done('dropped')
      this.#waiting.push({ body, done: resolve })
      void this.#send()
    })
  }

  /** Waits until all are stored, for at most `ms`. */
  async flush(ms: number): Promise<void> {
    for (const until = now() + ms; this.#waiting.length > 0 && now() < until;)
      await new Promise((resolve) => { setTimeout(resolve, 20) })
  }

  /** Sends no more. Results that wait are dropped: first the request on its way gets its answer. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#asking
    const left = this.#waiting.splice(0)
    for (const { done } of left) done('dropped')
    if (left.length === 0) return
    this.#home.log({
      level: 'error', event: 'results-dropped', message: `${left.length} results were not stored before the end`,
      facts: { count: left.length },
    })
  }

  async #send(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const [first] = this.#waiting
      if (first === undefined) break
      this.#asking = this.#link.ask('POST', '/results', first.body)
      const { status } = await this.#asking
      const isRefused = status === 400 || status === 413
      if (status === 200 || isRefused) {
        const at = this.#waiting.indexOf(first)
        if (at >= 0) this.#waiting.splice(at, 1)
        // No later attempt would be better, and others wait behind it.
        first.done(isRefused ? this.#refuse(`the fleet refused it with status ${status}`) : 'stored')
      } else await new Promise((resolve) => { setTimeout(resolve, RETRY_MS) })
    }
    this.#isSending = false
  }

  #refuse(problem: string): 'refused' {
    this.#home.log({ level: 'error', event: 'result-refused', message: `a result is not stored: ${problem}` })
    return 'refused'
  }
}

/** The bytes that a result is signed over. */
export function resultBytes(
  { id, game, room, at, text }: { id: string; game: string; room: string; at: number; text: string },
): Uint8Array {
  return Buffer.from(`tickwire/v1/result\n${id}\n${game}\n${room}\n${at}\n${text}`)
}
