/**
 * A tree of 64-bit hashes over numbered places, so that two large states are compared by a few small hashes.
 *
 *                  0                       node n has children 4n + 1 .. 4n + 4
 *       1       2       3       4          place i is node `firstLeaf` + i
 *    5 6 7 8   ...     ...     ...
 *
 * An empty place is 0. A node in which at most the first child is not empty equals that child, unmixed: the root
 * depends on the content of the tree and not on its size, so that peers with different histories agree. Every other
 * node is the hash of its four children in order; nothing here is an XOR. Only changed nodes are computed again, on
 * demand.
 *
 * Four children instead of two: half the levels and less than half the time, for half as many comparisons again when a
 * difference is searched.
 */

import { assert } from '../base/assert.ts'
import { hashRow } from './row-hash.ts'

export const FAN = 4
const CAPACITY_FIRST = 64
/** Words of the children of one node. */
const CHILD_WORDS = 2 * FAN

export class HashTree {
  /** The number of places: a power of four. */
  capacity: number = FAN
  /** The node of the first place, which equals the number of nodes above the places. */
  firstLeaf: number = 1
  /** Low and high half of each node. Call `settle` before reading. */
  nodes: Uint32Array = new Uint32Array(2 * (1 + FAN))
  /** The same memory as `nodes`, as signed words for hashing. */
  #words = new Int32Array(this.nodes.buffer)
  /** Indexed by node: whether it is out of date, and so in the queue. */
  #isStale = new Uint8Array(1)
  /** Nodes that are out of date, deepest first. */
  #queue = new Uint32Array(1)
  #queued = 0

  constructor(capacity: number = CAPACITY_FIRST) {
    this.reserve(capacity)
  }

  /** Where to write the hash of a place in `nodes`. Marks its parent as out of date. @hot */
  place(place: number): number {
    if (place >= this.capacity) this.reserve(place + 1)
    const node = this.firstLeaf + place
    this.#queueUp((node - 1) >>> 2)
    return 2 * node
  }

  /**
   * Sets the hash of a place to the one at `hash[at]`; 0, 0 empties it. Halves are passed in arrays, because a number
   * above 2^31 is allocated when it is passed to a call that is not inlined. @hot
   */
  set(place: number, hash: Uint32Array, at: number): void {
    const node = this.place(place)
    this.nodes[node] = hash[at]
    this.nodes[node + 1] = hash[at + 1]
  }

  /**
   * Computes the nodes that are out of date. Then nodes[0] and nodes[1] are the root. Parents join the queue behind the
   * whole level of their children. @hot
   */
  settle(): void {
    for (let at = 0; at < this.#queued; at++) {
      const node = this.#queue[at]
      this.#isStale[node] = 0
      this.#mix(node)
      if (node > 0) this.#queueUp((node - 1) >>> 2)
    }
    this.#queued = 0
  }

  /** Makes room for `places` places. The root of the content stays the same. */
  reserve(places: number): void {
    if (places <= this.capacity) return
    const leaves = this.nodes.slice(2 * this.firstLeaf)
    while (this.capacity < places) this.capacity *= FAN
    this.firstLeaf = (this.capacity - 1) / (FAN - 1)
    this.nodes = new Uint32Array(2 * (this.firstLeaf + this.capacity))
    this.nodes.set(leaves, 2 * this.firstLeaf)
    this.#words = new Int32Array(this.nodes.buffer)
    this.#isStale = new Uint8Array(this.firstLeaf)
    this.#queue = new Uint32Array(this.firstLeaf)
    this.#queued = 0
    for (let node = (this.firstLeaf - 1) >>> 2; node < this.firstLeaf; node++) this.#queueUp(node)
  }

  /**
   * The proof of a place: the hashes beside the path from the place to the root, low and high half each, lowest level
   * first. Each level has all four hashes, with 0 for the one on the path.
   */
  proof(place: number): Uint32Array {
    assert(place < this.capacity, 'a proof is of a place in the tree')
    this.settle()
    const path: number[] = []
    for (let node = this.firstLeaf + place; node > 0; node = (node - 1) >>> 2) {
      const first = ((node - 1) & ~(FAN - 1)) + 1
      for (let child = first; child < first + FAN; child++) {
        path.push(...(child === node ? [0, 0] : [this.nodes[2 * child], this.nodes[2 * child + 1]]))
      }
    }
    return new Uint32Array(path)
  }

  /** @hot */
  #mix(node: number): void {
    mixChildren(this.#words, 2 * (FAN * node + 1), this.nodes, 2 * node)
  }

  #queueUp(node: number): void {
    if (this.#isStale[node] !== 0) return
    this.#isStale[node] = 1
    this.#queue[this.#queued++] = node
  }
}

/** The hash of four children. out[at] is the low half. @hot */
function mixChildren(words: Int32Array, first: number, out: Uint32Array, at: number): void {
  let others = 0
  for (let word = 2; word < CHILD_WORDS; word++) others |= words[first + word]
  if (others !== 0) {
    hashRow(words, first + 2, CHILD_WORDS - 2, words[first], words[first + 1], out, at)
    return
  }
  out[at] = words[first]
  out[at + 1] = words[first + 1]
}

/** Whether a proof shows that a hash is at a place of the tree with this root. */
export function verifyProof(
  place: number,
  low: number,
  high: number,
  proof: Uint32Array,
  rootLow: number,
  rootHigh: number,
): boolean {
  const node = new Uint32Array([low, high])
  let rest = place
  for (let at = 0; at < proof.length; at += CHILD_WORDS) {
    const children = new Int32Array(proof.subarray(at, at + CHILD_WORDS))
    children.set(node, 2 * (rest % FAN))
    mixChildren(children, 0, node, 0)
    rest = Math.floor(rest / FAN)
  }
  return rest === 0 && node[0] === rootLow && node[1] === rootHigh
}
