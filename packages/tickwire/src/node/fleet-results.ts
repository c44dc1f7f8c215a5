/**
 * Results of matches on their way to the fleet: each is signed by the identity of this game server, and sent again
 * until the fleet has stored it. A result that was stored twice counts once, because it has an id.
 *
 *   signed bytes: "tickwire/v1/result" LF id LF game LF room LF at LF body
 */

import { randomBytes } from 'node:crypto'
import { RESULTS_WAITING_MAX } from '../core/base/limits-fleet.ts'
import type { Match } from '../core/game/match.ts'
import type { FleetLink } from './fleet-link.ts'

/** What a match ended with: JSON of the game. */
export type MatchResult = { readonly [name: string]: unknown }

interface Waiting {
  readonly body: { readonly id: string }
  readonly done: () => void
}

const RETRY_MS = 1000

export class FleetResults {
  /** Results that were dropped, because too many waited. */
  dropped = 0
  readonly #link: FleetLink
  readonly #home: { readonly identity: Uint8Array; sign(bytes: Uint8Array): Uint8Array }
  readonly #waiting: Waiting[] = []
  #isSending = false
  #isClosed = false

  constructor(link: FleetLink, home: { readonly identity: Uint8Array; sign(bytes: Uint8Array): Uint8Array }) {
    this.#link = link
    this.#home = home
  }

  /** How many wait. */
  get count(): number {
    return this.#waiting.length
  }

  /** Resolves when the fleet has stored it. */
  async add({ id: room, typeName: game }: Pick<Match, 'id' | 'typeName'>, result: MatchResult): Promise<void> {
    const id = randomBytes(16).toString('hex')
    const at = Date.now()
    const text = JSON.stringify(result)
    const { identity, sign } = this.#home
    const signature = Buffer.from(sign(resultBytes({ id, game, room, at, text }))).toString('hex')
    await new Promise<void>((resolve) => {
      const body = { id, game, room, at, text, identity: Buffer.from(identity).toString('hex'), signature }
      if (this.#waiting.length >= RESULTS_WAITING_MAX) {
        this.#waiting.shift()
        this.dropped++
      }
      this.#waiting.push({ body, done: resolve })
      void this.#send()
    })
  }

  /** Waits until all are stored, for at most `ms`. */
  async flush(ms: number): Promise<void> {
    for (const until = Date.now() + ms; this.#waiting.length > 0 && Date.now() < until;)
      await new Promise((resolve) => { setTimeout(resolve, 20) })
  }

  close(): void {
    this.#isClosed = true
  }

  async #send(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const [first] = this.#waiting
      if (first === undefined) break
      const { status } = await this.#link.ask('POST', '/results', first.body)
      // 400: no later attempt would be better.
      if (status === 200 || status === 400) {
        const at = this.#waiting.indexOf(first)
        if (at >= 0) this.#waiting.splice(at, 1)
        first.done()
      } else await new Promise((resolve) => { setTimeout(resolve, RETRY_MS) })
    }
    this.#isSending = false
  }
}

/** The bytes that a result is signed over. */
export function resultBytes(
  { id, game, room, at, text }: { id: string; game: string; room: string; at: number; text: string },
): Uint8Array {
  return Buffer.from(`tickwire/v1/result\n${id}\n${game}\n${room}\n${at}\n${text}`)
}
