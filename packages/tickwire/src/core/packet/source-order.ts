/**
 * The order in which sources are asked: the order they were added in, except that adjacent sources with weights share
 * packets by bytes.
 *
 * ```
 * added    control   orders   snapshots w6   voice and chat w3   bulk
 * asked    1         2        the one of the two that is further behind goes first    5
 * ```
 *
 * Each source with a weight has a clock, which its frames advance by their bytes divided by its weight. Before every
 * packet these sources are sorted by their clocks. An idle source does not save up credit: it starts where the others
 * are (start-time fair queueing, as for send queues). Without this a source that always has data, as snapshots do on a
 * narrow path, would leave nothing to the sources after it.
 *
 * Invariant: a source without a weight keeps its place; sources with weights are adjacent (LANE7).
 */

import { ConfigError } from '../base/assert.ts'
import { FRAME_KINDS_MAX } from '../base/limits.ts'

/** The order of one connection's sources. */
export class SourceOrder {
  /** Indices of the sources, in the order in which they are asked. */
  readonly places: Uint8Array = Uint8Array.from({ length: FRAME_KINDS_MAX }, (_, index) => index)
  #weights: Float64Array = new Float64Array(FRAME_KINDS_MAX)
  #clocks: Float64Array = new Float64Array(FRAME_KINDS_MAX)
  #nowClock: number = 0
  /** The range of sources with weights: from #first up to, not including, #end. */
  #first: number = 0
  #end: number = 0

  /** Adds source `index`, the next one. With weight 0 it keeps its place, otherwise it shares with its neighbours. */
  add(index: number, weight: number): void {
    if (!(weight >= 0 && weight < Infinity))
      throw new ConfigError(
        'connection.addSource',
        `invalid weight (expected 0 or more, got ${weight})`,
        'give 0 or more.',
      )
    if (weight === 0) return
    if (this.#end > this.#first && this.#end !== index) {
      throw new ConfigError(
        'connection.addSource',
        'sources with weights are not adjacent',
        'add them one after another.',
      )
    }
    if (this.#end === this.#first) this.#first = index
    this.#end = index + 1
    this.#weights[index] = weight
  }

  /** Sorts the sources that share, for the next packet. @hot */
  arrange(): void {
    const places = this.places
    for (let sorted = this.#first + 1; sorted < this.#end; sorted++) {
      const place = places[sorted]
      let at = sorted
      for (; at > this.#first && this.#isBefore(place, places[at - 1]); at--) places[at] = places[at - 1]
      places[at] = place
    }
  }

  /** Source `index` wrote frames of `bits` bits into a packet. @hot */
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
