/**
 * What the packed coder does for each leaf of a schema, as a table.
 *
 * ```
 * form  lane  max  width  |  width alone  top  top alone  sign       eight int32 a leaf, at index * 8
 * ```
 *
 * A leaf is alone when it is the whole of a member: then its difference is not 0, for the mask has said so, and all
 * differences count one less. `top` is the largest folded difference, and `width` its bits. A sum is shifted up and down
 * by `sign` to give a signed word of 16 bits its sign back.
 */

import { bitsFor, LEAF, type Leaf } from '../schema/leaf.ts'

/** How a leaf is written: as a difference, as a rotation, or as the schema writes it. */
export const FORM = { difference: 0, rotation: 1, value: 2 } as const

/** What stands where in the slots of a leaf. */
export const PLAN = { shift: 3, form: 0, lane: 1, max: 2, width: 3, top: 5, sign: 7 } as const

/** The table of a schema's leaves. */
export function planLeaves(leaves: readonly Leaf[]): Int32Array {
  const plan = new Int32Array(leaves.length << PLAN.shift)
  leaves.forEach((leaf, index) => {
    const max = differenceMax(leaf)
    // Counted modulo 2^32 where there is no room for the turn.
    const top = max < 2 ** 30 ? max : 2 ** 32 - 1
    plan.set([formOf(leaf), leaf.lane, max, bitsFor(top), bitsFor(top - 1), top, top - 1, signOf(leaf)], index << PLAN.shift)
  })
  return plan
}

/** Kinds that are written as differences: plain numbers, whatever their width. */
const DIFFERING: readonly number[] = [LEAF.bits, LEAF.fixed, LEAF.angle, LEAF.word, LEAF.varint]

function formOf({ kind }: Leaf): number {
  return DIFFERING.includes(kind) ? FORM.difference : kind === LEAF.quat ? FORM.rotation : FORM.value
}

/** The largest lane, counted from the least: signed words and varints go round where they are. */
function differenceMax({ kind, width, max }: Leaf): number {
  if (kind === LEAF.word && width === 16) return 0xffff
  return kind === LEAF.word || kind === LEAF.varint ? 2 ** 32 - 1 : max
}

function signOf({ kind, width, isSigned }: Leaf): number {
  return kind === LEAF.word && width === 16 && isSigned ? 16 : 0
}
