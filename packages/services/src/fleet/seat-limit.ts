/**
 * How many seats an origin may reserve, by requests for seats and by tickets. A reserved seat is kept for ten seconds,
 * so an origin that only reserves could keep all rooms of a fleet full without a player in them.
 *
 * Seats are counted in windows of ten seconds. An IPv6 network counts as one origin by its first 64 bits. The table is
 * bounded: when it is full, the window ends.
 */

import { originName } from '../rendezvous/guess-limit.ts'

/** Two parties of the largest size, or four school classes behind one address. */
export const SEATS_PER_ORIGIN_DEFAULT = 128

const WINDOW_MS = 10_000
const ORIGINS_MAX = 20_000

export class SeatLimit {
  readonly #max: number
  readonly #taken = new Map<string, number>()
  #until = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Counts seats for an origin. False: it has too many, and these are not counted. */
  take(now: number, ip: string, count: number): boolean {
    if (now >= this.#until || this.#taken.size >= ORIGINS_MAX) {
      this.#taken.clear()
      this.#until = now + WINDOW_MS
    }
    const origin = originName(ip)
    const taken = (this.#taken.get(origin) ?? 0) + count
    if (taken > this.#max) return false
    this.#taken.set(origin, taken)
    return true
  }
}
