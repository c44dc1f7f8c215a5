/**
 * What a world is, in 64 bits; and, when two worlds differ, where.
 *
 *   world     tick, generator, external state, and the root of each entity, in order
 *   entity    a tree over its objects (hash-tree.ts), by object index
 *   object    id, owner, and its row; texts and lists by content, never by handle
 *   member    the lanes of one field of it
 *
 * Only objects that the last sample found changed are hashed again. Two worlds that disagree are told apart in
 * O(log n) comparisons: root, entity, down the tree, member.
 */

import { hashCombine, hashWords } from '../base/hash.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import type { Member } from '../schema/layout.ts'
import { LEAF } from '../schema/leaf.ts'
import type { EntityStore } from './entity-store.ts'
import { HashTree } from './hash-tree.ts'
import { NO_TYPE } from './object-table.ts'
import type { World } from './world.ts'

const SEED = 0x7157_a7e5

/** Where two worlds differ: in which object, and by which field of it (undefined: it exists in one of them only). */
export interface Difference {
  readonly entity: string
  readonly id: ObjectId
  readonly member: string | undefined
}

export class StateHash {
  /** By type. */
  readonly trees: readonly HashTree[]
  /** The last hash: low and high half. */
  readonly value: Uint32Array = new Uint32Array(2)
  readonly #world: World
  /** By object index: who was hashed, with which owner, and as what type. */
  #hashedIds = new Float64Array(0)
  #hashedOwners = new Float64Array(0)
  #hashedTypes = new Uint8Array(0)
  readonly #words: Int32Array
  readonly #result = new Uint32Array(2)
  #hashedTick: Tick = -1
  #hashedLoads = -1

  constructor(world: World) {
    this.#world = world
    this.trees = world.stores.map(() => new HashTree())
    this.#words = new Int32Array(world.stores.reduce((most, { schema }) => Math.max(most, schema.laneCount + 2 * schema.heapLeaves.length + 2), 2))
  }

  /** Hashes the world as it stands after a tick into `value`. @hot */
  update(): Uint32Array {
    const { objects, stores, tick, loads } = this.#world
    const isNext = tick === this.#hashedTick + 1 && loads === this.#hashedLoads
    this.#reserve(objects.highWater)
    for (let index = 0; index < objects.highWater; index++) this.#updateObject(index, isNext)
    this.#hashedTick = tick
    this.#hashedLoads = loads
    const out = this.value
    out[0] = tick
    out[1] = tick / 0x1_0000_0000
    const { state } = this.#world.prng
    for (let at = 0; at < state.length; at += 2) hashCombine(out, 0, state[at], state[at + 1])
    for (let type = 0; type < stores.length; type++) {
      this.trees[type].root(this.#result, 0)
      hashCombine(out, 0, this.#result[0], this.#result[1])
    }
    const external = this.#world.external.hash()
    hashCombine(out, 0, external, 0)
    return out
  }

  /** The hash of one field of an object, for the last step of a search. */
  memberHash(store: EntityStore, member: Member, rowAt: number, out: Uint32Array): void {
    const count = this.#collect(store, member.firstLeaf, member.leafCount, rowAt, 0)
    hashWords(this.#words, 0, count, SEED, out, 0)
  }

  #updateObject(index: number, isNext: boolean): void {
    const { objects, stores } = this.#world
    const type = objects.types[index]
    const before = this.#hashedTypes[index]
    if (before !== type && before !== NO_TYPE) this.trees[before].set(index, 0, 0)
    this.#hashedTypes[index] = type
    if (type === NO_TYPE) {
      this.#hashedIds[index] = 0
      return
    }
    const id = objects.idAt(index)
    const owner = objects.owners[index]
    const slot = objects.slots[index]
    const store = stores[type]
    const isKnown = before === type && this.#hashedIds[index] === id && this.#hashedOwners[index] === owner
    if (isKnown && isNext && store.changed[slot] === 0) return
    this.#hashedIds[index] = id
    this.#hashedOwners[index] = owner
    this.#words[0] = id
    this.#words[1] = owner
    const count = this.#collect(store, 0, store.schema.leaves.length, slot * store.schema.laneCount, 2)
    hashWords(this.#words, 0, count, SEED, this.#result, 0)
    // 0 means empty; a hash that happens to be 0 is moved aside.
    this.trees[type].set(index, this.#result[0] || 1, this.#result[1])
  }

  /** Copies lanes to be hashed, handles replaced by the hash of their content; returns the end. */
  #collect(store: EntityStore, firstLeaf: number, leafCount: number, rowAt: number, at: number): number {
    const { schema, rows, heap } = store
    const { leaves } = schema
    let end = at
    for (let index = firstLeaf; index < firstLeaf + leafCount; index++) {
      const leaf = leaves[index]
      if (leaf.kind === LEAF.heap) {
        heap.hash(leaf, rows[rowAt + leaf.lane], this.#result)
        this.#words[end++] = this.#result[0]
        this.#words[end++] = this.#result[1]
        continue
      }
      for (let lane = leaf.lane; lane < leaf.lane + leaf.laneCount; lane++) this.#words[end++] = rows[rowAt + lane]
    }
    return end
  }

  #reserve(need: number): void {
    if (need <= this.#hashedTypes.length) return
    let capacity = 64
    while (capacity < need) capacity *= 2
    const { length } = this.#hashedTypes
    const [ids, owners, types] = [this.#hashedIds, this.#hashedOwners, this.#hashedTypes]
    this.#hashedIds = new Float64Array(capacity)
    this.#hashedIds.set(ids)
    this.#hashedOwners = new Float64Array(capacity)
    this.#hashedOwners.set(owners)
    this.#hashedTypes = new Uint8Array(capacity).fill(NO_TYPE, length)
    this.#hashedTypes.set(types)
  }
}
