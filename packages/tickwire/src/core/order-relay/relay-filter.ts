/**
 * Filters of a relay: they see every order before it is placed, and every tick after it is closed.
 *
 * A relay has a list of them. Filters are added, removed and reordered by configuration; the rest of the relay does not
 * change.
 */

import type { Tick } from '../base/time.ts'
import type { CompleteRelayOptions } from './relay-options.ts'
import { FIELD, type RelayState } from './relay-state.ts'

/** The order that a filter decides about. The object is reused. */
export interface RelayOrder {
  /** The slot of the player. */
  slot: number
  /** The id of the player. */
  player: number
  /** The type of the order. */
  type: number
  /** Its values are the first bytes of this array. */
  data: Uint8Array
  /** How many bytes the values have. */
  length: number
}

/** What a filter may use. */
export interface FilterContext {
  /** The memory of the relay. */
  readonly state: RelayState
  /** The settings of the relay. */
  readonly options: CompleteRelayOptions
}

/** One filter. */
export interface RelayFilter {
  /** Its name in counters. */
  readonly name: string
  /** Whether the order goes on. A dropped order is counted under the name of the filter. */
  onOrder?(order: RelayOrder, context: FilterContext): 'pass' | 'drop'
  /** A tick was closed. Its bytes are valid during the call. */
  onTick?(tick: Tick, bytes: Uint8Array, from: number, end: number): void
}

/** Layer 1: orders per tick, with a burst after a silence. */
export const orderBudget: RelayFilter = {
  name: 'orders',
  onOrder({ slot }, { state }) {
    if (state.get(slot, FIELD.orders) < 1) return 'drop'
    state.add(slot, FIELD.orders, -1)
    return 'pass'
  },
}

/** Layer 2: bytes per tick, with a burst after a silence. */
export const byteBudget: RelayFilter = {
  name: 'bytes',
  onOrder({ slot, length }, { state }) {
    if (state.get(slot, FIELD.bytes) < length) return 'drop'
    state.add(slot, FIELD.bytes, -length)
    return 'pass'
  },
}

/** Layer 3: orders of one player in one tick, whatever its budget. */
export const orderCeiling: RelayFilter = {
  name: 'ceiling',
  onOrder({ slot }, { state, options }) {
    if (state.get(slot, FIELD.inTick) >= options.ordersPerTickMax) return 'drop'
    state.add(slot, FIELD.inTick, 1)
    return 'pass'
  },
}

/** The filters of a relay without configuration. */
export const DEFAULT_FILTERS: readonly RelayFilter[] = [orderCeiling, orderBudget, byteBudget]

/** The budgets of a new player are full. */
export function fillBudgets(slot: number, { state, options }: FilterContext): void {
  state.set(slot, FIELD.orders, options.ordersBurst)
  state.set(slot, FIELD.bytes, options.bytesBurst)
}

/** A tick was closed: budgets grow, up to their bursts. @hot */
export function refillBudgets({ state, options }: FilterContext): void {
  for (let slot = 0; slot < options.players; slot++) {
    if (state.get(slot, FIELD.peer) === 0) continue
    const orders = state.get(slot, FIELD.orders) + options.ordersPerTick
    state.set(slot, FIELD.orders, Math.min(orders, options.ordersBurst))
    state.set(slot, FIELD.bytes, Math.min(state.get(slot, FIELD.bytes) + options.bytesPerTick, options.bytesBurst))
    state.set(slot, FIELD.inTick, 0)
  }
}
