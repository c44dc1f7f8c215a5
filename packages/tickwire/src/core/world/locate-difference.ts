/**
 * Finds the first difference between two worlds by their hash trees, in O(log n) comparisons.
 */

import type { HashTree } from './hash-tree.ts'
import type { Difference, StateHash } from './state-hash.ts'
import type { World } from './world.ts'

/** A search's answer, and what it cost. */
export interface Located {
  readonly difference: Difference | undefined
  /** Hashes compared on the way. */
  readonly comparisons: number
}

/** Where world `a` differs from world `b`, going by hashes that were updated for the same tick. */
export function locateDifference(a: World, hashA: StateHash, b: World, hashB: StateHash): Located {
  let comparisons = 0
  for (let type = 0; type < a.stores.length; type++) {
    const [treeA, treeB] = [hashA.trees[type], hashB.trees[type]]
    const places = Math.max(treeA.capacity, treeB.capacity)
    treeA.reserve(places)
    treeB.reserve(places)
    treeA.settle()
    treeB.settle()
    comparisons++
    if (isEqualNode(treeA, treeB, 1)) continue
    let node = 1
    while (node < places) {
      node *= 2
      comparisons++
      if (isEqualNode(treeA, treeB, node)) node++
    }
    const { difference, cost } = compareObjects(a, hashA, b, hashB, type, node - places)
    return { difference, comparisons: comparisons + cost }
  }
  return { difference: undefined, comparisons }
}

function isEqualNode(a: HashTree, b: HashTree, node: number): boolean {
  return a.nodes[2 * node] === b.nodes[2 * node] && a.nodes[2 * node + 1] === b.nodes[2 * node + 1]
}

function compareObjects(
  a: World, hashA: StateHash, b: World, hashB: StateHash, type: number, index: number,
): { readonly difference: Difference; readonly cost: number } {
  const [storeA, storeB] = [a.stores[type], b.stores[type]]
  const { schema } = storeA
  const isInA = index < a.objects.highWater && a.objects.types[index] === type
  const isInB = index < b.objects.highWater && b.objects.types[index] === type
  const id = isInA ? a.objects.idAt(index) : b.objects.idAt(index)
  if (!isInA || !isInB || b.objects.idAt(index) !== id) return { difference: { entity: schema.name, id, member: undefined }, cost: 0 }
  const [outA, outB] = [new Uint32Array(2), new Uint32Array(2)]
  let cost = 0
  for (const member of schema.members) {
    hashA.memberHash(storeA, member, a.objects.slots[index] * schema.laneCount, outA)
    hashB.memberHash(storeB, member, b.objects.slots[index] * schema.laneCount, outB)
    cost++
    if (outA[0] !== outB[0] || outA[1] !== outB[1]) return { difference: { entity: schema.name, id, member: member.name }, cost }
  }
  return { difference: { entity: schema.name, id, member: 'owner' }, cost }
}
