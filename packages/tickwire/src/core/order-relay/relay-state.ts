/**
 * The memory of one order relay: one buffer of fixed size, so that a process knows how many games it can hold.
 *
 *   players x 32 doubles      one record for each slot (`FIELD`)
 *   64 x doubles              the tick of each row of pulses
 *   players x 200 x 16 bits   samples of the way from each client
 *   64 x players x 16 bits    pulses
 *   64 x 16 bits              which slots have a pulse in the row
 *   1,536 bytes               orders that wait for their tick
 */

import { PULSE_TICKS, RELAY_SAMPLES } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'

/** The fields of a slot's record. */
export const FIELD = {
  /** The player's id; 0: the slot is free. */
  peer: 0,
  /** 1: the player is away. 2: it is away because its machine stands still. */
  away: 1,
  /** The number n of the newest order that was received. -1 - n after a reconnect, until the first frame. */
  newest: 2,
  /** Budgets: orders, bytes, and orders since the last tick. */
  orders: 3,
  bytes: 4,
  inTick: 5,
  /** Tick and time of the newest placed order. */
  lastTick: 6,
  lastUs: 7,
  /** The newest executed tick, and when it advanced. */
  executed: 8,
  executedAt: 9,
  /** When the last packet arrived. */
  packetAt: 10,
  strikes: 11,
  strikesAt: 12,
  /** Feedback: late orders, sum and number of arrivals before the deadline, in ms. */
  late: 13,
  marginMs: 14,
  margins: 15,
  /** The clock line: the reference of samples, and the smallest sample, in stamp units. */
  reference: 16,
  least: 17,
  /** Spread of samples above the smallest, in stamp units: 95 and 99 of 100 are below. Mean deviation. */
  spread95: 18,
  spread99: 19,
  jitter: 20,
  /** Half of the shortest round trip, in ms. */
  leastUpMs: 21,
  /** Time of a draw and of a step on the client, in ms. */
  drawMs: 22,
  stepMs: 23,
  /** Orders that claimed a time outside of the envelope. */
  suspects: 24,
  /** Samples taken, in all. */
  samples: 25,
  pauses: 26,
  /** When the player was last seen frozen. */
  frozenAt: 27,
  /** The highest need that was measured, in ms, and when. */
  needMs: 28,
  needAt: 29,
  /** Orders dropped by filters, and orders dropped because they came too late. */
  dropped: 30,
  lost: 31,
} as const

const SLOT_DOUBLES = 32
const PENDING_BYTES = 1536

/** The highest values of the players of a match. */
export interface SlowestPlayer {
  /** Half of the shortest round trip, in ms. */
  readonly upMs: number
  /** Duration of a draw and of a step, in ms. */
  readonly drawMs: number
  readonly stepMs: number
  /** Ticks between the newest of the match and the newest that the player has stepped. */
  readonly behindTicks: number
}

/** The views into the buffer. */
export class RelayState {
  /** Everything. */
  readonly buffer: ArrayBuffer
  /** Indexed by `slot * 32 + FIELD.name`. */
  readonly slots: Float64Array
  /** Indexed by tick modulo 64: the tick whose pulses the row has. */
  readonly pulseTicks: Float64Array
  /** Indexed by `slot * 200 + number of the sample modulo 200`. */
  readonly samples: Int16Array
  /** Indexed by `tick modulo 64 * players + slot`. */
  readonly pulses: Uint16Array
  /** Indexed by tick modulo 64: bit s is set when slot s has a pulse. */
  readonly pulseMasks: Uint16Array
  /** Orders that wait. Replaced by a larger array while a burst does not fit. */
  readonly pending: Uint8Array

  constructor(players: number) {
    const slotBytes = players * SLOT_DOUBLES * 8
    const tickBytes = PULSE_TICKS * 8
    const sampleBytes = players * RELAY_SAMPLES * 2
    const pulseBytes = PULSE_TICKS * players * 2
    const maskBytes = PULSE_TICKS * 2
    const at = [0, slotBytes, tickBytes, sampleBytes, pulseBytes, maskBytes].map(
      ((sum) => (bytes: number) => (sum += bytes))(0),
    )
    this.buffer = new ArrayBuffer(at[5] + PENDING_BYTES)
    this.slots = new Float64Array(this.buffer, at[0], players * SLOT_DOUBLES)
    this.pulseTicks = new Float64Array(this.buffer, at[1], PULSE_TICKS)
    this.samples = new Int16Array(this.buffer, at[2], players * RELAY_SAMPLES)
    this.pulses = new Uint16Array(this.buffer, at[3], PULSE_TICKS * players)
    this.pulseMasks = new Uint16Array(this.buffer, at[4], PULSE_TICKS)
    this.pending = new Uint8Array(this.buffer, at[5], PENDING_BYTES)
  }

  /** A number of a slot. @hot */
  get(slot: number, field: number): number {
    return this.slots[slot * SLOT_DOUBLES + field]
  }

  /** @hot */
  set(slot: number, field: number, value: number): void {
    this.slots[slot * SLOT_DOUBLES + field] = value
  }

  /** @hot */
  add(slot: number, field: number, value: number): void {
    this.slots[slot * SLOT_DOUBLES + field] += value
  }

  /** The slot of a player; -1 when there is none. 0 finds a free slot. @hot */
  slotOf(peer: number): number {
    for (let at = 0; at < this.slots.length; at += SLOT_DOUBLES)
      if (this.slots[at + FIELD.peer] === peer) return at / SLOT_DOUBLES
    return -1
  }

  /** Gives a slot to a player. */
  open(now: number, slot: number, peer: number): void {
    this.clear(slot)
    this.set(slot, FIELD.peer, peer)
    this.set(slot, FIELD.executedAt, now)
    this.set(slot, FIELD.packetAt, now)
  }

  /** Gives a slot to a player of a match that began elsewhere. */
  adopt(now: number, peer: number, isAway: boolean): number {
    const slot = this.slotOf(0)
    this.open(now, slot, peer)
    this.set(slot, FIELD.away, isAway ? 1 : 0)
    return slot
  }

  /** Players that are connected, ascending. */
  present(): number[] {
    const present: number[] = []
    for (let slot = 0; slot * SLOT_DOUBLES < this.slots.length; slot++)
      if (this.get(slot, FIELD.peer) !== 0 && this.get(slot, FIELD.away) === 0) present.push(this.get(slot, FIELD.peer))
    return present.toSorted((a, b) => a - b)
  }

  /** How many players have a slot, connected or away. */
  get playerCount(): number {
    let count = 0
    for (let at = 0; at < this.slots.length; at += SLOT_DOUBLES) if (this.slots[at + FIELD.peer] !== 0) count++
    return count
  }

  /**
   * The highest value of any connected player: the way up to the relay, a draw and a step in ms, and ticks behind the
   * newest.
   */
  slowest(newest: Tick): SlowestPlayer {
    const slowest = { upMs: 0, drawMs: 0, stepMs: 0, behindTicks: 0 }
    for (let slot = 0; slot * SLOT_DOUBLES < this.slots.length; slot++) {
      if (this.get(slot, FIELD.peer) === 0 || this.get(slot, FIELD.away) !== 0) continue
      slowest.upMs = Math.max(slowest.upMs, this.get(slot, FIELD.leastUpMs))
      slowest.drawMs = Math.max(slowest.drawMs, this.get(slot, FIELD.drawMs))
      slowest.stepMs = Math.max(slowest.stepMs, this.get(slot, FIELD.stepMs))
      slowest.behindTicks = Math.max(slowest.behindTicks, newest - this.get(slot, FIELD.executed))
    }
    return slowest
  }

  /** Empties the record of a slot. */
  clear(slot: number): void {
    this.slots.fill(0, slot * SLOT_DOUBLES, (slot + 1) * SLOT_DOUBLES)
    this.samples.fill(0, slot * RELAY_SAMPLES, (slot + 1) * RELAY_SAMPLES)
  }
}
