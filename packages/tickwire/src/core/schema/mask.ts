/**
 * The mask of a delta, compiled: which member each lane belongs to, and what to do for each member whose bit is set.
 *
 *   laneBits    by lane: the bit of its member within one 32-bit word of the mask, first member highest; 0 = of none
 *   wordLanes   by word of the mask: its first lane; the next entry is where its lanes end
 *   ops         op  lane  width  max        four int32 per member, at index * 4
 *
 * Comparing two rows is then one pass over lanes, whatever the members are, and a member of one small number is written
 * without further lookups.
 */

import type { Member } from './layout.ts'
import { LEAF, type Leaf } from './leaf.ts'

/** What a set bit requires: nothing more, one bit field, or the general case of `row-members.ts`. */
export const OP = { flag: 0, number: 1, other: 2 } as const

/** The positions in the int32 slots of one member in `ops`; `shift` is their number, as a shift. */
export const SLOT = { shift: 2, op: 0, lane: 1, width: 2, max: 3 } as const

/** The members of one mask, in wire order. */
export interface Mask {
  readonly members: readonly Member[]
  /** Bits of the mask: one per member. */
  readonly width: number
  readonly ops: Int32Array
  readonly laneBits: Int32Array
  readonly wordLanes: Int32Array
  /**
   * The members that the last `diffMask`, `writeDelta` or `readDelta` with this mask found changed: one bit per member,
   * first member highest. The next call overwrites it.
   */
  readonly dirty: Int32Array
}

/** Compiles the mask of some members, in order, of a layout's leaves. */
export function makeMask(members: readonly Member[], leaves: readonly Leaf[]): Mask {
  const last = members.at(-1)
  const laneEnd = last === undefined ? 0 : last.lane + last.laneCount
  const wordCount = (members.length + 31) >>> 5
  const ops = new Int32Array(members.length << SLOT.shift)
  const laneBits = new Int32Array(laneEnd)
  const wordLanes = new Int32Array(wordCount + 1).fill(laneEnd)
  members.forEach((member, index) => {
    const { lane, laneCount, firstLeaf } = member
    const { width, max } = leaves[firstLeaf]
    ops.set([opOf(member, leaves), lane, width, max], index << SLOT.shift)
    laneBits.fill(0x8000_0000 >>> (index & 31), lane, lane + laneCount)
    if ((index & 31) === 0) wordLanes[index >>> 5] = lane
  })
  return { members, width: members.length, ops, laneBits, wordLanes, dirty: new Int32Array(wordCount) }
}

/** Finds the members of the mask that differ: `mask.dirty` says which. Returns whether any does. @hot */
export function diffMask(mask: Mask, rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number): boolean {
  const { dirty, laneBits, wordLanes } = mask
  let any = 0
  for (let word = 0; word < dirty.length; word++) {
    const laneEnd = wordLanes[word + 1]
    let bits = 0
    for (let lane = wordLanes[word]; lane < laneEnd; lane++) {
      if (rows[at + lane] !== baseRows[baseAt + lane]) bits |= laneBits[lane]
    }
    dirty[word] = bits
    any |= bits
  }
  return any !== 0
}

/** Whether the last operation with a mask found member `index` changed. */
export function isDirty(mask: Mask, index: number): boolean {
  return mask.dirty[index >>> 5] << (index & 31) < 0
}

function opOf({ kind, firstLeaf, leafCount }: Member, leaves: readonly Leaf[]): number {
  if (kind === 'flag') return OP.flag
  return kind === 'plain' && leafCount === 1 && leaves[firstLeaf].kind <= LEAF.angle ? OP.number : OP.other
}
