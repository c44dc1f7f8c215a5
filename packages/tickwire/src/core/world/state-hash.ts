/**
 * A 64-bit hash of a world.
 *
 *   world     tick low, high | generator, 4 words | root over the entities low, high | external state
 *             | allocator low, high
 *   entities  a tree (hash-tree.ts) over the entities of the game, in order
 *   entity    a tree over its objects, by object index
 *   object    id, owner, row (object-hash.ts)
 *   allocator which ids come next (allocator-hash.ts)
 *
 * It covers content only: two worlds with equal objects and equal next ids have equal hashes, whatever their slots,
 * handles, table sizes and histories. Rows are those of the last sample, so hash after `endTick`.
 *
 * `StateHash` keeps the trees and hashes only what changed since its last update, however long ago that was. A
 * difference is located through its trees (locate-difference.ts). `flatHash` keeps nothing and is a different hash: all
 * peers must use the same of the two.
 */

import { hashCombine } from '../base/hash.ts'
import { AllocatorHash } from './allocator-hash.ts'
import { HashTree } from './hash-tree.ts'
import { ObjectHasher } from './object-hash.ts'
import { indexOf, NO_TYPE, SLOT_MASK } from './object-table.ts'
import { hashRow } from './row-hash.ts'
import type { World } from './world.ts'

/** A hash of a world's state that is updated incrementally. */
export class StateHash {
  // Declared here and assigned in the constructor, for speed: see handle.ts.
  /** Indexed by type: the tree over its objects. */
  declare readonly trees: readonly HashTree[]
  /** The tree over the roots of `trees`. */
  declare readonly entities: HashTree
  /** The last hash: low and high half. */
  readonly value: Uint32Array = new Uint32Array(2)
  /** Hashes one object. */
  declare readonly hasher: ObjectHasher
  /** The allocator as of the last update: low and high half. */
  readonly allocator: Uint32Array = new Uint32Array(2)
  readonly #world: World
  readonly #allocatorHash = new AllocatorHash()
  /** The object table at the last update: id, owner and place of each index, and whether it must be hashed again. */
  #known = new Uint32Array(0)
  #knownCount = 0
  /** The state at the last update: the world's sample, structure and load counters. */
  #sample = -1
  #structure = -1
  #loads = -1

  constructor(world: World) {
    this.#world = world
    this.trees = world.stores.map(() => new HashTree())
    this.entities = new HashTree(world.stores.length)
    this.hasher = new ObjectHasher(world.stores)
  }

  /** Hashes the world as of its last sample into `value`. @hot */
  update(): Uint32Array {
    this.#updateObjects()
    for (let type = 0; type < this.trees.length; type++) {
      this.trees[type].settle()
      this.entities.set(type, this.trees[type].nodes, 0)
    }
    this.entities.settle()
    fold(this.#world, this.entities.nodes, this.allocator, this.value)
    return this.value
  }

  /** @hot */
  #updateObjects(): void {
    const { objects, samples, structure, loads } = this.#world
    const { words, highWater } = objects
    if (this.#known.length < words.length) this.#grow(words.length)
    // Objects that appeared, disappeared or were loaded show in the table. All other changes show in the stamps.
    if (structure !== this.#structure || loads !== this.#loads) {
      for (let index = 0; index < highWater; index++) this.#reconcile(words, index)
      for (let index = highWater; index < this.#knownCount; index++) this.#clear(index)
      this.#allocatorHash.hash(objects, this.allocator, 0)
    }
    for (let first = 0; first < highWater; first += BLOCK) {
      this.#updateBlock(words, first, first + BLOCK < highWater ? first + BLOCK : highWater)
    }
    this.#knownCount = highWater
    this.#sample = samples
    this.#structure = structure
    this.#loads = loads
  }

  /** If another object lives at an index, or its owner has changed, marks it to be hashed again. */
  #reconcile(words: Uint32Array, index: number): void {
    const at = index << 2
    const known = this.#known
    const isKnown = known[at] === words[at] && known[at + 1] === words[at + 1] && known[at + 2] === words[at + 2]
    if (isKnown) return
    this.#clear(index)
    known[at] = words[at]
    known[at + 1] = words[at + 1]
    known[at + 2] = words[at + 2]
    known[at + 3] = ANEW
  }

  /** @hot */
  #updateBlock(words: Uint32Array, first: number, end: number): void {
    const { stores } = this.#world
    const known = this.#known
    for (let index = first; index < end; index++) {
      const at = index << 2
      const type = words[at + 2] >>> 24
      if (type === NO_TYPE) continue
      const store = stores[type]
      const slot = words[at + 2] & SLOT_MASK
      if (store.stamps[slot] <= this.#sample && known[at + 3] !== ANEW) continue
      known[at + 1] = words[at + 1]
      known[at + 3] = 0
      const tree = this.trees[type]
      // Get the place first, because this may make the tree grow.
      const to = tree.place(index)
      this.hasher.hashObject(store, slot, words, at, tree.nodes, to)
    }
  }

  /** Removes the object that was hashed at an index from its tree. */
  #clear(index: number): void {
    const at = (index << 2) + 2
    const type = this.#known[at] >>> 24
    if (type === NO_TYPE) return
    this.trees[type].set(index, NOTHING, 0)
    this.#known[at] = NO_OBJECT
  }

  #grow(length: number): void {
    const known = this.#known
    this.#known = new Uint32Array(length).fill(NO_OBJECT)
    this.#known.set(known)
  }
}

/** Objects per call: V8 compiles a single loop over all of them while it runs, which makes it twice as slow. */
const BLOCK = 64
const ANEW = 1
const NOTHING = new Uint32Array(2)
const NO_OBJECT = (NO_TYPE * 0x100_0000) >>> 0

/** The hash of a world at its last sample, without a tree: out[0] is the low half. For callers that hash seldom. */
export function flatHash(world: World, out: Uint32Array): void {
  const { objects, stores } = world
  const hasher = new ObjectHasher(stores)
  const [world64, entity64, object64] = [new Uint32Array(2), new Uint32Array(2), new Uint32Array(2)]
  for (const store of stores) {
    entity64.fill(0)
    for (const handle of store.living()) {
      hasher.hashObject(store, store.slotOf(handle), objects.words, indexOf(handle.id) << 2, object64, 0)
      hashCombine(entity64, 0, object64[0], object64[1])
    }
    hashCombine(world64, 0, entity64[0], entity64[1])
  }
  const allocator = new Uint32Array(2)
  new AllocatorHash().hash(objects, allocator, 0)
  fold(world, world64, allocator, out)
}

const words = new Int32Array(11)

/** The hash of a world, given the hashes of its objects and of its allocator. @hot */
function fold(world: World, objects: Uint32Array, allocator: Uint32Array, out: Uint32Array): void {
  const { tick, prng, external } = world
  words[0] = tick
  words[1] = tick / 0x1_0000_0000
  for (let word = 0; word < 4; word++) words[2 + word] = prng.state[word]
  words[6] = objects[0]
  words[7] = objects[1]
  words[8] = external.hash()
  words[9] = allocator[0]
  words[10] = allocator[1]
  hashRow(words, 2, words.length - 2, words[0], words[1], out, 0)
}
