/**
 * In which order sources are asked: as they were added, but for neighbours with weights, who share packets by bytes.
 *
 * ```
 * added    control   orders   snapshots w6   voice and chat w3   bulk
 * asked    1         2        whoever of the two is further behind goes first    5
 * ```
 *
 * Of those with weights each has a clock that its frames move by their bytes over its weight; before every packet they are
 * lined up by it. One that was idle does not save up: it starts where the others are (start-time fair queueing, as lanes do
 * it). Without this a source that always has something, as snapshots do on a narrow path, leaves nothing to those after it.
 *
 * Invariant: a source without a weight keeps its place; those with weights stand together (LANE7).
 */

import { ConfigError } from '../base/assert.ts'
import { FRAME_KINDS_MAX } from '../base/limits.ts'

/** The order of one connection's sources. */
export class SourceOrder {
  /** The sources by their places among those added, in the order in which they are asked. */
  readonly places: Uint8Array = Uint8Array.from({ length: FRAME_KINDS_MAX }, (_, index) => index)
  #weights: Float64Array = new Float64Array(FRAME_KINDS_MAX)
  #clocks: Float64Array = new Float64Array(FRAME_KINDS_MAX)
  #nowClock: number = 0
  /** The run of those with weights: from here to, not including, there. */
  #first: number = 0
  #end: number = 0

  /** Source `index`, the next, is asked in its place (weight 0) or shares with its neighbours. */
  add(index: number, weight: number): void {
    if (!(weight >= 0 && weight < Infinity)) throw new ConfigError('connection.addSource', `weight ${weight}`, 'Give 0 or more.')
    if (weight === 0) return
    if (this.#end > this.#first && this.#end !== index) {
      throw new ConfigError('connection.addSource', 'sources with weights are apart', 'Add them one after another.')
    }
    if (this.#end === this.#first) this.#first = index
    this.#end = index + 1
    this.#weights[index] = weight
  }

  /** Lines up those who share, for the next packet. @hot */
  arrange(): void {
    const places = this.places
    for (let sorted = this.#first + 1; sorted < this.#end; sorted++) {
      const place = places[sorted]
      let at = sorted
      for (; at > this.#first && this.#isBefore(place, places[at - 1]); at--) places[at] = places[at - 1]
      places[at] = place
    }
  }

  /** Source `index` has had frames of `bits` in a packet. @hot */
  charge(index: number, bits: number): void {
    if (this.#weights[index] === 0) return
    const start = this.#clocks[index] > this.#nowClock ? this.#clocks[index] : this.#nowClock
    this.#nowClock = start
    this.#clocks[index] = start + bits / this.#weights[index]
  }

  #isBefore(one: number, other: number): boolean {
    const now = this.#nowClock
    const ones = this.#clocks[one] > now ? this.#clocks[one] : now
    const others = this.#clocks[other] > now ? this.#clocks[other] : now
    return ones < others || (ones === others && one < other)
  }
}
