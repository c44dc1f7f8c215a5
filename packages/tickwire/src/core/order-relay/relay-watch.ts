/**
 * Watches players: whether they step ticks, how late their orders are, and whether their states are equal.
 *
 * A client returns the token of the newest tick that it has stepped. Packets without progress are a frozen game, not a
 * slow line. Strikes decay by one in ten seconds.
 */

import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { OrdersHead } from '../order/orders-frame.ts'
import type { TimingFeedback } from '../order/ticks-frame.ts'
import { STAMP_UNITS } from '../order/orders-frame.ts'
import type { PulseTable } from './pulse-table.ts'
import type { CompleteRelayOptions } from './relay-options.ts'
import { FIELD, type RelayState } from './relay-state.ts'

/** What a relay noticed about a player. */
export interface RelayNotice {
  /**
   * Frozen: packets arrive, ticks are not stepped. Lagging: many strikes. Differs: its state is not the others'.
   * No-share: it did not take part in agreeing on the seed, and has left the match.
   */
  readonly kind: 'frozen' | 'lagging' | 'differs' | 'bad-token' | 'no-share'
  /** The player. */
  readonly peer: PeerId
  /** The tick that it had stepped, or that differs. */
  readonly tick: Tick
}

const FROZEN_MS = 1000
const FROZEN_STRIKES = 3
const STRIKE_DECAY_MS = 10_000
/** An order that is this much later than 99 of 100 shows a lag switch, not a slow line. */
const SWITCH_MS = 100
const NOTICES_MAX = 64
const MICROS = 1000
const SAMPLES_MIN = 50

export class Watch {
  readonly #state: RelayState
  readonly #options: CompleteRelayOptions
  readonly #pulses: PulseTable
  #notices: RelayNotice[] = []
  readonly #activeCount = (): number => {
    let count = 0
    for (let slot = 0; slot < this.#options.players; slot++)
      if (this.#state.get(slot, FIELD.peer) !== 0 && this.#state.get(slot, FIELD.away) === 0) count++
    return count
  }

  constructor(state: RelayState, options: CompleteRelayOptions, pulses: PulseTable) {
    this.#state = state
    this.#options = options
    this.#pulses = pulses
  }

  take(): readonly RelayNotice[] {
    if (this.#notices.length === 0) return NO_NOTICES
    const notices = this.#notices
    this.#notices = []
    return notices
  }

  /** Windows stood still until now: no player could step a tick. */
  restart(now: Millis): void {
    for (let slot = 0; slot < this.#options.players; slot++) this.#state.set(slot, FIELD.executedAt, now)
  }

  forget(slot: number): void {
    this.#pulses.forget(slot)
  }

  /** The head of a frame of a slot. Returns true when a player that stood still goes on. @hot */
  handleHead(now: Millis, slot: number, head: OrdersHead, token: number, newest: Tick): boolean {
    const state = this.#state
    state.set(slot, FIELD.packetAt, now)
    if (head.hasMetrics) {
      state.set(slot, FIELD.drawMs, head.drawsPerSecond === 0 ? 0 : Math.min(MICROS / head.drawsPerSecond, SWITCH_MS))
      state.set(slot, FIELD.stepMs, Math.min(head.stepUs / MICROS, SWITCH_MS))
    }
    const executed = state.get(slot, FIELD.executed)
    if (head.executed <= executed) return false
    if (head.token !== token) {
      this.#strike(now, slot, 1)
      this.notice('bad-token', slot, head.executed)
      return false
    }
    state.set(slot, FIELD.executed, head.executed)
    state.set(slot, FIELD.executedAt, now)
    for (let each = 0; each < head.pulseCount; each++) {
      const tick = head.executed - head.pulseCount + 1 + each
      if (tick > executed) this.#compare(tick, slot, head.pulses[each])
    }
    return state.get(slot, FIELD.away) === 2 && newest - head.executed <= this.#options.tickRate
  }

  /** An order arrived `marginMs` before the deadline of its window. Negative: late. @hot */
  noteArrival(slot: number, marginMs: number): void {
    const state = this.#state
    state.add(slot, FIELD.marginMs, marginMs)
    state.add(slot, FIELD.margins, 1)
    if (marginMs < 0) state.add(slot, FIELD.late, 1)
  }

  /** A packet took `delayMs` longer than the shortest way. */
  noteDelay(now: Millis, slot: number, delayMs: number): void {
    const usual = this.#state.get(slot, FIELD.spread99) / STAMP_UNITS
    if (this.#state.get(slot, FIELD.samples) > SAMPLES_MIN && delayMs > usual + SWITCH_MS) this.#strike(now, slot, 1)
  }

  takeFeedback(slot: number): TimingFeedback {
    const state = this.#state
    const margins = state.get(slot, FIELD.margins)
    const feedback = {
      arrivalUs: margins === 0 ? 0 : Math.round((state.get(slot, FIELD.marginMs) / margins) * MICROS),
      lateCount: Math.min(state.get(slot, FIELD.late), 0xffff),
      jitterUs: Math.round((state.get(slot, FIELD.jitter) / STAMP_UNITS) * MICROS),
    }
    for (const field of [FIELD.marginMs, FIELD.margins, FIELD.late]) state.set(slot, field, 0)
    return feedback
  }

  /** Looks at all players. `onStalled`: the player has stepped nothing for too long. */
  look(now: Millis, onStalled: (slot: number) => void): void {
    const state = this.#state
    for (let slot = 0; slot < this.#options.players; slot++) {
      if (state.get(slot, FIELD.peer) === 0 || state.get(slot, FIELD.away) !== 0) continue
      const stillMs = now - state.get(slot, FIELD.executedAt)
      const isSending = now - state.get(slot, FIELD.packetAt) < FROZEN_MS
      if (stillMs > FROZEN_MS && isSending && now - state.get(slot, FIELD.frozenAt) > FROZEN_MS) {
        state.set(slot, FIELD.frozenAt, now)
        this.#strike(now, slot, FROZEN_STRIKES)
        this.notice('frozen', slot, state.get(slot, FIELD.executed))
      }
      if (stillMs > this.#options.stallMs) onStalled(slot)
    }
  }

  #compare(tick: Tick, slot: number, pulse: number): void {
    const different = this.#pulses.note(tick, slot, pulse, this.#activeCount)
    for (let each = 0; different >>> each > 0; each++) if ((different >>> each) & 1) this.notice('differs', each, tick)
  }

  #strike(now: Millis, slot: number, count: number): void {
    const state = this.#state
    const decay = (now - state.get(slot, FIELD.strikesAt)) / STRIKE_DECAY_MS
    const decayed = Math.max(0, state.get(slot, FIELD.strikes) - decay)
    state.set(slot, FIELD.strikes, decayed + count)
    state.set(slot, FIELD.strikesAt, now)
    if (decayed < this.#options.strikesMax && decayed + count >= this.#options.strikesMax)
      this.notice('lagging', slot, state.get(slot, FIELD.executed))
  }

  /** Something was noticed about the player of a slot. */
  notice(kind: RelayNotice['kind'], slot: number, tick: Tick): void {
    if (this.#notices.length < NOTICES_MAX) this.#notices.push({ kind, peer: this.#state.get(slot, FIELD.peer), tick })
  }
}

const NO_NOTICES: readonly RelayNotice[] = []
