/** Simulated network conditions between a lockstep room and its relay: `connect(game, where, { wire })`. */

import type { WireHooks } from '../core/client/lockstep-room.ts'
import { monotonicNow } from '../browser/clock.ts'
import { CLEAR, WeatherLine, type LineWeather } from './weather-line.ts'

type Pass = (bytes: Uint8Array, length: number) => void

/** Everything is lost. */
const CUT: LineWeather = { ...CLEAR, loss: 1 }

/** Network conditions for both directions of a lockstep room. */
export class WeatherWire implements WireHooks {
  readonly #lines: { readonly out: WeatherLine; readonly in: WeatherLine }
  #passOut: Pass = () => {}
  #passIn: Pass = () => {}
  #weather: LineWeather = CLEAR
  #cutTimer: ReturnType<typeof setTimeout> | undefined

  /** `seed`: of the losses and delays. Default: 1. */
  constructor(seed: number = 1) {
    this.#lines = {
      out: new WeatherLine(monotonicNow, 2 * seed, (bytes, length) => this.#passOut(bytes, length)),
      in: new WeatherLine(monotonicNow, 2 * seed + 1, (bytes, length) => this.#passIn(bytes, length)),
    }
  }

  /** The conditions of each direction. */
  get weather(): LineWeather {
    return this.#weather
  }

  /** Sets the conditions of both directions. Faults that are left out are off. */
  set(weather: Partial<LineWeather>): void {
    this.#weather = { ...CLEAR, ...weather }
    if (this.#cutTimer === undefined) this.#apply(this.#weather)
  }

  /** Loses all packets for a time, in ms. */
  cut(ms: number): void {
    clearTimeout(this.#cutTimer)
    this.#apply(CUT)
    this.#cutTimer = setTimeout(() => {
      this.#cutTimer = undefined
      this.#apply(this.#weather)
    }, ms)
  }

  /** Whether the line is cut. */
  get isCut(): boolean {
    return this.#cutTimer !== undefined
  }

  /** The room has a packet to send. */
  send(bytes: Uint8Array, length: number, pass: Pass): void {
    this.#passOut = pass
    if (this.#lines.out.isClear) pass(bytes, length)
    else this.#lines.out.send(bytes, length)
  }

  /** A packet has arrived for the room. */
  receive(bytes: Uint8Array, length: number, pass: Pass): void {
    this.#passIn = pass
    if (this.#lines.in.isClear) pass(bytes, length)
    else this.#lines.in.send(bytes, length)
  }

  #apply(weather: LineWeather): void {
    this.#lines.out.weather = weather
    this.#lines.in.weather = weather
  }
}
