/**
 * What becomes of the packets of one client: when the server hears of each, and which are lost.
 *
 * A steady line has one distance for all and loses nothing. A real one has a round trip of its own, 50 to 250 ms, up to 20 ms more each
 * way from packet to packet, and loses one in twenty, packets and acknowledgements alike. Who is lost is known when those after him
 * are acknowledged, two ticks later; an acknowledgement that is lost is repeated by the next, a tick later.
 *
 * Dice are thrown ahead (`draw`), where nobody measures time: weather is not what a server does.
 */

import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'

const TICK_MS = 1000 / 60
/** Ticks that anything takes at most, as a power of two; and packets of which the server hears in one tick. */
const SLOTS = 64
const HEARD_MAX = 128
const LOSS = 0.05
const [ROUND_TRIP_MS_MIN, ROUND_TRIP_MS_MAX, JITTER_MS] = [50, 250, 20]
const LOST_LATER_TICKS = 2
/** Packets of a tick for which dice are thrown ahead. */
const DRAWN = 8

export interface HearsOfPackets {
  onDelivered(now: number, sequence: number): void
  onLost(now: number, sequence: number): void
}

export class LineFates {
  readonly #dice: Prng
  readonly #distance: number
  readonly #roundTripMs: number
  /** By tick: sequences, those that were lost below 0. */
  readonly #heard = new Float64Array(SLOTS * HEARD_MAX)
  readonly #counts = new Int32Array(SLOTS)
  /** What becomes of the next packets: ticks until it is heard of, below 0 of those that are lost. */
  readonly #drawn = new Int32Array(DRAWN)
  #drawnCount = 0

  /** `distance`: ticks until everything is acknowledged; 'real' = as lines are. */
  constructor(distance: number | 'real', seed: number) {
    this.#dice = new Prng(seed)
    this.#distance = distance === 'real' ? 0 : distance
    this.#roundTripMs = ROUND_TRIP_MS_MIN + this.#dice.nextFloat() * (ROUND_TRIP_MS_MAX - ROUND_TRIP_MS_MIN)
  }

  /** A packet is sent; whether it arrives. @hot */
  send(tick: number, sequence: number): boolean {
    if (this.#distance > 0) {
      this.#add(tick + this.#distance, sequence)
      return true
    }
    if (this.#drawnCount === 0) this.draw()
    const fate = this.#drawn[--this.#drawnCount]!
    this.#add(tick + Math.abs(fate), fate < 0 ? -1 - sequence : sequence)
    return fate > 0
  }

  /** Throws dice for the next packets, as many as are missing. */
  draw(): void {
    const dice = this.#dice
    for (; this.#distance === 0 && this.#drawnCount < DRAWN; this.#drawnCount++) {
      const isLost = dice.nextFloat() < LOSS
      const ticks = Math.ceil((this.#roundTripMs + (dice.nextFloat() + dice.nextFloat()) * JITTER_MS) / TICK_MS)
      const late = isLost ? LOST_LATER_TICKS : dice.nextFloat() < LOSS ? 1 : 0
      this.#drawn[this.#drawnCount] = isLost ? -(ticks + late) : ticks + late
    }
  }

  /** Tells all that is heard of in a tick, before anything is sent. @hot */
  hear(tick: number, source: HearsOfPackets): void {
    const slot = tick & (SLOTS - 1)
    for (let at = 0; at < this.#counts[slot]!; at++) {
      const sequence = this.#heard[slot * HEARD_MAX + at]!
      if (sequence >= 0) source.onDelivered(0, sequence)
      else source.onLost(0, -1 - sequence)
    }
    this.#counts[slot] = 0
  }

  #add(tick: number, sequence: number): void {
    const slot = tick & (SLOTS - 1)
    if (this.#counts[slot] === HEARD_MAX) throw new Error(`more than ${HEARD_MAX} packets are heard of in one tick`)
    this.#heard[slot * HEARD_MAX + this.#counts[slot]!++] = sequence
  }
}
