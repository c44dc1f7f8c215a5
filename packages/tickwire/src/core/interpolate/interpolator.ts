/**
 * What a client was told, as a picture that moves: fills a world of views from a sparse Timeline, once a draw.
 *
 * To put it to work:
 *
 *   const view = new World(entities, { isReadOnly: true })
 *   const confirmed = new Timeline(view, windowTicks(tickRate))     over the view's world: texts and lists share its heap
 *   const interpolator = new Interpolator(view, confirmed, { tickRate })
 *
 *   when rows come      confirmed.put(...); interpolator.enter(type, id, tick) for who is new or back,
 *                       interpolator.leave(id, tick) for who is gone from that tick on
 *                       interpolator.heard = the newest tick of which anything came: whom it leaves out for long rests
 *   on every draw       clock.advance(now); smoother.begin(seconds since the last draw); interpolator.draw(clock.renderTick)
 *   who is stepped here interpolator.setLocal(id, true): from then on its cells in the view are prediction's
 *
 * When an object that was at rest is told at T, and the frame says that it still rested at T - 1, put the old row at
 * T - 1 as well: else its start is smeared over the whole rest.
 *
 * Objects appear half a tick before the first row and stay until the moment reaches the tick they are gone. A picture
 * never jumps: when news change what was drawn (we had reckoned ahead; a late row came between two), the difference at
 * the last moment drawn goes to the smoother. Nothing is allocated by a draw in which nobody comes.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import type { Handle } from '../world/handle.ts'
import { indexOf } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { ErrorSmoother, type SmoothingOptions } from './error-smoother.ts'
import { Lives, MARK } from './lives.ts'
import { MODE, MODE_NAMES, Poser, type ModeName, type PoseOptions } from './pose.ts'

export interface InterpolatorOptions extends PoseOptions, SmoothingOptions {
  /** Called when an object comes into view, its cells set, and when it goes, before they are let go of. */
  readonly onShown?: (handle: Handle) => void
  readonly onHidden?: (handle: Handle) => void
}

const HIDDEN = MODE.hidden
const INTERPOLATE = MODE.interpolate
const NO_TICK = -1
/** Ticks between two rows beyond which nobody is told of by turns: that was a rest. */
const GAP_MAX = 16
/** Longer than this nothing comes only when nothing can: an idle authority says what time it is every quarter second. */
const SILENCE_SECONDS = 0.3
const { told: MARK_TOLD, quiet: MARK_QUIET, unknown: MARK_UNKNOWN } = MARK

export class Interpolator {
  /** Of corrections; prediction may share it. Begun by whoever draws. */
  readonly smoother: ErrorSmoother
  /** How many objects were drawn in which mode in the last draw, by `MODE`. */
  readonly drawn: Uint32Array = new Uint32Array(MODE_NAMES.length)
  readonly #view: World
  readonly #timeline: Timeline
  readonly #options: InterpolatorOptions
  readonly #poser: Poser
  readonly #lives = new Lives()
  /** The moments of this draw and of the last one, in cells; and what an object's cells would have been then. */
  readonly #now = new Float64Array([NO_TICK])
  readonly #last = new Float64Array([NO_TICK])
  readonly #cells: Float64Array
  readonly #silenceTicks: number
  #heard: Tick = NO_TICK
  /** The first tick that was heard of after a silence; -1: there was none. */
  #resumed: Tick = NO_TICK

  constructor(view: World, timeline: Timeline, options: InterpolatorOptions) {
    this.#view = view
    this.#timeline = timeline
    this.#options = options
    this.#poser = new Poser(timeline, options)
    this.smoother = new ErrorSmoother(view, options)
    this.#silenceTicks = SILENCE_SECONDS * options.tickRate
    this.#cells = new Float64Array(view.stores.reduce((most, { schema }) => Math.max(most, schema.cellCount), 0))
  }

  /**
   * The newest tick of which anything was heard. Who moves is told in every snapshot, or every few when room is short; who is
   * left out for twice as long as it used to be, and two ticks more, while others are heard of, rests. What nobody was told
   * of in a silence says nothing of him. -1: never judge so.
   */
  get heard(): Tick {
    return this.#heard
  }

  set heard(tick: Tick) {
    if (this.#heard !== NO_TICK && tick > this.#heard + this.#silenceTicks) this.#resumed = tick
    this.#heard = tick
  }

  /** An object is told of for the first time, or again after it had left: its first row is that of `tick`. */
  enter(type: number, id: ObjectId, tick: Tick): void {
    this.#lives.enter(type, id, tick)
  }

  /** An object is gone from the view at `tick`. */
  leave(id: ObjectId, tick: Tick): void {
    this.#lives.leave(id, tick)
  }

  /** Whether somebody else (prediction) seats an object in the view and sets its cells. */
  setLocal(id: ObjectId, isLocal: boolean): void {
    const index = indexOf(id)
    this.#lives.reserve(index)
    if ((this.#lives.local[index] === id) === isLocal) return
    this.#lives.local[index] = isLocal ? id : 0
    this.#lives.isSeated[index] = this.#view.atIndexOf(id)?.id === id ? 1 : 0
    // Whatever is in its cells now is what was drawn last; the next draw goes on from there.
    this.#lives.mark[index] = MARK_UNKNOWN
  }

  /** How an object is drawn now; 'hidden' while it is not, or while it is stepped here. */
  modeOf(id: ObjectId): ModeName {
    const index = indexOf(id)
    return index < this.#lives.high && this.#lives.id[index] === id ? MODE_NAMES[this.#lives.mode[index]] : 'hidden'
  }

  /** Forgets everyone, and shows nobody: another match, another authority. */
  clear(): void {
    for (let index = 0; index < this.#lives.high; index++) this.#hide(index)
    this.#lives.clear()
    this.#heard = NO_TICK
    this.#resumed = NO_TICK
    this.#last[0] = NO_TICK
  }

  /** Sets the view to a fractional tick, not before the last one drawn. @hot */
  draw(renderTick: number): void {
    const lives = this.#lives
    this.drawn.fill(0)
    this.#now[0] = renderTick
    for (let index = 0; index < lives.high; index++) {
      if (lives.id[index] === 0 && lives.nextId[index] === 0) continue
      // Who has not drawn for long may have missed a whole life: that one is not shown late.
      while (lives.isOver(index, renderTick)) {
        this.#hide(index)
        lives.advance(index)
      }
      if (lives.id[index] === 0 || lives.local[index] === lives.id[index]) continue
      if (renderTick < lives.first[index] - 0.5) continue
      // Whom prediction has taken out of the view stays out until it is gone, or comes back.
      if (lives.isSeated[index] === 1 && !this.#view.objects.isAlive(lives.id[index])) continue
      this.#drawOne(index)
      this.drawn[lives.mode[index]]++
    }
    this.#last[0] = renderTick
  }

  #drawOne(index: number): void {
    const lives = this.#lives
    const poser = this.#poser
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
      // The rows before have left the window: who is seen stays as he is until the moment of the next.
      lives.mode[index] = MODE.hold
      lives.mark[index] = MARK_UNKNOWN
      return
    }
    lives.mode[index] = mode
    lives.mark[index] = this.#quietOf(index) === NO_TICK ? MARK_TOLD : MARK_QUIET
    this.#view.objects.setOwner(index, poser.owner)
    this.smoother.apply(type, slot, store.cells, at)
  }

  #pose(index: number, moment: Float64Array, cells: Float64Array, at: number): number {
    const lives = this.#lives
    this.#poser.moment[0] = moment[0]
    this.#poser.rest = lives.rest[index]
    this.#poser.restRow = lives.restRow[index]
    const mode = this.#poser.poseTold(lives.type[index], lives.id[index], lives.from(index), this.#quietOf(index), lives.gone[index], cells, at)
    // After a long outage whoever moved before it is not where he was left, and to wait for the moment of the next row is to lose
    // the whole interpolation delay. Whoever rested may have stood until just before it.
    const isLost = mode === HIDDEN && this.#heard !== NO_TICK && lives.isSeated[index] === 1 && lives.mark[index] === MARK_TOLD
    return isLost ? this.#poser.poseBack(lives.type[index], lives.id[index], cells, at) : mode
  }

  /** Whether what is known of the last moment drawn is not what was known then. */
  #isRevised(index: number): boolean {
    const lives = this.#lives
    const before = lives.before[index]
    const after = lives.after[index]
    if (lives.mark[index] === MARK_UNKNOWN) return true
    if (after !== NO_TICK) {
      return after - before > 1 && this.#timeline.nextKnown(lives.type[index], lives.id[index], before + 1, after - 1) !== NO_TICK
    }
    if (lives.mode[index] === INTERPOLATE && this.#last[0] === before) return false
    const mark = this.#quietOf(index) === NO_TICK ? MARK_TOLD : MARK_QUIET
    return this.#timeline.changedAt(lives.id[index]) !== before || lives.gone[index] !== NO_TICK || mark !== lives.mark[index]
  }

  /** Draws on from where the object was drawn, though it turned out to have been elsewhere. */
  #revise(index: number): void {
    const type = this.#lives.type[index]
    const store = this.#view.stores[type]
    const slot = this.#view.objects.slotAt(index)
    let mode = this.#pose(index, this.#last, this.#cells, 0)
    // Nothing is known of then any more: from where it stood to where it is now.
    if (mode === HIDDEN) mode = this.#pose(index, this.#now, this.#cells, 0)
    if (mode !== HIDDEN) this.smoother.absorb(type, slot, store.cells, slot * store.schema.cellCount, this.#cells, 0)
  }

  /** Until when an object is taken to have rested since its newest row; -1 when it is not. */
  #quietOf(index: number): Tick {
    const lives = this.#lives
    const told = this.#timeline.changedAt(lives.id[index])
    const isKnown = lives.restRow[index] === told
    if (told === NO_TICK || (!isKnown && this.#heard <= Math.max(told, this.#resumed) + 2 * lives.gap[index] + 2)) return NO_TICK
    // Remembered for the day it is told again: it did not start before this.
    lives.rest[index] = this.#heard
    lives.restRow[index] = told
    return this.#heard
  }

  #show(index: number): void {
    const lives = this.#lives
    // Prediction still has somebody here who is gone by now.
    if (this.#view.atIndexOf(lives.id[index]) !== undefined) return
    if (this.#pose(index, this.#now, this.#cells, 0) === HIDDEN) return
    const handle = this.#view.seat(lives.type[index], lives.id[index], this.#poser.owner)
    const { $cells, $store } = handle
    for (let cell = 0; cell < $cells.length; cell++) $cells[cell] = this.#cells[cell]
    this.smoother.reset($store.type, $store.slotOf(handle))
    lives.isSeated[index] = 1
    lives.mark[index] = MARK_TOLD
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
