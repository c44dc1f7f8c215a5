/**
 * What delays a datagram before it travels: a line with a queue, a traffic policer, cross traffic that fills the queue.
 *
 * The line serves in order, so that queued datagrams never overtake each other.
 */

import type { KeyedPrng } from '../core/base/keyed-prng.ts'
import type { Millis } from '../core/base/time.ts'
import type { LinkTally } from './link-model-tally.ts'
import type { NetWeather } from './weather.ts'
import { Episodes } from './weather-episodes.ts'

/** The first stage of one directed link. */
export class Line {
  #chance: KeyedPrng
  #key: number
  #line: NetWeather['line']
  #policing: NetWeather['policing']
  #bloat: NetWeather['bloat']
  #upload: Episodes | undefined
  /** When the line has sent everything that it accepted. */
  #busyUntil: Millis = -Infinity
  /** The policer's token bucket: how many bytes may pass, and at which time that was computed. */
  #allowedBytes: number = 0
  #countedAt: Millis = 0

  /** `key` is the key that bloat episodes are drawn with. */
  constructor(chance: KeyedPrng, key: number) {
    this.#chance = chance
    this.#key = key
  }

  setWeather(now: Millis, { line, policing, bloat }: NetWeather): void {
    if (policing !== undefined && this.#policing === undefined) {
      this.#allowedBytes = policing.burstBytes
      this.#countedAt = now
    }
    if (bloat !== this.#bloat) this.#upload = bloat && new Episodes(this.#chance, this.#key, bloat, now)
    this.#line = line
    this.#policing = policing
    this.#bloat = bloat
  }

  /** How long a datagram waits; -1 when it is dropped, which `tally` then counts. */
  wait(now: Millis, length: number, tally: LinkTally): number {
    if (this.#policing !== undefined && !this.#isAllowed(now, length, this.#policing)) {
      tally.policed++
      return -1
    }
    let waitMs = this.#upload === undefined ? 0 : this.#bloatMs(now, this.#upload)
    if (this.#line !== undefined) {
      const queuedMs = Math.max(0, this.#busyUntil - now)
      if (queuedMs > this.#line.queueMs) {
        tally.tailDropped++
        return -1
      }
      const serviceMs = (length * 8000) / this.#line.bps
      this.#busyUntil = now + queuedMs + serviceMs
      waitMs += queuedMs
      if (waitMs > 0) tally.queued++
      if (waitMs > tally.queuedMsMax) tally.queuedMsMax = waitMs
      return waitMs + serviceMs
    }
    if (waitMs > 0) tally.queued++
    if (waitMs > tally.queuedMsMax) tally.queuedMsMax = waitMs
    return waitMs
  }

  #isAllowed(now: Millis, length: number, { bps, burstBytes }: NonNullable<NetWeather['policing']>): boolean {
    this.#allowedBytes = Math.min(burstBytes, this.#allowedBytes + ((now - this.#countedAt) * bps) / 8000)
    this.#countedAt = now
    if (this.#allowedBytes < length) return false
    this.#allowedBytes -= length
    return true
  }

  /** Grows linearly through an episode, and drains in real time after it: so nothing overtakes. */
  #bloatMs(now: Millis, upload: Episodes): number {
    const peakMs = this.#bloat?.peakMs ?? 0
    const isOn = upload.isOn(now)
    const growing = isOn ? (peakMs * (now - upload.start)) / (upload.end - upload.start) : 0
    const draining = peakMs - (now - upload.endedAt)
    return Math.max(growing, draining, 0)
  }
}
