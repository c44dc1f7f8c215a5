/**
 * What a world is, in 64 bits.
 *
 *   world     tick low, high | generator, 4 words | root over the entities low, high | external state        nine words
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
import { indexOf, NO_TYPE, SLOT_MASK } from './object-table.ts'
import { hashRow } from './row-hash.ts'
import type { World } from './world.ts'

export class StateHash {
  // Declared here and made in the constructor, for speed: see handle.ts.
  /** By type: over its objects. */
  declare readonly trees: readonly HashTree[]
  /** Over the roots of those. */
  declare readonly entities: HashTree
  /** The last hash: low and high half. */
  readonly value: Uint32Array = new Uint32Array(2)
  declare readonly hasher: ObjectHasher
  readonly #world: World
  /** The object table as of the last update: id, owner and place of each index, and whether its hash must be made anew. */
  #known = new Uint32Array(0)
  #knownCount = 0
  /** What was hashed last: the sample of the world, who lived where in it, and how often it had been loaded. */
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
    fold(this.#world, this.entities.nodes, this.value)
    return this.value
  }

  /** @hot */
  #updateObjects(): void {
    const { objects, samples, structure, loads } = this.#world
    const { words, highWater } = objects
    if (this.#known.length < words.length) this.#grow(words.length)
    // Who came, went or was loaded shows in the table; otherwise stamps say it all.
    if (structure !== this.#structure || loads !== this.#loads) {
      for (let index = 0; index < highWater; index++) this.#reconcile(words, index)
      for (let index = highWater; index < this.#knownCount; index++) this.#clear(index)
    }
    for (let first = 0; first < highWater; first += BLOCK) {
      this.#updateBlock(words, first, first + BLOCK < highWater ? first + BLOCK : highWater)
    }
    this.#knownCount = highWater
    this.#sample = samples
    this.#structure = structure
    this.#loads = loads
  }

  /** Finds out whether somebody else lives at an index than did, or for somebody else; then he is hashed anew. */
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
      // First the place, for it may make the tree grow.
      const to = tree.place(index)
      this.hasher.hashObject(store, slot, words, at, tree.nodes, to)
    }
  }

  /** Takes whoever was hashed at an index out of his tree. */
  #clear(index: number): void {
    const at = (index << 2) + 2
    const type = this.#known[at] >>> 24
    if (type === NO_TYPE) return
    this.trees[type].set(index, NOTHING, 0)
    this.#known[at] = NOBODY
  }

  #grow(length: number): void {
    const known = this.#known
    this.#known = new Uint32Array(length).fill(NOBODY)
    this.#known.set(known)
  }
}

/** Objects a call: one loop over all of them is compiled while it runs, and comes out twice as slow. */
const BLOCK = 64
const ANEW = 1
const NOTHING = new Uint32Array(2)
const NOBODY = (NO_TYPE * 0x100_0000) >>> 0

/** The hash of a world as of its last sample without a tree: out[0] is the low half. For who hashes seldom. */
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
  fold(world, world64, out)
}

const words = new Int32Array(9)

/** What a world is beside its objects, and the hash of those at `objects[0]`. @hot */
function fold(world: World, objects: Uint32Array, out: Uint32Array): void {
  const { tick, prng, external } = world
  words[0] = tick
  words[1] = tick / 0x1_0000_0000
  for (let word = 0; word < 4; word++) words[2 + word] = prng.state[word]
  words[6] = objects[0]
  words[7] = objects[1]
  words[8] = external.hash()
  hashRow(words, 2, words.length - 2, words[0], words[1], out, 0)
}
