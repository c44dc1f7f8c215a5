/**
 * Logs and counts refused clients, once per reason, origin and minute: a page that retries is one event, and the
 * operator of a server reads why its page does not connect.
 *
 * An origin is the origin of a page if the reason is `origin`, else the address of the client. The log has no
 * addresses.
 */

import { REFUSED_ORIGINS_MAX } from '../core/base/limits.ts'
import type { RuleCode } from '../core/connection/close-reason.ts'
import { monotonicNow } from './clock.ts'
import type { ServeLog } from './status-log.ts'

/** Why a client was refused, if the operator can do something about it. */
export type RefusalReason = Extract<RuleCode, 'version' | 'schema' | 'full' | 'token'> | 'origin'

const MINUTE_MS = 60_000
/** A page's own text is not logged at any length. */
const ORIGIN_CHARS_MAX = 100

const MESSAGES: { readonly [reason in RefusalReason]: (origin: string) => string } = {
  origin: (origin) =>
    `a page of ${origin} was refused. Fix: serve(game, { origins: ['${origin}'] }), if it is yours`,
  version: () => 'a client was refused: it has another version of Tickwire. Fix: update the older side',
  schema: () => 'a client was refused: it has another build of the game. Fix: reload the page, or restart the server',
  full: () => 'a client was refused: all seats are taken',
  token: () => 'a client was refused: its token is missing, expired, used, or for another server',
}

export class RefusalLog {
  /** Refusals by reason, each counted once per origin and minute. */
  readonly counts: { [reason in RefusalReason]: number } = { origin: 0, version: 0, schema: 0, full: 0, token: 0 }
  readonly #log: ServeLog
  readonly #clock: () => number
  readonly #seen = new Set<string>()
  #minuteEndsAt = -Infinity

  constructor(log: ServeLog, clock: () => number = monotonicNow) {
    this.#log = log
    this.#clock = clock
  }

  /** A client of this origin was refused. Reasons that only concern the client are ignored. */
  note(reason: string, origin: string): void {
    if (!isReason(reason)) return
    const now = this.#clock()
    if (now >= this.#minuteEndsAt) {
      this.#seen.clear()
      this.#minuteEndsAt = now + MINUTE_MS
    }
    const isCrowded = this.#seen.size >= REFUSED_ORIGINS_MAX
    const key = isCrowded ? reason : `${reason} ${origin.slice(0, ORIGIN_CHARS_MAX)}`
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    this.counts[reason]++
    const message = MESSAGES[reason](printable(origin))
    this.#log({ level: 'warn', event: 'client-refused', message, facts: { reason } })
  }
}

function isReason(reason: string): reason is RefusalReason {
  return Object.hasOwn(MESSAGES, reason)
}

/** An origin is a text of the client: only the characters of an origin are logged. */
function printable(origin: string): string {
  return origin.slice(0, ORIGIN_CHARS_MAX).replace(/[^\w.:/[\]-]/g, '?')
}
