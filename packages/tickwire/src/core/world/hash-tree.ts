/**
 * A tree of 64-bit hashes over numbered places, so that two large states are compared by a few small ones.
 *
 *                 1                    node n has children 2n and 2n + 1
 *           2           3              place i is node capacity + i
 *        4     5     6     7
 *
 * A place that is empty is 0. A node whose right half is empty is its left half, unmixed: the root says what is in
 * the tree and not how large it has grown, so that peers with other histories agree. Every other node is the hash of
 * both halves in order; nothing here is an XOR. Only what changed is computed again, when somebody asks.
 */

import { assert } from '../base/assert.ts'
import { hashCombine } from '../base/hash.ts'

const CAPACITY_FIRST = 64

export class HashTree {
  /** How many places there are: a power of two. */
  capacity: number
  /** Low and high half of each node. Settled: call `settle` first. */
  nodes: Uint32Array
  /** By node: whether it is out of date, and so in the queue. */
  #isStale: Uint8Array
  /** Nodes that are out of date, deepest first. */
  #queue: Uint32Array
  #queued = 0

  constructor(capacity: number = CAPACITY_FIRST) {
    this.capacity = 2
    while (this.capacity < capacity) this.capacity *= 2
    this.nodes = new Uint32Array(4 * this.capacity)
    this.#isStale = new Uint8Array(this.capacity)
    this.#queue = new Uint32Array(this.capacity)
  }

  /** Sets the hash of a place; 0, 0 empties it. @hot */
  set(place: number, low: number, high: number): void {
    if (place >= this.capacity) this.reserve(place + 1)
    const { nodes } = this
    const node = this.capacity + place
    if (nodes[2 * node] === low >>> 0 && nodes[2 * node + 1] === high >>> 0) return
    nodes[2 * node] = low
    nodes[2 * node + 1] = high
    this.#queueUp(node >>> 1)
  }

  /** Computes what is out of date: parents join the queue behind all of their children's level. @hot */
  settle(): void {
    const { nodes } = this
    for (let at = 0; at < this.#queued; at++) {
      const node = this.#queue[at]
      this.#isStale[node] = 0
      const left = 4 * node
      nodes[2 * node] = nodes[left]
      nodes[2 * node + 1] = nodes[left + 1]
      if ((nodes[left + 2] | nodes[left + 3]) !== 0) hashCombine(nodes, 2 * node, nodes[left + 2], nodes[left + 3])
      if (node > 1) this.#queueUp(node >>> 1)
    }
    this.#queued = 0
  }

  /** The root: out[at] is the low half, out[at + 1] the high half. */
  root(out: Uint32Array, at: number): void {
    this.settle()
    out[at] = this.nodes[2]
    out[at + 1] = this.nodes[3]
  }

  /** Makes room for so many places; what is in the tree keeps its root. */
  reserve(places: number): void {
    if (places <= this.capacity) return
    const leaves = this.nodes.slice(2 * this.capacity)
    while (this.capacity < places) this.capacity *= 2
    this.nodes = new Uint32Array(4 * this.capacity)
    this.nodes.set(leaves, 2 * this.capacity)
    this.#isStale = new Uint8Array(this.capacity)
    this.#queue = new Uint32Array(this.capacity)
    this.#queued = 0
    for (let node = this.capacity >>> 1; node < this.capacity; node++) this.#queueUp(node)
  }

  /** The hashes beside the way from a place to the root, low and high half each, lowest first: its proof. */
  proof(place: number): Uint32Array {
    assert(place < this.capacity, 'a proof is of a place in the tree')
    this.settle()
    const path: number[] = []
    for (let node = this.capacity + place; node > 1; node >>>= 1) {
      path.push(this.nodes[2 * (node ^ 1)], this.nodes[2 * (node ^ 1) + 1])
    }
    return new Uint32Array(path)
  }

  #queueUp(node: number): void {
    if (this.#isStale[node] !== 0) return
    this.#isStale[node] = 1
    this.#queue[this.#queued++] = node
  }
}

/** Whether a hash stands at a place of the tree with this root, going by its proof. */
export function verifyProof(place: number, low: number, high: number, proof: Uint32Array, rootLow: number, rootHigh: number): boolean {
  const node = new Uint32Array([low, high])
  for (let at = 0; at < proof.length; at += 2) {
    const isLeft = (place >>> (at >>> 1)) % 2 === 0
    const [siblingLow, siblingHigh] = [proof[at], proof[at + 1]]
    if (isLeft) {
      if (siblingLow !== 0 || siblingHigh !== 0) hashCombine(node, 0, siblingLow, siblingHigh)
    } else {
      const [ownLow, ownHigh] = [node[0], node[1]]
      node[0] = siblingLow
      node[1] = siblingHigh
      if (ownLow !== 0 || ownHigh !== 0) hashCombine(node, 0, ownLow, ownHigh)
    }
  }
  return node[0] === rootLow && node[1] === rootHigh && place >>> (proof.length / 2) === 0
}
