/**
 * Applies the authority's rows to the objects that are simulated on a client: which objects appear, get their real id,
 * or disappear.
 *
 * Received rows are put into the world. An object that is received for the first time is seated, unless its birth shows
 * that it was spawned here by prediction: then it keeps its handle and gets its real id. `predictor.ts` decides when
 * this happens.
 */

import { OBJECTS_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Handle } from '../world/handle.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import { ROW_BITS, ROW_MASK, Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { isReference, ownedLanesOf, type OwnedLanes } from './owned-lanes.ts'
import type { PredictedPast } from './predicted-past.ts'
import type { Truth } from './truth.ts'

/** The birth of an object that has a provisional id. */
interface Birth {
  readonly tick: Tick
  readonly type: number
  readonly owner: PeerId
  readonly ordinal: number
  readonly id: ObjectId
}

/** Provisional ids begin at this index, and are moved up when the authority's ids reach it. */
const PROVISIONAL_FIRST = 256
const PROVISIONAL_LAST = OBJECTS_MAX - 1024
/** One tick is kept, but a Timeline has at least two. */
const CONFIRMED_TICKS = 2

export class PredictedObjects {
  readonly peer: PeerId
  readonly world: World
  readonly truth: Truth
  /** Predicted spawns that the authority made too, and those that it did not make. */
  spawnsMatched = 0
  spawnsRefuted = 0
  /** Provisional ids that were replaced by real ones: from, to, from, to. */
  readonly renamed: ObjectId[] = []
  readonly #ownLanes: readonly OwnedLanes[]
  readonly #otherLanes: readonly OwnedLanes[]

  /** Objects that were born in a tick. Indexed by tick modulo the window. Some die before the authority sends them. */
  readonly #births: Birth[][]
  /** The state of a tick that a digest confirmed, for when earlier ticks are stepped again. */
  readonly #confirmed: Timeline
  #isNew = false

  constructor(peer: PeerId, world: World, truth: Truth, tickRate: number, windowTicks: number) {
    this.#births = Array.from({ length: windowTicks }, () => [])
    this.#confirmed = new Timeline(world, CONFIRMED_TICKS)
    this.peer = peer
    this.world = world
    this.truth = truth
    this.#ownLanes = ownedLanesOf(world, tickRate)
    this.#otherLanes = ownedLanesOf(world, tickRate, true)
    this.#setProvisional(PROVISIONAL_FIRST)
    world.objects.idOfBirth = (type, owner, tick, ordinal) => this.bornAs(type, owner, tick, ordinal)
  }

  /** The lanes that this client receives for an object of this type and owner. */
  lanesOf(type: number, owner: PeerId): OwnedLanes {
    return (owner === this.peer ? this.#ownLanes : this.#otherLanes)[type]
  }

  /**
   * The authority assigned an id at this index. If the index is in the provisional range, removes the predicted spawns,
   * moves the range up, and returns true. This happens once per doubling of the world.
   */
  raiseProvisional(index: number): boolean {
    const { world, truth } = this
    let from = world.objects.provisionalFrom
    if (index < from) return false
    for (const store of world.stores) {
      for (const handle of store.living())
        if (indexOf(handle.id) >= from && !truth.has(handle.id)) world.unseat(handle)
    }
    while (from <= index) from *= 2
    // In a completely full world nothing can be spawned ahead of the authority.
    this.#setProvisional(index >= PROVISIONAL_LAST ? OBJECTS_MAX : Math.min(from, PROVISIONAL_LAST))
    return true
  }

  #setProvisional(from: number): void {
    this.world.objects.provisionalFrom = from
    for (const lanes of [...this.#ownLanes, ...this.#otherLanes]) lanes.provisionalFrom = from
  }

  /** Records the objects that were born in the tick that has just been stepped. */
  noteBirths(): void {
    const { objects, tick } = this.world
    const births = this.#births[tick % this.#births.length]
    if (births.length > 0) births.length = 0
    for (let index = objects.provisionalFrom; index < objects.highWater; index++) {
      if (objects.typeAt(index) === NO_TYPE || objects.birthTickAt(index) !== tick) continue
      births.push({
        tick,
        type: objects.typeAt(index),
        owner: objects.ownerAt(index),
        ordinal: objects.birthOrdinalAt(index),
        id: objects.idAt(index),
      })
    }
  }

  /** The provisional id of the object with this birth; 0 if there is none. */
  bornAs(type: number, owner: PeerId, birthTick: Tick, birthOrdinal: number): ObjectId {
    for (const birth of this.#births[birthTick % this.#births.length]) {
      if (birth.tick === birthTick && birth.type === type && birth.owner === owner && birth.ordinal === birthOrdinal)
        return birth.id
    }
    return 0
  }

  /** Whether the authority has sent the object at an index, matched by id or by birth. */
  #isReceived(index: number): boolean {
    const { objects } = this.world
    const { objects: truth } = this.truth.world
    if (this.truth.has(objects.idAt(index))) return true
    for (let other = 0; other < truth.highWater; other++) {
      if (truth.typeAt(other) !== objects.typeAt(index) || truth.ownerAt(other) !== objects.ownerAt(index)) continue
      if (
        truth.birthTickAt(other) === objects.birthTickAt(index)
        && truth.birthOrdinalAt(other) === objects.birthOrdinalAt(index)
      )
        return true
    }
    return false
  }

  /** Whether an object that was predicted at a tick, and is still alive, is unknown to the authority. */
  hasStrangers(tick: Tick, past: PredictedPast): boolean {
    const { objects } = this.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type !== NO_TYPE && !this.#isReceived(index) && past.find(type, objects.idAt(index), tick) >= 0) return true
    }
    return false
  }

  /** Puts the newest received row of every object into the world. */
  applyNewest(): void {
    const { objects, stores } = this.truth.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type !== NO_TYPE)
        this.#apply(type, index, stores[type].rows, objects.slotAt(index) * stores[type].schema.laneCount)
    }
  }

  /** A digest confirmed a tick from received rows: keeps them, to be applied when that tick is reached again. */
  keepReceived(tick: Tick): void {
    this.forgetConfirmed()
    const { objects, stores } = this.truth.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || stores[type].isShared) continue
      const { rows, schema } = stores[type]
      this.#confirmed.put(
        tick,
        type,
        objects.idAt(index),
        objects.ownerAt(index),
        rows,
        objects.slotAt(index) * schema.laneCount,
      )
    }
  }

  /**
   * A digest confirmed a tick as it was predicted, and earlier ticks are about to be stepped again. Changes in between
   * may come from the authority without a row for their own tick. Keeps the state, to be applied when the tick is
   * reached again.
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

  /** Where the confirmed state of a tick is: in the kept state, or in the predicted past. */
  confirmedOf(tick: Tick, past: PredictedPast): Timeline | PredictedPast {
    return this.#confirmed.has(tick) ? this.#confirmed : past
  }

  /** The world is at a confirmed tick: applies the kept state, except for fields with a rate. */
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
      // An object that is known to be gone by now was still there in this tick, but not in the next.
      if (!this.truth.has(handle.id)) this.truth.dropAt(tick + 1, handle.id)
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

  /** Whether the confirmed state of a tick still contains an object whose exact removal tick is unknown. */
  #wasThere(tick: Tick, type: number, id: ObjectId): boolean {
    return this.#confirmed.has(tick) && this.#confirmed.find(type, id, tick) >= 0
  }

  /** Puts the rows that were received for a tick into the world, which is at that tick. */
  applyReceived(tick: Tick): void {
    const { world, truth } = this
    if (this.#confirmed.has(tick)) this.#applyConfirmed(tick)
    const { objects } = truth.world
    for (let number = 0; ; number++) {
      const id = truth.goneAt(tick, number)
      if (id === 0) break
      const handle = world.atIndexOf(id)
      if (handle?.id === id && !this.#wasThere(tick, handle.$store.type, id)) world.unseat(handle)
    }
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE) continue
      const at = truth.timeline.find(type, objects.idAt(index), tick)
      if (at >= 0) this.#apply(type, index, truth.timeline.pools[type].rows, at)
    }
  }

  /** Puts a received row into the world. A missing object is seated, or a predicted spawn gets its real id. */
  #apply(type: number, index: number, rows: Int32Array, at: number): void {
    const { world } = this
    const { objects } = this.truth.world
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

  /** Returns the object with an id. Sets `#isNew` if it was not in the world before. */
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
    const { objects } = this.truth.world
    const index = indexOf(id)
    const isReceived = objects.isAlive(id)
    const [tick, ordinal] = isReceived ? [objects.birthTickAt(index), objects.birthOrdinalAt(index)] : [0, 0]
    const born = tick > 0 ? this.provisional(type, owner, tick, ordinal) : undefined
    if (born !== undefined) {
      this.spawnsMatched++
      this.renamed.push(born.id, id)
      this.#renameReferences(born.id, id)
      world.rename(born, id)
      return born
    }
    // Prediction restarted, and the predicted spawn is no longer in this world. The view still has it.
    const former = tick > 0 ? this.bornAs(type, owner, tick, ordinal) : 0
    if (former !== 0) this.renamed.push(former, id)
    const handle = world.seat(type, id, owner)
    world.objects.setBirth(index, tick, ordinal)
    return handle
  }

  /** Replaces a provisional id by the real one in all references. */
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

  /** The object that was spawned here with this birth and still has a provisional id. */
  provisional(type: number, owner: PeerId, birthTick: Tick, birthOrdinal: number): Handle | undefined {
    const { objects } = this.world
    for (let index = objects.provisionalFrom; index < objects.highWater; index++) {
      if (objects.typeAt(index) !== type || objects.ownerAt(index) !== owner) continue
      if (objects.birthTickAt(index) === birthTick && objects.birthOrdinalAt(index) === birthOrdinal)
        return objects.handles[index]
    }
    return undefined
  }

  /** Despawns what `step` spawned for other owners: only those owners or the authority may spawn it. */
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
