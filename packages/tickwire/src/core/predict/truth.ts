/**
 * The authority's rows for the objects that are simulated here: the newest row of each, and every row of the last
 * ticks.
 *
 * It has a world of its own, so that rows, owners and births are stored as everywhere else, and a Timeline of received
 * rows. It does not compare them with predictions: `predictor.ts` does.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import type { OwnedLanes } from './owned-lanes.ts'
import { digestOf } from './predicted-past.ts'

/** A received row, its position, and the object's birth if that was sent. The caller may reuse this object. */
export interface ReceivedRow {
  tick: Tick
  type: number
  id: ObjectId
  owner: PeerId
  rows: Int32Array
  at: number
  /** 0: not sent. */
  birthTick: Tick
  birthOrdinal: number
  /** For a shared object: the first tick that its owner writes. */
  authorityTick: Tick
}

/** A row to fill and to reuse. */
export function createReceivedRow(): ReceivedRow {
  return {
    tick: 0, type: 0, id: 0, owner: 0, rows: new Int32Array(0), at: 0, birthTick: 0, birthOrdinal: 0, authorityTick: 0,
  }
}

export class Truth {
  readonly world: World
  readonly timeline: Timeline
  /** The newest tick received. Indexed by object index. */
  #receivedAt = new Float64Array(64).fill(-1)
  /** Removed objects and the ticks they are removed in, the newest last. Pruned as ticks leave the window. */
  readonly #goneIds: ObjectId[] = []
  readonly #goneTicks: Tick[] = []

  constructor(entities: readonly Entity[], sharing: World, windowTicks: number) {
    this.world = new World(entities, { isReadOnly: true, sharing })
    this.timeline = new Timeline(this.world, windowTicks)
  }

  /** Stores a row of an object that is simulated here. */
  put({ tick, type, id, owner, rows, at, birthTick, birthOrdinal }: Readonly<ReceivedRow>): void {
    const { world } = this
    const index = indexOf(id)
    const lives = world.atIndexOf(id)
    if (lives !== undefined && lives.id !== id) world.unseat(lives)
    const isNew = lives?.id !== id
    const handle = isNew ? world.seat(type, id, owner) : lives
    this.#reserve(index)
    if (birthTick > 0) world.objects.setBirth(index, birthTick, birthOrdinal)
    if (isNew || tick >= this.#receivedAt[index]) {
      if (handle.owner !== owner) world.setOwner(handle, owner)
      handle.$store.load(handle, rows, at)
      this.#receivedAt[index] = tick
    }
    this.timeline.put(tick, type, id, owner, rows, at)
  }

  /**
   * Since `tick` an object is gone, or no longer simulated here. The removal is applied in tick `at`. Returns false if
   * the object was not known.
   */
  remove(tick: Tick, at: Tick, id: ObjectId): boolean {
    const handle = this.world.atIndexOf(id)
    if (handle?.id !== id) return false
    // The newest row of a shared object may be our own, and so newer than the message that ends our ownership.
    if (tick < this.#receivedAt[indexOf(id)] && !handle.$store.isShared) return false
    this.world.unseat(handle)
    this.dropAt(at, id)
    while (this.#goneTicks.length > 0 && this.#goneTicks[0] < tick - this.timeline.windowTicks) {
      this.#goneTicks.shift()
      this.#goneIds.shift()
    }
    return true
  }

  /** The object will be removed whenever this tick is stepped. */
  dropAt(tick: Tick, id: ObjectId): void {
    for (let at = 0; at < this.#goneTicks.length; at++)
      if (this.#goneTicks[at] === tick && this.#goneIds[at] === id) return
    this.#goneIds.push(id)
    this.#goneTicks.push(tick)
  }

  has(id: ObjectId): boolean {
    return this.world.objects.isAlive(id)
  }

  /** The object number `number` among those removed at a tick; 0 after the last. */
  goneAt(tick: Tick, number: number): ObjectId {
    let left = number
    for (let at = 0; at < this.#goneTicks.length; at++) {
      if (this.#goneTicks[at] === tick && left-- === 0) return this.#goneIds[at]
    }
    return 0
  }

  /** The newest tick for which a row of the object at an index was received. */
  receivedAt(index: number): Tick {
    return this.#receivedAt[index]
  }

  /** A 32-bit digest of all newest rows; NaN when one is newer than the tick, because the rows then mix ticks. */
  digestAt(tick: Tick, lanes: readonly OwnedLanes[]): number {
    const { objects, stores } = this.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type !== NO_TYPE && !stores[type].isShared && this.#receivedAt[index] > tick) return NaN
    }
    return digestOfWorld(this.world, lanes)
  }

  #reserve(index: number): void {
    if (index < this.#receivedAt.length) return
    const before = this.#receivedAt
    let capacity = before.length
    while (capacity <= index) capacity *= 2
    this.#receivedAt = new Float64Array(capacity).fill(-1)
    this.#receivedAt.set(before)
  }
}

/** A 32-bit digest of all rows of a world, as last sampled. */
export function digestOfWorld(world: World, lanes: readonly OwnedLanes[]): number {
  return digestOf(world, world.objects.words, world.objects.highWater, world.stores.map(({ rows }) => rows), lanes)
}
