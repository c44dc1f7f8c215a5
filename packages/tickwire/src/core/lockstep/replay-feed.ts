/**
 * Ticks of a match that was played: from the bytes of its log, at any speed.
 */

import { ConfigError } from '../base/assert.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import { TickLog } from '../order/tick-log.ts'
import type { FeedDiagnostics, FeedStatus, SubmitResult, TickFeed } from './tick-feed.ts'

/** A match that was played. */
export interface PlayedMatch {
  /** Ticks per second. */
  readonly tickRate: number
  /** The seed of the match. */
  readonly seed: number
  /** The bytes of all its ticks. */
  readonly bytes: Uint8Array
  /** How many ticks these are. */
  readonly ticks: Tick
  /** The newest key image at or before a tick. Default: there are none. */
  imageBefore?(tick: Tick): { readonly tick: Tick; readonly image: Uint8Array } | undefined
}

/** The ticks of a log, to be played again or stored. */
export function playedMatch(log: TickLog, tickRate: number, seed: number): PlayedMatch {
  return { tickRate, seed, bytes: log.bytes.slice(0, log.endOf(log.newest)), ticks: log.newest }
}

/** A feed of recorded ticks. */
export class ReplayFeed implements TickFeed {
  readonly log: TickLog = new TickLog()
  readonly seed: number
  readonly player: PeerId = 0
  /** How many times faster than played. 0: it stands still. Infinity: as fast as possible. Default: 1. */
  speed = 1
  /** The last tick that may be taken. */
  until: Tick = Infinity
  readonly #tickMs: number
  #taken: Tick = 0
  #nextAt: Millis = -Infinity

  constructor({ tickRate, seed, bytes, ticks }: PlayedMatch) {
    this.seed = seed
    this.#tickMs = 1000 / tickRate
    if (this.log.receive(bytes, 0, bytes.length, ticks) !== 'ok')
      throw new ConfigError('replay', 'the ticks are damaged', 'record the match again, or use another copy.')
  }

  submit(): SubmitResult {
    return 'closed'
  }

  poll(now: Millis): Tick {
    if (this.#taken >= this.log.newest || this.#taken >= this.until || this.speed === 0 || now < this.#nextAt) return 0
    const every = this.#tickMs / this.speed
    this.#nextAt = this.#nextAt === -Infinity ? now + every : Math.max(this.#nextAt + every, now - this.#tickMs)
    return ++this.#taken
  }

  skipTo(tick: Tick): void {
    this.#taken = tick
    this.#nextAt = -Infinity
  }

  nextAt(): Millis {
    return this.#taken >= this.log.newest || this.speed === 0 ? Infinity : this.#nextAt
  }

  report(): void {}

  /** Whether ticks follow. */
  status(): FeedStatus {
    return this.#taken >= this.log.newest ? 'ended' : 'ready'
  }

  /** Numbers for an overlay. */
  diagnostics(): FeedDiagnostics {
    return {
      newest: this.log.newest, taken: this.#taken, rttMs: 0, holdMs: 0, waitingOrders: 0, timing: undefined,
      corrupted: 0,
    }
  }
}
