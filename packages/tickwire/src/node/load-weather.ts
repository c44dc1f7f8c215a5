/**
 * A port with simulated network conditions: datagrams that it sends and receives are delayed or dropped. It is for
 * playing a game and trying a server, not for tests: it runs on real timers, and `tickwire/testing` has deterministic
 * simulations.
 */

import { Prng } from '../core/base/prng.ts'
import type { DatagramPort, DatagramPortStats } from '../core/endpoint/datagram-port.ts'
import type { BundledPort, BundleMember } from './port-bundle.ts'

/** Network conditions, applied in each direction. */
export interface LoadWeather {
  /** Delay of every datagram, in ms. */
  readonly latencyMs: number
  /** Additional delay of up to this much, drawn for each datagram. */
  readonly jitterMs: number
  /** The fraction that is lost, 0 to 1. */
  readonly loss: number
}

/** Reads `100ms,20ms,5%`: latency, jitter and loss. The last two may be left out. Undefined: it is something else. */
export function parseWeather(text: string): LoadWeather | undefined {
  const match = /^(\d+(?:\.\d+)?)ms(?:,(\d+(?:\.\d+)?)ms)?(?:,(\d+(?:\.\d+)?)%)?$/.exec(text)
  const [, latency = '0', jitter = '0', loss = '0'] = match ?? []
  if (match === null || Number(loss) > 100) return undefined
  return { latencyMs: Number(latency), jitterMs: Number(jitter), loss: Number(loss) / 100 }
}

/** The ports, with network conditions if there are any. */
export function withWeather(
  members: readonly BundleMember[],
  weather: LoadWeather | undefined,
): readonly BundleMember[] {
  if (weather === undefined) return members
  return members.map(({ prefix, port }, index) => ({ prefix, port: new WeatherPort(port, weather, index + 1) }))
}

export class WeatherPort implements BundledPort {
  readonly #port: BundledPort
  readonly #weather: LoadWeather
  readonly #dice: Prng
  #isClosed = false
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}

  constructor(port: BundledPort, weather: LoadWeather, seed: number) {
    this.#port = port
    this.#weather = weather
    this.#dice = new Prng(seed)
    port.onDatagram = (from, bytes, length) =>
      this.#delay(bytes, length, (copy) => this.onDatagram(from, copy, copy.length))
    port.onPathClosed = (address) => this.onPathClosed(address)
  }

  get maxDatagramBytes(): number {
    return this.#port.maxDatagramBytes
  }

  get stats(): DatagramPortStats {
    return this.#port.stats
  }

  originOf(address: string): string {
    return this.#port.originOf?.(address) ?? address
  }

  closeUnused(used: ReadonlySet<string>, before: number): void {
    this.#port.closeUnused?.(used, before)
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    this.#delay(bytes, length, (copy) => this.#port.send(to, copy, copy.length))
  }

  close(): void {
    this.#isClosed = true
    this.#port.close()
  }

  #delay(bytes: Uint8Array, length: number, then: (copy: Uint8Array) => void): void {
    const { latencyMs, jitterMs, loss } = this.#weather
    if (this.#dice.nextFloat() < loss) return
    const copy = bytes.slice(0, length)
    setTimeout(() => {
      if (!this.#isClosed) then(copy)
    }, latencyMs + jitterMs * this.#dice.nextFloat())
  }
}
