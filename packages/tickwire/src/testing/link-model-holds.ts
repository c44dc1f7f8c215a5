/**
 * Reordering: datagrams held back until a number of later ones have gone by.
 *
 * A held datagram is launched with the latest time it may arrive, and that time is moved forward when the datagram it
 * waits for has been sent. So it arrives even if nothing follows, and no timer is needed.
 *
 * Invariant: with no jitter, at most `distance` later datagrams arrive before a held one.
 */

import type { Millis } from '../core/base/time.ts'
import type { Flights } from './sim-net-flights.ts'

/** More than the longest distance, so that two held datagrams never share an entry; a power of two. */
const PLACES = 1024
const MASK = PLACES - 1

/** The held datagrams of one directed link. */
export class Holds {
  /** Slot, order, and the next datagram that waits for the same one, or -1. Indexed by number of the held datagram. */
  #slots: Int32Array = new Int32Array(PLACES)
  #orders: Float64Array = new Float64Array(PLACES)
  #next: Int32Array = new Int32Array(PLACES)
  /** The first datagram that waits. Indexed by number of the datagram it waits for. */
  #first: Int32Array = new Int32Array(PLACES).fill(-1)

  /** Datagram `number`, just launched into `slot`, waits for the one `distance` later. */
  hold(number: number, distance: number, slot: number, order: number): void {
    const place = number & MASK
    const bucket = (number + distance) & MASK
    this.#slots[place] = slot
    this.#orders[place] = order
    this.#next[place] = this.#first[bucket] ?? -1
    this.#first[bucket] = place
  }

  /** Datagram `number` was sent and arrives at `arrivesAt`. Those that waited for it arrive then too, after it. */
  release(number: number, arrivesAt: Millis, flights: Flights): void {
    let place = this.#first[number & MASK] ?? -1
    this.#first[number & MASK] = -1
    while (place >= 0) {
      flights.hasten(this.#slots[place] ?? -1, this.#orders[place] ?? -1, arrivesAt)
      place = this.#next[place] ?? -1
    }
  }
}
