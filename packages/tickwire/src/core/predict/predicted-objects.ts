/**
 * The objects that are simulated on a client, as the authority's word finds them: who comes, who is named, who is not.
 *
 * Rows that were told are put into the world; who is told of for the first time is seated, or recognised by his birth as
 * one that was born here, who keeps his handle and gets his id. It does not know when any of this is called for:
 * `predictor.ts` does.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Handle } from '../world/handle.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import { ROW_BITS, ROW_MASK, Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { isReference, ownedLanesOf, type OwnedLanes } from './owned-lanes.ts'
import type { PredictedPast } from './predicted-past.ts'
import type { Truth } from './truth.ts'

/** Of an object that has an id for the time being. */
interface Birth {
  readonly tick: Tick
  readonly type: number
  readonly owner: PeerId
  readonly ordinal: number
  readonly id: ObjectId
}

/** One tick is kept, and a Timeline has two. */
const CONFIRMED_TICKS = 2

export class PredictedObjects {
  readonly peer: PeerId
  readonly world: World
  readonly told: Truth
  /** Predicted spawns that the authority made too, and those it did not. */
  spawnsMatched = 0
  spawnsRefuted = 0
  /** Ids for the time being that became real: from, to, from, to. */
  readonly renamed: ObjectId[] = []
  readonly #ownLanes: readonly OwnedLanes[]
  readonly #otherLanes: readonly OwnedLanes[]

  /** By tick modulo the window: who was born in it. Some do not live until they are told of. */
  readonly #births: Birth[][]
  /** What a digest has confirmed of a tick, when ticks before it are stepped again. */
  readonly #confirmed: Timeline
  #isNew = false

  constructor(peer: PeerId, world: World, told: Truth, tickRate: number, windowTicks: number) {
    this.#births = Array.from({ length: windowTicks }, () => [])
    this.#confirmed = new Timeline(world, CONFIRMED_TICKS)
    this.peer = peer
    this.world = world
    this.told = told
    this.#ownLanes = ownedLanesOf(world, tickRate)
    this.#otherLanes = ownedLanesOf(world, tickRate, true)
  }

  /** What is told of an object of this type and owner. */
  lanesOf(type: number, owner: PeerId): OwnedLanes {
    return (owner === this.peer ? this.#ownLanes : this.#otherLanes)[type]
  }

  /** Ids for the time being begin at an index from now on. */
  setProvisional(from: number): void {
    this.world.objects.provisionalFrom = from
    for (const lanes of [...this.#ownLanes, ...this.#otherLanes]) lanes.provisionalFrom = from
  }

  /** Notes who was born in the tick that has just been stepped. */
  noteBirths(): void {
    const { objects, tick } = this.world
    const births = this.#births[tick % this.#births.length]
    if (births.length > 0) births.length = 0
    for (let index = objects.provisionalFrom; index < objects.highWater; index++) {
      if (objects.typeAt(index) === NO_TYPE || objects.birthTickAt(index) !== tick) continue
      births.push({ tick, type: objects.typeAt(index), owner: objects.ownerAt(index), ordinal: objects.birthOrdinalAt(index), id: objects.idAt(index) })
    }
  }

  /** The id for the time being of who was born so; 0 when nobody was. */
  bornAs(type: number, owner: PeerId, birthTick: Tick, birthOrdinal: number): ObjectId {
    for (const birth of this.#births[birthTick % this.#births.length]) {
      if (birth.tick === birthTick && birth.type === type && birth.owner === owner && birth.ordinal === birthOrdinal) return birth.id
    }
    return 0
  }

  /** Whether who lives at an index was told of, by his id or by his birth. */
  #isTold(index: number): boolean {
    const { objects } = this.world
    const { objects: told } = this.told.world
    if (this.told.has(objects.idAt(index))) return true
    for (let other = 0; other < told.highWater; other++) {
      if (told.typeAt(other) !== objects.typeAt(index) || told.ownerAt(other) !== objects.ownerAt(index)) continue
      if (told.birthTickAt(other) === objects.birthTickAt(index) && told.birthOrdinalAt(other) === objects.birthOrdinalAt(index)) return true
    }
    return false
  }

  /** Whether anybody was predicted at a tick, who lives still, of whom the authority does not know. */
  hasStrangers(tick: Tick, past: PredictedPast): boolean {
    const { objects } = this.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type !== NO_TYPE && !this.#isTold(index) && past.find(type, objects.idAt(index), tick) >= 0) return true
    }
    return false
  }

  /** Puts the newest that was told of everybody into the world. */
  applyNewest(): void {
    const { objects, stores } = this.told.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type !== NO_TYPE) this.#apply(type, index, stores[type].rows, objects.slotAt(index) * stores[type].schema.laneCount)
    }
  }

  /** A tick is confirmed, and here is what was told until then: when that tick comes by it is this. */
  keepTold(tick: Tick): void {
    this.forgetConfirmed()
    const { objects, stores } = this.told.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || stores[type].isShared) continue
      const { rows, schema } = stores[type]
      this.#confirmed.put(tick, type, objects.idAt(index), objects.ownerAt(index), rows, objects.slotAt(index) * schema.laneCount)
    }
  }

  /**
   * A tick is confirmed as it was predicted, and ticks before it are about to be stepped again: what happened in between may
   * be the authority's doing, of which no row of its own tick was ever told. When that tick comes by it is as it is now.
   */
  keepPredicted(tick: Tick, past: PredictedPast): void {
    if (this.#confirmed.has(tick) || !past.has(tick)) return
    this.forgetConfirmed()
    past.forEach(tick, (type, id, owner, rows, at) => {
      if (!this.world.stores[type].isShared) this.#confirmed.put(tick, type, id, owner, rows, at)
    })
  }

  forgetConfirmed(): void {
    this.#confirmed.truncate(-1)
  }

  /** Where what is confirmed of a tick stands: in what was kept, or in what was predicted. */
  confirmedOf(tick: Tick, past: PredictedPast): Timeline | PredictedPast {
    return this.#confirmed.has(tick) ? this.#confirmed : past
  }

  /** The world is at a tick that was confirmed: it is what was kept of it, fields with a rate aside. */
  #applyConfirmed(tick: Tick): void {
    const { world } = this
    const references = this.#confirmed.references(tick)
    for (let index = 0; index < references.length; index++) {
      if (references[index] === 0) continue
      const type = references[index] >>> ROW_BITS
      const { ids, owners, rows, laneCount } = this.#confirmed.pools[type]
      const row = references[index] & ROW_MASK
      const handle = this.#seat(type, ids[row], owners[row])
      const { $store: store } = handle
      const rowAt = store.rowAt(handle)
      const lanes = this.lanesOf(type, owners[row])
      if (this.#isNew) lanes.copyAll(rows, row * laneCount, store.rows, rowAt)
      else lanes.copyDigested(rows, row * laneCount, store.rows, rowAt)
      store.load(handle, store.rows, rowAt)
      // Who is known to be gone by now was there in this tick, and no longer.
      if (!this.told.has(handle.id)) this.told.dropAt(tick + 1, handle.id)
    }
    for (const store of world.stores) {
      if (store.isShared) continue
      for (const handle of store.living()) {
        if (this.#confirmed.find(store.type, handle.id, tick) >= 0) continue
        if (indexOf(handle.id) >= world.objects.provisionalFrom) this.spawnsRefuted++
        world.unseat(handle)
      }
    }
  }

  /** Whether a tick is confirmed with somebody in it, of whom it was known only that he went at some time. */
  #wasThere(tick: Tick, type: number, id: ObjectId): boolean {
    return this.#confirmed.has(tick) && this.#confirmed.find(type, id, tick) >= 0
  }

  /** Puts what was told of a tick into the world, which is at that tick. */
  applyTold(tick: Tick): void {
    const { world, told } = this
    if (this.#confirmed.has(tick)) this.#applyConfirmed(tick)
    const { objects } = told.world
    for (let number = 0; ; number++) {
      const id = told.goneAt(tick, number)
      if (id === 0) break
      const handle = world.atIndexOf(id)
      if (handle?.id === id && !this.#wasThere(tick, handle.$store.type, id)) world.unseat(handle)
    }
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE) continue
      const at = told.timeline.find(type, objects.idAt(index), tick)
      if (at >= 0) this.#apply(type, index, told.timeline.pools[type].rows, at)
    }
  }

  /** Puts one told row into the world; who is not there yet comes, or gets his name. */
  #apply(type: number, index: number, rows: Int32Array, at: number): void {
    const { world } = this
    const { objects } = this.told.world
    const id = objects.idAt(index)
    const owner = objects.ownerAt(index)
    const handle = this.#seat(type, id, owner)
    const { $store: store } = handle
    const lanes = this.lanesOf(type, owner)
    const rowAt = store.rowAt(handle)
    if (this.#isNew) lanes.copyAll(rows, at, store.rows, rowAt)
    else if (lanes.isEqual(world.tick, index, store.rows, rowAt, rows, at)) return
    else lanes.copy(world.tick, index, rows, at, store.rows, rowAt)
    store.load(handle, store.rows, rowAt)
  }

  /** The object of an id; `#isNew` when it has only just come. */
  #seat(type: number, id: ObjectId, owner: PeerId): Handle {
    const { world } = this
    let handle = world.atIndexOf(id)
    if (handle !== undefined && handle.id !== id) {
      world.unseat(handle)
      handle = undefined
    }
    this.#isNew = handle === undefined
    handle ??= this.#welcome(type, id, owner)
    if (handle.owner !== owner) world.setOwner(handle, owner)
    return handle
  }

  #welcome(type: number, id: ObjectId, owner: PeerId): Handle {
    const { world } = this
    const { objects } = this.told.world
    const index = indexOf(id)
    const isTold = objects.isAlive(id)
    const [tick, ordinal] = isTold ? [objects.birthTickAt(index), objects.birthOrdinalAt(index)] : [0, 0]
    const born = tick > 0 ? this.provisional(type, owner, tick, ordinal) : undefined
    if (born !== undefined) {
      this.spawnsMatched++
      this.renamed.push(born.id, id)
      this.#renameReferences(born.id, id)
      world.rename(born, id)
      return born
    }
    const handle = world.seat(type, id, owner)
    world.objects.setBirth(index, tick, ordinal)
    return handle
  }

  /** Who refers to an object by its id for the time being refers to it by the real one. */
  #renameReferences(from: ObjectId, to: ObjectId): void {
    for (const store of this.world.stores) {
      for (const { cell, lane } of store.schema.leaves.filter(isReference)) {
        for (const handle of store.living()) {
          if (handle.$cells[cell] !== from) continue
          handle.$cells[cell] = to
          store.rows[store.rowAt(handle) + lane] = to
          store.stamps[store.slotOf(handle)] = store.nextSample
        }
      }
    }
  }

  /** Who was born here at that tick as that one of his kind, and has no real id yet. */
  provisional(type: number, owner: PeerId, birthTick: Tick, birthOrdinal: number): Handle | undefined {
    const { objects } = this.world
    for (let index = objects.provisionalFrom; index < objects.highWater; index++) {
      if (objects.typeAt(index) !== type || objects.ownerAt(index) !== owner) continue
      if (objects.birthTickAt(index) === birthTick && objects.birthOrdinalAt(index) === birthOrdinal) return objects.handles[index]
    }
    return undefined
  }

  /** What `step` made for others is theirs, or the authority's, to make: here it does not outlive the tick. */
  dropOthers(): void {
    const { world, peer } = this
    const { objects } = world
    for (let index = objects.provisionalFrom; index < objects.highWater; index++) {
      if (objects.typeAt(index) === NO_TYPE || objects.ownerAt(index) === peer) continue
      const handle = objects.handles[index]
      if (handle !== undefined) world.despawn(handle)
    }
  }
}
