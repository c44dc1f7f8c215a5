/**
 * Simulated network conditions on a live connection, in one direction: packets are delayed, lost, duplicated, reordered
 * and rate-limited.
 *
 *   rate (a slow line, which drops what would wait too long) -> loss -> latency + jitter -> reordering -> duplication
 *
 * It is for experiencing a bad network from inside a page. Simulations have their own, seeded and far more severe, in
 * `tickwire/testing`.
 */

import type { Millis } from '../core/base/time.ts'
import { Prng } from '../core/base/prng.ts'

/** Network conditions in one direction. Shares are 0 to 1. */
export interface LineWeather {
  /** Delay of every packet, in ms. */
  readonly latencyMs: number
  /** Random additional delay of up to this much; small values are more likely. */
  readonly jitterMs: number
  /** The share that is lost. */
  readonly loss: number
  /** The share that arrives twice. */
  readonly duplication: number
  /** Share that is held back until later packets have passed. */
  readonly reordering: number
  /** Rate limit in kilobits a second; 0 = unlimited. */
  readonly rateKbps: number
}

/** No faults. */
export const CLEAR: LineWeather = { latencyMs: 0, jitterMs: 0, loss: 0, duplication: 0, reordering: 0, rateKbps: 0 }

/** Packets that would wait longer than this for a slow line are dropped, as in a router's queue. */
const QUEUE_MS_MAX = 250
const HELD_MS = 45
const COPY_MS = 12

interface Flight {
  readonly at: Millis
  readonly bytes: Uint8Array
}

export class WeatherLine {
  weather: LineWeather = CLEAR
  /** What happened to the packets. */
  readonly counts: { sent: number; lost: number; copied: number; held: number; squeezed: number; delivered: number } =
    { sent: 0, lost: 0, copied: 0, held: 0, squeezed: 0, delivered: 0 }
  readonly #deliver: (bytes: Uint8Array, length: number) => void
  readonly #now: () => Millis
  readonly #chance: Prng
  readonly #flights: Flight[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #lineFreeAt: Millis = 0

  constructor(now: () => Millis, seed: number, deliver: (bytes: Uint8Array, length: number) => void) {
    this.#now = now
    this.#chance = new Prng(seed)
    this.#deliver = deliver
  }

  get isClear(): boolean {
    return Object.values(this.weather).every((value) => value === 0)
  }

  /** Number of packets in flight. */
  get flying(): number {
    return this.#flights.length
  }

  send(bytes: Uint8Array, length: number): void {
    const { latencyMs, jitterMs, loss, duplication, reordering } = this.weather
    const now = this.#now()
    this.counts.sent++
    const passedAt = this.#squeeze(now, length)
    // All random numbers are drawn for every packet: turning one fault on does not change the effect of the others.
    const [isLost, isCopied, isHeld] = [
      this.#chance.nextFloat() < loss,
      this.#chance.nextFloat() < duplication,
      this.#chance.nextFloat() < reordering,
    ]
    const jitter = jitterMs * this.#chance.nextFloat() * this.#chance.nextFloat()
    if (passedAt === undefined) this.counts.squeezed++
    else if (isLost) this.counts.lost++
    else {
      const at = passedAt + latencyMs + jitter
      if (isHeld) this.counts.held++
      this.#launch(isHeld ? at + HELD_MS : at, bytes, length)
      if (isCopied) {
        this.counts.copied++
        this.#launch(at + COPY_MS, bytes, length)
      }
    }
    this.#land()
  }

  /** Delivers everything in flight now, and turns all faults off. */
  clear(): void {
    this.weather = CLEAR
    clearTimeout(this.#timer)
    for (const { bytes } of this.#flights.splice(0)) this.#arrive(bytes)
  }

  /** When the line has carried a packet; undefined when it would wait too long. */
  #squeeze(now: Millis, length: number): Millis | undefined {
    const { rateKbps } = this.weather
    if (rateKbps === 0) return now
    const freeAt = Math.max(this.#lineFreeAt, now)
    if (freeAt - now > QUEUE_MS_MAX) return undefined
    this.#lineFreeAt = freeAt + (length * 8) / rateKbps
    return this.#lineFreeAt
  }

  #launch(at: Millis, bytes: Uint8Array, length: number): void {
    const flight = { at, bytes: bytes.slice(0, length) }
    let place = this.#flights.length
    while (place > 0 && this.#flights[place - 1].at > at) place--
    this.#flights.splice(place, 0, flight)
  }

  /** Delivers what is due, and sets the timer for the next. */
  #land(): void {
    clearTimeout(this.#timer)
    const now = this.#now()
    while (this.#flights.length > 0 && this.#flights[0].at <= now) {
      const flight = this.#flights.shift()
      if (flight !== undefined) this.#arrive(flight.bytes)
    }
    const [next] = this.#flights
    if (next !== undefined) this.#timer = setTimeout(() => this.#land(), Math.max(0, next.at - now))
  }

  #arrive(bytes: Uint8Array): void {
    this.counts.delivered++
    this.#deliver(bytes, bytes.length)
  }
}
