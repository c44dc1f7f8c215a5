/**
 * Fetches the ticks that a client skipped when it went on from an image: a piece in each round trip, so they take
 * little of the line and never delay the match. Replays, player seals and a handover to another relay need them.
 */

import type { Millis } from '../base/time.ts'
import type { SyncMessage } from '../order/sync-messages.ts'
import type { TickLog } from '../order/tick-log.ts'

/** A piece that has not arrived after this time is asked for again, in ms. */
const AGAIN_MS = 3000
/** After an image, the first piece is requested this much later, in ms: until then the client catches up. */
const DELAY_MS = 2000
const NO_BYTES = new Uint8Array(0)

/** Completes the log of one client. */
export class PastTicks {
  readonly #log: TickLog
  readonly #send: (message: SyncMessage) => void
  #askedAt: Millis = -Infinity
  /** The relay has sent invalid ticks: no more are requested. */
  #isBroken = false

  constructor(log: TickLog, send: (message: SyncMessage) => void) {
    this.#log = log
    this.#send = send
  }

  /** Asks for the next piece, unless one is on its way. */
  update(now: Millis): void {
    const position = this.#log.missingFrom
    if (position < 0 || this.#isBroken || now < this.#askedAt + AGAIN_MS) return
    this.#askedAt = now
    this.#send({ kind: 'past', position, bytes: NO_BYTES })
  }

  /** A piece has arrived. */
  handlePiece({ position, bytes }: Extract<SyncMessage, { kind: 'past' }>): void {
    if (position !== this.#log.missingFrom || bytes.length === 0) return
    this.#askedAt = -Infinity
    this.#isBroken = !this.#log.fill(position, bytes)
  }

  /** Ticks were skipped. The line is for the newest ones first. */
  begin(now: Millis): void {
    this.#askedAt = now + DELAY_MS - AGAIN_MS
  }

  /** There is a new connection: requests on the old one are void. */
  restart(): void {
    this.#askedAt = -Infinity
  }
}
