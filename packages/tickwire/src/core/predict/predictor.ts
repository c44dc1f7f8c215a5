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

import { assert } from '../base/assert.ts'
import { OBJECTS_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import type { Handle } from '../world/handle.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import { SaveSlots } from '../world/save-slots.ts'
import { Timeline } from '../world/timeline.ts'
import { World, type External } from '../world/world.ts'
import { Corrections, type CorrectionListener } from './corrections.ts'
import { ownedLanesOf, type OwnedLanes } from './owned-lanes.ts'
import { digestOf, Truth, type ToldRow } from './truth.ts'

export interface PredictorOptions {
  readonly tickRate: number
  /** How many ticks may be predicted beyond what was heard. */
  readonly windowTicks: number
  readonly seed?: number
  readonly external?: External | undefined
  /** The world whose heap told rows refer to. */
  readonly sharing: World
  /** Runs the game's `step` for the tick that the world is in. */
  readonly step: (world: World) => void
  /** Told where objects were and are, when going back moved them. */
  readonly corrections?: CorrectionListener
}

/** Ids for the time being begin here, and further up once the authority's come near. */
const PROVISIONAL_FIRST = 256
const PROVISIONAL_LAST = OBJECTS_MAX - 1024
const NEVER = Infinity

export class Predictor {
  /** Only the objects that are simulated here. */
  readonly world: World
  readonly timeline: Timeline
  readonly told: Truth
  /** Whose objects are simulated here; 0: everybody's. */
  peer: PeerId = 0
  isEverybody = false
  /** The newest tick of the authority that anything was heard of; -1 before. */
  heard: Tick = -1
  /** Up to here all is known to have been predicted right, or was put right. */
  confirmed: Tick = -1
  isRunning = false
  /** The window is full: nothing is predicted until more is heard. */
  isStalled = false
  /** Mispredictions that were stepped again; ticks stepped again; beginnings from nothing. */
  rollbacks = 0
  resteppedTicks = 0
  restarts = 0
  /** Predicted spawns that the authority made too, and those it did not. */
  spawnsMatched = 0
  spawnsRefuted = 0
  /** Ids for the time being that became real since the reader last cleared it: from, to, from, to. */
  readonly renamed: ObjectId[] = []
  readonly #windowTicks: number
  readonly #slots: SaveSlots
  readonly #lanes: readonly OwnedLanes[]
  readonly #digests: Float64Array
  readonly #step: (world: World) => void
  readonly #corrections: Corrections | undefined
  /** The earliest tick that was told otherwise, or that names what was born here. */
  #mistakenAt: Tick = NEVER
  #matchedAt: Tick = NEVER
  /** The tick of which everything is known. */
  #completeAt: Tick = -1
  /** The newest tick ever stepped: stepping it again is a repetition. */
  #reached: Tick = -1

  constructor(entities: readonly Entity[], options: PredictorOptions) {
    const { tickRate, windowTicks, seed = 0, external, sharing, step, corrections } = options
    this.world = new World(entities, { seed, sharing, ...(external && { external }) })
    this.world.objects.provisionalFrom = PROVISIONAL_FIRST
    this.told = new Truth(entities, sharing, windowTicks)
    this.timeline = new Timeline(this.world, windowTicks)
    this.#windowTicks = windowTicks
    this.#lanes = ownedLanesOf(this.world, tickRate)
    this.#slots = new SaveSlots(this.world, windowTicks)
    this.#digests = new Float64Array(windowTicks)
    this.#step = step
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

  /** An id that the authority has not given. */
  isProvisional(id: ObjectId): boolean {
    return indexOf(id) >= this.world.objects.provisionalFrom && !this.told.has(id)
  }

  /** The authority has told a row, of anybody. */
  handleRow(row: ToldRow): void {
    const { tick, id } = row
    if (tick > this.heard) this.heard = tick
    if (!this.isEverybody && row.owner !== this.peer) {
      this.handleGone(tick, id)
      return
    }
    if (indexOf(id) >= this.world.objects.provisionalFrom) this.#raiseProvisional(indexOf(id))
    this.told.put(row)
    if (this.isRunning) this.#judge(row)
  }

  /** An object is gone, or not ours any more, since a tick. */
  handleGone(tick: Tick, id: ObjectId): void {
    if (tick > this.heard) this.heard = tick
    if (!this.told.remove(tick, id) || !this.isRunning) return
    const handle = this.world.atIndexOf(id)
    if (handle?.id === id || this.#knows(tick)) this.#mistakenAt = Math.min(this.#mistakenAt, Math.max(tick, this.#oldest()))
  }

  /** The authority stands at a tick; what we own there has this digest (NaN: it did not say). */
  handleTick(tick: Tick, digest: number): void {
    if (tick > this.heard) this.heard = tick
    if (digest !== digest || tick <= this.confirmed || !this.#knows(tick)) return
    if (this.#digests[tick % this.#windowTicks] === digest) {
      this.confirmed = tick
      return
    }
    if (this.told.digestAt(tick, this.#lanes) !== digest) return
    this.#completeAt = tick
    this.confirmed = tick
    const { objects, stores } = this.told.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE) continue
      const { rows, schema } = stores[type]
      const row: ToldRow = {
        tick, type, id: objects.idAt(index), owner: objects.ownerAt(index), rows, at: objects.slotAt(index) * schema.laneCount,
        birthTick: objects.birthTickAt(index), birthOrdinal: objects.birthOrdinalAt(index),
      }
      this.told.timeline.put(tick, type, row.id, row.owner, rows, row.at)
      this.#judge(row)
    }
    if (this.#hasStrangers(tick)) this.#mistakenAt = Math.min(this.#mistakenAt, tick)
  }

  /** Goes on to a tick, or as near as the window and `stepsMax` allow. Returns how many ticks were stepped. */
  advance(target: Tick, stepsMax: number): number {
    if (!this.isRunning || this.heard > this.world.tick) {
      if (this.heard < 0 || (this.heard === 0 && !this.isRunning)) return 0
      this.#restart(this.heard)
    }
    const backTo = Math.min(this.#mistakenAt, this.#matchedAt)
    if (backTo !== NEVER) this.#rollBack(backTo)
    const last = Math.min(target, this.heard + this.#windowTicks - 1)
    this.isStalled = last < target
    let steps = 0
    while (this.world.tick < last && steps < stepsMax) {
      this.#stepOnce()
      steps++
    }
    return steps
  }

  /** Forgets everything that was predicted: the clock was set, or the window has been left. */
  reset(): void {
    this.isRunning = false
  }

  /** Whether a tick is one that can be gone back to. */
  #knows(tick: Tick): boolean {
    return this.isRunning && tick >= 0 && this.#slots.tickOf(tick % this.#windowTicks) === tick
  }

  #oldest(): Tick {
    let tick = this.world.tick
    while (this.#knows(tick - 1)) tick--
    return tick
  }

  /** Whether what was told of an object at a tick is what was predicted. */
  #judge({ tick, type, id, owner, rows, at, birthTick, birthOrdinal }: ToldRow): void {
    if (!this.#knows(tick)) return
    const predicted = this.timeline.find(type, id, tick)
    const lanes = this.#lanes[type]
    const index = indexOf(id)
    const known = this.timeline.pools[type].rows
    if (predicted >= 0 && this.timeline.owner(type, id, tick) === owner && lanes.isClose(tick, index, known, predicted, rows, at)) return
    const born = predicted < 0 && birthTick > 0 ? this.#provisional(type, owner, birthTick, birthOrdinal) : undefined
    const bornAt = born === undefined ? -1 : this.timeline.find(type, born.id, tick)
    if (bornAt >= 0 && lanes.isClose(tick, index, known, bornAt, rows, at)) this.#matchedAt = Math.min(this.#matchedAt, tick)
    else this.#mistakenAt = Math.min(this.#mistakenAt, tick)
  }

  /** Whether anybody was predicted at a tick, who lives still, of whom the authority does not know. */
  #hasStrangers(tick: Tick): boolean {
    const { objects } = this.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || this.told.has(objects.idAt(index))) continue
      if (this.timeline.find(type, objects.idAt(index), tick) >= 0) return true
    }
    return false
  }

  #rollBack(tick: Tick): void {
    if (this.#mistakenAt !== NEVER) this.rollbacks++
    this.#mistakenAt = NEVER
    this.#matchedAt = NEVER
    if (!this.#knows(tick)) return
    this.#corrections?.begin()
    this.resteppedTicks += this.world.tick - tick
    this.#slots.load(tick % this.#windowTicks)
    this.world.sample()
    this.#applyTold(tick)
    this.timeline.truncate(tick - 1)
    this.#keep(tick)
    this.#corrections?.finishAt(tick)
  }

  #stepOnce(): void {
    const { world } = this
    world.beginTick()
    this.#step(world)
    if (!this.isEverybody) this.#dropOthers()
    world.endTick()
    const { tick } = world
    if (tick <= this.heard) this.#applyTold(tick)
    this.#keep(tick)
    if (tick > this.#reached) this.#reached = tick
    this.#corrections?.finishAt(tick)
  }

  #keep(tick: Tick): void {
    const place = tick % this.#windowTicks
    this.timeline.sample()
    this.#slots.save(place)
    this.#digests[place] = digestOf(this.world, this.#lanes)
  }

  /** Begins at a tick with the newest that was told of everybody. */
  #restart(tick: Tick): void {
    const { world, told } = this
    this.restarts++
    for (const store of world.stores) for (const handle of store.living()) world.unseat(handle)
    for (let slot = 0; slot < this.#slots.count; slot++) this.#slots.clear(slot)
    this.timeline.truncate(-1)
    world.tick = tick
    world.isStepping = false
    this.isRunning = true
    this.confirmed = -1
    this.#mistakenAt = NEVER
    this.#matchedAt = NEVER
    this.#corrections?.abandon()
    const { objects, stores } = told.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type !== NO_TYPE) this.#apply(type, index, stores[type].rows, objects.slotAt(index) * stores[type].schema.laneCount)
    }
    world.sample()
    this.#keep(tick)
  }

  /** Puts what was told of a tick into the world, which is at that tick. */
  #applyTold(tick: Tick): void {
    const { world, told } = this
    const { objects } = told.world
    for (let number = 0; ; number++) {
      const id = told.goneAt(tick, number)
      if (id === 0) break
      const handle = world.atIndexOf(id)
      if (handle?.id === id) world.unseat(handle)
    }
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE) continue
      const at = told.timeline.find(type, objects.idAt(index), tick)
      if (at >= 0) this.#apply(type, index, told.timeline.pools[type].rows, at)
    }
    if (tick === this.#completeAt) this.#dropStrangers()
  }

  /** Puts one told row into the world; who is not there yet comes, or gets his name. */
  #apply(type: number, index: number, rows: Int32Array, at: number): void {
    const { world } = this
    const { objects } = this.told.world
    const id = objects.idAt(index)
    const owner = objects.ownerAt(index)
    let handle = world.atIndexOf(id)
    if (handle !== undefined && handle.id !== id) {
      world.unseat(handle)
      handle = undefined
    }
    const isNew = handle === undefined
    handle ??= this.#welcome(type, index, id, owner)
    if (handle.owner !== owner) world.setOwner(handle, owner)
    const { $store: store } = handle
    const lanes = this.#lanes[type]
    const rowAt = store.rowAt(handle)
    if (isNew) lanes.copyAll(rows, at, store.rows, rowAt)
    else if (lanes.isEqual(world.tick, index, store.rows, rowAt, rows, at)) return
    else lanes.copy(world.tick, index, rows, at, store.rows, rowAt)
    store.load(handle, store.rows, rowAt)
  }

  #welcome(type: number, index: number, id: ObjectId, owner: PeerId): Handle {
    const { world } = this
    const { objects } = this.told.world
    const [tick, ordinal] = [objects.birthTickAt(index), objects.birthOrdinalAt(index)]
    const born = tick > 0 ? this.#provisional(type, owner, tick, ordinal) : undefined
    if (born !== undefined) {
      this.spawnsMatched++
      this.renamed.push(born.id, id)
      world.rename(born, id)
      return born
    }
    const handle = world.seat(type, id, owner)
    world.objects.setBirth(index, tick, ordinal)
    return handle
  }

  /** Who was born here at that tick as that one of his kind, and has no real id yet. */
  #provisional(type: number, owner: PeerId, birthTick: Tick, birthOrdinal: number): Handle | undefined {
    const { objects } = this.world
    for (let index = objects.provisionalFrom; index < objects.highWater; index++) {
      if (objects.typeAt(index) !== type || objects.ownerAt(index) !== owner) continue
      if (objects.birthTickAt(index) === birthTick && objects.birthOrdinalAt(index) === birthOrdinal) return objects.handles[index]
    }
    return undefined
  }

  /** What `step` made for others is theirs, or the authority's, to make: here it does not outlive the tick. */
  #dropOthers(): void {
    const { world, peer } = this
    const { objects } = world
    for (let index = objects.provisionalFrom; index < objects.highWater; index++) {
      if (objects.typeAt(index) === NO_TYPE || objects.ownerAt(index) === peer) continue
      const handle = objects.handles[index]
      if (handle !== undefined) world.despawn(handle)
    }
  }

  /** Everything of this tick is known: who is not told of does not exist. */
  #dropStrangers(): void {
    const { world, told } = this
    for (const store of world.stores) {
      for (const handle of store.living()) {
        if (told.has(handle.id)) continue
        if (indexOf(handle.id) >= world.objects.provisionalFrom) this.spawnsRefuted++
        world.unseat(handle)
      }
    }
  }

  /** The authority's ids have come up to ours: we begin anew, further up. Once every doubling of the world. */
  #raiseProvisional(index: number): void {
    assert(index < PROVISIONAL_LAST, 'the authority leaves some indexes for ids for the time being')
    let from = this.world.objects.provisionalFrom
    while (from <= index) from *= 2
    this.world.objects.provisionalFrom = Math.min(from, PROVISIONAL_LAST)
    this.isRunning = false
  }
}
