/**
 * One directed link of a simulated network: decides the fate of each datagram on it.
 *
 * The stages, in this order:
 *
 * ```
 * outage of the sender → partition → mtu → burst → loss → police, line, bloat → corruption → latency + jitter
 *        → held back by reordering → its copies by duplication
 * ```
 *
 * Randomness is keyed by (seed, link, fault, number of the datagram): whether the 17th datagram is lost does not depend
 * on whether jitter is switched on, nor on the fate of the 16th. A fault can be removed and all others still affect the
 * same datagrams; this makes it possible to shrink the weather of a failing test.
 */

import type { KeyedPrng } from '../core/base/keyed-prng.ts'
import type { Millis } from '../core/base/time.ts'
import { Damage } from './link-model-damage.ts'
import { Holds } from './link-model-holds.ts'
import { Line } from './link-model-line.ts'
import { LinkTally } from './link-model-tally.ts'
import type { Flights } from './sim-net-flights.ts'
import type { NetWeather } from './weather.ts'
import { Episodes, cutExponential } from './weather-episodes.ts'

/** What randomness is keyed by, in addition to the link. Never renumber: the same seeds would give different runs. */
export const CONCERN = {
  jitter: 0,
  loss: 1,
  bursts: 2,
  burstLoss: 3,
  outages: 4,
  duplication: 5,
  reordering: 6,
  corruption: 7,
  bloat: 8,
  mtu: 9,
  partitions: 10,
  rebinds: 11,
  skew: 12,
  jumps: 13,
  pauses: 14,
  sleeps: 15,
  // Only for nodes, whose keys differ from those of links.
  stalls: 0,
} as const

/** How many concerns the key space of a link or node has room for. */
export const CONCERNS = 16

/** One directed link. */
export class LinkModel {
  /** What happened on this link. */
  readonly tally: LinkTally = new LinkTally()
  #chance: KeyedPrng
  /** Key of the link's first concern. */
  #key: number
  #weather: NetWeather = {}
  #number: number = 0
  #line: Line
  #bursts: Episodes | undefined
  #partitions: Episodes | undefined
  #mtu: Episodes | undefined
  #holds: Holds | undefined
  #damage: Damage | undefined

  /** `key` is the first of `CONCERNS` keys. */
  constructor(chance: KeyedPrng, key: number) {
    this.#chance = chance
    this.#key = key
    this.#line = new Line(chance, key + CONCERN.bloat)
  }

  /** Its current weather. */
  get weather(): NetWeather {
    return this.#weather
  }

  /** Sets the weather from now on. A fault whose object is unchanged continues; others restart. */
  setWeather(now: Millis, weather: NetWeather): void {
    const { bursts, partitions, mtu } = weather
    const before = this.#weather
    if (bursts !== before.bursts)
      this.#bursts = bursts && new Episodes(this.#chance, this.#key + CONCERN.bursts, bursts, now)
    if (partitions !== before.partitions) {
      this.#partitions = partitions && new Episodes(this.#chance, this.#key + CONCERN.partitions, partitions, now)
    }
    if (mtu !== before.mtu) this.#mtu = mtu && new Episodes(this.#chance, this.#key + CONCERN.mtu, mtu, now)
    if (weather.reordering !== undefined) this.#holds ??= new Holds()
    if (weather.corruption !== undefined) this.#damage ??= new Damage()
    this.#line.setWeather(now, weather)
    this.#weather = weather
  }

  /** Sends a datagram from address `from` to address `to`, into `flights`. */
  send(
    now: Millis, bytes: Uint8Array, length: number, from: string, to: string, isCutOff: boolean, flights: Flights,
  ): void {
    const number = this.#number++
    const { latency } = this.#weather
    let arrivesAt = now + (latency?.ms ?? 0)
    this.tally.sent++
    if (!this.#isDropped(now, number, length, isCutOff)) {
      const waitMs = this.#line.wait(now, length, this.tally)
      if (waitMs >= 0) {
        arrivesAt += waitMs + this.#jitterMs(number)
        this.#launch(number, arrivesAt, bytes, length, from, to, flights)
      }
    }
    this.#holds?.release(number, arrivesAt, flights)
  }

  #isDropped(now: Millis, number: number, length: number, isCutOff: boolean): boolean {
    const { mtu, bursts, loss } = this.#weather
    if (isCutOff) this.tally.lostInOutage++
    else if (this.#partitions?.isOn(now) === true) this.tally.partitioned++
    else if (mtu !== undefined && length > mtu.bytes && this.#mtu?.isOn(now) === true) this.tally.tooLong++
    else if (
      bursts !== undefined
      && this.#bursts?.isOn(now) === true
      && this.#roll(number, CONCERN.burstLoss) < bursts.rate
    ) {
      this.tally.lostInBurst++
    } else if (loss !== undefined && this.#roll(number, CONCERN.loss) < loss.rate) this.tally.lost++
    else return false
    return true
  }

  #jitterMs(number: number): number {
    const { jitter } = this.#weather
    return jitter === undefined ? 0 : jitter.ms * cutExponential(this.#roll(number, CONCERN.jitter))
  }

  #launch(
    number: number, arrivesAt: Millis, bytes: Uint8Array, length: number, from: string, to: string, flights: Flights,
  ): void {
    const { corruption, reordering, duplication } = this.#weather
    const damage = this.#damage
    const isDamaged =
      corruption !== undefined
      && damage !== undefined
      && damage.apply(
        this.#at(number, CONCERN.corruption),
        corruption.rate,
        corruption.spliceRate,
        bytes,
        length,
        this.tally,
      )
    const shown = isDamaged ? damage.bytes : bytes
    const shownLength = isDamaged ? damage.length : length

    const distance = reordering === undefined ? 0 : this.#holdDistance(number, reordering)
    const latest = distance > 0 ? arrivesAt + (reordering?.holdMs ?? 0) : arrivesAt
    const slot = flights.launch(latest, shown, shownLength, from, to, this.tally)
    if (distance > 0 && slot >= 0) {
      this.tally.held++
      this.#holds?.hold(number, distance, slot, flights.lastOrder)
    }

    if (duplication === undefined) return
    const chance = this.#at(number, CONCERN.duplication)
    if (chance.nextFloat() >= duplication.rate) return
    for (let copies = chance.nextInt(1, duplication.copies); copies > 0; copies--) {
      this.tally.copies++
      flights.launch(arrivesAt + chance.nextFloat() * duplication.lateMs, bytes, length, from, to, this.tally)
    }
  }

  #holdDistance(number: number, { rate, distance }: NonNullable<NetWeather['reordering']>): number {
    const chance = this.#at(number, CONCERN.reordering)
    return chance.nextFloat() < rate ? chance.nextInt(1, distance) : 0
  }

  #at(number: number, concern: number): KeyedPrng {
    return this.#chance.at(number, this.#key + concern)
  }

  #roll(number: number, concern: number): number {
    return this.#at(number, concern).nextFloat()
  }
}
