/**
 * Whole worlds, put aside and brought back by copying memory: what rollback stands on.
 *
 * A slot holds everything `step` can see: cells, the object table and its id allocator, the generator, and what the
 * game keeps outside through its `external` hooks. Handles of values (text, lists) are cells like any other; the
 * values themselves are immutable and stay in the heap. To load and step equals never having left.
 *
 * Saving and loading happen between ticks. Nothing is allocated once the slots have grown to the world's size.
 */

import { assert } from '../base/assert.ts'
import type { Tick } from '../base/time.ts'
import type { EntityStore } from './entity-store.ts'
import type { World } from './world.ts'

export class SaveSlots {
  readonly #world: World
  readonly #slots: readonly Slot[]

  constructor(world: World, count: number) {
    this.#world = world
    this.#slots = Array.from({ length: count }, () => new Slot(world))
  }

  get count(): number {
    return this.#slots.length
  }

  /** The tick a slot holds; -1 when it holds none. */
  tickOf(slot: number): Tick {
    return this.#slots[slot].tick
  }

  /** Puts the world aside. @hot */
  save(slot: number): void {
    this.#slots[slot].save(this.#world)
  }

  /** Brings the world back as it was saved. @hot */
  load(slot: number): void {
    assert(this.#slots[slot].tick >= 0, 'only what was saved can be loaded')
    this.#slots[slot].load(this.#world)
  }

  /** Bytes held. */
  get byteLength(): number {
    return this.#slots.reduce((sum, slot) => sum + slot.byteLength, 0)
  }
}

class Slot {
  tick: Tick = -1
  readonly #types : Copy<Uint8Array> = new Copy(new Uint8Array(0))
  readonly #generations : Copy<Uint16Array> = new Copy(new Uint16Array(0))
  readonly #places : Copy<Uint32Array> = new Copy(new Uint32Array(0))
  readonly #owners : Copy<Uint32Array> = new Copy(new Uint32Array(0))
  readonly #free : Copy<Uint32Array> = new Copy(new Uint32Array(0))
  readonly #prng: Uint32Array
  readonly #stores: readonly StoreSlot[]
  #highWater = 0
  #freeCount = 0
  #structure = -1
  #external: unknown = undefined

  constructor(world: World) {
    this.#prng = new Uint32Array(world.prng.state.length)
    this.#stores = world.stores.map(() => new StoreSlot())
  }

  save(world: World): void {
    const { objects } = world
    this.tick = world.tick
    this.#highWater = objects.highWater
    this.#freeCount = objects.freeCount
    this.#structure = world.structure
    this.#types.take(objects.types, objects.highWater)
    this.#generations.take(objects.generations, objects.highWater)
    this.#places.take(objects.slots, objects.highWater)
    this.#owners.take(objects.owners, objects.highWater)
    this.#free.take(objects.free, objects.freeCount)
    this.#prng.set(world.prng.state)
    for (let type = 0; type < this.#stores.length; type++) this.#stores[type].save(world.stores[type])
    this.#external = world.external.save()
  }

  load(world: World): void {
    const { objects } = world
    world.tick = this.tick
    objects.clearFrom(this.#highWater)
    objects.highWater = this.#highWater
    objects.freeCount = this.#freeCount
    this.#types.give(objects.types)
    this.#generations.give(objects.generations)
    this.#places.give(objects.slots)
    this.#owners.give(objects.owners)
    this.#free.give(objects.free)
    world.prng.state.set(this.#prng)
    for (let type = 0; type < this.#stores.length; type++) this.#stores[type].load(world.stores[type])
    world.handleLoaded(this.#structure)
    world.external.load(this.#external)
  }

  get byteLength(): number {
    const table = this.#types.byteLength + this.#generations.byteLength + this.#places.byteLength + this.#owners.byteLength + this.#free.byteLength
    return this.#stores.reduce((sum, store) => sum + store.byteLength, table + this.#prng.byteLength)
  }
}

/** What a slot keeps of one store. */
class StoreSlot {
  readonly #cells : Copy<Float64Array> = new Copy(new Float64Array(0))
  readonly #free : Copy<Uint32Array> = new Copy(new Uint32Array(0))
  #highSlot = 1
  #freeCount = 0

  save(store: EntityStore): void {
    this.#highSlot = store.highSlot
    this.#freeCount = store.freeCount
    this.#cells.take(store.cells, store.highSlot * store.schema.cellCount)
    this.#free.take(store.free, store.freeCount)
  }

  load(store: EntityStore): void {
    store.highSlot = this.#highSlot
    store.freeCount = this.#freeCount
    this.#cells.give(store.cells)
    this.#free.give(store.free)
    store.isStale = true
  }

  get byteLength(): number {
    return this.#cells.byteLength + this.#free.byteLength
  }
}

type Cells = Float64Array | Uint32Array | Uint16Array | Uint8Array

/**
 * A copy of the first so many elements of an array, by memory. The windows that `set` needs are kept, and made anew
 * only when the array or the count is another: a subarray every tick is garbage every tick.
 */
class Copy<T extends Cells> {
  #kept: T
  #keptWindow: T
  #sourceWindow: T
  #source: T

  constructor(empty: T) {
    this.#kept = empty
    this.#keptWindow = empty
    this.#sourceWindow = empty
    this.#source = empty
  }

  get byteLength(): number {
    return this.#kept.byteLength
  }

  take(source: T, count: number): void {
    if (source !== this.#source || count !== this.#sourceWindow.length) this.#frame(source, count)
    this.#keptWindow.set(this.#sourceWindow)
  }

  give(target: T): void {
    target.set(this.#keptWindow)
  }

  #frame(source: T, count: number): void {
    this.#source = source
    this.#sourceWindow = source.subarray(0, count) as T
    if (this.#kept.length < count) this.#kept = source.slice() as T
    this.#keptWindow = this.#kept.subarray(0, count) as T
  }
}
