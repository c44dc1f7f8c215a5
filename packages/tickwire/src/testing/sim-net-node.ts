/**
 * A node of a simulated network: its name and address for those who use it, and what the network keeps of it.
 */

import type { KeyedPrng } from '../core/base/keyed-prng.ts'
import type { Millis } from '../core/base/time.ts'
import { CONCERN, type LinkModel } from './link-model.ts'
import { SkewedClock } from './sim-net-clock.ts'
import { Flights } from './sim-net-flights.ts'
import type { NetWeather } from './weather.ts'
import { Episodes } from './weather-episodes.ts'

/** Somebody on the network. Made by `SimNet.addNode`. */
export interface SimNode {
  readonly name: string
  readonly index: number
  /** It keeps its address whatever the weather. */
  readonly isFixed: boolean
  /** Where it can be reached now. */
  readonly address: string
  /** Its own view of time. */
  readonly clock: SkewedClock
}

/** What the network keeps of a node. */
export class NodeState implements SimNode {
  readonly name: string
  readonly index: number
  readonly isFixed: boolean
  address: string
  readonly clock: SkewedClock
  /** What is on its way to it. */
  readonly flights: Flights = new Flights()
  /** Its links, by the index of the node they lead to. */
  readonly links: (LinkModel | undefined)[] = []
  /** How far it has moved: ports in the low part, hosts in the high one. */
  moveCount: number = 0
  #chance: KeyedPrng
  #key: number
  #weather: NetWeather = {}
  /** Outages as its sending and as its receiving side see them: the same ones, asked for at different times. */
  #sendOutages: Episodes | undefined
  #recvOutages: Episodes | undefined
  #rebinds: Episodes | undefined

  constructor(name: string, index: number, address: string, isFixed: boolean, chance: KeyedPrng, key: number) {
    this.name = name
    this.index = index
    this.address = address
    this.isFixed = isFixed
    this.clock = new SkewedClock(chance, key)
    this.#chance = chance
    this.#key = key
  }

  setWeather(now: Millis, weather: NetWeather): void {
    const { outages, rebinds } = weather
    const key = this.#key
    if (outages !== this.#weather.outages) {
      this.#sendOutages = outages && new Episodes(this.#chance, key + CONCERN.outages, outages, now)
      this.#recvOutages = outages && new Episodes(this.#chance, key + CONCERN.outages, outages, now)
    }
    if (rebinds !== this.#weather.rebinds) {
      const numbers = rebinds && { everyMs: rebinds.everyMs, lastsMs: 0 }
      this.#rebinds = numbers && !this.isFixed ? new Episodes(this.#chance, key + CONCERN.rebinds, numbers, now) : undefined
    }
    this.clock.setWeather(now, weather)
    this.#weather = weather
  }

  /** Whether an outage keeps it from sending. */
  isMute(now: Millis): boolean {
    return this.#sendOutages?.isOn(now) === true
  }

  /** Whether an outage kept it from hearing what came at `at`. */
  isDeaf(at: Millis): boolean {
    return this.#recvOutages?.isOn(at) === true
  }

  /** When the weather next moves it. */
  get movesAt(): Millis {
    return this.#rebinds?.start ?? Infinity
  }

  /** The move that is due, which is thereby over: to another port or another host. */
  takeMove(): 'port' | 'address' {
    const rebinds = this.#rebinds
    if (rebinds === undefined) return 'port'
    // The first four words of this place are the episode's own.
    const chance = this.#chance.at(rebinds.count, this.#key + CONCERN.rebinds, 4)
    rebinds.next()
    return chance.nextFloat() < (this.#weather.rebinds?.addressRate ?? 0) ? 'address' : 'port'
  }
}
