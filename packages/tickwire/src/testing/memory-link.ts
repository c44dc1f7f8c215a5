/**
 * A cable between two ends in one process, with weather: datagrams are copied in, wait, and are copied out.
 *
 * Each direction is a ring of 64 datagrams; one that finds no room is dropped, as a router would. Sans-I/O like the
 * engine: `send` and `poll` take `now`, `nextAt` says when something arrives. With no weather a datagram can be polled
 * in the moment it was sent.
 *
 * Invariant: the same seed and the same sends give the same arrivals.
 */

import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import { Dice } from './sim-entropy.ts'

/** Datagrams that may be on their way in one direction. */
export const MEMORY_LINK_DATAGRAMS = 64

/** What the cable does to datagrams, each way. All 0 unless said. */
export interface Weather {
  readonly latencyMs?: number
  /** Up to this much more, drawn for each datagram: the source of reordering by chance. */
  readonly jitterMs?: number
  /** The part that is lost, 0..1. */
  readonly loss?: number
  /** The part that arrives twice. */
  readonly duplication?: number
  /** The part that takes `latencyMs` once more, and so falls behind those sent after it. */
  readonly reordering?: number
}

/** Who sends: the end that called itself 0, or 1. */
export type LinkSide = 0 | 1

/** What happened on the way, both directions together: tests assert that the weather was real. */
export interface LinkStats {
  sent: number
  lost: number
  duplicated: number
  reordered: number
  /** Dropped because 64 others were on their way. */
  overflowed: number
  delivered: number
}

/** A datagram that sets out. Its bytes are good until the listener returns. */
export interface LinkFlight {
  /** Who sent it. */
  readonly side: LinkSide
  readonly sentAt: Millis
  /** Infinity: it never does. */
  readonly arrivesAt: Millis
  readonly bytes: Uint8Array
  readonly length: number
}

/** Two directions. */
export class MemoryLink {
  /** May be changed at any time, for what is sent from then on. */
  weather: Weather
  /** Told of everything that sets out, twice of what is doubled: for tests and pages that show the network. */
  onFlight: ((flight: LinkFlight) => void) | undefined = undefined
  readonly stats: LinkStats = { sent: 0, lost: 0, duplicated: 0, reordered: 0, overflowed: 0, delivered: 0 }
  #queues: readonly [Flight, Flight] = [new Flight(), new Flight()]
  #dice: Dice

  constructor(seed: number = 1, weather: Weather = {}) {
    this.weather = weather
    this.#dice = new Dice(seed)
  }

  /** Copies a datagram in, on its way from `side` to the other. */
  send(now: Millis, side: LinkSide, bytes: Uint8Array, length: number): void {
    const { loss = 0, duplication = 0 } = this.weather
    this.stats.sent++
    const isLost = this.#dice.chance(loss)
    const isDoubled = this.#dice.chance(duplication)
    if (isLost) this.stats.lost++
    if (isLost) this.onFlight?.({ side, sentAt: now, arrivesAt: Infinity, bytes, length })
    else this.#launch(now, side, bytes, length)
    if (!isDoubled) return
    this.stats.duplicated++
    this.#launch(now, side, bytes, length)
  }

  /** Copies the next datagram that has reached `side` by now into `out`; its length, or -1 when there is none. */
  poll(now: Millis, side: LinkSide, out: Uint8Array): number {
    const length = this.#queues[side].land(now, out)
    if (length >= 0) this.stats.delivered++
    return length
  }

  /** When the next datagram reaches `side`. */
  nextAt(side: LinkSide): Millis {
    return this.#queues[side].nextAt()
  }

  #launch(now: Millis, side: LinkSide, bytes: Uint8Array, length: number): void {
    const { latencyMs = 0, jitterMs = 0, reordering = 0 } = this.weather
    let arrivesAt = now + latencyMs + jitterMs * this.#dice.fraction()
    if (this.#dice.chance(reordering)) {
      this.stats.reordered++
      arrivesAt += latencyMs + jitterMs
    }
    const isOnItsWay = this.#queues[side === 0 ? 1 : 0].launch(arrivesAt, bytes, length)
    if (!isOnItsWay) this.stats.overflowed++
    this.onFlight?.({ side, sentAt: now, arrivesAt: isOnItsWay ? arrivesAt : Infinity, bytes, length })
  }
}

/** Datagrams on their way to one end. */
class Flight {
  #bytes: Uint8Array = new Uint8Array(MEMORY_LINK_DATAGRAMS * DATAGRAM_BYTES_MAX)
  #lengths: Uint16Array = new Uint16Array(MEMORY_LINK_DATAGRAMS)
  /** Infinity: the place is free. */
  #arrivesAt: Float64Array = new Float64Array(MEMORY_LINK_DATAGRAMS).fill(Infinity)
  /** Ties arrive in the order they were sent. */
  #order: Float64Array = new Float64Array(MEMORY_LINK_DATAGRAMS)
  #count: number = 0

  launch(arrivesAt: Millis, bytes: Uint8Array, length: number): boolean {
    const place = this.#arrivesAt.indexOf(Infinity)
    if (place < 0 || length > DATAGRAM_BYTES_MAX) return false
    const at = place * DATAGRAM_BYTES_MAX
    for (let index = 0; index < length; index++) this.#bytes[at + index] = bytes[index] ?? 0
    this.#lengths[place] = length
    this.#arrivesAt[place] = arrivesAt
    this.#order[place] = this.#count++
    return true
  }

  land(now: Millis, out: Uint8Array): number {
    const place = this.#first()
    if (place < 0 || (this.#arrivesAt[place] ?? Infinity) > now) return -1
    const length = this.#lengths[place] ?? 0
    const at = place * DATAGRAM_BYTES_MAX
    for (let index = 0; index < length; index++) out[index] = this.#bytes[at + index] ?? 0
    this.#arrivesAt[place] = Infinity
    return length
  }

  nextAt(): Millis {
    const place = this.#first()
    return place < 0 ? Infinity : this.#arrivesAt[place] ?? Infinity
  }

  #first(): number {
    let first = -1
    let earliest = Infinity
    let order = Infinity
    for (let place = 0; place < MEMORY_LINK_DATAGRAMS; place++) {
      const at = this.#arrivesAt[place] ?? Infinity
      if (at > earliest || at === Infinity) continue
      const rank = this.#order[place] ?? 0
      if (at === earliest && rank > order) continue
      first = place
      earliest = at
      order = rank
    }
    return first
  }
}
