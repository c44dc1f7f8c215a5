/**
 * Whether a packed delta may be shorter than one that was just written. That is rare, and can mostly be ruled out
 * without writing it.
 *
 * Below half the width of all numbers of a field set it is not checked: the delta is short enough (CODEC9).
 */

import type { Schema } from '../schema/schema.ts'
import { differenceBits, foldDifference } from './difference.ts'
import { FORM, PLAN, planLeaves } from './packed-plan.ts'
import type { FieldSet, RowPair } from './row-coder.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { difference: DIFFERENCE } = FORM
const { shift: SHIFT, lane: LANE, max: MAX, width: WIDTH } = PLAN
const NUMBER_WORDS = 3

export class PackedBound {
  /**
   * Indexed by field set: half the width of all numbers; the bits of the mask; lane, largest value and width of each
   * number that is checked.
   */
  readonly #halves: readonly number[]
  readonly #maskBits: readonly number[]
  readonly #numbers: readonly Int32Array[]

  constructor(schema: Schema) {
    const { masks, leaves } = schema
    const plan = planLeaves(leaves)
    this.#maskBits = masks.map(({ width }) => width)
    this.#numbers = masks.map(({ members }) =>
      Int32Array.from(
        members
          .filter(({ kind }) => kind === 'plain')
          .flatMap(({ firstLeaf, leafCount }) =>
            Array.from({ length: leafCount }, (_, leaf) => (firstLeaf + leaf) << SHIFT)
              .filter((slot) => plan[slot] === DIFFERENCE)
              .flatMap((slot) => [plan[slot + LANE], plan[slot + MAX], plan[slot + WIDTH]]),
          ),
      ),
    )
    this.#halves = masks.map(
      ({ members }) =>
        members.reduce(
          (bits, { firstLeaf, leafCount }) =>
            bits
            + leaves.slice(firstLeaf, firstLeaf + leafCount).reduce((sum, { width }) => sum + Math.max(width, 1), 0),
          0,
        ) >> 1,
    )
  }

  /** Whether the packed delta may be shorter than `bits` by more than `spare`. @hot */
  isDoubtful(set: FieldSet, pair: RowPair, bits: number, spare: number = 0): boolean {
    return bits > this.#halves[set] && this.bitsAtLeast(set, pair, bits - spare) < bits - spare
  }

  /**
   * A lower bound of the packed delta's bits: the mask, and numbers that differ outside of groups and structs. Stops at
   * `enough`. @hot
   */
  bitsAtLeast(set: FieldSet, { rows, at, baseRows, baseAt }: RowPair, enough: number = Infinity): number {
    const numbers = this.#numbers[set]
    let bits = this.#maskBits[set]
    for (let number = 0; number < numbers.length && bits < enough; number += NUMBER_WORDS) {
      const value = rows[at + numbers[number]]
      const base = baseRows[baseAt + numbers[number]]
      if (value !== base)
        bits += differenceBits((foldDifference(value, base, numbers[number + 1]) - 1) | 0, numbers[number + 2])
    }
    return bits
  }
}
