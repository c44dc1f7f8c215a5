/** How many bits of snapshots a receiver may still be sent: a rate in bytes a second, paid out tick by tick. */

import { ConfigError } from '../base/assert.ts'

/** Seconds of a cap that may be saved up: a burst of one packet flight, not a flood after silence. */
const SAVED_SECONDS = 0.25

/** Of bits that are left: as many as there is room for. A small integer, as all that is handed on with every packet: a double is boxed on the way. */
export const NO_CAP = 0x3fff_ffff

export class ByteCap {
  /** What is left; a frame's first entry may overdraw it. */
  bits = 0
  readonly #bitsPerTick: number
  readonly #bitsMax: number
  /** The same with its fraction. */
  readonly #exact = new Float64Array(1)

  constructor(bytesPerSecond: number, tickRate: number) {
    if (!(bytesPerSecond > 0)) throw new ConfigError('bytesPerSecond', `${bytesPerSecond}`, 'Give a rate above 0, or none.')
    if (bytesPerSecond !== Infinity && !(tickRate > 0)) throw new ConfigError('tickRate', `${tickRate}`, 'A cap needs the tick rate.')
    this.#bitsPerTick = bytesPerSecond === Infinity ? Infinity : bytesPerSecond * 8 / tickRate
    this.#bitsMax = Math.min(Math.max(bytesPerSecond * 8 * SAVED_SECONDS, this.#bitsPerTick), NO_CAP)
  }

  /** Another tick has come. @hot */
  refill(): void {
    if (this.#bitsPerTick === Infinity) {
      this.bits = NO_CAP
      return
    }
    this.#exact[0] = Math.min(this.#exact[0] + this.#bitsPerTick, this.#bitsMax)
    this.bits = Math.ceil(this.#exact[0]) | 0
  }

  /** A frame of so many bits was written. @hot */
  spend(bits: number): void {
    if (this.#bitsPerTick === Infinity) return
    this.#exact[0] -= bits
    this.bits = Math.ceil(this.#exact[0]) | 0
  }
}
