/**
 * A node of a simulated network: its name and address for users, and its state for the network.
 */

import type { KeyedPrng } from '../core/base/keyed-prng.ts'
import type { Millis } from '../core/base/time.ts'
import { CONCERN, type LinkModel } from './link-model.ts'
import { SkewedClock } from './sim-net-clock.ts'
import { Flights } from './sim-net-flights.ts'
import type { NetWeather } from './weather.ts'
import { Episodes } from './weather-episodes.ts'

/** A node on the network. Made by `SimNet.addNode`. */
export interface SimNode {
  /** The name that it was added with. */
  readonly name: string
  /** Its number, in the order of addition. */
  readonly index: number
  /** Whether it keeps its address whatever the weather. */
  readonly isFixed: boolean
  /** Its current address. */
  readonly address: string
  /** Its own clock. */
  readonly clock: SkewedClock
}

/** The network's state of a node. */
export class NodeState implements SimNode {
  readonly name: string
  readonly index: number
  readonly isFixed: boolean
  address: string
  readonly clock: SkewedClock
  /** Datagrams in flight to it. */
  readonly flights: Flights = new Flights()
  /** Its outgoing links. Indexed by the index of the destination node. */
  readonly links: (LinkModel | undefined)[] = []
  /** How often it has moved: the low part selects the port, the high part the host. */
  moveCount: number = 0
  #chance: KeyedPrng
  #key: number
  #weather: NetWeather = {}
  /** Outages for its sending and for its receiving side. They are the same episodes, queried at different times. */
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
      this.#rebinds =
        numbers && !this.isFixed ? new Episodes(this.#chance, key + CONCERN.rebinds, numbers, now) : undefined
    }
    this.clock.setWeather(now, weather)
    this.#weather = weather
  }

  /** Whether an outage keeps it from sending. */
  isMute(now: Millis): boolean {
    return this.#sendOutages?.isOn(now) === true
  }

  /** Whether an outage kept it from receiving what arrived at `at`. */
  isDeaf(at: Millis): boolean {
    return this.#recvOutages?.isOn(at) === true
  }

  /** When the weather next moves it. */
  get movesAt(): Millis {
    return this.#rebinds?.start ?? Infinity
  }

  /** Takes the move that is due: to another port or another host. */
  takeMove(): 'port' | 'address' {
    const rebinds = this.#rebinds
    if (rebinds === undefined) return 'port'
    // The episode itself uses the first four words here.
    const chance = this.#chance.at(rebinds.count, this.#key + CONCERN.rebinds, 4)
    rebinds.next()
    return chance.nextFloat() < (this.#weather.rebinds?.addressRate ?? 0) ? 'address' : 'port'
  }
}
