/**
 * The world: all objects of all entities, and the operations that `step` may use on them.
 *
 * It holds state and nothing else: no network, no clock. Iteration is ascending by id, the same on every peer. A world
 * of views is the same class with read-only handles.
 *
 * A tick is `beginTick`, the work of `step`, `endTick`. Objects may also be spawned and despawned between ticks; then
 * they belong to the next one.
 */

import { assert, ConfigError } from '../base/assert.ts'
import { ENTITY_TYPES_MAX, OBJECTS_MAX } from '../base/limits.ts'
import { Prng } from '../base/prng.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Entity, Init, Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { ValueCounts } from '../schema/value-codec.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { storeValues } from '../schema/values.ts'
import { EntityStore } from './entity-store.ts'
import { completeExternal, NO_EXTERNAL, type CompleteExternal, type External } from './external.ts'
import type { Handle, ObjectOf, ObjectView } from './handle.ts'
import { indexOf, NO_TYPE, ObjectTable, WORD } from './object-table.ts'
import type { PastView, Rewinding } from './past-view.ts'
import { StepRandom, type DrawCounts } from './step-random.ts'
import { ValueKeeping, type ValueKeeper } from './value-keeping.ts'

/** The owner of an object: a peer, or its number. */
export type Owner = PeerId | { readonly id: PeerId }

/** Objects that are not simulated here, as they are drawn: on a client, all objects that it does not predict. */
export interface Sight {
  /** How often the game has read from it. */
  readonly looks: number
  each<E extends Entity>(entity: E): Iterable<ObjectView<E>>
  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null
}

/** Receives the events that `step` emits. */
export interface StepListener {
  handleEmit(object: { readonly id: ObjectId }, message: Message, values: Record<string, unknown>): void
}

/** How a world is made. */
export interface WorldOptions {
  /** Makes a world of views: its handles are read-only. Default: false. */
  readonly isReadOnly?: boolean
  /** Every write to a field calls `onWrite` of its store: writes are slower. Default: false. */
  readonly isTraced?: boolean
  /** The seed of all random numbers: an integer from 0 to 2^53 - 1, the same on every peer. Default: 0. */
  readonly seed?: number
  /** State that `step` keeps outside the schema. Default: none. */
  readonly external?: External
  /**
   * Uses the heap of another world for texts and lists, so that rows can be copied between the two. Default: a heap of
   * its own.
   */
  readonly sharing?: World
}

/** The world as `step` sees it. */
export class World implements DrawCounts {
  /** For random draws, the world counts as object 0. */
  readonly id: ObjectId = 0
  /** The tick that is being stepped, or was stepped last. */
  tick: Tick = 0
  /** Random numbers for `step`, per object: `world.random.int(player, 1, 6)`. */
  readonly random: StepRandom
  /** A sequential generator, for lockstep, where every peer makes all draws. */
  readonly prng: Prng
  /** The state that the game keeps outside its entities. */
  readonly external: CompleteExternal
  /** The seed of all random numbers. */
  seed: number
  /** Texts, byte strings and lists. */
  readonly heap: ValueHeap
  /** Ids, owners and places of all objects. */
  readonly objects: ObjectTable = new ObjectTable()
  /** Indexed by type: the position of the entity in the game. */
  readonly stores: readonly EntityStore[]
  /** How many samples were taken. */
  samples = 0
  /** How often the world was loaded. */
  loads = 0
  /** Identifies which objects are in which places: two moments with the same number have the same layout. */
  structure = 0
  isStepping = false
  /** The objects that are not simulated here; undefined where all are. */
  sight: Sight | undefined = undefined
  /** Receives the events that `step` emits. Undefined: events are discarded. */
  listener: StepListener | undefined = undefined
  /** Reconstructs what players saw; undefined where nothing can be hit. */
  rewinding: Rewinding | undefined = undefined
  worldDraws = 0
  hasDraws = false
  readonly #values: ValueKeeping
  readonly #storeOf = new Map<Entity, EntityStore>()
  #structures = 0

  constructor(entities: readonly Entity[], options: WorldOptions = {}) {
    const { isReadOnly = false, isTraced = false, seed = 0, external, sharing } = options
    if (entities.length > ENTITY_TYPES_MAX) {
      throw new ConfigError(
        'entities',
        `too many (expected at most ${ENTITY_TYPES_MAX} entities, got ${entities.length})`,
        'merge some.',
      )
    }
    if (!Number.isSafeInteger(seed) || seed < 0)
      throw new ConfigError(
        'seed',
        `invalid seed (expected an integer from 0 to 2^53 - 1, got ${seed})`,
        'give a number in this range.',
      )
    this.heap = sharing?.heap ?? new ValueHeap()
    this.prng = new Prng(seed)
    this.random = new StepRandom(seed, this)
    this.seed = seed
    this.external = external === undefined ? NO_EXTERNAL : completeExternal(external)
    const kind = isTraced ? 'traced' : isReadOnly ? 'read-only' : 'writable'
    this.stores = entities.map(({ schema }, type) => new EntityStore(type, schema, this.objects, this.heap, kind))
    entities.forEach((entity, type) => {
      this.#storeOf.set(entity, this.stores[type])
      this.stores[type].isShared = entity.isShared
    })
    this.#values = sharing === undefined ? new ValueKeeping(this.heap) : sharing.#values
    for (const store of this.stores) this.#values.add(store)
  }

  /**
   * Every object of an entity that is simulated here and alive when the loop begins, ascending by id. Objects that die
   * during the loop are skipped.
   */
  each<E extends Entity>(entity: E): Iterable<ObjectOf<E>> {
    return this.storeOf(entity).all as Iterable<unknown> as Iterable<ObjectOf<E>>
  }

  /**
   * Every object of an entity that is visible here, read-only: objects simulated here in their current state, the
   * others as they are drawn. Ascending by id. On the authority these are all objects.
   */
  seen<E extends Entity>(entity: E): Iterable<ObjectView<E>> {
    if (this.sight !== undefined) return this.sight.each(entity)
    const store = this.storeOf(entity)
    return (store.isElsewhere === undefined ? store.all : store.living()) as Iterable<unknown> as Iterable<
      ObjectView<E>
    >
  }

  /** One of the objects of `seen`, or null if there is none with this id. */
  see<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null {
    return this.sight === undefined
      ? (this.#find(entity, id) as unknown as ObjectView<E> | null)
      : this.sight.get(entity, id)
  }

  /**
   * Shows the world as a player saw it when making the input of this tick, and returns what `fn` returns. The past is
   * read-only and valid until then. This world does not change, and may be written meanwhile.
   */
  rewind<T>(peer: Owner, fn: (past: PastView) => T): T {
    if (this.rewinding === undefined)
      throw new ConfigError(
        'hitboxes',
        'no entity has hitboxes',
        'declare them in defineGame: hitboxes: [[Player, [sphere(1)]]].',
      )
    return this.rewinding.rewind(peerOf(peer), fn)
  }

  /** Whether the current tick is a multiple of `ticks`: `if (world.every(30)) ...`. The offset staggers. */
  every(ticks: number, offset: number = 0): boolean {
    return (this.tick + offset) % ticks === 0
  }

  /** Emits an event of an object: a sound, a flash. Each client receives it once, predicted or not. */
  emit<S extends Shape>(object: { readonly id: ObjectId }, message: Message<S>, values: ViewOf<S>): void {
    this.listener?.handleEmit(object, message, values)
  }

  /** How many objects of an entity are alive. */
  count(entity: Entity): number {
    return this.storeOf(entity).count
  }

  /** The object with an id, or null if there is none, it is of another entity, or it is simulated elsewhere. */
  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectOf<E> | null {
    const handle = this.#find(entity, id)
    return handle === undefined || handle === null || handle.$store.isElsewhere?.(handle.owner) === true
      ? null
      : (handle as unknown as ObjectOf<E>)
  }

  /**
   * Spawns an object. Fields that `init` does not name have their initial values. The default owner is the authority.
   */
  spawn<E extends Entity>(entity: E, init: Init<E>, owner: Owner = 0): ObjectOf<E> {
    const store = this.storeOf(entity)
    if (this.objects.isFull) {
      throw new RangeError(
        `${entity.schema.name}: the world is full (${OBJECTS_MAX} objects). `
          + 'Fix: despawn some, a tick before you spawn more.',
      )
    }
    const slot = store.takeSlot()
    try {
      storeValues(store.schema, init, store.cells, slot * store.schema.cellCount, this.heap)
    } catch (cause) {
      store.freeSlot(slot)
      throw cause
    }
    const id = this.objects.take(store.type, slot, peerOf(owner), this.isStepping ? this.tick : this.tick + 1)
    this.#restructure()
    return store.seat(id, slot) as unknown as ObjectOf<E>
  }

  /** Removes an object. Its handle reads its last values until the end of the tick. */
  despawn(object: { readonly id: ObjectId }): void {
    const { id } = object
    const handle = this.objects.isAlive(id) ? this.objects.handles[indexOf(id)] : undefined
    if (handle === undefined) return
    handle.$store.bury(handle)
    this.objects.bury(id)
    this.#restructure()
  }

  /** Gives an object to another owner. The default owner is the authority. */
  setOwner(object: { readonly id: ObjectId }, owner: Owner = 0): void {
    const { id } = object
    if (!this.objects.isAlive(id)) return
    const index = indexOf(id)
    const store = this.stores[this.objects.typeAt(index)]
    this.objects.setOwner(index, peerOf(owner))
    store.stamps[this.objects.slotAt(index)] = store.nextSample
  }

  /** Seats an object that the authority spawned, under the authority's id. */
  seat(type: number, id: ObjectId, owner: PeerId): Handle {
    const store = this.stores[type]
    const slot = store.takeSlot()
    this.objects.seat(id, type, slot, owner)
    this.#restructure()
    return store.seat(id, slot)
  }

  /** Removes an object that the authority removed, at once. */
  unseat(handle: Handle): void {
    const store = handle.$store
    const slot = store.slotOf(handle)
    store.bury(handle)
    store.letGo(handle)
    store.freeSlot(slot)
    this.objects.unseat(handle.id)
    this.#restructure()
  }

  /** Gives an object that was spawned here the id that the authority assigned. Its handle stays valid. */
  rename(handle: Handle, id: ObjectId): void {
    assert(handle.isAlive && this.atIndexOf(id) === undefined, 'a living object moves to an id without an object')
    const slot = handle.$store.slotOf(handle)
    this.objects.rename(indexOf(handle.id), id)
    this.#restructure()
    handle.$store.rename(handle, id, slot)
  }

  /** The handle of the object at the index of an id, whatever its generation. */
  atIndexOf(id: ObjectId): Handle | undefined {
    const index = indexOf(id)
    const isTaken = index < this.objects.highWater && this.objects.typeAt(index) !== NO_TYPE
    return isTaken ? this.objects.handles[index] : undefined
  }

  /** How often values that were written to fields, messages and calls were cut to fit, or found no room. */
  get valueCounts(): ValueCounts {
    return this.heap.counts
  }

  /** Begins the next tick. */
  beginTick(): void {
    this.tick++
    this.isStepping = true
    this.random.fold = 0
    this.#forgetDraws()
  }

  /** Ends the tick: samples all objects and releases those that died in it. */
  endTick(): void {
    this.isStepping = false
    this.#forgetDraws()
    this.sample()
    this.#releaseBuried()
    this.objects.forgetBorn()
    this.#values.collectIfDue()
  }

  /** Quantises every object now. `endTick` does this; call it after loading if rows are needed at once. @hot */
  sample(): void {
    this.samples++
    for (let type = 0; type < this.stores.length; type++) this.stores[type].sample()
  }

  /** Memory was loaded. `structure` is the value from when that memory was saved. Default: it is of another world. */
  handleLoaded(structure: number = ++this.#structures): void {
    this.loads++
    if (structure === this.structure) return
    this.structure = structure
    this.#rebind()
  }

  /** From now on the heap keeps the values that `keeper` marks. */
  keepValuesOf(keeper: ValueKeeper): void {
    this.#values.add(keeper)
  }

  /** The opposite of `keepValuesOf`. */
  dropValuesOf(keeper: ValueKeeper): void {
    this.#values.remove(keeper)
  }

  /** Frees unused values if it is time. `endTick` does this; a world of views has no ticks. */
  collectValues(): void {
    this.#values.collectIfDue()
  }

  /** The store of an entity; throws if the game does not have it. */
  storeOf(entity: Entity): EntityStore {
    const store = this.#storeOf.get(entity)
    if (store === undefined) {
      throw new ConfigError(entity.schema.name, 'not an entity of this game', 'add it to `entities` in defineGame.')
    }
    return store
  }

  /** The object with an id, wherever it is simulated. */
  #find(entity: Entity, id: ObjectId | null): Handle | undefined | null {
    if (id === null || !this.objects.isAlive(id)) return null
    const index = indexOf(id)
    return this.objects.typeAt(index) === this.storeOf(entity).type ? this.objects.handles[index] : null
  }

  #restructure(): void {
    this.structure = ++this.#structures
  }

  #forgetDraws(): void {
    this.worldDraws = 0
    if (!this.hasDraws) return
    this.hasDraws = false
    const { words, highWater } = this.objects
    for (let index = 0; index < highWater; index++) words[(index << WORD.shift) + WORD.draws] = 0
  }

  /** Frees indexes and slots of the objects that died in this tick, in the order of their deaths. */
  #releaseBuried(): void {
    const { objects } = this
    const { buried, buriedCount } = objects
    if (buriedCount === 0) return
    objects.buriedCount = 0
    for (let at = 0; at < 2 * buriedCount; at += 2) {
      const index = buried[at] >>> 8
      const store = this.stores[buried[at] & 0xff]
      const handle = objects.handles[index]
      assert(handle !== undefined && !handle.isAlive, 'who is buried is dead')
      store.letGo(handle)
      store.freeSlot(buried[at + 1])
      objects.release(index)
    }
    this.#restructure()
  }

  /** Binds handles to the objects in the table. */
  #rebind(): void {
    const { objects, stores } = this
    const { handles, highWater, buried, buriedCount } = objects
    const taken = stores.map((store) => new Uint8Array(store.highSlot))
    const counts = new Uint32Array(stores.length)
    for (let index = 0; index < handles.length; index++) {
      const type = index < highWater ? objects.typeAt(index) : NO_TYPE
      if (type === NO_TYPE) {
        const gone = handles[index]
        if (gone !== undefined) gone.$store.letGo(gone)
        continue
      }
      stores[type].bind(objects.idAt(index), objects.slotAt(index), true)
      taken[type][objects.slotAt(index)] = 1
      counts[type]++
    }
    for (let at = 0; at < 2 * buriedCount; at += 2) {
      const type = buried[at] & 0xff
      stores[type].bind(objects.idAt(buried[at] >>> 8), buried[at + 1], false)
      taken[type][buried[at + 1]] = 1
    }
    stores.forEach((store, type) => store.rebind(taken[type], counts[type]))
  }
}

function peerOf(owner: Owner): PeerId {
  return typeof owner === 'number' ? owner : owner.id
}
