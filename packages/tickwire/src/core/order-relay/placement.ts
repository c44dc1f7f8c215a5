/**
 * Puts an order into its tick: the window of its click, or the next open tick if that window is closed.
 *
 * Invariant: orders of one player keep their order.
 */

import { SLIP_TICKS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { PendingOrders } from './pending-orders.ts'
import type { RelayCounts } from './relay-counts.ts'
import type { RelayOrder } from './relay-filter.ts'
import type { CompleteRelayOptions } from './relay-options.ts'
import { FIELD, type RelayState } from './relay-state.ts'
import type { Watch } from './relay-watch.ts'

export class Placement {
  readonly #state: RelayState
  readonly #options: CompleteRelayOptions
  readonly #counts: RelayCounts
  readonly #pending: PendingOrders
  readonly #watch: Watch

  constructor(
    state: RelayState, options: CompleteRelayOptions, counts: RelayCounts, pending: PendingOrders, watch: Watch,
  ) {
    this.#state = state
    this.#options = options
    this.#counts = counts
    this.#pending = pending
    this.#watch = watch
  }

  /**
   * Places an order that was given at `time`. `times`: the start of the window of tick `next`, and when it closes.
   * @hot
   */
  place(now: Millis, time: Millis, order: RelayOrder, next: number, times: Float64Array, tickMs: number): void {
    const state = this.#state
    const options = this.#options
    const { slot } = order
    const behind = (time - times[0]) / tickMs
    this.#watch.noteArrival(slot, times[1] + Math.floor(behind) * tickMs - now)
    let tick = next + Math.floor(behind)
    let timeUs = Math.floor((behind - Math.floor(behind)) * (1_000_000 / options.tickRate))
    if (behind < 0) {
      if (options.late === 'drop' || behind < -SLIP_TICKS_MAX) return this.drop(slot)
      this.#counts.slipped++
      tick = next
      timeUs = 0
    }
    // Orders of one player keep their order.
    const lastTick = state.get(slot, FIELD.lastTick)
    if (tick < lastTick || (tick === lastTick && timeUs < state.get(slot, FIELD.lastUs))) {
      tick = lastTick
      timeUs = state.get(slot, FIELD.lastUs)
    }
    if (!this.#pending.add(tick, timeUs, slot, order.type, order.data, order.length)) {
      this.#counts.full++
      return
    }
    state.set(slot, FIELD.lastTick, tick)
    state.set(slot, FIELD.lastUs, timeUs)
    this.#counts.placed++
  }

  /** The order came too late for any tick. */
  drop(slot: number): void {
    this.#counts.late++
    this.#state.add(slot, FIELD.lost, 1)
  }
}
