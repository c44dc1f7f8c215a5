/**
 * Where an object is at a fractional tick, according to a Timeline: the rule of drawing, in one place.
 *
 *   told rows      a                b            a = newest row at or before the moment, b = oldest after it
 *   -------------- | ------^------- | --------
 *                      moment                    INTERPOLATE: (moment - a) / (b - a) of the way
 *                  |                  ^          EXTRAPOLATE: no b; dead reckoning from a, up to the cap
 *                  |                      ^      HOLD: beyond the cap, where the cap left it
 *   spawn: only b. It is there from half a tick before b on, as b says. Despawn: as a says until the tick it is gone.
 *
 * `poseTold` reads a client's sparse Timeline. `poseKnown` reads the authority's dense one: every tick has a row, or the
 * object was not there. Both end in `blend.ts`, so where a client was told the ticks around the moment, the two are the
 * same bits. When it was told others (packets lost, budgets), give `poseKnown` what it was told: `ToldTicks`.
 *
 * A Poser keeps nothing of an object; results lie in its fields until the next call.
 */

import { ConfigError } from '../base/assert.ts'
import { EXTRAPOLATION_MS } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import { dequantizeRow } from '../schema/cells.ts'
import type { Timeline } from '../world/timeline.ts'
import { blendRows, given, reckon } from './blend.ts'
import { blendPlanOf, type BlendPlan } from './blend-plan.ts'

/** How an object is drawn now, as numbers in arrays; `MODE_NAMES` has the names. */
export const MODE = { hidden: 0, interpolate: 1, extrapolate: 2, hold: 3 } as const
export const MODE_NAMES = ['hidden', 'interpolate', 'extrapolate', 'hold'] as const
export type ModeName = (typeof MODE_NAMES)[number]

const HIDDEN = MODE.hidden
const INTERPOLATE = MODE.interpolate
const EXTRAPOLATE = MODE.extrapolate
const HOLD = MODE.hold
const NO_TICK = -1

/** What a game says of drawing; the same on every peer, or what a shooter saw is not what is rewound. */
export interface PoseOptions {
  readonly tickRate: number
  /** How long dead reckoning goes on without news. */
  readonly extrapolationMs?: number
  /**
   * A step this far (in the unit of positions), beyond what the speed allows, is a teleport: drawn at once, never on a
   * line. Default: what the bounds of the velocity field allow in half a second; without one, nothing is.
   */
  readonly teleport?: number
}

/** Which ticks of an object a client was told, as far as the authority knows. */
export interface ToldTicks {
  wasTold(id: ObjectId, tick: Tick): boolean
}

/** Seconds at full speed that are a teleport. */
const TELEPORT_SECONDS = 0.5

export class Poser {
  /** The moment, a fractional tick, in a cell: set it before asking. */
  readonly moment: Float64Array = new Float64Array(1)
  /** Set before asking `poseTold`: the object rested from the row of `restRow` on until the tick `rest`; -1: nothing is known. */
  rest: Tick = NO_TICK
  restRow: Tick = NO_TICK
  /** The last answer: the ticks of the rows around the moment; -1 where there is none. */
  before: Tick = NO_TICK
  after: Tick = NO_TICK
  /** The last answer: whose the object was. */
  owner: PeerId = 0
  readonly #timeline: Timeline
  readonly #tickRate: number
  readonly #capTicks: number
  /** By type. */
  readonly #plans: readonly BlendPlan[]
  /** By type, by position: the distance that is a teleport, and the squares of it and what the speed allows in `#gaps` ticks. */
  readonly #teleports: readonly Float64Array[]
  readonly #jumps: readonly Float64Array[]
  readonly #gaps: Float64Array

  constructor(timeline: Timeline, options: PoseOptions) {
    const { tickRate, extrapolationMs = EXTRAPOLATION_MS, teleport } = options
    if (!(extrapolationMs >= 0)) throw new ConfigError('extrapolationMs', `${extrapolationMs}`, 'Give milliseconds, 0 for none.')
    if (teleport !== undefined && !(teleport > 0)) throw new ConfigError('teleport', `${teleport}`, 'Give a distance, in the unit of positions.')
    this.#timeline = timeline
    this.#tickRate = tickRate
    this.#capTicks = extrapolationMs * tickRate / 1000
    this.#plans = timeline.pools.map(({ schema }) => blendPlanOf(schema))
    this.#teleports = this.#plans.map(({ speeds }) => speeds.map((speed) => teleport ?? speed * TELEPORT_SECONDS))
    this.#jumps = this.#plans.map(({ positions }) => new Float64Array(positions.length))
    this.#gaps = new Float64Array(this.#plans.length)
  }

  /**
   * Poses an object of which rows were told, at `moment`, into `cells[at]`; returns the mode. `from` is the oldest tick
   * worth looking at (its birth, or the row before the last moment asked for), `quiet` the newest tick at which it is
   * known to have rested since it was last told (-1: none), `gone` the tick it is gone (-1: none known). @hot
   */
  poseTold(type: number, id: ObjectId, from: Tick, quiet: Tick, gone: Tick, cells: Float64Array, at: number): number {
    const timeline = this.#timeline
    const moment = this.moment[0]
    const floor = Math.floor(moment)
    const newest = timeline.changedAt(id)
    this.after = NO_TICK
    if (newest !== NO_TICK && newest <= floor) {
      this.before = newest
      const row = timeline.findLatest(type, id)
      return row < 0 ? HIDDEN : this.#poseLast(type, row, quiet, gone, cells, at)
    }
    this.before = timeline.lastKnown(type, id, floor, from)
    this.after = timeline.nextKnown(type, id, floor + 1, newest === NO_TICK ? timeline.newest : newest)
    if (this.before === NO_TICK) return this.#poseFirst(type, id, cells, at)
    const row = timeline.find(type, id, this.before)
    if (this.after === NO_TICK || (gone !== NO_TICK && this.after >= gone)) return this.#poseLast(type, row, quiet, gone, cells, at)
    const start = this.restRow === this.before && this.rest < this.after && this.rest > this.before ? this.rest : this.before
    if (moment <= start) this.#load(type, row, cells, at)
    else this.#blend(type, row, timeline.find(type, id, this.after), start, cells, at)
    return INTERPOLATE
  }

  /**
   * Poses an object of a Timeline that has every tick, at `moment`, into `cells[at]`; hidden when it was not there. @hot
   */
  poseKnown(type: number, id: ObjectId, told: ToldTicks | undefined, cells: Float64Array, at: number): number {
    const timeline = this.#timeline
    const floor = Math.floor(this.moment[0])
    this.before = timeline.find(type, id, floor) < 0 ? NO_TICK : floor
    this.after = timeline.find(type, id, floor + 1) < 0 ? NO_TICK : floor + 1
    if (told !== undefined) this.#narrow(type, id, told)
    if (this.before === NO_TICK) return this.#poseFirst(type, id, cells, at)
    const row = timeline.find(type, id, this.before)
    if (this.after === NO_TICK) this.#load(type, row, cells, at)
    else this.#blend(type, row, timeline.find(type, id, this.after), this.before, cells, at)
    return INTERPOLATE
  }

  /** Moves the ticks around the moment out to such as a client was told; where it was told none, they stay. */
  #narrow(type: number, id: ObjectId, told: ToldTicks): void {
    const timeline = this.#timeline
    let tick = this.before
    while (tick !== NO_TICK && timeline.find(type, id, tick) >= 0 && !told.wasTold(id, tick)) tick--
    if (tick !== NO_TICK && timeline.find(type, id, tick) >= 0) this.before = tick
    tick = this.after
    while (tick !== NO_TICK && timeline.find(type, id, tick) >= 0 && !told.wasTold(id, tick)) tick++
    if (tick !== NO_TICK && timeline.find(type, id, tick) >= 0) this.after = tick
  }

  /** Only a row after the moment is known: the object appears half a tick before it. */
  #poseFirst(type: number, id: ObjectId, cells: Float64Array, at: number): number {
    if (this.after === NO_TICK || this.moment[0] < this.after - 0.5) return HIDDEN
    this.#load(type, this.#timeline.find(type, id, this.after), cells, at)
    return INTERPOLATE
  }

  /**
   * After `poseTold` said hidden of an object that is drawn: all rows before the moment have been forgotten. As the next row
   * says, reckoned back to the moment, up to the cap; hidden when there is none.
   */
  poseBack(type: number, id: ObjectId, cells: Float64Array, at: number): number {
    if (this.after === NO_TICK) return HIDDEN
    this.#load(type, this.#timeline.find(type, id, this.after), cells, at)
    const gap = this.after - this.moment[0]
    const isOver = gap > this.#capTicks
    given.seconds[0] = -(isOver ? this.#capTicks : gap) / this.#tickRate
    reckon(this.#plans[type], cells, at)
    return isOver ? HOLD : EXTRAPOLATE
  }

  /** Only a row at or before the moment is known. */
  #poseLast(type: number, row: number, quiet: Tick, gone: Tick, cells: Float64Array, at: number): number {
    this.#load(type, row, cells, at)
    this.after = NO_TICK
    const moment = this.moment[0]
    if (gone !== NO_TICK) return INTERPOLATE
    // Who rested until we last heard of anybody did not follow the velocity he has: he stands at a wall.
    if (quiet > this.before) return moment <= quiet ? INTERPOLATE : HOLD
    const gap = moment - this.before
    const isOver = gap > this.#capTicks
    given.seconds[0] = (isOver ? this.#capTicks : gap) / this.#tickRate
    reckon(this.#plans[type], cells, at)
    return gap === 0 ? INTERPOLATE : isOver ? HOLD : EXTRAPOLATE
  }

  #load(type: number, row: number, cells: Float64Array, at: number): void {
    const pool = this.#timeline.pools[type]
    this.owner = pool.owners[row / pool.laneCount]
    dequantizeRow(pool.schema, pool.rows, row, cells, at)
  }

  /** Between the row that holds at tick `start` and the next. */
  #blend(type: number, row: number, next: number, start: Tick, cells: Float64Array, at: number): void {
    const pool = this.#timeline.pools[type]
    const gap = this.after - start
    const t = (this.moment[0] - start) / gap
    given.share[0] = t
    this.owner = pool.owners[(t >= 0.5 ? next : row) / pool.laneCount]
    this.#setJumps(type, gap)
    blendRows(this.#plans[type], pool.rows, row, next, this.#jumps[type], cells, at)
  }

  /** How far each position may go in so many ticks. */
  #setJumps(type: number, gapTicks: number): void {
    if (this.#gaps[type] === gapTicks) return
    this.#gaps[type] = gapTicks
    const { speeds } = this.#plans[type]
    const teleports = this.#teleports[type]
    const jumps = this.#jumps[type]
    for (let index = 0; index < jumps.length; index++) {
      const most = teleports[index] + (speeds[index] < Infinity ? speeds[index] * gapTicks / this.#tickRate : 0)
      jumps[index] = most * most
    }
  }
}
