/**
 * The lanes of a row that are sent to the owner of an object: all but those of `local` and `server` members. For
 * objects of other owners: the lanes that are sent to every client.
 *
 * Prediction compares, corrects and digests only these lanes. A field that is never sent keeps its predicted value. A
 * field with a rate is sent with the value of its last due tick. It is therefore compared in due ticks only, and is not
 * digested.
 *
 *   digest of a row    FNV-1a over id and lanes, a word at a time, mixed at the end; texts and lists by their content
 *   digest of a client the sum over its objects, so that their order does not matter
 */

import { isLeafClose } from '../schema/row-equality.ts'
import type { Member } from '../schema/layout.ts'
import type { Leaf } from '../schema/leaf.ts'
import type { Schema } from '../schema/schema.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import { isDue, ratePeriod } from '../world/rate-latch.ts'
import type { World } from '../world/world.ts'

/** Indexes into `schema.masks`. */
const FOR_ALL = 0
const FOR_OWNER = 2
const FNV_START = 0x811c9dc5
const FNV_PRIME = 0x01000193
const STIR = 0x85ebca6b

/** The lanes that the owner receives, or those that every client receives. Indexed by type. */
export function ownedLanesOf(world: World, tickRate: number, isForAll: boolean = false): readonly OwnedLanes[] {
  return world.stores.map(({ schema }) => new OwnedLanes(schema, tickRate, isForAll ? FOR_ALL : FOR_OWNER))
}

/** A field that is sent at a lower rate than the tick rate. */
interface RatedField {
  readonly period: number
  readonly leaves: readonly Leaf[]
}

export class OwnedLanes {
  readonly #leaves: readonly Leaf[]
  readonly #lanes: Uint16Array
  readonly #heapLeaves: readonly Leaf[]
  readonly #rated: readonly RatedField[]
  readonly #content = new Uint32Array(2)
  /** A predicted reference to an index at or above this one counts as equal: the object still has a provisional id. */
  provisionalFrom: number = Infinity

  constructor(schema: Schema, tickRate: number, mask: typeof FOR_ALL | typeof FOR_OWNER) {
    const { members } = schema.masks[mask]
    const leavesOf = ({ firstLeaf, leafCount }: Member): readonly Leaf[] =>
      schema.leaves.slice(firstLeaf, firstLeaf + leafCount)
    const periodOf = ({
      field: {
        options: { rateHz },
      },
    }: Member): number => (rateHz === undefined ? 1 : ratePeriod(tickRate, rateHz))
    this.#rated = members
      .filter((member) => periodOf(member) > 1)
      .map((member) => ({ period: periodOf(member), leaves: leavesOf(member) }))
    this.#leaves = members.filter((member) => periodOf(member) === 1).flatMap(leavesOf)
    this.#heapLeaves = this.#leaves.filter((leaf) => schema.heapLeaves.includes(leaf))
    const plain = this.#leaves.filter((leaf) => !schema.heapLeaves.includes(leaf))
    this.#lanes = Uint16Array.from(
      plain.flatMap(({ lane, laneCount }) => Array.from({ length: laneCount }, (_, at) => lane + at)),
    )
  }

  /** Whether two rows of the object at an index are bitwise equal at a tick. @hot */
  isEqual(tick: Tick, index: number, rows: Int32Array, at: number, otherRows: Int32Array, otherAt: number): boolean {
    const lanes = this.#lanes
    for (let each = 0; each < lanes.length; each++) {
      if (rows[at + lanes[each]] !== otherRows[otherAt + lanes[each]]) return false
    }
    // Both rows use the same heap, so equal content has an equal handle.
    for (let each = 0; each < this.#heapLeaves.length; each++) {
      const { lane } = this.#heapLeaves[each]
      if (rows[at + lane] !== otherRows[otherAt + lane]) return false
    }
    for (let each = 0; each < this.#rated.length; each++) {
      const { period, leaves } = this.#rated[each]
      if (isDue(tick, index, period) && !areLeavesEqual(leaves, rows, at, otherRows, otherAt)) return false
    }
    return true
  }

  /** Whether a predicted row equals another, apart from noise below a quantization step. @hot */
  isClose(tick: Tick, index: number, rows: Int32Array, at: number, otherRows: Int32Array, otherAt: number): boolean {
    if (this.isEqual(tick, index, rows, at, otherRows, otherAt)) return true
    for (let each = 0; each < this.#leaves.length; each++) {
      const leaf = this.#leaves[each]
      if (isLeafClose(leaf, rows, at, otherRows, otherAt)) continue
      if (!isReference(leaf) || rows[at + leaf.lane] >>> 16 < this.provisionalFrom) return false
    }
    for (let each = 0; each < this.#rated.length; each++) {
      const { period, leaves } = this.#rated[each]
      if (isDue(tick, index, period) && !areLeavesClose(leaves, rows, at, otherRows, otherAt)) return false
    }
    return true
  }

  /** Copies the fields that a digest covers from one row into another. @hot */
  copyDigested(from: Int32Array, fromAt: number, to: Int32Array, toAt: number): void {
    for (let each = 0; each < this.#lanes.length; each++)
      to[toAt + this.#lanes[each]] = from[fromAt + this.#lanes[each]]
    for (let each = 0; each < this.#heapLeaves.length; each++) {
      const { lane } = this.#heapLeaves[each]
      to[toAt + lane] = from[fromAt + lane]
    }
  }

  /** Copies the fields that were sent at a tick from one row into another. @hot */
  copy(tick: Tick, index: number, from: Int32Array, fromAt: number, to: Int32Array, toAt: number): void {
    this.copyDigested(from, fromAt, to, toAt)
    for (let each = 0; each < this.#rated.length; each++) {
      const { period, leaves } = this.#rated[each]
      if (isDue(tick, index, period)) copyLeaves(leaves, from, fromAt, to, toAt)
    }
  }

  /** Copies all fields, due or not: for an object that has no values yet. */
  copyAll(from: Int32Array, fromAt: number, to: Int32Array, toAt: number): void {
    copyLeaves(this.#leaves, from, fromAt, to, toAt)
    for (const { leaves } of this.#rated) copyLeaves(leaves, from, fromAt, to, toAt)
  }

  /** A 32-bit digest of a row and the id of its object. @hot */
  digest(id: ObjectId, rows: Int32Array, at: number, heap: ValueHeap): number {
    const lanes = this.#lanes
    let hash = Math.imul(FNV_START ^ id, FNV_PRIME)
    for (let index = 0; index < lanes.length; index++) {
      hash = Math.imul(hash ^ rows[at + lanes[index]], FNV_PRIME)
      hash ^= hash >>> 15
    }
    for (let index = 0; index < this.#heapLeaves.length; index++) {
      const leaf = this.#heapLeaves[index]
      heap.hash(leaf, rows[at + leaf.lane], this.#content)
      hash = Math.imul(hash ^ this.#content[0], FNV_PRIME)
      hash = Math.imul(hash ^ (hash >>> 15) ^ this.#content[1], FNV_PRIME)
    }
    hash = Math.imul(hash ^ (hash >>> 16), STIR)
    return hash ^ (hash >>> 13)
  }
}

/** Whether a leaf holds the id of an object. */
export function isReference({ field }: Leaf): boolean {
  return field.spec.kind === 'ref'
}

function areLeavesEqual(
  leaves: readonly Leaf[],
  rows: Int32Array,
  at: number,
  otherRows: Int32Array,
  otherAt: number,
): boolean {
  for (const { lane, laneCount } of leaves) {
    for (let each = lane; each < lane + laneCount; each++)
      if (rows[at + each] !== otherRows[otherAt + each]) return false
  }
  return true
}

function areLeavesClose(
  leaves: readonly Leaf[],
  rows: Int32Array,
  at: number,
  otherRows: Int32Array,
  otherAt: number,
): boolean {
  for (const leaf of leaves) if (!isLeafClose(leaf, rows, at, otherRows, otherAt)) return false
  return true
}

function copyLeaves(leaves: readonly Leaf[], from: Int32Array, fromAt: number, to: Int32Array, toAt: number): void {
  for (const { lane, laneCount } of leaves) {
    for (let each = lane; each < lane + laneCount; each++) to[toAt + each] = from[fromAt + each]
  }
}
