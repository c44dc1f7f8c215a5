/**
 * Turns the rows that a client received into motion: fills a world of views from a sparse Timeline, once per draw.
 *
 * Usage:
 *
 *   const view = new World(entities, { isReadOnly: true })
 *   const confirmed = new Timeline(view, windowTicks(tickRate))     over the view's world, to share its heap
 *   const interpolator = new Interpolator(view, confirmed, { tickRate })
 *
 *   when rows arrive    confirmed.put(...); interpolator.enter(type, id, tick) for an object that is new or returns,
 *                       interpolator.leave(id, tick) for an object that is gone from that tick on
 *                       interpolator.receivedTick = the newest received tick: an object that got no rows for long is
 *                       at rest
 *   on every draw       clock.advance(now); smoother.begin(seconds since the last draw);
 *                       interpolator.draw(clock.renderTick)
 *   predicted objects   interpolator.setLocal(id, true): from then on prediction writes its cells in the view
 *
 * When an object that was at rest gets a row at T, and the frame says that it still rested at T - 1, put the old row at
 * T - 1 as well. Otherwise the start of its motion is spread over the whole rest.
 *
 * An object appears half a tick before its first row and stays until the render tick reaches the tick of its removal.
 * The picture never jumps: when new rows change what was drawn (after extrapolation, or a late row between two others),
 * the difference at the last drawn moment goes to the smoother. A draw in which no object appears allocates nothing.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import type { Handle } from '../world/handle.ts'
import { indexOf } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { ErrorSmoother, type SmoothingOptions } from './error-smoother.ts'
import { Lives, MARK } from './lives.ts'
import { MODE, MODE_NAMES, Poser, type ModeName, type PoseOptions } from './pose.ts'

/** How remote objects are drawn. */
export interface InterpolatorOptions extends PoseOptions, SmoothingOptions {
  /** Called when an object comes into view, after its cells are set, and when it leaves, before they are released. */
  readonly onShown?: (handle: Handle) => void
  /** Called when an object leaves the view, before its cells are released. */
  readonly onHidden?: (handle: Handle) => void
}

const HIDDEN = MODE.hidden
const INTERPOLATE = MODE.interpolate
const NO_TICK = -1
/** A longer gap between two rows, in ticks, is not caused by a limited send budget: the object was at rest. */
const GAP_MAX = 16
/** Longer silence means that the link is down: an idle authority sends its time every quarter second. */
const SILENCE_SECONDS = 0.3
const { received: MARK_RECEIVED, quiet: MARK_QUIET, unknown: MARK_UNKNOWN } = MARK

/** Draws the objects of a Timeline at any moment, between two ticks too. */
export class Interpolator {
  /** Smooths corrections. Prediction may share it. The drawing code calls its `begin`. */
  readonly smoother: ErrorSmoother
  /** How many objects were drawn in each mode in the last draw. Indexed by `MODE`. */
  readonly drawn: Uint32Array = new Uint32Array(MODE_NAMES.length)
  readonly #view: World
  readonly #timeline: Timeline
  readonly #options: InterpolatorOptions
  /** Computes the pose of one object. */
  readonly poser: Poser
  readonly #lives = new Lives()
  /** The moments of this draw and of the last one, in arrays; and scratch cells for the pose of an object. */
  readonly #now = new Float64Array([NO_TICK])
  readonly #last = new Float64Array([NO_TICK])
  readonly #cells: Float64Array
  readonly #silenceTicks: number
  #receivedTick: Tick = NO_TICK
  /** The first tick that was received after a silence; -1: there was none. */
  #resumed: Tick = NO_TICK

  constructor(view: World, timeline: Timeline, options: InterpolatorOptions) {
    this.#view = view
    this.#timeline = timeline
    this.#options = options
    this.poser = new Poser(timeline, options)
    this.smoother = new ErrorSmoother(view, options)
    this.#silenceTicks = SILENCE_SECONDS * options.tickRate
    this.#cells = new Float64Array(view.stores.reduce((most, { schema }) => Math.max(most, schema.cellCount), 0))
  }

  /**
   * The newest tick for which anything was received. A moving object has a row in every snapshot, or in every few when
   * bandwidth is short. An object is at rest if it has no row for twice its usual gap plus two ticks while other data
   * arrives. A missing row during a silence means nothing. -1: never assume rest.
   */
  get receivedTick(): Tick {
    return this.#receivedTick
  }

  set receivedTick(tick: Tick) {
    if (this.#receivedTick !== NO_TICK && tick > this.#receivedTick + this.#silenceTicks) this.#resumed = tick
    this.#receivedTick = tick
  }

  /** An object is received for the first time, or again after it had left. Its first row is that of `tick`. */
  enter(type: number, id: ObjectId, tick: Tick): void {
    this.#lives.enter(type, id, tick)
  }

  /** An object is gone from the view at `tick`. */
  leave(id: ObjectId, tick: Tick): void {
    this.#lives.leave(id, tick)
  }

  /** Whether prediction, not the interpolator, seats an object in the view and sets its cells. */
  setLocal(id: ObjectId, isLocal: boolean): void {
    const index = indexOf(id)
    this.#lives.reserve(index)
    if ((this.#lives.local[index] === id) === isLocal) return
    if (isLocal) this.#lives.setRemoved(id, false)
    this.#lives.local[index] = isLocal ? id : 0
    this.#lives.isSeated[index] = this.#view.atIndexOf(id)?.id === id ? 1 : 0
    // Its cells now hold what was drawn last. The next draw continues from there.
    this.#lives.mark[index] = MARK_UNKNOWN
  }

  /**
   * Prediction has removed an object from the view. Drawing lags behind, so rows from before its removal would still be
   * drawn. The object stays hidden until it is gone, or until prediction brings it back (`setLocal`).
   */
  remove(id: ObjectId): void {
    this.#lives.setRemoved(id, true)
  }

  /** How an object is drawn now; 'hidden' while it is not drawn, or while it is predicted here. */
  modeOf(id: ObjectId): ModeName {
    const index = indexOf(id)
    return index < this.#lives.high && this.#lives.id[index] === id ? MODE_NAMES[this.#lives.mode[index]] : 'hidden'
  }

  /** Removes all objects: for another match or another authority. */
  clear(): void {
    for (let index = 0; index < this.#lives.high; index++) this.#hide(index)
    this.#lives.clear()
    this.#receivedTick = NO_TICK
    this.#resumed = NO_TICK
    this.#last[0] = NO_TICK
  }

  /** Sets the view to a fractional tick, which must not be before the last one drawn. @hot */
  draw(renderTick: number): void {
    const lives = this.#lives
    this.drawn.fill(0)
    this.#now[0] = renderTick
    for (let index = 0; index < lives.high; index++) {
      if (lives.id[index] === 0 && lives.nextId[index] === 0) continue
      // After a long pause between draws a whole life may have been missed. It is not shown late.
      while (lives.isOver(index, renderTick)) {
        this.#hide(index)
        lives.advance(index)
      }
      if (lives.id[index] === 0 || lives.local[index] === lives.id[index]) continue
      if (renderTick < lives.first[index] - 0.5) continue
      // Prediction has removed it from the view, or has put another object at its index.
      if (lives.isRemoved[index] === 1 || (lives.isSeated[index] === 1 && !this.#view.objects.isAlive(lives.id[index])))
        continue
      this.#drawOne(index)
      this.drawn[lives.mode[index]]++
    }
    this.#last[0] = renderTick
  }

  #drawOne(index: number): void {
    const lives = this.#lives
    const poser = this.poser
    const type = lives.type[index]
    if (lives.isSeated[index] === 0) this.#show(index)
    else if (this.#isRevised(index)) this.#revise(index)
    if (lives.isSeated[index] === 0) return
    const store = this.#view.stores[type]
    const slot = this.#view.objects.slotAt(index)
    const at = slot * store.schema.cellCount
    const mode = this.#pose(index, this.#now, store.cells, at)
    if (lives.before[index] !== NO_TICK && poser.before > lives.before[index]) {
      lives.gap[index] = Math.min(poser.before - lives.before[index], GAP_MAX)
    }
    lives.before[index] = poser.before
    lives.after[index] = poser.after
    if (mode === HIDDEN) {
      // The earlier rows have left the window. A visible object stays as it is until the moment of its next row.
      lives.mode[index] = MODE.hold
      lives.mark[index] = MARK_UNKNOWN
      return
    }
    lives.mode[index] = mode
    lives.mark[index] = this.#quietOf(index) === NO_TICK ? MARK_RECEIVED : MARK_QUIET
    this.#view.objects.setOwner(index, poser.owner)
    this.smoother.apply(type, slot, store.cells, at)
  }

  #pose(index: number, moment: Float64Array, cells: Float64Array, at: number): number {
    const lives = this.#lives
    this.poser.moment[0] = moment[0]
    this.poser.rest = lives.rest[index]
    this.poser.restRow = lives.restRow[index]
    const mode = this.poser.poseReceived(
      lives.type[index],
      lives.id[index],
      lives.from(index),
      this.#quietOf(index),
      lives.gone[index],
      cells,
      at,
    )
    // After a long outage an object that moved before it is no longer where it was drawn. Waiting for the moment of the
    // next row would lose the whole interpolation delay. An object that was at rest may have stayed until just before
    // that row.
    const isLost =
      mode === HIDDEN
      && this.#receivedTick !== NO_TICK
      && lives.isSeated[index] === 1
      && lives.mark[index] === MARK_RECEIVED
    return isLost ? this.poser.poseBack(lives.type[index], lives.id[index], cells, at) : mode
  }

  /** Whether the rows around the last drawn moment have changed since it was drawn. */
  #isRevised(index: number): boolean {
    const lives = this.#lives
    const before = lives.before[index]
    const after = lives.after[index]
    if (lives.mark[index] === MARK_UNKNOWN) return true
    if (after !== NO_TICK) {
      return (
        after - before > 1
        && this.#timeline.nextKnown(lives.type[index], lives.id[index], before + 1, after - 1) !== NO_TICK
      )
    }
    if (lives.mode[index] === INTERPOLATE && this.#last[0] === before) return false
    const mark = this.#quietOf(index) === NO_TICK ? MARK_RECEIVED : MARK_QUIET
    return (
      this.#timeline.changedAt(lives.id[index]) !== before
      || lives.gone[index] !== NO_TICK
      || mark !== lives.mark[index]
    )
  }

  /** Continues from where the object was drawn, although new rows place it elsewhere. */
  #revise(index: number): void {
    const type = this.#lives.type[index]
    const store = this.#view.stores[type]
    const slot = this.#view.objects.slotAt(index)
    let mode = this.#pose(index, this.#last, this.#cells, 0)
    // Nothing is known about the last moment any more: smooths from there to the current pose.
    if (mode === HIDDEN) mode = this.#pose(index, this.#now, this.#cells, 0)
    if (mode !== HIDDEN) this.smoother.absorb(type, slot, store.cells, slot * store.schema.cellCount, this.#cells, 0)
  }

  /** The tick until which an object is assumed to have rested since its newest row; -1 when it is not at rest. */
  #quietOf(index: number): Tick {
    const lives = this.#lives
    const changedAt = this.#timeline.changedAt(lives.id[index])
    const isKnown = lives.restRow[index] === changedAt
    const silentFrom = Math.max(changedAt, this.#resumed) + 2 * lives.gap[index] + 2
    if (changedAt === NO_TICK || (!isKnown && this.#receivedTick <= silentFrom))
      return NO_TICK
    // Kept for its next row: its motion did not start before this tick.
    lives.rest[index] = this.#receivedTick
    lives.restRow[index] = changedAt
    return this.#receivedTick
  }

  #show(index: number): void {
    const lives = this.#lives
    // Prediction still has an object here that is gone by now.
    if (this.#view.atIndexOf(lives.id[index]) !== undefined) return
    if (this.#pose(index, this.#now, this.#cells, 0) === HIDDEN) return
    const handle = this.#view.seat(lives.type[index], lives.id[index], this.poser.owner)
    const { $cells, $store } = handle
    for (let cell = 0; cell < $cells.length; cell++) $cells[cell] = this.#cells[cell]
    this.smoother.reset($store.type, $store.slotOf(handle))
    lives.isSeated[index] = 1
    lives.mark[index] = MARK_RECEIVED
    this.#options.onShown?.(handle)
  }

  #hide(index: number): void {
    const lives = this.#lives
    if (lives.id[index] === 0 || lives.isSeated[index] === 0 || lives.local[index] === lives.id[index]) return
    const handle = this.#view.atIndexOf(lives.id[index])
    if (handle === undefined || handle.id !== lives.id[index]) return
    this.#options.onHidden?.(handle)
    this.#view.unseat(handle)
    lives.isSeated[index] = 0
  }
}
