/**
 * Finds the first difference between two worlds by their hash trees, in O(log n) comparisons: down the tree of
 * entities, down the tree of its objects, and by halves through the fields of the object.
 */

import type { ObjectId } from '../base/time.ts'
import type { Member } from '../schema/layout.ts'
import { loadField } from '../schema/values.ts'
import { FAN, type HashTree } from './hash-tree.ts'
import type { StateHash } from './state-hash.ts'
import type { World } from './world.ts'

/** Where two worlds differ. */
export type Difference =
  | { readonly in: 'tick' | 'generator' | 'external' | 'allocator' }
  /** An object that only one of the worlds has. */
  | { readonly in: 'existence'; readonly entity: string; readonly id: ObjectId }
  /** A field of an object, and its value in both worlds. `owner` counts as a field. */
  | {
    readonly in: 'field'; readonly entity: string; readonly id: ObjectId; readonly field: string
    readonly values: readonly [unknown, unknown]
  }

/** The result of a search, and its cost. */
export interface Located {
  /** Undefined: nothing differs. */
  readonly difference: Difference | undefined
  /** Hashes compared on the way. */
  readonly comparisons: number
}

/** A world with its hash, updated. */
export interface Hashed {
  /** The world. */
  readonly world: World
  /** Its hash, updated. */
  readonly hash: StateHash
}

/** Finds where world `a` differs from world `b`. Both must be of the same game, with updated hashes. */
export function locateDifference(a: Hashed, b: Hashed): Located {
  const search = new Search()
  const entity = search.descend(a.hash.entities, b.hash.entities)
  const difference = entity < 0 ? search.outside(a, b) : search.object(a, b, entity)
  return { difference, comparisons: search.comparisons }
}

/** A search under way. */
class Search {
  comparisons = 0
  readonly #a = new Uint32Array(2)
  readonly #b = new Uint32Array(2)

  /** The first place at which two trees differ; -1 when they are equal. */
  descend(a: HashTree, b: HashTree): number {
    const capacity = Math.max(a.capacity, b.capacity)
    for (const tree of [a, b]) {
      tree.reserve(capacity)
      tree.settle()
    }
    if (this.#isEqualNode(a, b, 0)) return -1
    let node = 0
    while (node < a.firstLeaf) {
      const last = FAN * node + FAN
      node = FAN * node + 1
      // One of the children differs. If it is none of the first three it is the last, which need not be compared.
      while (node < last && this.#isEqualNode(a, b, node)) node++
    }
    return node - a.firstLeaf
  }

  /** The difference between two worlds with equal objects. */
  outside(a: Hashed, b: Hashed): Difference | undefined {
    this.comparisons += 4
    if (a.world.tick !== b.world.tick) return { in: 'tick' }
    if (a.world.prng.state.some((word, at) => word !== b.world.prng.state[at])) return { in: 'generator' }
    if (a.world.external.hash() !== b.world.external.hash()) return { in: 'external' }
    return a.hash.allocator.every((half, at) => half === b.hash.allocator[at]) ? undefined : { in: 'allocator' }
  }

  object(a: Hashed, b: Hashed, type: number): Difference {
    const entity = a.world.stores[type].schema.name
    const index = this.descend(a.hash.trees[type], b.hash.trees[type])
    const [idA, idB] = [idOf(a.world, type, index), idOf(b.world, type, index)]
    if (idA !== idB) return { in: 'existence', entity, id: idA || idB }
    const owners = [a.world.objects.ownerAt(index), b.world.objects.ownerAt(index)] as const
    if (owners[0] !== owners[1]) return { in: 'field', entity, id: idA, field: 'owner', values: owners }
    const member = this.#field(a, b, type, index)
    const values = [valueOf(a.world, type, index, member), valueOf(b.world, type, index, member)] as const
    return { in: 'field', entity, id: idA, field: member.name, values }
  }

  /** The first field that differs, by binary search. */
  #field(a: Hashed, b: Hashed, type: number, index: number): Member {
    const { members } = a.world.stores[type].schema
    let low = 0
    let high = members.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      const [first, last] = [members[low], members[middle]]
      if (this.#isEqualRange(a, b, type, index, first, last)) low = middle + 1
      else high = middle
    }
    return members[low]
  }

  #isEqualRange(a: Hashed, b: Hashed, type: number, index: number, first: Member, last: Member): boolean {
    const end = last.lane + last.laneCount
    for (const [{ world, hash }, out] of [[a, this.#a], [b, this.#b]] as const) {
      hash.hasher.hashLanes(world.stores[type], world.objects.slotAt(index), first.lane, end, out)
    }
    this.comparisons++
    return this.#a[0] === this.#b[0] && this.#a[1] === this.#b[1]
  }

  #isEqualNode(a: HashTree, b: HashTree, node: number): boolean {
    this.comparisons++
    return a.nodes[2 * node] === b.nodes[2 * node] && a.nodes[2 * node + 1] === b.nodes[2 * node + 1]
  }
}

/** The value of a field of the object at an index. */
function valueOf({ stores, objects }: World, type: number, index: number, { firstLeaf, field }: Member): unknown {
  const { schema: { leaves, cellCount }, cells, heap } = stores[type]
  return loadField(leaves, { leaf: firstLeaf }, field, cells, objects.slotAt(index) * cellCount, heap)
}

/** The id of the object of a type at an index; 0 when there is none. */
function idOf({ objects }: World, type: number, index: number): ObjectId {
  return index < objects.highWater && objects.typeAt(index) === type ? objects.idAt(index) : 0
}

/** A value of a field as text. */
export function valueText(value: unknown): string {
  const text = JSON.stringify(value, (_key, each: unknown) => typeof each === 'bigint' ? String(each) : each) as
    | string
    | undefined
  return text ?? String(value)
}
