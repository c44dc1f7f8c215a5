/**
 * Client-side prediction: steps the client's objects ahead of the server, and corrects them when the authority
 * disagrees.
 *
 *   received  ... T                              rows received from the authority, of the past
 *   predicted ... T ... T+1 ... T+2 ... now      the same `step`, the same inputs, ahead of it
 *
 * The authority's row of tick T includes the input of T by definition, so it is compared with the row predicted for T:
 * to the precision of each field, in the fields that the owner receives. While they agree nothing happens. When they
 * differ, the slot of T is loaded, the received rows are put into it, and the ticks up to now are stepped again.
 * Received rows of later ticks are applied on the way.
 *
 * Objects that `step` spawns here have provisional ids. The authority's spawn with the same entity, owner, birth tick
 * and ordinal is the same object: it gets its real id and keeps its handle, and the following ticks are stepped again
 * under that id, because random numbers and order depend on it.
 *
 * A digest of all rows that the owner should have at T confirms the prediction without any rows, or shows that the
 * received rows are complete and the prediction is wrong.
 *
 * Bounds: at most a window of ticks is predicted beyond the newest received tick; then prediction stalls. One call
 * steps a limited number of ticks and leaves the rest to the next call. The predictor draws nothing and sends nothing.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { Corrections } from './corrections.ts'
import { ownedLanesOf, type OwnedLanes } from './owned-lanes.ts'
import { OwnWord } from './own-word.ts'
import { PredictedObjects } from './predicted-objects.ts'
import { PredictedPast } from './predicted-past.ts'
import type { PredictorOptions } from './predictor-options.ts'
import { findFault, reportFault } from './sync-test.ts'
import { Truth, type ReceivedRow } from './truth.ts'

const NEVER = Infinity
/** Ticks that `lookAhead` shows. */
const TICKS_AHEAD = 2

export class Predictor {
  /** Contains only the objects that are simulated here. */
  readonly world: World
  /** The predicted state of each tick that can be rolled back to. */
  readonly past: PredictedPast
  /** During `lookAhead`: the last predicted tick and the next one. */
  readonly timeline: Timeline
  readonly truth: Truth
  /** The newest tick of the authority that anything was received for; -1 before the first. */
  receivedTick: Tick = -1
  /** All ticks up to this one are known to be predicted correctly, or were corrected. */
  confirmed: Tick = -1
  isRunning = false
  /** The window is full: prediction waits for the authority. */
  isStalled = false
  /** Incremented with every change here. */
  version = 0
  /** Counters: corrected mispredictions, ticks stepped again, restarts from received state. */
  rollbacks = 0
  resteppedTicks = 0
  restarts = 0
  /** How many ticks may be predicted beyond the newest received tick. */
  readonly windowTicks: number
  readonly #digestLanes: readonly OwnedLanes[]
  readonly #isForAll: boolean
  readonly #objects: PredictedObjects
  readonly #ownWord: OwnWord
  readonly #hasShared: boolean
  readonly #step: (world: World) => void
  readonly #corrections: Corrections | undefined
  readonly #options: PredictorOptions
  /** The earliest tick that was mispredicted, and the earliest that gives a predicted spawn its real id. */
  #mistakenAt: Tick = NEVER
  #matchedAt: Tick = NEVER
  /** The newest tick for which a digest was received, and the digest. */
  #digestAt: Tick = -1
  readonly #digest = new Float64Array(1)
  /** The newest tick ever stepped. Stepping it again is a repetition. */
  #reached: Tick = -1
  /** The version whose newest tick is in the Timeline. */
  #aheadOf = -1

  constructor(entities: readonly Entity[], options: PredictorOptions) {
    const { peer, isForAll = false, tickRate, windowTicks, seed = 0 } = options
    const { external, sharing, step, corrections } = options
    this.world = new World(entities, { seed, sharing, ...(external && { external }) })
    this.truth = new Truth(entities, sharing, windowTicks)
    this.past = new PredictedPast(this.world, windowTicks)
    this.timeline = new Timeline(this.world, TICKS_AHEAD)
    this.windowTicks = windowTicks
    this.#isForAll = isForAll
    this.#digestLanes = ownedLanesOf(this.world, tickRate, isForAll)
    this.#objects = new PredictedObjects(peer, this.world, this.truth, tickRate, windowTicks)
    this.#ownWord = new OwnWord(peer, this.world, this.truth)
    this.#hasShared = entities.some(({ isShared }) => isShared)
    this.#step = step
    this.#options = options
    this.#corrections = corrections && new Corrections(this.world, corrections)
  }

  /** The last predicted tick. */
  get tick(): Tick {
    return this.world.tick
  }

  /** Whether the current tick was stepped before, so that its events are already reported. */
  get isRepeating(): boolean {
    return this.world.tick <= this.#reached
  }

  get peer(): PeerId {
    return this.#objects.peer
  }

  /** Predicted spawns that the authority made too, and those that it did not make. */
  get spawnsMatched(): number {
    return this.#objects.spawnsMatched
  }

  get spawnsRefuted(): number {
    return this.#objects.spawnsRefuted
  }

  /** Provisional ids that were replaced by real ones since the reader last cleared the list: from, to, from, to. */
  get renamed(): ObjectId[] {
    return this.#objects.renamed
  }

  /** Whether this client may write a shared object, as far as it has been informed. */
  isOurs(id: ObjectId): boolean {
    return this.#ownWord.isOurs(id)
  }

  /** Whether the authority has not assigned this id. */
  isProvisional(id: ObjectId): boolean {
    return indexOf(id) >= this.world.objects.provisionalFrom && !this.truth.has(id)
  }

  /** Handles a received row of any owner. */
  handleRow(row: Readonly<ReceivedRow>): void {
    const { tick, id } = row
    if (tick > this.receivedTick) this.receivedTick = tick
    if (this.#objects.raiseProvisional(indexOf(id))) {
      this.isRunning = false
      this.version++
    }
    if (!this.#isForAll && row.owner !== this.peer) {
      this.handleGone(tick, id)
      return
    }
    if (this.world.stores[row.type].isShared) {
      if (!this.#ownWord.isNews(row)) return
      this.#forget(tick, id)
    }
    this.truth.put(row)
    if (this.isRunning) this.#judge(row)
  }

  /** Handles the news that an object is gone, or no longer owned by this client, since a tick. */
  handleGone(tick: Tick, id: ObjectId): void {
    if (tick > this.receivedTick) this.receivedTick = tick
    this.#ownWord.forget(id)
    this.#forget(tick, id)
  }

  #forget(tick: Tick, id: ObjectId): void {
    // The usual case: every snapshot has rows of other owners' objects, which were never simulated here.
    if (!this.truth.has(id)) return
    const type = this.truth.world.objects.typeAt(indexOf(id))
    const since = this.truth.world.stores[type].isShared ? tick : Math.max(tick, this.#livedUntil(type, id) + 1)
    if (since > this.receivedTick) this.receivedTick = since
    // If the tick is too old to roll back to, the correction is made in the oldest saved tick.
    const at = this.isRunning ? Math.max(since, this.#oldest()) : since
    if (!this.truth.remove(tick, at, id) || !this.isRunning) return
    if (at > this.world.tick || this.past.find(type, id, at) >= 0) this.#mistakenAt = Math.min(this.#mistakenAt, at)
  }

  /** The newest tick in which an object surely existed. If its index was reused, that may be its last received tick. */
  #livedUntil(type: number, id: ObjectId): Tick {
    const isConfirmed =
      this.isRunning && this.#objects.confirmedOf(this.confirmed, this.past).find(type, id, this.confirmed) >= 0
    return Math.max(this.truth.receivedAt(indexOf(id)), isConfirmed ? this.confirmed : -1)
  }

  /** The authority has reached a tick. `digest` covers this client's objects in it (NaN: none was sent). */
  handleTick(tick: Tick, digest: number): void {
    if (tick > this.receivedTick) this.receivedTick = tick
    if (digest !== digest || tick <= this.confirmed || tick < this.#digestAt) return
    this.#digestAt = tick
    this.#digest[0] = digest
  }

  /** Checks the newest digest. It may arrive before the rows of its tick, and waits for them or for a newer one. */
  settle(): void {
    const tick = this.#digestAt
    const [digest] = this.#digest
    if (tick <= this.confirmed || !this.#knows(tick)) return
    if (this.past.digest(tick, this.#digestLanes) === digest) {
      this.confirmed = tick
      return
    }
    if (this.truth.digestAt(tick, this.#digestLanes) !== digest) return
    this.confirmed = tick
    this.#objects.keepReceived(tick)
    const { objects, stores } = this.truth.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || stores[type].isShared) continue
      const { rows, schema } = stores[type]
      const row: ReceivedRow = {
        tick,
        type,
        id: objects.idAt(index),
        owner: objects.ownerAt(index),
        rows,
        at: objects.slotAt(index) * schema.laneCount,
        birthTick: objects.birthTickAt(index),
        birthOrdinal: objects.birthOrdinalAt(index),
        authorityTick: 0,
      }
      this.truth.timeline.put(tick, type, row.id, row.owner, rows, row.at)
      this.#judge(row)
    }
    // Unknown objects; or a difference below a field's precision, which would make every later digest fail.
    if (this.#objects.hasStrangers(tick, this.past) || this.#matchedAt > tick)
      this.#mistakenAt = Math.min(this.#mistakenAt, tick)
  }

  /** Advances to a tick, as far as the window and `stepsMax` allow. Returns how many ticks were stepped. */
  advance(target: Tick, stepsMax: number): number {
    if (!this.isRunning || this.#isLeftBehind(target)) {
      if (this.receivedTick < 0 || (this.receivedTick === 0 && !this.isRunning)) return 0
      this.#restart(this.receivedTick)
    }
    this.settle()
    const backTo = Math.min(this.#mistakenAt, this.#matchedAt)
    if (backTo !== NEVER) this.#rollBack(backTo)
    const last = Math.min(target, this.receivedTick + this.windowTicks - 1)
    this.isStalled = last < target
    let steps = 0
    while (this.world.tick < last && steps < stepsMax) {
      this.#stepOnce()
      steps++
    }
    if (steps > 0 && (this.#options.syncTest ?? 0) > 0) this.#test(this.#options.syncTest ?? 0)
    return steps
  }

  /**
   * Steps one more tick with the current input, lets `look` see both ticks in the Timeline, and discards it. Drawing
   * between two ticks then aims at the next one instead of lagging by a tick. Returns false when nothing is ahead.
   */
  lookAhead(look: () => void): boolean {
    const { world, timeline } = this
    const { tick } = world
    if (!this.isRunning || this.isStalled || this.#mistakenAt !== NEVER || this.#matchedAt !== NEVER) return false
    this.#options.test?.(true)
    if (this.#aheadOf !== this.version) {
      this.#aheadOf = this.version
      timeline.truncate(-1)
      timeline.sample()
    }
    this.#play()
    timeline.sample()
    look()
    timeline.truncate(tick)
    this.past.load(tick)
    this.#options.test?.(false)
    return true
  }

  /** Discards all predictions: the clock was set, or the window has been left. */
  reset(): void {
    this.isRunning = false
  }

  /** Whether to restart instead of catching up. Catching up keeps predicted spawns and fields that are not sent. */
  #isLeftBehind(target: Tick): boolean {
    const { receivedTick, world: { tick } } = this
    return receivedTick > tick && (receivedTick > target || receivedTick - tick >= this.windowTicks)
  }

  /** Whether it is possible to roll back to a tick. */
  #knows(tick: Tick): boolean {
    return this.isRunning && this.past.has(tick)
  }

  #oldest(): Tick {
    let tick = this.world.tick
    while (this.#knows(tick - 1)) tick--
    return tick
  }

  /** Compares a received row with the prediction for its tick. */
  #judge({ tick, type, id, owner, rows, at, birthTick, birthOrdinal }: Readonly<ReceivedRow>): void {
    if (!this.#knows(tick)) return
    const { past } = this
    const predicted = past.find(type, id, tick)
    const lanes = this.#objects.lanesOf(type, owner)
    const index = indexOf(id)
    const known = past.rows(type, tick)
    if (
      predicted >= 0
      && past.owner(type, id, tick) === owner
      && lanes.isClose(tick, index, known, predicted, rows, at)
    )
      return
    const born = predicted < 0 && birthTick > 0 ? this.#objects.bornAs(type, owner, birthTick, birthOrdinal) : 0
    const bornAt = born === 0 ? -1 : past.find(type, born, tick)
    const isBornHere = bornAt >= 0 && lanes.isClose(tick, index, known, bornAt, rows, at)
    if (isBornHere) this.#matchedAt = Math.min(this.#matchedAt, tick)
    else this.#mistakenAt = Math.min(this.#mistakenAt, tick)
    if (!isBornHere) this.#options.onMistake?.(tick, type, id, known, predicted, rows, at)
  }

  #rollBack(tick: Tick): void {
    if (this.#mistakenAt !== NEVER) this.rollbacks++
    this.#mistakenAt = NEVER
    this.#matchedAt = NEVER
    if (!this.#knows(tick)) return
    if (tick <= this.confirmed) this.#objects.keepPredicted(this.confirmed, this.past)
    this.#corrections?.begin()
    this.resteppedTicks += this.world.tick - tick
    this.past.load(tick)
    this.#objects.applyReceived(tick)
    this.#keep()
    this.#corrections?.finishAt(tick)
  }

  /** Steps the next tick without any bookkeeping. */
  #play(): void {
    const { world } = this
    world.beginTick()
    this.#step(world)
    this.#objects.dropOthers()
    world.endTick()
  }

  #stepOnce(): void {
    this.#play()
    const { world } = this
    const { tick } = world
    this.#ownWord.say()
    if (tick <= this.receivedTick + 1 || (tick <= this.#reached && this.#hasShared)) this.#objects.applyReceived(tick)
    this.#keep()
    if (tick > this.#reached) {
      this.#reached = tick
      this.#options.onStepped?.(world)
    }
    this.#corrections?.finishAt(tick)
  }

  /**
   * Steps the last ticks again, those that nothing was received for, and compares the results. A step that read other
   * clients' objects is not compared: those are drawn elsewhere by now.
   */
  #test(depth: number): void {
    const { world } = this
    const { tick } = world
    let from = tick
    while (from > tick - depth && from > this.receivedTick && this.#knows(from - 1)) from--
    if (from === tick) return
    this.#options.test?.(true)
    const fault = findFault(world, this.past, from, () => this.#play())
    this.#options.test?.(false)
    if (fault !== undefined) reportFault(fault, this.#options.onSyncFault)
  }

  #keep(): void {
    this.version++
    this.#objects.noteBirths()
    this.past.save()
  }

  /** Restarts at a tick from the newest received row of every object. */
  #restart(tick: Tick): void {
    const { world } = this
    this.restarts++
    for (const store of world.stores) for (const handle of store.living()) world.unseat(handle)
    this.past.clear()
    world.tick = tick
    world.isStepping = false
    this.isRunning = true
    this.confirmed = -1
    this.#objects.forgetConfirmed()
    this.#mistakenAt = NEVER
    this.#matchedAt = NEVER
    this.#corrections?.abandon()
    this.#objects.applyNewest()
    world.sample()
    this.#keep()
  }
}
