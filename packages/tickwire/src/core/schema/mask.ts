/**
 * The mask of a delta, compiled: which member each lane belongs to, and what to do for each member whose bit is set.
 *
 *   laneBits    by lane: the bit of its member within one 32-bit word of the mask, first member highest; 0 = of none
 *   wordLanes   by word of the mask: its first lane; the next entry is where its lanes end
 *   ops         op  lane  laneEnd  width  max  leaf  leafEnd  -        eight int32 a member, at index * 8
 *
 * Comparing two rows is then one pass over lanes, whatever the members are, and a member of one small number is
 * written without looking anywhere else.
 */

import type { Member, MemberKind } from './layout.ts'
import { LEAF, type Leaf } from './leaf.ts'

/** What a set bit asks for. `number` is a plain member of one leaf of fixed width, the common case. */
export const OP = { flag: 0, number: 1, leaves: 2, masked: 3, group: 4 } as const

/** Int32 slots of one member in `ops`, as a shift, and what stands in them. */
export const OP_SHIFT = 3
export const OP_LANE = 1
export const OP_LANE_END = 2
export const OP_WIDTH = 3
export const OP_MAX = 4
export const OP_LEAF = 5
export const OP_LEAF_END = 6

/** The members one mask speaks of, in wire order. */
export interface Mask {
  readonly members: readonly Member[]
  readonly ops: Int32Array
  readonly laneBits: Int32Array
  readonly wordLanes: Int32Array
  /**
   * Which members the latest `diffMask`, `writeDelta` or `readDelta` with this mask found changed: one bit a member, first
   * member highest. Overwritten by the next.
   */
  readonly dirty: Int32Array
}

/** Compiles the mask of some members, in order, of a layout's leaves. */
export function makeMask(members: readonly Member[], leaves: readonly Leaf[]): Mask {
  const last = members.at(-1)
  const laneEnd = last === undefined ? 0 : last.lane + last.laneCount
  const wordCount = (members.length + 31) >>> 5
  const ops = new Int32Array(members.length << OP_SHIFT)
  const laneBits = new Int32Array(laneEnd)
  const wordLanes = new Int32Array(wordCount + 1).fill(laneEnd)
  members.forEach((member, index) => {
    const { lane, laneCount, firstLeaf, leafCount } = member
    const { width, max } = leaves[firstLeaf]
    ops.set([opOf(member, leaves), lane, lane + laneCount, width, max, firstLeaf, firstLeaf + leafCount], index << OP_SHIFT)
    laneBits.fill(0x8000_0000 >>> (index & 31), lane, lane + laneCount)
    if ((index & 31) === 0) wordLanes[index >>> 5] = lane
  })
  return { members, ops, laneBits, wordLanes, dirty: new Int32Array(wordCount) }
}

/** Whether a mask's latest work found member `index` changed. */
export function isDirty(mask: Mask, index: number): boolean {
  return mask.dirty[index >>> 5] << (index & 31) < 0
}

const OPS: { readonly [K in MemberKind]: number } = { flag: OP.flag, plain: OP.leaves, masked: OP.masked, group: OP.group }

function opOf({ kind, firstLeaf, leafCount }: Member, leaves: readonly Leaf[]): number {
  const isNumber = kind === 'plain' && leafCount === 1 && leaves[firstLeaf].kind <= LEAF.angle
  return isNumber ? OP.number : OPS[kind]
}
