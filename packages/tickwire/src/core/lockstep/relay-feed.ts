/**
 * Ticks of a match from a relay. It has a source and a sink for a connection, and does not know the connection itself.
 */

import { ORDER_BYTES_MAX, ORDER_LARGE_BYTES_MAX, ORDER_TYPES_MAX } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { ClientMetrics } from '../order/orders-frame.ts'
import {
  isSameBytes, readSeedEvent, SEED_EVENT, SeedWitness, type SeedShare, type Sha256,
} from '../order/seed-share.ts'
import { TickBodyReader } from '../order/tick-body.ts'
import { eventsOf, readTickEvent } from '../order/tick-event.ts'
import { TickLog } from '../order/tick-log.ts'
import { TicksSink } from '../order/ticks-frame.ts'
import { OrdersSource } from './orders-source.ts'
import { Playout } from './playout.ts'
import type { FeedDiagnostics, FeedStatus, SubmitResult, TickFeed } from './tick-feed.ts'

/** Where commits and reveals are, in a match whose seed is agreed. */
const COMMIT_TICK = 1
const REVEAL_TICK = 2

/** How a feed of a relay is made. */
export interface RelayFeedOptions {
  /** Ticks per second. */
  readonly tickRate: number
  /** The seed of the match, if it is known. Default: 0, the players agree on it. */
  readonly seed?: number
  /** The local player, if it is known. 0: an observer. Default: 0. */
  readonly player?: PeerId
}

/** A feed of ticks from a relay. */
export class RelayFeed implements TickFeed {
  readonly log: TickLog = new TickLog()
  /** The seed of the match, 0: the players agree on it. The local player, 0 until the relay has sent it. */
  seed: number
  player: PeerId
  /** Sends orders: frame kind 11. */
  readonly orders: OrdersSource = new OrdersSource()
  /** Receives ticks: frame kind 12. */
  readonly ticks: TicksSink
  readonly orderBytesMax: number = ORDER_LARGE_BYTES_MAX
  /** Sends an order that does not fit a frame, reliably. The client sets it. */
  sendLarge: (type: number, data: Uint8Array) => SubmitResult = () => 'closed'
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
  #share: SeedShare | undefined
  #witness: SeedWitness | undefined
  /** The relay did not keep the rules of agreeing on a seed: no tick is stepped. */
  #isVoid = false

  constructor({ tickRate, seed = 0, player = 0 }: RelayFeedOptions) {
    this.seed = seed
    this.player = player
    this.#playout = new Playout(1000 / tickRate)
    this.ticks = new TicksSink(this.log)
    this.ticks.onTick = (now, tick) => !this.#isVoid && this.#handleTick(now, tick)
    this.ticks.onToken = (tick, token) => this.orders.noteToken(tick, token)
    this.orders.metrics = () => this.#metrics()
  }

  /** Checks the shares of the seed, and adds an own one. A new process in an old seat has none. */
  agree(now: Millis, sha256: Sha256, share?: SeedShare): void {
    this.#witness = new SeedWitness(sha256)
    if (this.player === 0 || share === undefined) return
    this.#share = share
    this.submit(now, SEED_EVENT.commit, share.commit)
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

  /** Another relay is asked to go on with the match: no orders are sent, and no ticks are taken, until it answers. */
  hold(): void {
    this.orders.isMuted = true
    this.ticks.isHeld = true
  }

  /** The other relay has answered, or is lost. */
  release(): void {
    this.orders.isMuted = false
    this.ticks.isHeld = false
  }

  /**
   * The match goes on at another relay after a tick. Own ticks after `keep` are not in it. Orders are refused until
   * `giveAgain`.
   */
  moveOn(tick: Tick, keep: Tick): void {
    const { log } = this
    log.retreat(keep)
    this.#hasEnded = false
    this.#percent = 100
    for (let each = 1; each <= keep; each++) {
      for (const { name, value } of log.has(each) ? eventsOf(log, each) : []) {
        if (name === 'speed') this.#percent = value
        if (name === 'end') this.#hasEnded = true
      }
    }
    this.#playout.restart(tick, this.#percent)
    this.orders.beginAnew(tick)
    this.release()
  }

  /** The relay has the ticks, and the client has stepped them: orders that are in none are given again. */
  giveAgain(now: Millis, orders: readonly { readonly type: number; readonly data: Uint8Array }[]): void {
    this.#isOpen = true
    for (const { type, data } of orders) if (type < ORDER_TYPES_MAX) this.submit(now, type, data)
  }

  submit(now: Millis, type: number, data: Uint8Array): SubmitResult {
    if (!this.#isOpen || this.#hasEnded || this.player === 0) return 'closed'
    if (data.length > ORDER_BYTES_MAX) return this.sendLarge(type, data)
    return this.orders.push(now, type, data) ? 'sent' : 'full'
  }

  poll(now: Millis): Tick {
    const next = this.#taken + 1
    if (!this.log.has(next) || this.#isVoid || now < this.#playout.dueAt(next)) return 0
    this.#taken = next
    return next
  }

  skipTo(tick: Tick, speedPercent: number): void {
    this.#taken = tick
    this.#percent = speedPercent
    this.#playout.restart(tick, speedPercent)
    this.orders.skipTo(tick)
  }

  /**
   * Goes on after a tick that ends at a position of the log. The ticks up to it come later; only the first two are
   * needed at once (`first`), if the players agreed on the seed in them. False: the relay does not keep the rules.
   */
  skipLog(now: Millis, first: Uint8Array, tick: Tick, position: number): boolean {
    if (first.length > 0 && !this.ticks.takeFirst(now, first, REVEAL_TICK)) return false
    return this.log.skip(tick, position)
  }

  nextAt(): Millis {
    return this.log.has(this.#taken + 1) && !this.#isVoid ? this.#playout.dueAt(this.#taken + 1) : Infinity
  }

  report(tick: Tick, pulse: number): void {
    this.orders.report(tick, pulse)
  }

  /** Whether ticks follow, and whether the next is there. */
  status(): FeedStatus {
    if (this.#hasEnded || this.#isVoid) return 'ended'
    if (!this.#isOpen) return 'connecting'
    return this.log.has(this.#taken + 1) ? 'ready' : 'waiting'
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

  /** A tick has arrived. False when the relay cheats with the seed. */
  #handleTick(now: Millis, tick: Tick): boolean {
    const { log } = this
    const reader = this.#reader
    reader.open(log.bytes, log.startOf(tick), log.endOf(tick))
    let hasOwnJoin = false
    // Events come first in a tick, so this ends at the first order.
    while (reader.next() && reader.player === 0) {
      if (this.#witness !== undefined && !this.#noteSeed(now, tick, this.#witness)) return false
      const event = readTickEvent(reader.type, log.bytes, reader.dataAt, reader.dataLength)
      if (event?.name === 'speed') this.#percent = event.value
      if (event?.name === 'end') this.#hasEnded = true
      hasOwnJoin ||= event?.name === 'join' && event.player === this.player
      if (event?.name === 'speed' || event?.name === 'pause' || event?.name === 'resume')
        this.#playout.restart(tick, this.#percent)
    }
    // Before it, ticks came when they were complete, not at an even pace.
    if (tick === REVEAL_TICK + 1 && this.#witness?.hasCommits === true) this.#playout.restart(tick, this.#percent)
    this.#playout.note(now, tick, tick - this.#taken)
    // Players that join with the reveals have a share: a relay that left out the local share would choose the seed.
    if (tick === REVEAL_TICK && hasOwnJoin && this.#witness?.has(this.player) === false) this.#isVoid = true
    return !this.#isVoid
  }

  /** The reader is at an event: if it is about the seed, it is checked, and answered. */
  #noteSeed(now: Millis, tick: Tick, witness: SeedWitness): boolean {
    const { type, dataAt, dataLength } = this.#reader
    if (type !== SEED_EVENT.commit && type !== SEED_EVENT.reveal) return true
    const event = readSeedEvent(type, this.log.bytes, dataAt, dataLength)
    const isInPlace = tick === (type === SEED_EVENT.commit ? COMMIT_TICK : REVEAL_TICK)
    this.#isVoid = event === undefined || !isInPlace || !witness.note(event)
    const share = this.#share
    if (share === undefined || type !== SEED_EVENT.commit || event?.player !== this.player) return !this.#isVoid
    if (isSameBytes(event.bytes, share.commit)) this.submit(now, SEED_EVENT.reveal, share.reveal)
    else this.#isVoid = true
    return !this.#isVoid
  }
}
