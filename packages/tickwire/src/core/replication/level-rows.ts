/**
 * What the deltas of a block from one level have in common: found once for 32 objects, and not for each.
 *
 *   direct   changed in the tick of the level, which so is the tick of their baseline; of everybody else that is looked up one by one
 *   moving   changed in the next telling too: the row before the baseline is worth something (`DeltaRows.keyFor`)
 *   rested   did not change between the level and now
 *
 * Good until the next sample.
 */

import type { Tick } from '../base/time.ts'
import type { Timeline } from '../world/timeline.ts'
import type { ChangeMarks } from './change-marks.ts'

const NO_TICK = -1
const NO_REFERENCES = new Uint32Array(0)

export class LevelRows {
  level: Tick = NO_TICK
  direct = 0
  moving = 0
  rested = 0
  /** By object index, those of the level's tick and of the telling before it: type << ROW_BITS | row. */
  references: Uint32Array = NO_REFERENCES
  olderReferences: Uint32Array = NO_REFERENCES
  readonly #marks: ChangeMarks
  readonly #timeline: Timeline
  readonly #strideTicks: number

  constructor(marks: ChangeMarks, timeline: Timeline, strideTicks: number) {
    this.#marks = marks
    this.#timeline = timeline
    this.#strideTicks = strideTicks
  }

  /** Looks at a block, from a level of the window or from one that is older: then nobody is direct. @hot */
  aim(block: number, set: number, level: Tick): void {
    const { masks, oldest, tick } = this.#marks
    this.direct = 0
    if (level < oldest || level >= tick) return
    this.direct = masks.at(set, block, level)
    this.rested = ~masks.since(set, block, level, tick - 1)
    const older = level - this.#strideTicks
    this.moving = older < oldest ? 0 : masks.since(set, block, level, level + this.#strideTicks)
    if (level === this.level) return
    this.level = level
    this.references = this.#timeline.references(level)
    this.olderReferences = this.#timeline.references(older)
  }

  /** Another tick was sampled. */
  clear(): void {
    this.level = NO_TICK
  }
}
