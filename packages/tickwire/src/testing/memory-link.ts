/**
 * A simulated cable between two ends in one process, with network faults: datagrams are copied in, delayed, and copied
 * out.
 *
 * Each direction is a ring of 64 datagrams; when it is full, datagrams are dropped, as a router would. It is sans-I/O
 * like the engine: `send` and `poll` take `now`, `nextAt` says when the next datagram arrives. Without faults a
 * datagram can be polled at the time it was sent.
 *
 * Invariant: the same seed and the same sends give the same arrivals.
 */

import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import { Dice } from './sim-entropy.ts'

/** Most datagrams in flight in one direction. */
export const MEMORY_LINK_DATAGRAMS = 64

/** The faults of the cable, in each direction. Default: all 0. */
export interface Weather {
  /** Delay of every datagram, in ms. */
  readonly latencyMs?: number
  /** Additional delay of up to this much, drawn for each datagram. It causes reordering. */
  readonly jitterMs?: number
  /** The fraction that is lost, 0..1. */
  readonly loss?: number
  /** The fraction that arrives twice. */
  readonly duplication?: number
  /** The fraction that is delayed by another `latencyMs` and `jitterMs`, and so is overtaken. */
  readonly reordering?: number
}

/** Which end sends: 0 or 1. */
export type LinkSide = 0 | 1

/** What happened to datagrams, both directions together. Tests assert that the faults did occur. */
export interface LinkStats {
  /** Datagrams that were sent. */
  sent: number
  /** Datagrams that were lost. */
  lost: number
  /** Datagrams that arrive twice. */
  duplicated: number
  /** Datagrams that were delayed on purpose. */
  reordered: number
  /** Dropped because 64 others were in flight. */
  overflowed: number
  /** Datagrams that arrived. */
  delivered: number
}

/** A datagram that is sent. Its bytes are valid until the listener returns. */
export interface LinkFlight {
  /** The end that sent it. */
  readonly side: LinkSide
  /** When it was sent, in simulated ms. */
  readonly sentAt: Millis
  /** Infinity: it is lost. */
  readonly arrivesAt: Millis
  /** Its bytes, at the start of a buffer. */
  readonly bytes: Uint8Array
  /** The number of bytes. */
  readonly length: number
}

/** A cable with two directions. */
export class MemoryLink {
  /** May be changed at any time, and affects what is sent from then on. */
  weather: Weather
  /** Called for every datagram that is sent, twice for duplicates: for tests and pages that show the network. */
  onFlight: ((flight: LinkFlight) => void) | undefined = undefined
  /** What happened to datagrams. */
  readonly stats: LinkStats = { sent: 0, lost: 0, duplicated: 0, reordered: 0, overflowed: 0, delivered: 0 }
  #queues: readonly [Flight, Flight] = [new Flight(), new Flight()]
  #dice: Dice

  constructor(seed: number = 1, weather: Weather = {}) {
    this.weather = weather
    this.#dice = new Dice(seed)
  }

  /** Copies a datagram in, from `side` to the other end. */
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

  /** Copies the next datagram that has reached `side` into `out`. Returns its length, or -1 when there is none. */
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

/** Datagrams in flight to one end. */
class Flight {
  #bytes: Uint8Array = new Uint8Array(MEMORY_LINK_DATAGRAMS * DATAGRAM_BYTES_MAX)
  #lengths: Uint16Array = new Uint16Array(MEMORY_LINK_DATAGRAMS)
  /** Infinity: the slot is free. Indexed by slot. */
  #arrivesAt: Float64Array = new Float64Array(MEMORY_LINK_DATAGRAMS).fill(Infinity)
  /** Sequence of sending, so that ties arrive in that order. Indexed by slot. */
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
