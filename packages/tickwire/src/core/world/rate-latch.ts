/**
 * Fields that are sent less often than every tick: `health.rate(20)`.
 *
 * The row that a Timeline stores is the object's own, except that a field with a rate keeps its last stored value
 * between the ticks in which it is due:
 *
 *   tick          60  61  62  63  64  65            every third tick is due, staggered by object, so that
 *   object 0       *           *                    a thousand objects do not all change at once
 *   object 1           *           *
 *
 * So "the row that a client has for a tick equals the authority's stored row" stays true, and an unchanged row costs
 * nothing. A new object is stored as it is. `step` and the world's own rows are not affected by rates.
 */

import type { Tick } from '../base/time.ts'
import type { Schema } from '../schema/schema.ts'

/** Ticks between two updates of a field with this rate: the nearest integer, at least 1. */
export function ratePeriod(tickRate: number, rateHz: number): number {
  return Math.max(1, Math.round(tickRate / rateHz))
}

/** Whether a field with this period is sent at a tick, for the object at an index. @hot */
export function isDue(tick: Tick, index: number, period: number): boolean {
  return (tick + index) % period === 0
}

/** Holds back the rated fields of one entity. */
export class RateLatch {
  /** The row that the last `hold` made. */
  readonly row: Int32Array
  /** Three per rated field: first lane, lane after the last, period. */
  readonly #spans: Int32Array

  constructor(laneCount: number, spans: readonly number[]) {
    this.row = new Int32Array(laneCount)
    this.#spans = Int32Array.from(spans)
  }

  /** Makes the row to store at a tick: the current row, with the stored values for fields that are not due. @hot */
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

/** The latch of an entity at a tick rate; undefined when every field is sent every tick. */
export function rateLatchOf({ members, laneCount }: Schema, tickRate: number): RateLatch | undefined {
  const spans = members.flatMap(({ field, lane, laneCount: lanes }) => {
    const { rateHz } = field.options
    const period = rateHz === undefined ? 1 : ratePeriod(tickRate, rateHz)
    return period === 1 ? [] : [lane, lane + lanes, period]
  })
  return spans.length === 0 ? undefined : new RateLatch(laneCount, spans)
}
