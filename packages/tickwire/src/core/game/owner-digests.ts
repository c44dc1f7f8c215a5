/**
 * A 32-bit digest per client of all objects that it owns. All are computed in one pass, on the first request in a tick.
 */

import type { PeerId, Tick } from '../base/time.ts'
import { ownedLanesOf, type OwnedLanes } from '../predict/owned-lanes.ts'
import { NO_TYPE } from '../world/object-table.ts'
import type { World } from '../world/world.ts'

export class OwnerDigests {
  readonly #world: World
  readonly #lanes: readonly OwnedLanes[]
  readonly #isForAll: boolean
  readonly #all = new Int32Array(1)
  readonly #cells = new Map<PeerId, Int32Array>()
  #tick: Tick = -1

  /** `isForAll`: all clients predict all objects and receive the same digest of all of them. */
  constructor(world: World, tickRate: number, isForAll: boolean) {
    this.#world = world
    this.#isForAll = isForAll
    this.#lanes = ownedLanesOf(world, tickRate, isForAll)
  }

  add(peer: PeerId): void {
    this.#cells.set(peer, new Int32Array(1))
    this.#tick = -1
  }

  remove(peer: PeerId): void {
    this.#cells.delete(peer)
  }

  /** The digest of a client's rows, as sampled at the end of the last tick. */
  of(peer: PeerId): number {
    if (this.#tick !== this.#world.tick) this.#compute()
    return ((this.#isForAll ? this.#all : this.#cells.get(peer))?.[0] ?? 0) >>> 0
  }

  #compute(): void {
    const { objects, stores, heap, tick } = this.#world
    this.#tick = tick
    for (const cell of this.#cells.values()) cell[0] = 0
    this.#all[0] = 0
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || stores[type].isShared) continue
      const cell = this.#isForAll ? this.#all : this.#cells.get(objects.ownerAt(index))
      if (cell === undefined) continue
      const { schema, rows } = stores[type]
      cell[0] += this.#lanes[type].digest(objects.idAt(index), rows, objects.slotAt(index) * schema.laneCount, heap)
    }
  }
}
