/**
 * Reordering: datagrams held back until a number of later ones have gone by.
 *
 * A held one is launched with the latest time it may arrive, and hastened when the one it waits for has been sent. So it
 * arrives even if nothing follows, and nobody has to look after it.
 *
 * Invariant: with no jitter, at most `distance` later datagrams arrive before a held one.
 */

import type { Millis } from '../core/base/time.ts'
import type { Flights } from './sim-net-flights.ts'

/** More than the longest distance, so that two that are held at once never share a place; a power of two. */
const PLACES = 1024
const MASK = PLACES - 1

/** What one directed link holds back. */
export class Holds {
  /** By number of the held datagram: where it flies, and who else waits for the same one. -1: nobody. */
  #slots: Int32Array = new Int32Array(PLACES)
  #orders: Float64Array = new Float64Array(PLACES)
  #next: Int32Array = new Int32Array(PLACES)
  /** By number of the datagram waited for: the first that waits. */
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

  /** Datagram `number` has gone by and arrives at `arrivesAt`: so do those that waited for it, after it. */
  release(number: number, arrivesAt: Millis, flights: Flights): void {
    let place = this.#first[number & MASK] ?? -1
    this.#first[number & MASK] = -1
    while (place >= 0) {
      flights.hasten(this.#slots[place] ?? -1, this.#orders[place] ?? -1, arrivesAt)
      place = this.#next[place] ?? -1
    }
  }
}
