/**
 * What the authority has told of the objects that are simulated here: the newest row of each, and every row of the last
 * ticks.
 *
 * It is a world of its own, so that rows, owners and births lie as they do everywhere, and a Timeline of what was told.
 * It judges nothing: `predictor.ts` does.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import type { OwnedLanes } from './owned-lanes.ts'
import { digestOf } from './predicted-past.ts'

/** A row that was told (whoever hands it on may use the object again), where it lies, and the birth of its object where that was told too. */
export interface ToldRow {
  tick: Tick
  type: number
  id: ObjectId
  owner: PeerId
  rows: Int32Array
  at: number
  /** 0: not told. */
  birthTick: Tick
  birthOrdinal: number
  /** Of a shared object: the first tick that its owner writes. */
  authorityTick: Tick
}

export class Truth {
  readonly world: World
  readonly timeline: Timeline
  /** By object index: the newest tick told. */
  #toldAt = new Float64Array(64).fill(-1)
  /** Who is gone since when, the newest last; pruned as ticks leave the window. */
  readonly #goneIds: ObjectId[] = []
  readonly #goneTicks: Tick[] = []

  constructor(entities: readonly Entity[], sharing: World, windowTicks: number) {
    this.world = new World(entities, { isReadOnly: true, sharing })
    this.timeline = new Timeline(this.world, windowTicks)
  }

  /** Takes in a row of an object that is simulated here. */
  put({ tick, type, id, owner, rows, at, birthTick, birthOrdinal }: Readonly<ToldRow>): void {
    const { world } = this
    const index = indexOf(id)
    const lives = world.atIndexOf(id)
    if (lives !== undefined && lives.id !== id) world.unseat(lives)
    const isNew = lives?.id !== id
    const handle = isNew ? world.seat(type, id, owner) : lives
    this.#reserve(index)
    if (birthTick > 0) world.objects.setBirth(index, birthTick, birthOrdinal)
    if (isNew || tick >= this.#toldAt[index]) {
      if (handle.owner !== owner) world.setOwner(handle, owner)
      handle.$store.load(handle, rows, at)
      this.#toldAt[index] = tick
    }
    this.timeline.put(tick, type, id, owner, rows, at)
  }

  /** An object is gone, or not simulated here any more, since a tick; to be put right at another. False when it was not known. */
  remove(tick: Tick, at: Tick, id: ObjectId): boolean {
    const handle = this.world.atIndexOf(id)
    if (handle?.id !== id) return false
    // Of what is shared the newest is our own word, and that it is not ours any more is the last word of another.
    if (tick < this.#toldAt[indexOf(id)] && !handle.$store.isShared) return false
    this.world.unseat(handle)
    this.dropAt(at, id)
    while (this.#goneTicks.length > 0 && this.#goneTicks[0] < tick - this.timeline.windowTicks) {
      this.#goneTicks.shift()
      this.#goneIds.shift()
    }
    return true
  }

  /** Whenever a tick comes by, an object is gone in it. */
  dropAt(tick: Tick, id: ObjectId): void {
    for (let at = 0; at < this.#goneTicks.length; at++) if (this.#goneTicks[at] === tick && this.#goneIds[at] === id) return
    this.#goneIds.push(id)
    this.#goneTicks.push(tick)
  }

  has(id: ObjectId): boolean {
    return this.world.objects.isAlive(id)
  }

  /** Who was told to be gone at a tick, one by one; 0 after the last. */
  goneAt(tick: Tick, number: number): ObjectId {
    let left = number
    for (let at = 0; at < this.#goneTicks.length; at++) {
      if (this.#goneTicks[at] === tick && left-- === 0) return this.#goneIds[at]
    }
    return 0
  }

  /** The newest tick at which anything of an object was told. */
  toldAt(index: number): Tick {
    return this.#toldAt[index]
  }

  /** 32 bits of all newest rows; NaN when one is newer than the tick, so that they are not of one moment. */
  digestAt(tick: Tick, lanes: readonly OwnedLanes[]): number {
    const { objects, stores } = this.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type !== NO_TYPE && !stores[type].isShared && this.#toldAt[index] > tick) return NaN
    }
    return digestOfWorld(this.world, lanes)
  }

  #reserve(index: number): void {
    if (index < this.#toldAt.length) return
    const before = this.#toldAt
    let capacity = before.length
    while (capacity <= index) capacity *= 2
    this.#toldAt = new Float64Array(capacity).fill(-1)
    this.#toldAt.set(before)
  }
}

/** 32 bits of all rows of a world, as they were sampled last. */
export function digestOfWorld(world: World, lanes: readonly OwnedLanes[]): number {
  return digestOf(world, world.objects.words, world.objects.highWater, world.stores.map(({ rows }) => rows), lanes)
}
