/**
 * Ticks of a match in this process: for a single player, for tests, and for players that share a screen.
 *
 * An order is in the very next tick. The ticks are the bytes that a relay would have made, so a local match is recorded
 * and replayed like any other.
 */

import { ConfigError } from '../base/assert.ts'
import { ORDER_LARGE_BYTES_MAX } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import { TickBodyWriter } from '../order/tick-body.ts'
import { END_REASONS, putTickEvent, readTickEvent, TICK_EVENT, type TickEvent } from '../order/tick-event.ts'
import { TickLog } from '../order/tick-log.ts'
import type { FeedDiagnostics, FeedStatus, SubmitResult, TickFeed } from './tick-feed.ts'

/** How a local match is made. */
export interface LocalFeedOptions {
  /** Ticks per second. */
  readonly tickRate: number
  /** The seed of all random numbers: an integer above 0. Default: 1. */
  readonly seed?: number
  /** How many players there are, with the numbers from 1 on; or their numbers, in the order of joining. Default: 1. */
  readonly players?: number | readonly PeerId[]
}

interface LocalOrder {
  readonly player: PeerId
  readonly timeUs: number
  readonly type: number
  readonly data: Uint8Array
}

/** A feed of ticks that are made here. */
export class LocalFeed implements TickFeed {
  readonly log: TickLog = new TickLog()
  readonly seed: number
  readonly player: PeerId = 1
  readonly orderBytesMax: number = ORDER_LARGE_BYTES_MAX
  readonly #tickRate: number
  readonly #body = new TickBodyWriter()
  readonly #events: TickEvent[] = []
  readonly #eventBytes = new Uint8Array(16)
  #orders: LocalOrder[] = []
  #nextAt: Millis = -Infinity
  #percent = 100
  #isPaused = false
  #hasEnded = false
  #taken: Tick = 0

  constructor({ tickRate, seed = 1, players = 1 }: LocalFeedOptions) {
    this.#tickRate = tickRate
    if (!(Number.isSafeInteger(seed) && seed > 0))
      throw new ConfigError('seed', `invalid seed (expected an integer above 0, got ${seed})`, 'leave it out.')
    this.seed = seed
    const joining = typeof players === 'number' ? Array.from({ length: players }, (_, at) => at + 1) : players
    for (const player of joining) this.#events.push({ name: 'join', player, value: 0 })
  }

  /** `player`: one of several players in this process. */
  submit(now: Millis, type: number, data: Uint8Array, player: PeerId = this.player): SubmitResult {
    if (this.#hasEnded) return 'closed'
    if (type >= TICK_EVENT.join) this.#request(now, type, data, player)
    else {
      const windowUs = 1_000_000 / this.#tickRate
      const leftMs = Math.max(0, Math.min(this.#nextAt - now, this.#tickMs))
      const timeUs = Number.isFinite(leftMs) ? Math.floor(windowUs * (1 - leftMs / this.#tickMs)) : 0
      this.#orders.push({ player, timeUs: Math.max(0, Math.min(timeUs, windowUs - 1)) | 0, type, data })
    }
    return 'sent'
  }

  /** Ends the match with the next tick. */
  end(): void {
    this.#events.push({ name: 'end', player: 0, value: END_REASONS.indexOf('ended') })
  }

  poll(now: Millis): Tick {
    if (this.#taken < this.log.newest) return ++this.#taken
    if (this.#hasEnded || this.#isPaused) return 0
    if (this.#nextAt === -Infinity) this.#nextAt = now
    if (now < this.#nextAt) return 0
    // A process that stood still does not play all missed ticks at once.
    this.#nextAt = Math.max(this.#nextAt + this.#tickMs, now - this.#tickMs)
    this.#close()
    return ++this.#taken
  }

  nextAt(): Millis {
    return this.#hasEnded || this.#isPaused ? Infinity : this.#nextAt
  }

  report(): void {}

  /** Whether ticks follow. */
  status(): FeedStatus {
    return this.#hasEnded ? 'ended' : 'ready'
  }

  /** Numbers for an overlay. */
  diagnostics(): FeedDiagnostics {
    return {
      newest: this.log.newest, taken: this.#taken, rttMs: 0, holdMs: 0, waitingOrders: this.#orders.length,
      timing: undefined, corrupted: 0,
    }
  }

  get #tickMs(): number {
    return 100_000 / (this.#tickRate * this.#percent)
  }

  #request(now: Millis, type: number, data: Uint8Array, player: PeerId): void {
    const event = readTickEvent(type, data, 0, data.length)
    if (event?.name === 'speed') {
      this.#percent = Math.min(Math.max(event.value, 10), 800)
      this.#events.push({ name: 'speed', player: 0, value: this.#percent })
    } else if (event?.name === 'pause' && !this.#isPaused) {
      this.#events.push({ name: 'pause', player, value: 0 })
      this.#close()
      this.#isPaused = true
    } else if (event?.name === 'resume' && this.#isPaused) {
      this.#isPaused = false
      this.#nextAt = now
      this.#events.push({ name: 'resume', player, value: 0 })
    }
  }

  #close(): void {
    const body = this.#body
    body.begin()
    for (const event of this.#events) {
      const length = putTickEvent(this.#eventBytes, 0, event)
      body.add(0, 0, TICK_EVENT[event.name], this.#eventBytes, 0, length)
      if (event.name === 'end') this.#hasEnded = true
    }
    this.#events.length = 0
    // Sorting keeps equal ones in their order.
    const orders = this.#orders.sort((a, b) => a.timeUs - b.timeUs || a.player - b.player)
    for (const { player, timeUs, type, data } of orders) body.add(player, timeUs, type, data, 0, data.length)
    this.#orders = []
    body.end()
    if (!this.log.append(body.bytes, body.length)) this.#hasEnded = true
  }
}
