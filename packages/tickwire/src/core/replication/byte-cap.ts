/** How many bits of snapshots a receiver may still be sent: a rate in bytes a second, paid out tick by tick. */

import { ConfigError } from '../base/assert.ts'

/** Seconds of a cap that may be saved up: a burst of one packet flight, not a flood after silence. */
const SAVED_SECONDS = 0.25

export class ByteCap {
  /** What is left; a frame's first entry may overdraw it. */
  bits = 0
  readonly #bitsPerTick: number
  readonly #bitsMax: number

  constructor(bytesPerSecond: number, tickRate: number) {
    if (!(bytesPerSecond > 0)) throw new ConfigError('bytesPerSecond', `${bytesPerSecond}`, 'Give a rate above 0, or none.')
    if (bytesPerSecond !== Infinity && !(tickRate > 0)) throw new ConfigError('tickRate', `${tickRate}`, 'A cap needs the tick rate.')
    this.#bitsPerTick = bytesPerSecond === Infinity ? Infinity : bytesPerSecond * 8 / tickRate
    this.#bitsMax = Math.max(bytesPerSecond * 8 * SAVED_SECONDS, this.#bitsPerTick)
  }

  /** Another tick has come. */
  refill(): void {
    this.bits = Math.min(this.bits + this.#bitsPerTick, this.#bitsMax)
  }
}
