/**
 * The order relay of one game: it owns the time, puts the orders of all players into ticks, and steps nothing.
 *
 *   handleOrders ──▶ firewall ──▶ filters ──▶ stamp ──▶ pending
 *   tick ──▶ close: tick events, then pending orders by (time, player, number) ──▶ the tick log ──▶ all clients
 *
 * A tick is a window of time: window k is [start, start + tick length) of the relay's clock, and it is closed one
 * deadline after its start. An order belongs to the window in which it was given. An order that has not arrived at the
 * close is not in the tick: the relay never waits. A late order goes into the next open tick, or is dropped (`late`).
 * The caller drives it.
 */

import { ORDER_LARGE_BYTES_MAX } from '../base/limits.ts'
import { KeyedPrng } from '../base/keyed-prng.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { OrderCursor, OrdersHead } from '../order/orders-frame.ts'
import { SEED_EVENT } from '../order/seed-share.ts'
import { TickBodyWriter } from '../order/tick-body.ts'
import { END_REASONS, TICK_EVENT, type EndReason } from '../order/tick-event.ts'
import { TickLog } from '../order/tick-log.ts'
import type { TimingFeedback } from '../order/ticks-frame.ts'
import { ClockLine } from './clock-line.ts'
import { Deadline } from './deadline.ts'
import { PendingOrders } from './pending-orders.ts'
import { Placement } from './placement.ts'
import { PulseTable } from './pulse-table.ts'
import type { RelayCounts } from './relay-counts.ts'
import { RelayEvents } from './relay-events.ts'
import type { MatchStanding } from './match-standing.ts'
import { DEFAULT_FILTERS, fillBudgets, refillBudgets, type RelayFilter, type RelayOrder } from './relay-filter.ts'
import { completeRelayOptions, type CompleteRelayOptions, type RelayOptions } from './relay-options.ts'
import { Requests } from './relay-requests.ts'
import { RelaySeed } from './relay-seed.ts'
import { FIELD, RelayState } from './relay-state.ts'
import { Watch, type RelayNotice } from './relay-watch.ts'

const MEASURE_TICKS = 30
/** A relay that stood still for longer shifts its windows instead of closing many ticks at once. */
const STALL_MS = 250
/** A deadline that changed by this much is announced. */
const ANNOUNCE_MS = 4
const MICROS = 1000
/** The order that is being read. Frames are read one after the other, so all relays of a process share it. */
const cursor = new OrderCursor()

/** The order relay of one game. */
export class OrderRelay {
  /** All ticks so far. */
  readonly log: TickLog = new TickLog()
  /** Its memory: one buffer. */
  readonly state: RelayState
  /** The settings, with all defaults. */
  readonly options: CompleteRelayOptions
  /** What happened to orders. */
  readonly counts: RelayCounts = { placed: 0, slipped: 0, late: 0, filtered: 0, full: 0, clamped: 0 }
  /** How long after the start of its window a tick is closed. */
  readonly deadline: Deadline
  /** When packets were sent. */
  readonly line: ClockLine
  /** Events of the next tick. */
  readonly events: RelayEvents = new RelayEvents()
  readonly #filters: readonly RelayFilter[]
  readonly #pending: PendingOrders
  readonly #watch: Watch
  readonly #placement: Placement
  readonly #requests: Requests
  /** Undefined: the seed is not agreed here. */
  readonly #seed: RelaySeed | undefined
  readonly #body = new TickBodyWriter(256)
  readonly #head = new OrdersHead()
  readonly #order: RelayOrder
  readonly #tokens: KeyedPrng
  readonly #append = (body: TickBodyWriter): void => {
    const { log } = this
    body.end()
    if (!log.append(body.bytes, body.length) || this.events.hasEnded) this.#hasEnded = true
    for (let each = 0; each < this.#filters.length; each++)
      this.#filters[each].onTick?.(log.newest, log.bytes, log.startOf(log.newest), log.endOf(log.newest))
  }
  readonly #peerOf = (slot: number): PeerId => this.state.get(slot, FIELD.peer)
  /** When the window of the next tick begins, and when that tick closes. */
  readonly #times = new Float64Array([Infinity, Infinity])
  #announcedMs: number
  #percent = 100
  #hasEnded = false

  constructor(options: RelayOptions) {
    this.options = completeRelayOptions(options)
    const { players } = this.options
    this.state = new RelayState(players)
    this.line = new ClockLine(this.state)
    this.deadline = new Deadline(this.state, this.options, this.line)
    this.#announcedMs = this.deadline.ms
    this.#filters = options.filters ?? DEFAULT_FILTERS
    this.#pending = new PendingOrders(this.state.pending)
    this.#watch = new Watch(this.state, this.options, new PulseTable(this.state, players))
    this.#placement = new Placement(this.state, this.options, this.counts, this.#pending, this.#watch)
    this.#requests = new Requests(this.state, this.options)
    this.#seed = options.seed && new RelaySeed(options.seed)
    this.#tokens = new KeyedPrng(this.options.secret)
    this.#order = { slot: 0, player: 0, type: 0, data: cursor.data, length: 0 }
  }

  /** Length of a tick in real time, in ms. */
  get tickMs(): number {
    return 100_000 / (this.options.tickRate * this.#percent)
  }

  /** Whether ticks are closed: it has started, and neither paused nor ended. */
  get isRunning(): boolean {
    return this.#times[0] !== Infinity && !this.#hasEnded
  }

  /** Whether a player has paused the match. */
  get isPaused(): boolean {
    return this.#requests.isPaused
  }

  /** Whether the last tick was closed. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** When `tick` must be called next. */
  nextAt(): Millis {
    if (this.#hasEnded) return Infinity
    return Math.min(this.#times[1], this.#requests.resumeAt, this.#seed?.nextAt() ?? Infinity)
  }

  /** Opens the first window. If players agree on the seed, that comes first. */
  start(now: Millis): void {
    if (this.#seed !== undefined && this.#seed.stage !== 'done') this.#seed.begin(now)
    else if (this.#times[0] === Infinity && !this.isPaused) this.#openAt(now)
  }

  /** Goes on with the ticks of a relay that is lost. Its next tick is closed at once; `start` opens the windows. */
  adopt(now: Millis, log: TickLog, standing: MatchStanding, isHere: (peer: PeerId) => boolean): void {
    this.log.receive(log.bytes, 0, log.length, log.newest)
    ;[this.#percent, this.#requests.isPaused, this.#hasEnded] = [standing.percent, standing.isPaused, standing.hasEnded]
    this.events.add('handover', 0, standing.handovers + 1)
    for (const [peer, isAway] of standing.players) {
      fillBudgets(this.state.adopt(now, peer, isAway), this)
      if (!isHere(peer)) this.away(peer)
    }
    if (!standing.hasEnded) this.#close(now)
  }

  /** No client is connected: windows stand still until `start`. */
  freeze(): void {
    this.#times.fill(Infinity)
  }

  /** Gives a player a slot. It joins with the next tick. -1: no slot is free. */
  join(now: Millis, peer: PeerId): number {
    const slot = this.slotOf(0)
    if (slot < 0) return -1
    this.state.open(now, slot, peer)
    fillBudgets(slot, this)
    this.#seed?.join(now, peer)
    this.events.add('join', peer, 0)
    return slot
  }

  /** The player leaves with the next tick. Its slot is free at once, and its orders that wait are dropped. */
  leave(peer: PeerId, reason: EndReason): void {
    const slot = this.slotOf(peer)
    if (slot < 0) return
    this.state.clear(slot)
    this.#watch.forget(slot)
    this.#pending.forget(slot)
    this.#seed?.forget(peer)
    this.events.add('leave', peer, END_REASONS.indexOf(reason))
  }

  /** The connection of a player is lost. Its slot is kept. */
  away(peer: PeerId): void {
    this.#setAway(this.slotOf(peer), 1)
  }

  /** The player is connected again. Its clock may be another. */
  back(now: Millis, peer: PeerId): void {
    const slot = this.slotOf(peer)
    if (slot < 0) return
    this.state.set(slot, FIELD.samples, 0)
    // Until its first frame it is not known whether this is the same process, which goes on counting its orders.
    const newest = this.state.get(slot, FIELD.newest)
    if (newest >= 0) this.state.set(slot, FIELD.newest, -1 - newest)
    this.state.set(slot, FIELD.executedAt, now)
    this.#setAway(slot, 0)
  }

  /** Changes the speed with the next tick: percent of the game's tick rate, from 10 to 800. */
  setSpeed(percent: number): void {
    const wanted = Math.min(Math.max(Math.round(percent), 10), 800)
    if (wanted === this.#percent) return
    this.#percent = wanted
    this.events.add('speed', 0, wanted)
  }

  /** Ends the match with the next tick. */
  end(reason: EndReason): void {
    this.events.add('end', 0, END_REASONS.indexOf(reason))
  }

  /** Half of the shortest round trip to the player of a slot, in ms, from its connection. */
  setLeastUp(slot: number, ms: number): void {
    this.state.set(slot, FIELD.leastUpMs, ms)
  }

  /** The slot of a player; -1 when there is none. 0 finds a free slot. */
  slotOf(peer: PeerId): number {
    return this.state.slotOf(peer)
  }

  /** The token of a tick for a slot: it cannot be known before the tick is received. @hot */
  token(slot: number, tick: Tick): number {
    return this.#tokens.at(tick, slot + 1).nextU32()
  }

  /** Feedback for a client about the arrival of its orders. Resets the counters. */
  takeFeedback(slot: number): TimingFeedback {
    return this.#watch.takeFeedback(slot)
  }

  /** What happened to players since the last call: frozen, lagging, different, left out. */
  notices(): readonly RelayNotice[] {
    return this.#watch.take()
  }

  /** The newest tick that the client of the last frame says it has stepped. */
  get lastExecuted(): Tick {
    return this.#head.executed
  }

  /** A frame of orders arrived. 'no-ack': orders before it are missing. 'broken': the bytes are invalid. @hot */
  handleOrders(now: Millis, slot: number, reader: BitReader): 'ok' | 'no-ack' | 'broken' {
    const { state } = this
    const head = this.#head
    head.read(reader)
    if (reader.failed || head.executed > this.log.newest) return 'broken'
    let newest = state.get(slot, FIELD.newest)
    if (newest < 0) {
      newest = head.isContinued ? -1 - newest : 0
      state.set(slot, FIELD.newest, newest)
      if (!head.isContinued) state.set(slot, FIELD.executed, 0)
    }
    if (head.count > 0 && head.first > newest + 1) return 'no-ack'
    this.line.sample(now, slot, head.stamp)
    this.#watch.noteDelay(now, slot, this.line.delayMs)
    const isBack = this.#watch.handleHead(now, slot, head, this.token(slot, head.executed), this.log.newest)
    if (isBack) this.#setAway(slot, 0)
    cursor.begin()
    for (let each = 0; each < head.count; each++) {
      cursor.read(reader)
      if (reader.failed) return 'broken'
      if (head.first + each > state.get(slot, FIELD.newest)) {
        state.set(slot, FIELD.newest, head.first + each)
        this.#receive(now, slot)
      }
    }
    return reader.finish() ? 'ok' : 'broken'
  }

  /** Closes the due ticks. Returns how many. */
  tick(now: Millis): number {
    const resumed = this.#requests.takeResume(now)
    if (resumed !== undefined && !this.#hasEnded) {
      this.events.add(resumed.name, resumed.player, resumed.value)
      this.#openAt(now)
    }
    const times = this.#times
    if (now - times[1] > STALL_MS) {
      times[0] += now - times[1]
      times[1] = now
    }
    let closed = this.#seed === undefined ? 0 : this.#tickSeed(now, this.#seed)
    while (now >= times[1] && !this.#hasEnded) {
      this.#close(now)
      closed++
    }
    return closed
  }

  /** Closes the ticks with commits and with reveals when they are complete. */
  #tickSeed(now: Millis, seed: RelaySeed): number {
    for (const peer of seed.late(now)) this.#expel(peer)
    const closed = seed.close(now, this.#body, this.events, this.#append)
    if (closed > 0 && seed.stage === 'done' && !this.isPaused) this.#openAt(now)
    return closed
  }

  /** The player leaves at once: it does not take part in agreeing on the seed. */
  #expel(peer: PeerId): void {
    const slot = this.slotOf(peer)
    if (slot < 0) return
    this.#watch.notice('no-share', slot, this.log.newest)
    this.leave(peer, 'kicked')
  }

  #openAt(now: Millis): void {
    this.#watch.restart(now)
    this.#times[0] = now
    this.#times[1] = now + this.deadline.ms
  }

  #setAway(slot: number, away: number): void {
    const { state } = this
    if (slot < 0 || state.get(slot, FIELD.away) === away) return
    const wasAway = state.get(slot, FIELD.away) !== 0
    state.set(slot, FIELD.away, away)
    if (wasAway !== (away !== 0))
      this.events.add(away === 0 ? 'back' : 'away', state.get(slot, FIELD.peer), 0)
  }

  /** A large order from a reliable lane: its type and its values. It belongs to the window of its arrival. */
  handleLarge(now: Millis, slot: number, bytes: Uint8Array, length: number): void {
    if (length < 1 || length > ORDER_LARGE_BYTES_MAX + 1 || bytes[0] >= TICK_EVENT.join) return
    if (this.#isPassed(slot, bytes[0], bytes.subarray(1, length), length - 1)) this.#place(now, now)
  }

  /** The order under the cursor is new. @hot */
  #receive(now: Millis, slot: number): void {
    const { ageUs, type, data, length } = cursor
    if (!this.#isPassed(slot, type, data, length)) return
    if (type >= TICK_EVENT.join) return this.#request(now, slot)
    const time = this.line.clickAt(now, slot, ageUs / MICROS, this.options.claimMs)
    if (this.line.isSuspect) this.counts.clamped++
    this.#place(now, time)
  }

  /** Whether an order may go on: its player is there, and no filter drops it. It is in `#order` then. @hot */
  #isPassed(slot: number, type: number, data: Uint8Array, length: number): boolean {
    const order = this.#order
    order.slot = slot
    order.player = this.state.get(slot, FIELD.peer)
    order.type = type
    order.data = data
    order.length = length
    if (order.player === 0 || this.#hasEnded) return false
    for (let each = 0; each < this.#filters.length; each++) {
      if (this.#filters[each].onOrder?.(order, this) !== 'drop') continue
      this.counts.filtered++
      this.state.add(slot, FIELD.dropped, 1)
      return false
    }
    return true
  }

  /** Puts the order into its tick. @hot */
  #place(now: Millis, time: Millis): void {
    if (!this.isRunning) return this.#placement.drop(this.#order.slot)
    this.#placement.place(now, time, this.#order, this.log.newest + 1, this.#times, this.tickMs)
  }

  /** A player asks for a pause, a resume or a speed, or adds to the seed. */
  #request(now: Millis, slot: number): void {
    const { type, data, length } = cursor
    if (type === SEED_EVENT.commit || type === SEED_EVENT.reveal) {
      const peer = this.#peerOf(slot)
      if (this.#seed?.handle(peer, type, data, length) === false) this.#expel(peer)
      return
    }
    const event = this.#requests.handle(now, slot, type, data, length)
    if (event === undefined) return
    if (event.name === 'speed') this.setSpeed(event.value)
    else if (event.name === 'pause') {
      this.events.add(event.name, event.player, event.value)
      this.#requests.isPaused = true
      // The tick with the pause is closed at once, and no other until the resume.
      if (this.isRunning) this.#close(now)
      this.freeze()
    }
  }

  /** @hot */
  #close(now: Millis): void {
    const tick = this.log.newest + 1
    const body = this.#body
    const times = this.#times
    body.begin()
    this.events.write(body)
    this.#pending.take(tick, body, this.#peerOf)
    this.#append(body)
    const { tickMs } = this
    times[0] += tickMs
    this.deadline.slew(tickMs)
    times[1] = Math.max(times[0] + this.deadline.ms, times[1])
    refillBudgets(this)
    if (tick % MEASURE_TICKS === 0) this.#measure(now, tickMs)
  }

  #measure(now: Millis, tickMs: number): void {
    this.deadline.measure(now, tickMs)
    this.#watch.look(now, (slot) => this.#setAway(slot, 2))
    if (Math.abs(this.deadline.ms - this.#announcedMs) < ANNOUNCE_MS) return
    this.#announcedMs = this.deadline.ms
    this.events.add('deadline', 0, Math.round(this.deadline.ms * MICROS))
  }
}
