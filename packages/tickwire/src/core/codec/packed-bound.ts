/**
 * Whether a packed delta may be shorter than one that was just written: it is rare, and most often seen without writing it.
 *
 * Below half of what all numbers of a field set have it is not even asked: that is short enough (CODEC9).
 */

import type { Schema } from '../schema/schema.ts'
import { differenceBits, foldDifference } from './difference.ts'
import { FORM, PLAN, planLeaves } from './packed-plan.ts'
import type { FieldSet, RowPair } from './row-coder.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { difference: DIFFERENCE } = FORM
const { shift: SHIFT, lane: LANE, max: MAX, width: WIDTH } = PLAN

export class PackedBound {
  readonly #schema: Schema
  readonly #plan: Int32Array
  /** By field set: half of what all numbers have. */
  readonly #halves: readonly number[]

  constructor(schema: Schema) {
    const { masks, leaves } = schema
    this.#schema = schema
    this.#plan = planLeaves(leaves)
    this.#halves = masks.map(({ members }) =>
      members.reduce((bits, { firstLeaf, leafCount }) =>
        bits + leaves.slice(firstLeaf, firstLeaf + leafCount).reduce((sum, { width }) => sum + Math.max(width, 1), 0), 0) >> 1)
  }

  /** Whether the packed delta may have fewer than so many bits. @hot */
  isDoubtful(set: FieldSet, pair: RowPair, bits: number): boolean {
    return bits > this.#halves[set] && this.bitsAtLeast(set, pair) < bits
  }

  /** Bits that the packed delta takes at least: the mask, and numbers that differ outside of groups and structs. @hot */
  bitsAtLeast(set: FieldSet, { rows, at, baseRows, baseAt }: RowPair): number {
    const plan = this.#plan
    const { width, members } = this.#schema.masks[set]
    let bits = width
    for (let each = 0; each < members.length; each++) {
      const { kind, firstLeaf, leafCount } = members[each]
      for (let slot = firstLeaf << SHIFT; kind === 'plain' && slot < (firstLeaf + leafCount) << SHIFT; slot += 1 << SHIFT) {
        const value = rows[at + plan[slot + LANE]]
        const base = baseRows[baseAt + plan[slot + LANE]]
        if (plan[slot] === DIFFERENCE && value !== base) bits += differenceBits((foldDifference(value, base, plan[slot + MAX]) - 1) | 0, plan[slot + WIDTH])
      }
    }
    return bits
  }
}
