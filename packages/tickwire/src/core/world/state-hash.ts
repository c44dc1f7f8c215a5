/**
 * What a world is, in 64 bits.
 *
 *   world     tick | generator | root over the entities | external state        folded in this order (hashCombine)
 *   entities  a tree (hash-tree.ts) over the entities of the game, in order
 *   entity    a tree over its objects, by object index
 *   object    id, owner, row (object-hash.ts)
 *
 * It is of content: two worlds with equal objects have equal hashes, whatever slots, handles, table sizes and histories
 * they have. Rows are as of the last sample, so hash after `endTick`. The id allocator is not in it: what differs there
 * shows at the next spawn.
 *
 * `StateHash` keeps the trees and hashes again only what changed since it last looked, however long ago that was; by its
 * trees a difference is found (locate-difference.ts). `flatHash` keeps nothing and is another hash: peers use one or the
 * other.
 */

import { hashCombine } from '../base/hash.ts'
import { HashTree } from './hash-tree.ts'
import { ObjectHasher } from './object-hash.ts'
import { NO_TYPE, SLOT_MASK } from './object-table.ts'
import type { World } from './world.ts'

export class StateHash {
  /** By type: over its objects. */
  readonly trees: readonly HashTree[]
  /** Over the roots of those. */
  readonly entities: HashTree
  /** The last hash: low and high half. */
  readonly value: Uint32Array = new Uint32Array(2)
  readonly hasher: ObjectHasher
  readonly #world: World
  /** The object table as of the last update: id, owner and place of each index. */
  #known = new Uint32Array(0)
  #knownCount = 0
  /** The sample that was hashed last. */
  #sample = -1
  readonly #scratch = new Uint32Array(2)

  constructor(world: World) {
    this.#world = world
    this.trees = world.stores.map(() => new HashTree())
    this.entities = new HashTree(world.stores.length)
    this.hasher = new ObjectHasher(world.stores)
  }

  /** Hashes the world as of its last sample into `value`. @hot */
  update(): Uint32Array {
    this.#updateObjects()
    const scratch = this.#scratch
    for (let type = 0; type < this.trees.length; type++) {
      this.trees[type].root(scratch, 0)
      this.entities.set(type, scratch[0], scratch[1])
    }
    this.entities.root(scratch, 0)
    fold(this.#world, scratch[0], scratch[1], this.value)
    return this.value
  }

  #updateObjects(): void {
    const { objects, samples } = this.#world
    const { words, highWater } = objects
    if (this.#known.length < words.length) this.#grow(words.length)
    for (let index = 0; index < highWater; index++) this.#updateObject(index)
    for (let index = highWater; index < this.#knownCount; index++) this.#clear(index)
    this.#knownCount = highWater
    this.#sample = samples
  }

  /** @hot */
  #updateObject(index: number): void {
    const { objects, stores } = this.#world
    const { words } = objects
    const at = index << 2
    const id = words[at]
    const owner = words[at + 1]
    const place = words[at + 2]
    const type = place >>> 24
    const known = this.#known
    if (type === NO_TYPE) {
      this.#clear(index)
      return
    }
    const store = stores[type]
    const slot = place & SLOT_MASK
    const isKnown = known[at] === id && known[at + 1] === owner && known[at + 2] === place
    if (isKnown && store.stamps[slot] <= this.#sample) return
    if (known[at + 2] >>> 24 !== type) this.#clear(index)
    known[at] = id
    known[at + 1] = owner
    known[at + 2] = place
    const scratch = this.#scratch
    this.hasher.hashObject(store, slot, id, owner, scratch)
    this.trees[type].set(index, scratch[0], scratch[1])
  }

  /** Takes whoever was hashed at an index out of his tree. */
  #clear(index: number): void {
    const at = (index << 2) + 2
    const type = this.#known[at] >>> 24
    if (type === NO_TYPE) return
    this.trees[type].set(index, 0, 0)
    this.#known[at] = NOBODY
  }

  #grow(length: number): void {
    const known = this.#known
    this.#known = new Uint32Array(length).fill(NOBODY)
    this.#known.set(known)
  }
}

const NOBODY = (NO_TYPE * 0x100_0000) >>> 0

/** The hash of a world as of its last sample without a tree: out[0] is the low half. For who hashes seldom. */
export function flatHash(world: World, out: Uint32Array): void {
  const hasher = new ObjectHasher(world.stores)
  const [world64, entity64, object64] = [new Uint32Array(2), new Uint32Array(2), new Uint32Array(2)]
  for (const store of world.stores) {
    entity64.fill(0)
    for (const handle of store.living()) {
      hasher.hashObject(store, store.slotOf(handle), handle.id, handle.owner, object64)
      hashCombine(entity64, 0, object64[0], object64[1])
    }
    hashCombine(world64, 0, entity64[0], entity64[1])
  }
  fold(world, world64[0], world64[1], out)
}

/** Folds the hash of all objects together with what a world is beside them. */
function fold(world: World, low: number, high: number, out: Uint32Array): void {
  const { tick, prng, external } = world
  out[0] = tick
  out[1] = tick / 0x1_0000_0000
  for (let word = 0; word < prng.state.length; word += 2) hashCombine(out, 0, prng.state[word], prng.state[word + 1])
  hashCombine(out, 0, low, high)
  hashCombine(out, 0, external.hash(), 0)
}
