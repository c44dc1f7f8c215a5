/**
 * Ticks of a match from a relay. It has a source and a sink for a connection, and does not know the connection itself.
 */

import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { ClientMetrics } from '../order/orders-frame.ts'
import { TickBodyReader } from '../order/tick-body.ts'
import { readTickEvent } from '../order/tick-event.ts'
import { TickLog } from '../order/tick-log.ts'
import { TicksSink } from '../order/ticks-frame.ts'
import { OrdersSource } from './orders-source.ts'
import { Playout } from './playout.ts'
import type { FeedDiagnostics, FeedStatus, SubmitResult, TickFeed } from './tick-feed.ts'

/** How a feed of a relay is made. */
export interface RelayFeedOptions {
  /** Ticks per second. */
  readonly tickRate: number
  /** The seed of the match, if it is known. Default: 0. */
  readonly seed?: number
  /** The own player, if it is known. 0: an observer. Default: 0. */
  readonly player?: PeerId
}

/** A feed of ticks from a relay. */
export class RelayFeed implements TickFeed {
  readonly log: TickLog = new TickLog()
  /** The seed of the match and the own player. 0 until the relay has sent them. */
  seed: number
  player: PeerId
  /** Sends orders: frame kind 11. */
  readonly orders: OrdersSource = new OrdersSource()
  /** Receives ticks: frame kind 12. */
  readonly ticks: TicksSink
  /** The smoothed round trip of the connection, in ms. */
  rttMs: () => number = () => 0
  /** Draws per second and duration of a step in microseconds, as the page measures them. */
  drawsPerSecond = 0
  stepUs = 0
  readonly #playout: Playout
  readonly #reader = new TickBodyReader()
  #taken: Tick = 0
  #percent = 100
  #isOpen = true
  #hasEnded = false

  constructor({ tickRate, seed = 0, player = 0 }: RelayFeedOptions) {
    this.seed = seed
    this.player = player
    this.#playout = new Playout(1000 / tickRate)
    this.ticks = new TicksSink(this.log)
    this.ticks.onTick = (now, tick) => this.#handleTick(now, tick)
    this.ticks.onToken = (tick, token) => this.orders.noteToken(tick, token)
    this.orders.metrics = () => this.#metrics()
  }

  /** The connection has ended. Orders are refused, and the ticks that are there are still stepped. */
  close(): void {
    this.#isOpen = false
  }

  /** Another connection to the same seat: the match goes on where it was. */
  reopen(): void {
    this.#isOpen = true
    this.orders.restart()
    this.log.dropPart()
  }

  submit(now: Millis, type: number, data: Uint8Array): SubmitResult {
    if (!this.#isOpen || this.#hasEnded || this.player === 0) return 'closed'
    return this.orders.push(now, type, data) ? 'sent' : 'full'
  }

  poll(now: Millis): Tick {
    const next = this.#taken + 1
    if (next > this.log.newest || now < this.#playout.dueAt(next)) return 0
    this.#taken = next
    return next
  }

  nextAt(): Millis {
    return this.#taken < this.log.newest ? this.#playout.dueAt(this.#taken + 1) : Infinity
  }

  report(tick: Tick, pulse: number): void {
    this.orders.report(tick, pulse)
  }

  /** Whether ticks follow, and whether the next is there. */
  status(): FeedStatus {
    if (this.#hasEnded) return 'ended'
    if (!this.#isOpen) return 'connecting'
    return this.#taken < this.log.newest ? 'ready' : 'waiting'
  }

  /** Numbers for an overlay. */
  diagnostics(): FeedDiagnostics {
    return {
      newest: this.log.newest, taken: this.#taken, rttMs: this.rttMs(), holdMs: this.#playout.holdMs,
      waitingOrders: this.orders.waitingCount, timing: this.ticks.feedback, corrupted: this.ticks.corrupted,
    }
  }

  #metrics(): ClientMetrics {
    const { newest } = this.log
    return {
      latencyUs: this.rttMs() * 1000, drawsPerSecond: this.drawsPerSecond, cushionTicks: newest - this.#taken,
      stepUs: this.stepUs,
    }
  }

  #handleTick(now: Millis, tick: Tick): void {
    const { log } = this
    const reader = this.#reader
    reader.open(log.bytes, log.startOf(tick), log.endOf(tick))
    // Events come first in a tick, so this ends at the first order.
    while (reader.next() && reader.player === 0) {
      const event = readTickEvent(reader.type, log.bytes, reader.dataAt, reader.dataLength)
      if (event?.name === 'speed') this.#percent = event.value
      if (event?.name === 'end') this.#hasEnded = true
      if (event?.name === 'speed' || event?.name === 'pause' || event?.name === 'resume')
        this.#playout.restart(tick, this.#percent)
    }
    this.#playout.note(now, tick, tick - this.#taken)
  }
}
