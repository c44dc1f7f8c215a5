/**
 * When a client sent a packet, on the relay's clock.
 *
 * Each packet has a stamp of the client's clock. The difference between its arrival and its stamp is the offset of the
 * two clocks plus the way. The smallest difference of the last 200 packets is the offset plus the shortest way; half of
 * the shortest round trip is that way. The part of a packet's difference above the smallest is its delay in the
 * network.
 */

import { RELAY_SAMPLES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { STAMP_UNITS } from '../order/orders-frame.ts'
import { FIELD, type RelayState } from './relay-state.ts'

/** Samples are evaluated again after this many packets. */
const EVALUATE_EVERY = 10
/** The largest of 200 samples that are kept while they are searched: the tenth largest is the 95th percentile. */
const TOP = 10

export class ClockLine {
  /** The delay of the last packet beyond the shortest way, in ms. */
  delayMs = 0
  /** Whether the last order claimed a time far before its sending. */
  isSuspect = false
  readonly #state: RelayState
  readonly #top = new Int16Array(TOP)

  constructor(state: RelayState) {
    this.#state = state
  }

  /** A packet with a stamp arrived. @hot */
  sample(now: Millis, slot: number, stamp: number): void {
    const state = this.#state
    const count = state.get(slot, FIELD.samples)
    const difference = (Math.floor(now * STAMP_UNITS) - stamp) % 65_536
    if (count === 0) state.set(slot, FIELD.reference, difference)
    // Modulo 65,536 around the reference, so that clocks may have any offset.
    const relative = ((difference - state.get(slot, FIELD.reference)) << 16) >> 16
    state.samples[slot * RELAY_SAMPLES + (count % RELAY_SAMPLES)] = relative
    state.set(slot, FIELD.samples, count + 1)
    if (relative < state.get(slot, FIELD.least) || count === 0) state.set(slot, FIELD.least, relative)
    if (count < EVALUATE_EVERY || count % EVALUATE_EVERY === 0) this.#evaluate(slot)
    this.delayMs = (relative - state.get(slot, FIELD.least)) / STAMP_UNITS
  }

  /**
   * When an order of the last packet was given, on the relay's clock: as long before the sending as the client claims,
   * and at most `claimMs`. @hot
   */
  clickAt(now: Millis, slot: number, ageMs: number, claimMs: number): Millis {
    const sent = now - this.#state.get(slot, FIELD.leastUpMs) - this.delayMs
    this.isSuspect = ageMs > 2 * claimMs
    if (this.isSuspect) this.#state.add(slot, FIELD.suspects, 1)
    return sent - Math.min(ageMs, claimMs)
  }

  /** The time that the player's orders need to the relay, in ms: 95 of 100 packets, and the jitter. @hot */
  needMs(slot: number): number {
    const state = this.#state
    return (
      state.get(slot, FIELD.leastUpMs)
      + (state.get(slot, FIELD.spread95) + state.get(slot, FIELD.jitter)) / STAMP_UNITS
    )
  }

  /** @hot */
  #evaluate(slot: number): void {
    const { samples } = this.#state
    const top = this.#top
    const from = slot * RELAY_SAMPLES
    const count = Math.min(this.#state.get(slot, FIELD.samples), RELAY_SAMPLES)
    let least = 32_767
    let sum = 0
    top.fill(-32_768)
    for (let at = from; at < from + count; at++) {
      const value = samples[at]
      sum += value
      if (value < least) least = value
      if (value <= top[TOP - 1]) continue
      let place = TOP - 1
      for (; place > 0 && top[place - 1] < value; place--) top[place] = top[place - 1]
      top[place] = value
    }
    const mean = sum / count
    let deviation = 0
    for (let at = from; at < from + count; at++) deviation += Math.abs(samples[at] - mean)
    const state = this.#state
    state.set(slot, FIELD.least, least)
    state.set(slot, FIELD.jitter, deviation / count)
    state.set(slot, FIELD.spread95, top[Math.floor((count * (TOP - 1)) / RELAY_SAMPLES)] - least)
    state.set(slot, FIELD.spread99, top[Math.floor(count / 100) > 1 ? 1 : 0] - least)
  }
}
