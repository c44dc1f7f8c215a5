/**
 * Finds rows of one tick after the other's: as `ChangeMarks.rowAtOf`, for who asks for many objects of the same tick.
 *
 * Which tick it is, and where its references lie, is looked up once. Good until the next sample.
 */

import type { Tick } from '../base/time.ts'
import { ROW_BITS, ROW_MASK, type Timeline } from '../world/timeline.ts'
import type { ChangeMarks } from './change-marks.ts'

const NO_TICK = -1
const NO_REFERENCES = new Uint32Array(0)

export class RowFinder {
  readonly #marks: ChangeMarks
  readonly #timeline: Timeline
  #tick: Tick = NO_TICK
  #references: Uint32Array = NO_REFERENCES

  constructor(marks: ChangeMarks, timeline: Timeline) {
    this.#marks = marks
    this.#timeline = timeline
  }

  /** Another tick was sampled. */
  clear(): void {
    this.#tick = NO_TICK
  }

  /** The number of the row that an object had at a tick, as far as `set` sees it, in its pool; -1 when nobody knows any more. @hot */
  find(index: number, set: number, tick: Tick): number {
    const { ids, types, oldest, settled } = this.#marks
    if (tick !== this.#tick) {
      this.#tick = tick
      this.#references = this.#timeline.references(tick >= oldest ? tick : oldest)
    }
    const reference = index < this.#references.length ? this.#references[index] : 0
    const type = types[index]
    const row = reference & ROW_MASK
    if (reference === 0 || reference >>> ROW_BITS !== type || this.#timeline.pools[type].ids[row] !== ids[index]) return -1
    return tick >= oldest || settled[index << 2 | set] <= tick ? row : -1
  }
}
