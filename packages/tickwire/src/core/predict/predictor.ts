/**
 * A client's own future: his objects, stepped now with what he holds now, and set right when the authority says otherwise.
 *
 *   told      ... T                              rows of the authority, of the past
 *   predicted ... T ... T+1 ... T+2 ... now      the same `step`, the same inputs, ahead of it
 *
 * The row told of tick T has consumed the input of T by definition, so it is compared with the row predicted for T: by the
 * field's own step, in the fields that the owner is told. As long as they agree nothing happens. When they do not, the
 * slot of T is loaded, the told rows are put into it, and the ticks up to now are stepped again; told rows of later
 * ticks are put in as it goes by.
 *
 * Objects that `step` makes here have ids for the time being. The authority's spawn of the same entity, owner, birth tick
 * and ordinal is the same object: it gets its real id, keeps its handle, and what followed is stepped again under that id,
 * for dice and order depend on it.
 *
 * A digest of all that the owner should have at T confirms silence, or shows that what was told is complete and what was
 * predicted is not it.
 *
 * Bounds: at most a window of ticks is predicted beyond what was heard; then it stalls until more is heard. One call steps
 * at most so many ticks; what is left comes in the next. It draws nothing and sends nothing.
 */

import { OBJECTS_MAX } from '../base/limits.ts'
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
import { reportFault, RowRecord } from './sync-test.ts'
import { Truth, type ToldRow } from './truth.ts'

/** Ids for the time being begin here, and further up once the authority's come near. */
const PROVISIONAL_FIRST = 256
const PROVISIONAL_LAST = OBJECTS_MAX - 1024
const NEVER = Infinity
/** Ticks that a look ahead looks at. */
const TICKS_AHEAD = 2

export class Predictor {
  /** Only the objects that are simulated here. */
  readonly world: World
  /** What was predicted for each tick, as far back as can be gone. */
  readonly past: PredictedPast
  /** The tick that was predicted last and the one to come, while somebody looks ahead. */
  readonly timeline: Timeline
  readonly told: Truth
  /** The newest tick of the authority that anything was heard of; -1 before. */
  heard: Tick = -1
  /** Up to here all is known to have been predicted right, or was put right. */
  confirmed: Tick = -1
  isRunning = false
  /** The window is full: nothing is predicted until more is heard. */
  isStalled = false
  /** Goes up whenever anything here is another than it was. */
  version = 0
  /** Mispredictions that were stepped again; ticks stepped again; beginnings from nothing. */
  rollbacks = 0
  resteppedTicks = 0
  restarts = 0
  readonly #windowTicks: number
  readonly #digestLanes: readonly OwnedLanes[]
  readonly #isEverybodys: boolean
  readonly #objects: PredictedObjects
  readonly #ownWord: OwnWord
  readonly #hasShared: boolean
  readonly #step: (world: World) => void
  readonly #corrections: Corrections | undefined
  readonly #options: PredictorOptions
  /** The earliest tick that was told otherwise, or that names what was born here. */
  #mistakenAt: Tick = NEVER
  #matchedAt: Tick = NEVER
  /** The newest tick that a digest came of, and the digest. */
  #digestAt: Tick = -1
  readonly #digest = new Float64Array(1)
  /** The newest tick ever stepped: stepping it again is a repetition. */
  #reached: Tick = -1
  /** The version whose newest tick is in the Timeline. */
  #aheadOf = -1

  constructor(entities: readonly Entity[], options: PredictorOptions) {
    const { peer, isEverybodys = false, tickRate, windowTicks, seed = 0, external, sharing, step, corrections } = options
    this.world = new World(entities, { seed, sharing, ...(external && { external }) })
    this.told = new Truth(entities, sharing, windowTicks)
    this.past = new PredictedPast(this.world, windowTicks)
    this.timeline = new Timeline(this.world, TICKS_AHEAD)
    this.#windowTicks = windowTicks
    this.#isEverybodys = isEverybodys
    this.#digestLanes = ownedLanesOf(this.world, tickRate, isEverybodys)
    this.#objects = new PredictedObjects(peer, this.world, this.told, tickRate, windowTicks)
    this.#objects.setProvisional(PROVISIONAL_FIRST)
    this.#ownWord = new OwnWord(peer, this.world, this.told)
    this.#hasShared = entities.some(({ isShared }) => isShared)
    this.#step = step
    this.#options = options
    this.#corrections = corrections && new Corrections(this.world, corrections)
  }

  /** The tick that was predicted last. */
  get tick(): Tick {
    return this.world.tick
  }

  /** A tick that is stepped again has said what happened in it before. */
  get isRepeating(): boolean {
    return this.world.tick <= this.#reached
  }

  get peer(): PeerId {
    return this.#objects.peer
  }

  /** Predicted spawns that the authority made too, and those it did not. */
  get spawnsMatched(): number {
    return this.#objects.spawnsMatched
  }

  get spawnsRefuted(): number {
    return this.#objects.spawnsRefuted
  }

  /** Ids for the time being that became real since the reader last cleared it: from, to, from, to. */
  get renamed(): ObjectId[] {
    return this.#objects.renamed
  }

  /** Whether a shared object is ours to write, as far as we have heard. */
  isOurs(id: ObjectId): boolean {
    return this.#ownWord.isOurs(id)
  }

  /** An id that the authority has not given. */
  isProvisional(id: ObjectId): boolean {
    return indexOf(id) >= this.world.objects.provisionalFrom && !this.told.has(id)
  }

  /** The authority has told a row, of anybody. */
  handleRow(row: Readonly<ToldRow>): void {
    const { tick, id } = row
    if (tick > this.heard) this.heard = tick
    if (indexOf(id) >= this.world.objects.provisionalFrom) this.#raiseProvisional(indexOf(id))
    if (!this.#isEverybodys && row.owner !== this.peer) {
      this.handleGone(tick, id)
      return
    }
    if (this.world.stores[row.type].isShared) {
      if (!this.#ownWord.isNews(row)) return
      this.#forget(tick, id)
    }
    this.told.put(row)
    if (this.isRunning) this.#judge(row)
  }

  /** An object is gone, or not ours any more, since a tick. */
  handleGone(tick: Tick, id: ObjectId): void {
    if (tick > this.heard) this.heard = tick
    this.#ownWord.forget(id)
    this.#forget(tick, id)
  }

  #forget(tick: Tick, id: ObjectId): void {
    // Nearly always: rows of others are told with every snapshot, and were never ours.
    if (!this.told.has(id)) return
    const type = this.told.world.objects.typeAt(indexOf(id))
    const since = this.told.world.stores[type].isShared ? tick : Math.max(tick, this.#livedUntil(type, id) + 1)
    if (since > this.heard) this.heard = since
    // What can no longer be gone back to is put right in the oldest tick that can.
    const at = this.isRunning ? Math.max(since, this.#oldest()) : since
    if (!this.told.remove(tick, at, id) || !this.isRunning) return
    if (at > this.world.tick || this.past.find(type, id, at) >= 0) this.#mistakenAt = Math.min(this.#mistakenAt, at)
  }

  /** The newest tick in which an object was there for sure. Of who has a successor no more may be known than when he was last told of. */
  #livedUntil(type: number, id: ObjectId): Tick {
    const isConfirmed = this.isRunning && this.#objects.confirmedOf(this.confirmed, this.past).find(type, id, this.confirmed) >= 0
    return Math.max(this.told.toldAt(indexOf(id)), isConfirmed ? this.confirmed : -1)
  }

  /** The authority stands at a tick; what we own there has this digest (NaN: it did not say). */
  handleTick(tick: Tick, digest: number): void {
    if (tick > this.heard) this.heard = tick
    if (digest !== digest || tick <= this.confirmed || tick < this.#digestAt) return
    this.#digestAt = tick
    this.#digest[0] = digest
  }

  /** Judges the newest digest. It may come before the rows of its tick, and waits until they are there, or a newer one is. */
  settle(): void {
    const tick = this.#digestAt
    const [digest] = this.#digest
    if (tick <= this.confirmed || !this.#knows(tick)) return
    if (this.past.digest(tick, this.#digestLanes) === digest) {
      this.confirmed = tick
      return
    }
    if (this.told.digestAt(tick, this.#digestLanes) !== digest) return
    this.confirmed = tick
    this.#objects.keepTold(tick)
    const { objects, stores } = this.told.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || stores[type].isShared) continue
      const { rows, schema } = stores[type]
      const row: ToldRow = {
        tick, type, id: objects.idAt(index), owner: objects.ownerAt(index), rows, at: objects.slotAt(index) * schema.laneCount,
        birthTick: objects.birthTickAt(index), birthOrdinal: objects.birthOrdinalAt(index), authorityTick: 0,
      }
      this.told.timeline.put(tick, type, row.id, row.owner, rows, row.at)
      this.#judge(row)
    }
    // Strangers; or less than a step of a field, which would keep every digest to come from confirming anything.
    if (this.#objects.hasStrangers(tick, this.past) || this.#matchedAt > tick) this.#mistakenAt = Math.min(this.#mistakenAt, tick)
  }

  /** Goes on to a tick, or as near as the window and `stepsMax` allow. Returns how many ticks were stepped. */
  advance(target: Tick, stepsMax: number): number {
    if (!this.isRunning || this.heard > this.world.tick) {
      if (this.heard < 0 || (this.heard === 0 && !this.isRunning)) return 0
      this.#restart(this.heard)
    }
    this.settle()
    const backTo = Math.min(this.#mistakenAt, this.#matchedAt)
    if (backTo !== NEVER) this.#rollBack(backTo)
    const last = Math.min(target, this.heard + this.#windowTicks - 1)
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
   * Steps one tick more with what is held now, lets `look` see both in the Timeline, and forgets it: whoever draws between
   * two ticks draws towards the one to come, and not a tick behind. Nothing has happened. False when there is nothing ahead.
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

  /** Forgets everything that was predicted: the clock was set, or the window has been left. */
  reset(): void {
    this.isRunning = false
  }

  /** Whether a tick is one that can be gone back to. */
  #knows(tick: Tick): boolean {
    return this.isRunning && this.past.has(tick)
  }

  #oldest(): Tick {
    let tick = this.world.tick
    while (this.#knows(tick - 1)) tick--
    return tick
  }

  /** Whether what was told of an object at a tick is what was predicted. */
  #judge({ tick, type, id, owner, rows, at, birthTick, birthOrdinal }: Readonly<ToldRow>): void {
    if (!this.#knows(tick)) return
    const { past } = this
    const predicted = past.find(type, id, tick)
    const lanes = this.#objects.lanesOf(type, owner)
    const index = indexOf(id)
    const known = past.rows(type, tick)
    if (predicted >= 0 && past.owner(type, id, tick) === owner && lanes.isClose(tick, index, known, predicted, rows, at)) return
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
    this.#objects.applyTold(tick)
    this.#keep()
    this.#corrections?.finishAt(tick)
  }

  /** Steps the next tick, and that is all. */
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
    if (tick <= this.heard + 1 || (tick <= this.#reached && this.#hasShared)) this.#objects.applyTold(tick)
    this.#keep()
    if (tick > this.#reached) {
      this.#reached = tick
      this.#options.onStepped?.(world)
    }
    this.#corrections?.finishAt(tick)
  }

  /**
   * Steps the last ticks again, those that nothing was told of, and sees whether they come out the same. What looked at others
   * cannot: they are drawn elsewhere by now.
   */
  #test(depth: number): void {
    const { world } = this
    const { tick } = world
    let from = tick
    while (from > tick - depth && from > this.heard && this.#knows(from - 1)) from--
    if (from === tick) return
    const looks = world.sight?.looks
    const first = new RowRecord(world)
    this.#options.test?.(true)
    this.past.load(from)
    while (world.tick < tick) this.#play()
    const fault = world.sight?.looks === looks ? first.compare(world, tick - from) : undefined
    this.past.load(tick)
    this.#options.test?.(false)
    if (fault !== undefined) reportFault(fault, this.#options.onSyncFault)
  }

  #keep(): void {
    this.version++
    this.#objects.noteBirths()
    this.past.save()
  }

  /** Begins at a tick with the newest that was told of everybody. */
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

  /** The authority's ids have come up to ours: we begin anew, further up. Once every doubling of the world. */
  #raiseProvisional(index: number): void {
    let from = this.world.objects.provisionalFrom
    for (const store of this.world.stores) {
      for (const handle of store.living()) if (this.isProvisional(handle.id)) this.world.unseat(handle)
    }
    while (from <= index) from *= 2
    // In a world that is full to the brim nothing can be spawned ahead of the authority.
    this.#objects.setProvisional(index >= PROVISIONAL_LAST ? OBJECTS_MAX : Math.min(from, PROVISIONAL_LAST))
    this.isRunning = false
    this.version++
  }
}
