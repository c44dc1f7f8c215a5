/**
 * What happens to the packets of one client: when the server learns of each, and which are lost.
 *
 * A steady connection has the same delay for all packets and loses nothing. A real one has its own round trip of 50 to
 * 250 ms, up to 20 ms of jitter each way, and loses one packet in twenty, and as many acknowledgements. The server
 * learns of a loss when later packets are acknowledged, two ticks later. A lost acknowledgement is repeated by the next
 * one, a tick later.
 *
 * Random numbers are drawn in advance (`draw`), outside of the measured time, because a server does not draw them.
 */

import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'

const TICK_MS = 1000 / 60
/**
 * The longest delay in ticks, as a power of two; and the maximum number of packets that are acknowledged or lost in one
 * tick.
 */
const SLOTS = 64
const KNOWN_MAX = 128
const LOSS = 0.05
const [ROUND_TRIP_MS_MIN, ROUND_TRIP_MS_MAX, JITTER_MS] = [50, 250, 20]
const LOST_LATER_TICKS = 2
/** Packets per tick for which results are drawn in advance. */
const DRAWN = 8

export interface PacketListener {
  onDelivered(now: number, sequence: number): void
  onLost(now: number, sequence: number): void
}

export class LineFates {
  readonly #dice: Prng
  readonly #distance: number
  readonly #roundTripMs: number
  /** Indexed by tick: the sequences that are acknowledged then, or negative sequences of lost packets. */
  readonly #known = new Float64Array(SLOTS * KNOWN_MAX)
  readonly #counts = new Int32Array(SLOTS)
  /** The results of the next packets: ticks until they are known, negative for lost packets. */
  readonly #drawn = new Int32Array(DRAWN)
  #drawnCount = 0

  /** `distance`: ticks until a packet is acknowledged. 'real': a random connection. */
  constructor(distance: number | 'real', seed: number) {
    this.#dice = new Prng(seed)
    this.#distance = distance === 'real' ? 0 : distance
    this.#roundTripMs = ROUND_TRIP_MS_MIN + this.#dice.nextFloat() * (ROUND_TRIP_MS_MAX - ROUND_TRIP_MS_MIN)
  }

  /** A packet is sent. Returns whether it arrives. @hot */
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

  /** Draws the missing results of the next packets. */
  draw(): void {
    const dice = this.#dice
    for (; this.#distance === 0 && this.#drawnCount < DRAWN; this.#drawnCount++) {
      const isLost = dice.nextFloat() < LOSS
      const ticks = Math.ceil((this.#roundTripMs + (dice.nextFloat() + dice.nextFloat()) * JITTER_MS) / TICK_MS)
      const late = isLost ? LOST_LATER_TICKS : dice.nextFloat() < LOSS ? 1 : 0
      this.#drawn[this.#drawnCount] = isLost ? -(ticks + late) : ticks + late
    }
  }

  /** Reports the deliveries and losses that are known in a tick, before anything is sent. @hot */
  report(tick: number, source: PacketListener): void {
    const slot = tick & (SLOTS - 1)
    for (let at = 0; at < this.#counts[slot]!; at++) {
      const sequence = this.#known[slot * KNOWN_MAX + at]!
      if (sequence >= 0) source.onDelivered(0, sequence)
      else source.onLost(0, -1 - sequence)
    }
    this.#counts[slot] = 0
  }

  #add(tick: number, sequence: number): void {
    const slot = tick & (SLOTS - 1)
    if (this.#counts[slot] === KNOWN_MAX) throw new Error(`more than ${KNOWN_MAX} packets are known in one tick`)
    this.#known[slot * KNOWN_MAX + this.#counts[slot]!++] = sequence
  }
}
