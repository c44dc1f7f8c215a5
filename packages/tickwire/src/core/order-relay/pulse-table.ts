/**
 * The pulses of the last ticks: 16 bits of every player's state. Players that differ from the majority are named.
 */

import { PULSE_TICKS } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import type { RelayState } from './relay-state.ts'

export class PulseTable {
  readonly #state: RelayState
  readonly #players: number

  constructor(state: RelayState, players: number) {
    this.#state = state
    this.#players = players
  }

  /**
   * Notes a pulse. Returns the slots that differ, as bits: those against more than half of the `active` slots, or all
   * when each has reported and no pulse has a majority. 0: no difference, or not known yet. @hot
   */
  note(tick: Tick, slot: number, pulse: number, active: () => number): number {
    const { pulseTicks, pulses, pulseMasks } = this.#state
    const row = tick % PULSE_TICKS
    if (pulseTicks[row] > tick) return 0
    if (pulseTicks[row] < tick) {
      pulseTicks[row] = tick
      pulseMasks[row] = 0
    }
    const bit = 1 << slot
    const before = pulseMasks[row]
    if ((before & bit) !== 0) return 0
    const from = row * this.#players
    pulses[from + slot] = pulse
    pulseMasks[row] = before | bit
    if (this.#isEqual(from, before, pulse)) return 0
    const count = active()
    const isKnown = this.#majority(from, before, count) >= 0
    const majority = this.#majority(from, before | bit, count)
    if (majority < 0) return this.#isTied(from, before | bit, count) ? before | bit : 0
    let minority = 0
    for (let each = 0; each < this.#players; each++)
      if (((before | bit) >>> each) & 1 && pulses[from + each] !== majority) minority |= 1 << each
    return isKnown ? minority & bit : minority
  }

  /** A player left: another may take its slot. */
  forget(slot: number): void {
    const { pulseMasks } = this.#state
    for (let row = 0; row < PULSE_TICKS; row++) pulseMasks[row] &= ~(1 << slot)
  }

  /** Whether all slots of a mask have this pulse. @hot */
  #isEqual(from: number, mask: number, pulse: number): boolean {
    const { pulses } = this.#state
    for (let slot = 0; mask >>> slot > 0; slot++) if ((mask >>> slot) & 1 && pulses[from + slot] !== pulse) return false
    return true
  }

  /** The pulse that more than half of the active slots have; -1: none. */
  #majority(from: number, mask: number, active: number): number {
    const { pulses } = this.#state
    for (let slot = 0; slot < this.#players; slot++) {
      if (((mask >>> slot) & 1) === 0) continue
      let equal = 0
      for (let other = slot; other < this.#players; other++)
        if ((mask >>> other) & 1 && pulses[from + other] === pulses[from + slot]) equal++
      if (2 * equal > active) return pulses[from + slot]
    }
    return -1
  }

  /** Whether all active slots have reported, and differ. */
  #isTied(from: number, mask: number, active: number): boolean {
    const { pulses } = this.#state
    let [count, first, isDifferent] = [0, -1, false]
    for (let slot = 0; slot < this.#players; slot++) {
      if (((mask >>> slot) & 1) === 0) continue
      count++
      if (first < 0) first = pulses[from + slot]
      else if (pulses[from + slot] !== first) isDifferent = true
    }
    return isDifferent && count >= active
  }
}
