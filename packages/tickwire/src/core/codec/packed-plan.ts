/**
 * What the packed coder does for each leaf of a schema, as a table.
 *
 * ```
 * form  lane  max  width  |  top  sign  -  -          eight int32 a leaf, at index * 8
 * ```
 *
 * Only leaves that differ are written, so differences count from 1. `top` is the largest folded difference minus 1, and
 * `width` its bits. A sum is shifted left and right by `sign` to restore the sign of a signed 16-bit word.
 */

import { bitsFor, LEAF, type Leaf } from '../schema/leaf.ts'

/** How a leaf is written: as a difference, as a rotation, or as the schema writes it. */
export const FORM = { difference: 0, rotation: 1, value: 2 } as const

/** The positions in the slots of a leaf. */
export const PLAN = { shift: 3, form: 0, lane: 1, max: 2, width: 3, top: 4, sign: 5 } as const

/** The table of a schema's leaves. */
export function planLeaves(leaves: readonly Leaf[]): Int32Array {
  const plan = new Int32Array(leaves.length << PLAN.shift)
  leaves.forEach((leaf, index) => {
    const max = differenceMax(leaf)
    // Modulo 2^32 where there is no room for the wrap correction.
    const top = (max < 2 ** 30 ? max : 2 ** 32 - 1) - 1
    plan.set([formOf(leaf), leaf.lane, max, bitsFor(top), top, signOf(leaf)], index << PLAN.shift)
  })
  return plan
}

/** Kinds that are written as differences: plain numbers, whatever their width. */
const DIFFERING: readonly number[] = [LEAF.bits, LEAF.fixed, LEAF.angle, LEAF.word, LEAF.varint]

function formOf({ kind }: Leaf): number {
  return DIFFERING.includes(kind) ? FORM.difference : kind === LEAF.quat ? FORM.rotation : FORM.value
}

/** The largest lane value, counted from the least. Signed words and varints wrap at their own width. */
function differenceMax({ kind, width, max }: Leaf): number {
  if (kind === LEAF.word && width === 16) return 0xffff
  return kind === LEAF.word || kind === LEAF.varint ? 2 ** 32 - 1 : max
}

function signOf({ kind, width, isSigned }: Leaf): number {
  return kind === LEAF.word && width === 16 && isSigned ? 16 : 0
}
