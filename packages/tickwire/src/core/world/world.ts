/**
 * The world: all objects of all entities, and what `step` may do with them.
 *
 * It holds state and nothing else: no ticks of its own, no network, no clock. Iteration is ascending by id, the same
 * on every peer. A world of views is the same thing with read-only handles.
 */

import { assert, ConfigError } from '../base/assert.ts'
import { ENTITY_TYPES_MAX, OBJECTS_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Entity, Init } from '../schema/definition.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { storeValues } from '../schema/values.ts'
import { EntityStore } from './entity-store.ts'
import type { Handle, ObjectOf } from './handle.ts'
import { indexOf, NO_TYPE, ObjectTable } from './object-table.ts'

/** Whoever may own an object: a peer, or its number. */
export type Owner = PeerId | { readonly id: PeerId }

/** State that `step` keeps outside the schema: saved, loaded and hashed with the world, or it breaks rollback. */
export interface External {
  save(): unknown
  load(saved: unknown): void
  /** 32 bits of what is saved: equal states, equal bits. */
  hash(): number
}

export interface WorldOptions {
  /** A world of views: its handles cannot be written. */
  readonly isReadOnly?: boolean
  readonly seed?: number
  readonly external?: External
}

const NO_EXTERNAL: External = { save: () => undefined, load: () => {}, hash: () => 0 }

/** The world as `step` sees it. */
export class World {
  /** The tick that is being stepped, or was stepped last. */
  tick: Tick = 0
  readonly heap: ValueHeap = new ValueHeap()
  readonly objects: ObjectTable = new ObjectTable()
  /** The streaming generator: for lockstep, where everybody draws everything. */
  readonly prng: { readonly state: Uint32Array }
  /** What the game keeps outside its entities. */
  readonly external: External
  /** Names who lives where: two moments with the same number have the same objects in the same places. */
  structure = 0
  /** How often the world was loaded from a save slot. */
  loads = 0
  /** By type number: the place of the entity in the game. */
  readonly stores: readonly EntityStore[]
  readonly #typeOf = new Map<Entity, number>()
  /** Buried in this tick. */
  readonly #buried: Handle[] = []
  #structures = 0

  constructor(entities: readonly Entity[], options: WorldOptions = {}) {
    const { isReadOnly = false, seed = 0, external = NO_EXTERNAL } = options
    this.prng = { state: new Uint32Array([seed, 0, 0, 0]) }
    this.external = external
    if (entities.length > ENTITY_TYPES_MAX) {
      throw new ConfigError('entities', `${entities.length} of them`, `Merge some: at most ${ENTITY_TYPES_MAX}.`)
    }
    entities.forEach((entity, type) => this.#typeOf.set(entity, type))
    this.stores = entities.map((entity, type) => new EntityStore(type, entity.schema, this.objects, this.heap, isReadOnly))
  }

  /** Every object of an entity that is alive now, ascending by id; those that die on the way are left out. */
  each<E extends Entity>(entity: E): Iterable<ObjectOf<E>> {
    return new Living(this.#store(entity).living()) as Iterable<unknown> as Iterable<ObjectOf<E>>
  }

  /** The object with an id, or null if there is none, or none of this entity. */
  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectOf<E> | null {
    if (id === null || !this.objects.isAlive(id)) return null
    const index = indexOf(id)
    const store = this.#store(entity)
    if (this.objects.types[index] !== store.type) return null
    return store.handles[this.objects.slots[index]] as unknown as ObjectOf<E>
  }

  /** Makes an object. What `init` does not name has its initial value; without an owner it is the authority's. */
  spawn<E extends Entity>(entity: E, init: Init<E>, owner: Owner = 0): ObjectOf<E> {
    const store = this.#store(entity)
    if (this.objects.isFull) throw new RangeError(`A world holds ${OBJECTS_MAX} objects. Despawn some before you spawn more.`)
    const slot = store.takeSlot()
    const id = this.objects.take(store.type, slot, typeof owner === 'number' ? owner : owner.id)
    storeValues(store.schema, init, store.cells, slot * store.schema.cellCount, this.heap)
    this.#restructure()
    return store.seat(id, slot) as unknown as ObjectOf<E>
  }

  /** Removes an object. Its handle reads its last values until the end of the tick. */
  despawn(object: { readonly id: ObjectId }): void {
    const { id } = object
    if (!this.objects.isAlive(id)) return
    const index = indexOf(id)
    const store = this.stores[this.objects.types[index]]
    const handle = store.handles[this.objects.slots[index]]
    if (!handle) return
    store.bury(handle)
    this.objects.unseat(id)
    this.#buried.push(handle)
    this.#restructure()
  }

  /** Seats an object that the authority made, under the authority's id. */
  seat(type: number, id: ObjectId, owner: PeerId): Handle {
    const store = this.stores[type]
    const slot = store.takeSlot()
    this.objects.seat(id, type, slot, owner)
    this.#restructure()
    return store.seat(id, slot)
  }

  /** Removes an object that the authority removed, at once. */
  unseat(handle: Handle): void {
    handle.$store.bury(handle)
    this.objects.unseat(handle.id)
    handle.$store.freeSlot(handle)
    this.#restructure()
  }

  /** The handle of whoever lives at the index of an id, of this generation or another. */
  atIndexOf(id: ObjectId): Handle | undefined {
    const index = indexOf(id)
    const { types, slots, highWater } = this.objects
    return index >= highWater || types[index] === NO_TYPE ? undefined : this.stores[types[index]].handles[slots[index]]
  }

  /** Ends the tick: samples everyone, and lets go of what died in it. */
  endTick(): void {
    for (const store of this.stores) store.sample()
    for (let index = 0; index < this.#buried.length; index++) {
      const handle = this.#buried[index]
      handle.$store.freeSlot(handle)
      this.objects.release(handle.id)
    }
    this.#buried.length = 0
  }

  /** Memory was loaded: `structure` is what it was when that memory was saved. */
  handleLoaded(structure: number): void {
    assert(this.#buried.length === 0, 'worlds are loaded between ticks')
    this.loads++
    if (structure === this.structure) return
    this.structure = structure
    for (const store of this.stores) store.rebind()
  }

  /** Samples every object now, without ending the tick: after loading, for who must know rows at once. */
  sample(): void {
    for (const store of this.stores) store.sample()
  }

  #restructure(): void {
    this.structure = ++this.#structures
  }

  /** The type number of an entity; throws if the game does not have it. */
  typeOf(entity: Entity): number {
    const type = this.#typeOf.get(entity)
    if (type === undefined) {
      throw new ConfigError(entity.schema.name, 'not an entity of this game', 'Add it to `entities` in defineGame.')
    }
    return type
  }

  #store(entity: Entity): EntityStore {
    return this.stores[this.typeOf(entity)]
  }
}

/** Walks a list of handles, leaving out the dead. */
class Living implements Iterable<Handle> {
  readonly #handles: readonly Handle[]

  constructor(handles: readonly Handle[]) {
    this.#handles = handles
  }

  [Symbol.iterator](): Iterator<Handle> {
    return new LivingIterator(this.#handles)
  }
}

class LivingIterator implements Iterator<Handle> {
  readonly #handles: readonly Handle[]
  readonly #result: { done: boolean; value: Handle }
  #next = 0

  constructor(handles: readonly Handle[]) {
    this.#handles = handles
    this.#result = { done: false, value: handles[0] }
  }

  next(): IteratorResult<Handle> {
    const handles = this.#handles
    while (this.#next < handles.length) {
      const handle = handles[this.#next++]
      if (!handle.isAlive) continue
      this.#result.value = handle
      return this.#result as IteratorYieldResult<Handle>
    }
    this.#result.done = true
    return this.#result as IteratorResult<Handle>
  }
}
