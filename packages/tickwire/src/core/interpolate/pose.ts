/**
 * Where an object is at a fractional tick, according to a Timeline: the rules of drawing, in one place.
 *
 *   known rows     a                b            a = newest row at or before the moment, b = oldest after it
 *   -------------- | ------^------- | --------
 *                      moment                    INTERPOLATE: (moment - a) / (b - a) of the way
 *                  |                  ^          EXTRAPOLATE: no b; dead reckoning from a, up to the cap
 *                  |                      ^      HOLD: beyond the cap, where the cap left it
 *   spawn: only b. The object exists from half a tick before b, as in b. Despawn: as in a until the tick it is gone.
 *
 * `poseReceived` reads a client's sparse Timeline. `poseKnown` reads the authority's dense Timeline, in which
 * every tick has a row, or
 * the object did not exist. Both end in `blend.ts`, so if the client received the ticks around the moment, the results
 * are equal bit for bit. If it received other ticks (packet loss, budgets), pass `poseKnown` the ticks it received:
 * `AckedTicks`.
 *
 * A Poser keeps no state of an object. Results stay in its fields until the next call.
 */

import { ConfigError } from '../base/assert.ts'
import { EXTRAPOLATION_MS } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import { dequantizeRow } from '../schema/cells.ts'
import type { Timeline } from '../world/timeline.ts'
import { blendRows, given, reckon } from './blend.ts'
import { blendPlanOf, type BlendPlan } from './blend-plan.ts'

/** How an object is drawn now, as numbers for arrays; `MODE_NAMES` has the names. */
export const MODE = { hidden: 0, interpolate: 1, extrapolate: 2, hold: 3 } as const
export const MODE_NAMES = ['hidden', 'interpolate', 'extrapolate', 'hold'] as const
/** How an object is drawn: not at all, between two rows, beyond the last row, or as the last row says. */
export type ModeName = (typeof MODE_NAMES)[number]

const HIDDEN = MODE.hidden
const INTERPOLATE = MODE.interpolate
const EXTRAPOLATE = MODE.extrapolate
const HOLD = MODE.hold
const NO_TICK = -1

/** A game's drawing options. They must be equal on every peer, or the rewound world is not what a shooter saw. */
export interface PoseOptions {
  /** Ticks per second. */
  readonly tickRate: number
  /** How long dead reckoning continues without new rows. */
  readonly extrapolationMs?: number
  /**
   * A move this far (in the unit of positions), beyond what the speed allows, is a teleport: drawn at once, never
   * interpolated. Default: what the bounds of the velocity field allow in half a second. Without bounds nothing is a
   * teleport.
   */
  readonly teleport?: number
}

/** Which ticks of an object a client received, as far as the authority knows. */
export interface AckedTicks {
  wasAcked(id: ObjectId, tick: Tick): boolean
}

/** A move as far as this many seconds at full speed is a teleport. */
const TELEPORT_SECONDS = 0.5

export class Poser {
  /** The moment, a fractional tick, in an array. Set it before each call. */
  readonly moment: Float64Array = new Float64Array(1)
  /** Set before `poseReceived`: the object rested from the row of `restRow` until the tick `rest`; -1: not known. */
  rest: Tick = NO_TICK
  restRow: Tick = NO_TICK
  /** Result: the ticks of the rows around the moment; -1 where there is none. */
  before: Tick = NO_TICK
  after: Tick = NO_TICK
  /** Result: the owner of the object. */
  owner: PeerId = 0
  readonly #timeline: Timeline
  readonly #tickRate: number
  /** How many ticks dead reckoning goes on after the newest row; and the teleport distance, by type and position. */
  readonly capTicks: number
  readonly teleports: readonly Float64Array[]
  /** Indexed by type. */
  readonly #plans: readonly BlendPlan[]
  /** Indexed by type, then position: the squares of `teleports` plus what the speed allows in `#gaps` ticks. */
  readonly #jumps: readonly Float64Array[]
  readonly #gaps: Float64Array

  constructor(timeline: Timeline, options: PoseOptions) {
    const { tickRate, extrapolationMs = EXTRAPOLATION_MS, teleport } = options
    if (!(extrapolationMs >= 0))
      throw new ConfigError(
        'extrapolationMs',
        `invalid time (expected 0 or more milliseconds, got ${extrapolationMs})`,
        'give milliseconds; 0 disables extrapolation.',
      )
    if (teleport !== undefined && !(teleport > 0))
      throw new ConfigError(
        'teleport',
        `invalid distance (expected above 0, got ${teleport})`,
        'give a distance, in the unit of positions.',
      )
    this.#timeline = timeline
    this.#tickRate = tickRate
    this.capTicks = extrapolationMs * tickRate / 1000
    this.#plans = timeline.pools.map(({ schema }) => blendPlanOf(schema))
    this.teleports = this.#plans.map(({ speeds }) => speeds.map((speed) => teleport ?? speed * TELEPORT_SECONDS))
    this.#jumps = this.#plans.map(({ positions }) => new Float64Array(positions.length))
    this.#gaps = new Float64Array(this.#plans.length)
  }

  /**
   * Poses an object of a sparse Timeline at `moment` into `cells[at]`; returns the mode. `from` is the oldest tick to
   * search (its birth, or the row before the last moment asked for), `quiet` the newest tick at which it is known to
   * have rested since its newest row (-1: none), `gone` the tick it is gone (-1: none known). @hot
   */
  poseReceived(
    type: number, id: ObjectId, from: Tick, quiet: Tick, gone: Tick, cells: Float64Array, at: number,
  ): number {
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
    if (this.after === NO_TICK || (gone !== NO_TICK && this.after >= gone))
      return this.#poseLast(type, row, quiet, gone, cells, at)
    const start =
      this.restRow === this.before && this.rest < this.after && this.rest > this.before ? this.rest : this.before
    if (moment <= start) this.#load(type, row, cells, at)
    else this.#blend(type, row, timeline.find(type, id, this.after), start, cells, at)
    return INTERPOLATE
  }

  /** Poses an object of a dense Timeline at `moment` into `cells[at]`; hidden when it did not exist. @hot */
  poseKnown(type: number, id: ObjectId, acked: AckedTicks | undefined, cells: Float64Array, at: number): number {
    const timeline = this.#timeline
    const floor = Math.floor(this.moment[0])
    this.before = timeline.find(type, id, floor) < 0 ? NO_TICK : floor
    this.after = timeline.find(type, id, floor + 1) < 0 ? NO_TICK : floor + 1
    if (acked !== undefined) this.#narrow(type, id, acked)
    if (this.before === NO_TICK) return this.#poseFirst(type, id, cells, at)
    const row = timeline.find(type, id, this.before)
    if (this.after === NO_TICK) this.#load(type, row, cells, at)
    else this.#blend(type, row, timeline.find(type, id, this.after), this.before, cells, at)
    return INTERPOLATE
  }

  /** Moves the ticks around the moment outwards to ticks that the client received. If there are none, they stay. */
  #narrow(type: number, id: ObjectId, acked: AckedTicks): void {
    const timeline = this.#timeline
    let tick = this.before
    while (tick !== NO_TICK && timeline.find(type, id, tick) >= 0 && !acked.wasAcked(id, tick)) tick--
    if (tick !== NO_TICK && timeline.find(type, id, tick) >= 0) this.before = tick
    tick = this.after
    while (tick !== NO_TICK && timeline.find(type, id, tick) >= 0 && !acked.wasAcked(id, tick)) tick++
    if (tick !== NO_TICK && timeline.find(type, id, tick) >= 0) this.after = tick
  }

  /** Only a row after the moment is known: the object appears half a tick before it. */
  #poseFirst(type: number, id: ObjectId, cells: Float64Array, at: number): number {
    if (this.after === NO_TICK || this.moment[0] < this.after - 0.5) return HIDDEN
    this.#load(type, this.#timeline.find(type, id, this.after), cells, at)
    return INTERPOLATE
  }

  /**
   * For a drawn object for which `poseReceived` returned hidden because all rows before the moment have left the
   * Timeline.
   * Takes the next row, reckoned back to the moment, up to the cap; hidden when there is none.
   */
  poseBack(type: number, id: ObjectId, cells: Float64Array, at: number): number {
    if (this.after === NO_TICK) return HIDDEN
    this.#load(type, this.#timeline.find(type, id, this.after), cells, at)
    const gap = this.after - this.moment[0]
    const isOver = gap > this.capTicks
    given.seconds[0] = -(isOver ? this.capTicks : gap) / this.#tickRate
    reckon(this.#plans[type], cells, at)
    return isOver ? HOLD : EXTRAPOLATE
  }

  /** Only a row at or before the moment is known. */
  #poseLast(type: number, row: number, quiet: Tick, gone: Tick, cells: Float64Array, at: number): number {
    this.#load(type, row, cells, at)
    this.after = NO_TICK
    const moment = this.moment[0]
    if (gone !== NO_TICK) return INTERPOLATE
    // An object that rested until the newest received tick did not follow its velocity: it stands at a wall.
    if (quiet > this.before) return moment <= quiet ? INTERPOLATE : HOLD
    const gap = moment - this.before
    const isOver = gap > this.capTicks
    given.seconds[0] = (isOver ? this.capTicks : gap) / this.#tickRate
    reckon(this.#plans[type], cells, at)
    return gap === 0 ? INTERPOLATE : isOver ? HOLD : EXTRAPOLATE
  }

  #load(type: number, row: number, cells: Float64Array, at: number): void {
    const pool = this.#timeline.pools[type]
    this.owner = pool.owners[row / pool.laneCount]
    dequantizeRow(pool.schema, pool.rows, row, cells, at)
  }

  /** Blends between the row that is valid at tick `start` and the next row. */
  #blend(type: number, row: number, next: number, start: Tick, cells: Float64Array, at: number): void {
    const pool = this.#timeline.pools[type]
    const gap = this.after - start
    const t = (this.moment[0] - start) / gap
    given.share[0] = t
    this.owner = pool.owners[(t >= 0.5 ? next : row) / pool.laneCount]
    this.#setJumps(type, gap)
    blendRows(this.#plans[type], pool.rows, row, next, this.#jumps[type], cells, at)
  }

  /** Computes how far each position may move in `gapTicks`. */
  #setJumps(type: number, gapTicks: number): void {
    if (this.#gaps[type] === gapTicks) return
    this.#gaps[type] = gapTicks
    const { speeds } = this.#plans[type]
    const teleports = this.teleports[type]
    const jumps = this.#jumps[type]
    for (let index = 0; index < jumps.length; index++) {
      const most = teleports[index] + (speeds[index] < Infinity ? speeds[index] * gapTicks / this.#tickRate : 0)
      jumps[index] = most * most
    }
  }
}
