/**
 * What a definition costs on the wire, field by field: for guides, tools and analysis of bandwidth.
 */

import type { Audience, FieldSpec } from './field.ts'
import type { Layout, Member } from './layout.ts'
import { bitsFor, LEAF, type Leaf } from './leaf.ts'
import { VALUE_BITS_MAX } from './value-codec.ts'

/** What one member costs in a delta in which it changed, without its bit in the mask. */
export interface Cost {
  /** The member, as `Player.at`. */
  readonly path: string
  /** The function that declares such a field: `fixed`, `vec3`, `oneOf`. */
  readonly kind: string
  /** The fewest bits. */
  readonly bitsMin: number
  /** The most bits. */
  readonly bitsMax: number
  /** Which clients receive it. */
  readonly audience: Audience
}

/** What the fields of a definition cost on the wire. */
export interface Explanation {
  /** The cost of each member, in the order of the declaration. */
  readonly costs: readonly Cost[]
  /** Bits of the owner's mask, the largest: the cost of an object for its owner while nothing changes. */
  readonly maskBits: number
  /** Bits of the owner's delta when everything changed: mask and all members, at least and at most. */
  readonly bitsMin: number
  /** The most bits of the owner's delta when everything changed. */
  readonly bitsMax: number
}

/** Bits at least and at most. */
type Range = readonly [min: number, max: number]

/** What each field of a schema costs. */
export function explain(schema: Layout): Explanation {
  const costs = schema.members.map((member) => {
    const isSent = member.audience !== 'local' && member.audience !== 'server'
    const [bitsMin, bitsMax] = isSent ? memberBits(schema, member) : [0, 0]
    return { path: member.path, kind: kindName(member.field.spec), bitsMin, bitsMax, audience: member.audience }
  })
  const maskBits = schema.masks[2].width
  const [bitsMin, bitsMax] = sum(costs.map((cost) => [cost.bitsMin, cost.bitsMax]))
  return { costs, maskBits, bitsMin: maskBits + bitsMin, bitsMax: maskBits + bitsMax }
}

/** The most bits of a whole row, without a mask. */
export function longestRowBits(layout: Layout): number {
  return sum(layout.leaves.map(leafBits))[1]
}

function memberBits(layout: Layout, { kind, firstLeaf, leafCount, inner }: Member): Range {
  if (kind === 'flag') return [0, 0]
  if (kind === 'plain') return sum(layout.leaves.slice(firstLeaf, firstLeaf + leafCount).map(leafBits))
  const parts = inner.members.map((member) => memberBits(layout, member))
  const bitsMax = inner.width + sum(parts)[1]
  // A group has a bit for whether it is present; when it becomes absent, that is all.
  return kind === 'group' ? [1, 1 + bitsMax] : [inner.width + Math.min(...parts.map(([min]) => min)), bitsMax]
}

function leafBits(leaf: Leaf): Range {
  switch (leaf.kind) {
    case LEAF.varint: case LEAF.ref: return [8, 40]
    case LEAF.long: return [8, 72]
    case LEAF.longWord: case LEAF.double: return [64, 64]
    case LEAF.float: return [32, 32]
    case LEAF.quat: return [2 + 3 * leaf.width, 2 + 3 * leaf.width]
    case LEAF.heap: return heapBits(leaf)
    default: return [leaf.width, leaf.width]
  }
}

function heapBits({ field: { spec }, item }: Leaf): Range {
  switch (spec.kind) {
    case 'text':
    case 'bytes':
      return [8, (spec.maxBytes < 128 ? 1 : spec.maxBytes < 16_384 ? 2 : 3) * 8 + spec.maxBytes * 8]
    case 'fixed-text':
      return [spec.bytes * 8, spec.bytes * 8]
    case 'list': {
      const [, itemMax] = sum((item?.leaves ?? []).map(leafBits))
      return [bitsFor(spec.maxItems), Math.min(VALUE_BITS_MAX, bitsFor(spec.maxItems) + spec.maxItems * itemMax)]
    }
    // Only the game knows.
    default: return [0, VALUE_BITS_MAX]
  }
}

function sum(ranges: readonly Range[]): Range {
  return ranges.reduce<Range>(([min, max], [itsMin, itsMax]) => [min + itsMin, max + itsMax], [0, 0])
}

/** The name of a kind as users write it. */
export function kindName(spec: FieldSpec): string {
  switch (spec.kind) {
    case 'word': return spec.bits === 32 && spec.signed ? 'i32Word' : `${spec.signed ? 'i' : 'u'}${spec.bits}`
    case 'varint': return 'i32'
    case 'long': return spec.form === 'word' ? 'i64Word' : 'i64'
    case 'ranged-long': return 'long'
    case 'float': return spec.finite ? 'f32' : 'f32Any'
    case 'double': return spec.finite ? 'f64' : 'f64Any'
    case 'vector': return `vec${spec.arity}`
    case 'enum': return 'oneOf'
    case 'fixed-text': return 'fixedText'
    case 'struct': return spec.perMember ? 'deltaStruct' : 'struct'
    default: return spec.kind
  }
}
