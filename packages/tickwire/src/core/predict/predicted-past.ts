/**
 * The predicted past, tick by tick: whole worlds to roll back to, and the row of each object in them.
 *
 *   tick     ... 40    41    42    43        newest = 43
 *   slots    [ 43 | 40 | 41 | 42 ]           by tick modulo the window: raw copies of cells, rows and the object table
 *
 * A row is looked up in the slot of its tick. Saving copies memory and does not iterate over objects, so a tick that is
 * stepped again costs its step, its rounding and one copy. Digests are computed on demand.
 *
 * Invariant: ticks above `newest` do not exist, even if their slots still hold data.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import { indexOf, NO_TYPE, SLOT_MASK } from '../world/object-table.ts'
import { SaveSlots } from '../world/save-slots.ts'
import type { World } from '../world/world.ts'
import type { OwnedLanes } from './owned-lanes.ts'

const NO_TICK = -1

export class PredictedPast {
  /** The newest tick that was saved; -1 when there is none. */
  newest: Tick = NO_TICK
  readonly #world: World
  readonly #slots: SaveSlots
  readonly #windowTicks: number
  /** Indexed by tick modulo the window. NaN until the digest is computed. */
  readonly #digests: Float64Array

  constructor(world: World, windowTicks: number) {
    this.#world = world
    this.#slots = new SaveSlots(world, windowTicks)
    this.#windowTicks = windowTicks
    this.#digests = new Float64Array(windowTicks)
  }

  /** Whether it is possible to roll back to a tick. */
  has(tick: Tick): boolean {
    return tick >= 0 && tick <= this.newest && this.#slots.tickOf(tick % this.#windowTicks) === tick
  }

  /** Saves the world under its tick. Later ticks are discarded. @hot */
  save(): void {
    const { tick } = this.#world
    this.newest = tick
    this.#slots.save(tick % this.#windowTicks)
    this.#digests[tick % this.#windowTicks] = NaN
  }

  /** Restores the world to its state after a tick, including rows. @hot */
  load(tick: Tick): void {
    this.#slots.load(tick % this.#windowTicks)
  }

  clear(): void {
    this.newest = NO_TICK
    for (let slot = 0; slot < this.#slots.count; slot++) this.#slots.clear(slot)
  }

  /** The offset of an object's row in `rows(type, tick)`; -1 when the object did not exist. @hot */
  find(type: number, id: ObjectId, tick: Tick): number {
    const index = indexOf(id)
    if (!this.has(tick)) return -1
    const slot = tick % this.#windowTicks
    const words = this.#slots.wordsOf(slot)
    if (index >= this.#slots.highWaterOf(slot) || words[index << 2] !== id || words[(index << 2) + 2] >>> 24 !== type)
      return -1
    return (words[(index << 2) + 2] & SLOT_MASK) * this.#world.stores[type].schema.laneCount
  }

  /** The rows of a type at a saved tick. `find` gives the offset of an object. @hot */
  rows(type: number, tick: Tick): Int32Array {
    return this.#slots.rowsOf(tick % this.#windowTicks)[type]
  }

  /** The owner of an object at a tick; -1 when the object did not exist. @hot */
  owner(type: number, id: ObjectId, tick: Tick): PeerId {
    return this.find(type, id, tick) < 0 ? -1 : this.#slots.wordsOf(tick % this.#windowTicks)[(indexOf(id) << 2) + 1]
  }

  /** Calls `visit` for each object that existed at a tick, in ascending order. */
  forEach(tick: Tick, visit: (type: number, id: ObjectId, owner: PeerId, rows: Int32Array, at: number) => void): void {
    if (!this.has(tick)) return
    const slot = tick % this.#windowTicks
    const words = this.#slots.wordsOf(slot)
    for (let word = 0; word < this.#slots.highWaterOf(slot) << 2; word += 4) {
      const type = words[word + 2] >>> 24
      if (type === NO_TYPE) continue
      visit(
        type,
        words[word],
        words[word + 1],
        this.#slots.rowsOf(slot)[type],
        (words[word + 2] & SLOT_MASK) * this.#world.stores[type].schema.laneCount,
      )
    }
  }

  /** A 32-bit digest of all objects at a tick, except shared ones. */
  digest(tick: Tick, lanes: readonly OwnedLanes[]): number {
    const slot = tick % this.#windowTicks
    const known = this.#digests[slot]
    if (known === known) return known
    this.#digests[slot] = digestOf(
      this.#world,
      this.#slots.wordsOf(slot),
      this.#slots.highWaterOf(slot),
      this.#slots.rowsOf(slot),
      lanes,
    )
    return this.#digests[slot]
  }
}

/**
 * A 32-bit digest of the rows (indexed by type) of all objects in a table, except shared ones: no digest confirms
 * those. @hot
 */
export function digestOf(
  world: World,
  words: Uint32Array,
  highWater: number,
  rows: readonly Int32Array[],
  lanes: readonly OwnedLanes[],
): number {
  const { stores, heap } = world
  let sum = 0
  for (let index = 0; index < highWater; index++) {
    const place = words[(index << 2) + 2]
    const type = place >>> 24
    if (type === NO_TYPE || stores[type].isShared) continue
    sum =
      (sum
        + lanes[type].digest(words[index << 2], rows[type], (place & SLOT_MASK) * stores[type].schema.laneCount, heap))
      | 0
  }
  return sum >>> 0
}
