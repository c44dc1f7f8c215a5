/**
 * Fields that are told less often than every tick: `health.rate(20)`.
 *
 * The row that a Timeline remembers is the object's own, except that a field with a rate keeps its last remembered value
 * between the ticks that are due:
 *
 *   tick          60  61  62  63  64  65            every third tick is due, by object in turn, so that
 *   object 0       *           *                    a thousand of them do not all change at once
 *   object 1           *           *
 *
 * So "the row that a client holds for a tick is the authority's remembered row" stays true, and what did not change in
 * it costs nothing. A new object is remembered as it is. `step` and the world's own rows know nothing of rates.
 */

import type { Tick } from '../base/time.ts'
import type { Schema } from '../schema/schema.ts'

/** Ticks from one change that is told to the next, for a field of so many a second: the nearest whole number, at least 1. */
export function ratePeriod(tickRate: number, rateHz: number): number {
  return Math.max(1, Math.round(tickRate / rateHz))
}

/** Whether a field with a period is told of at a tick, for the object at an index. @hot */
export function isDue(tick: Tick, index: number, period: number): boolean {
  return (tick + index) % period === 0
}

/** Holds back the fields of one entity. */
export class RateLatch {
  /** The row of the last `hold`. */
  readonly row: Int32Array
  /** First lane, lane after the last, and period, of each field that has one. */
  readonly #spans: Int32Array

  constructor(laneCount: number, spans: readonly number[]) {
    this.row = new Int32Array(laneCount)
    this.#spans = Int32Array.from(spans)
  }

  /** Makes the row to remember at a tick: what is, but of what is not due what was known. @hot */
  hold(tick: Tick, index: number, rows: Int32Array, at: number, knownRows: Int32Array, knownAt: number): void {
    const { row } = this
    for (let lane = 0; lane < row.length; lane++) row[lane] = rows[at + lane]
    const spans = this.#spans
    for (let span = 0; span < spans.length; span += 3) {
      if (isDue(tick, index, spans[span + 2])) continue
      for (let lane = spans[span]; lane < spans[span + 1]; lane++) row[lane] = knownRows[knownAt + lane]
    }
  }
}

/** The latch of an entity at a tick rate; undefined when all it says is told every tick. */
export function rateLatchOf({ members, laneCount }: Schema, tickRate: number): RateLatch | undefined {
  const spans = members.flatMap(({ field, lane, laneCount: lanes }) => {
    const { rateHz } = field.options
    const period = rateHz === undefined ? 1 : ratePeriod(tickRate, rateHz)
    return period === 1 ? [] : [lane, lane + lanes, period]
  })
  return spans.length === 0 ? undefined : new RateLatch(laneCount, spans)
}
