/**
 * The packed coder once more, slow and from docs/wire/CODEC.md alone: a string of '0' and '1' and the lanes of a
 * baseline become the lanes of a row. Imports nothing from src. It knows every kind of field; leaves that are written
 * as in STATE.md have the lanes of `value-lanes.ts`.
 */

import { BitSource, Refused } from './bits-reference.ts'
import type { Plain, PlainShape } from './schema-reference.ts'
import { readValueLane } from './value-lanes.ts'

/**
 * The lanes of one leaf: a number with a given count of values, a rotation, or a leaf that is written as in STATE.md.
 */
type Leaf =
  | { readonly kind: 'number'; readonly values: number; readonly isSigned: boolean }
  | { readonly kind: 'quat'; readonly bits: number }
  | { readonly kind: 'float' }
  | { readonly kind: 'value'; readonly field: Plain }

const AUDIENCES = ['all', 'team', 'owner']

/** Takes numbers from the front of a string of bits. */
class Bits {
  readonly source: BitSource

  constructor(text: string) {
    this.source = new BitSource(text)
  }

  take(count: number): number {
    return count === 0 ? 0 : Number.parseInt(this.source.take(count), 2)
  }
}

/**
 * The row that bits turn a baseline into, and how many bits that took. `set`: 0 everyone's fields, 1 the team's too, 2
 * the owner's too.
 */
export function decodePacked(
  text: string, shape: PlainShape, base: readonly number[], initial: readonly number[], set: number = 0,
): { readonly row: number[]; readonly taken: number } {
  const bits = new Bits(text)
  const row = [...base]
  readMask(bits, Object.values(shape), 0, base, initial, row, set)
  return { row, taken: bits.source.taken }
}

function isHeld({ options }: Plain, set: number): boolean {
  const reach = AUDIENCES.indexOf(options.audience)
  return reach >= 0 && reach <= set
}

function readMask(
  bits: Bits,
  fields: readonly Plain[],
  first: number,
  base: readonly number[],
  initial: readonly number[],
  row: number[],
  held: number = 2,
): void {
  const set = fields.map((field) => isHeld(field, held) && bits.take(1) === 1)
  let lane = first
  fields.forEach((field, index) => {
    const end = lane + laneCount(field)
    if (set[index]) {
      readMember(bits, field, lane, base, initial, row)
      if (row.slice(lane, end).every((value, at) => value === base[lane + at]))
        throw new Refused('a set bit without a difference')
    }
    lane = end
  })
}

function readMember(
  bits: Bits,
  field: Plain,
  lane: number,
  base: readonly number[],
  initial: readonly number[],
  row: number[],
): void {
  const { spec } = field
  if (spec.kind === 'bool') row[lane] = 1 - base[lane]!
  else if (spec.kind === 'group') {
    row[lane] = bits.take(1)
    if (row[lane] === 1) readMask(bits, Object.values(spec.shape), lane + 1, base, initial, row)
    else for (let each = lane + 1; each < lane + laneCount(field); each++) row[each] = initial[each]!
  } else if (spec.kind === 'struct' && spec.perMember)
    readMask(bits, Object.values(spec.shape), lane, base, initial, row)
  else {
    const leaves = leavesOf(field)
    let at = lane
    for (const leaf of leaves) {
      if (leaves.length === 1 || bits.take(1) === 1) readLeaf(bits, leaf, at, base, row)
      at += leaf.kind === 'quat' ? 4 : 1
    }
  }
}

function readLeaf(bits: Bits, leaf: Leaf, lane: number, base: readonly number[], row: number[]): void {
  if (leaf.kind === 'value') {
    row[lane] = readValueLane(bits.source, leaf.field)
    return
  }
  if (leaf.kind === 'float') {
    row[lane] = [0, 8, 16, 24].reduce((word, place) => word | (bits.take(8) << place), 0)
    return
  }
  if (leaf.kind === 'quat') {
    const isOther = bits.take(1) === 1
    if (isOther) row[lane] = bits.take(2)
    for (let code = lane + 1; code < lane + 4; code++) {
      row[code] = isOther
        ? bits.take(leaf.bits)
        : moved(base[code]!, difference(bits, 2 ** leaf.bits - 1), 2 ** leaf.bits)
    }
    return
  }
  const round = leaf.values <= 2 ** 30 ? leaf.values : 2 ** 32
  const value = moved(base[lane]!, difference(bits, round - 2) + 1, round)
  row[lane] = round === 2 ** 32 ? value | 0 : leaf.isSigned && value >= round / 2 ? value - round : value
}

/** A folded difference of 0..largest. */
function difference(bits: Bits, largest: number): number {
  const width = largest < 1 ? 0 : Math.floor(Math.log2(largest)) + 1
  const least = Math.floor(width / 3)
  let folded = 0
  if (width < 4) folded = bits.take(width)
  else if (bits.take(1) === 0) folded = bits.take(least)
  else if (bits.take(1) === 0) folded = 2 ** least + bits.take(least + 2)
  else if (bits.take(1) === 0) folded = 5 * 2 ** least + bits.take(least + 4)
  else {
    folded = bits.take(width)
    if (folded < 21 * 2 ** least) throw new Refused('a shorter size would do')
  }
  if (folded > largest) throw new Refused('no such difference')
  return folded
}

/** The short way round, folded: 0, -1, 1, -2, … */
function moved(base: number, folded: number, round: number): number {
  const step = folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2
  return (((base + step) % round) + round) % round
}

function laneCount(field: Plain): number {
  const { spec } = field
  if (spec.kind === 'group') return 1 + Object.values(spec.shape).reduce((sum, each) => sum + laneCount(each), 0)
  if (spec.kind === 'struct') return Object.values(spec.shape).reduce((sum, each) => sum + laneCount(each), 0)
  return spec.kind === 'vector' ? spec.arity : spec.kind === 'quat' ? 4 : 1
}

function leavesOf(field: Plain): readonly Leaf[] {
  const { spec } = field
  const number = (values: number, isSigned = false): readonly Leaf[] => [{ kind: 'number', values, isSigned }]
  switch (spec.kind) {
    case 'bool': return number(2)
    case 'int': return number(spec.max - spec.min + 1)
    case 'enum': return number(spec.names.length)
    case 'angle': return number(2 ** spec.bits)
    case 'word': return number(2 ** spec.bits, spec.signed)
    case 'varint': return number(2 ** 32, true)
    case 'fixed': return number(steps(spec.min, spec.max, spec.precision))
    case 'vector': return spec.components.flatMap(({ min, max, precision }) => number(steps(min, max, precision)))
    case 'float': return [{ kind: 'float' }]
    case 'quat': return [{ kind: 'quat', bits: spec.bits }]
    case 'struct': return Object.values(spec.shape).flatMap(leavesOf)
    default: return [{ kind: 'value', field }]
  }
}

/** Values of a number in steps: STATE.md gives it ceil(log2(range / precision)) bits, and the top step may not fit. */
function steps(min: number, max: number, precision: number): number {
  const ratio = Math.round((max - min) / precision)
  return Math.min(ratio + 1, 2 ** Math.ceil(Math.log2(ratio)))
}
