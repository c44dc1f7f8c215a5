/**
 * A leaf is one number of a definition after all nesting is gone: `position.x`, `health`, `shield.hp`.
 *
 * It lives in two places. Live, in the cells of an object: doubles that `step` computes with. Quantised, in the lanes
 * of a row: int32 words that are sent, compared, hashed and kept in the Timeline. A double or a 64-bit number takes
 * two lanes, a quaternion four; text, bytes, lists and manual values take one, the handle of an immutable value.
 *
 *   kind         cells                  lanes                              on the wire
 *   bits         value                  value - min                        `width` bits, at most `max`
 *   fixed        value                  step                               `width` bits, at most `max`
 *   angle        radians                step of the turn                   `width` bits
 *   word         value                  value                              16 or 32 bits, low byte first
 *   varint       value                  value                              zig-zag, 1-5 bytes
 *   ref          id, 0 = null           id                                 varint, 1-5 bytes
 *   long         low, high              low, high                          zig-zag, 1-9 bytes
 *   long-word    low, high              low, high                          64 bits, low byte first
 *   long-bits    offset low, high       offset low, high                   `width` bits of value - min
 *   float        value                  IEEE 754 bits                      32 bits, low byte first
 *   double       value                  IEEE 754 bits, low and high        64 bits, low byte first
 *   quat         x, y, z, w             dropped index, three codes         2 + 3 x `width` bits
 *   heap         handle                 handle                             as its kind says
 */

import { ConfigError } from '../base/assert.ts'
import {
  LIST_ITEMS_MAX, QUAT_BITS_MAX, QUAT_BITS_MIN, VALUE_BYTES_MAX,
} from '../base/limits.ts'
import { floatQuant, type FloatQuant } from '../bits/quantize.ts'
import type { Blend, Field } from './field.ts'
import type { Layout } from './layout.ts'

/** What a leaf does, as a number, so that codecs are one loop with one dense switch. */
export const LEAF = {
  bits: 0, fixed: 1, angle: 2, word: 3, varint: 4, ref: 5, long: 6, longWord: 7, longBits: 8, float: 9, double: 10,
  quat: 11, heap: 12,
} as const

export type LeafKind = (typeof LEAF)[keyof typeof LEAF]

/** One leaf. Every one has the same shape, so that loops over leaves stay monomorphic. */
export interface Leaf {
  readonly path: string
  readonly kind: LeafKind
  readonly field: Field<unknown>
  /** First cell and lane, counted from the start of the object. */
  readonly cell: number
  readonly lane: number
  readonly laneCount: number
  /** Bits on the wire, where that is fixed (of one component, for a quaternion). */
  readonly width: number
  /** Largest legal lane value, as uint32. For `longBits` the low word; the high word is `maxHigh`. */
  readonly max: number
  readonly maxHigh: number
  /** Added to the lane to give the value (`bits`); whole numbers. */
  readonly min: number
  readonly isSigned: boolean
  readonly isFinite: boolean
  readonly quant: FloatQuant
  /** How one item of a list lies; undefined for everything else. */
  readonly item: Layout | undefined
  readonly blend: Blend
  /** Lanes may differ by this much and still be equal to prediction: one step, where a step is a rounding. */
  readonly tolerance: number
}

const NO_QUANT = floatQuant(0, 1, 0.5)

/** Builds the leaf of a field that is one (not a struct, vector or group), or says what is wrong with it. */
export function makeLeaf(
  path: string, field: Field<unknown>, cell: number, lane: number, item: Layout | undefined,
): Leaf {
  const { spec, options } = field
  const plain = {
    path, field, cell, lane, laneCount: 1, width: 0, max: 0, maxHigh: 0, min: 0, isSigned: false, isFinite: true,
    quant: NO_QUANT, item, blend: options.blend, tolerance: 0,
  }
  switch (spec.kind) {
    case 'bool': return { ...plain, kind: LEAF.bits, width: 1, max: 1 }
    case 'int': return { ...plain, ...wholeRange(path, spec.min, spec.max), kind: LEAF.bits }
    case 'enum': return { ...plain, ...names(path, spec.names), kind: LEAF.bits }
    case 'fixed': return { ...plain, ...steps(path, spec.min, spec.max, spec.precision), kind: LEAF.fixed }
    case 'angle': {
      check(isWholeIn(spec.bits, 2, 24), path, `${spec.bits} bits an angle`, 'Give 2 to 24; 12 are a tenth of a degree')
      return { ...plain, kind: LEAF.angle, width: spec.bits, max: 2 ** spec.bits - 1, tolerance: 1 }
    }
    case 'word': return { ...plain, kind: LEAF.word, width: spec.bits, isSigned: spec.signed }
    case 'varint': return { ...plain, kind: LEAF.varint }
    case 'ref': return { ...plain, kind: LEAF.ref }
    case 'long': return { ...plain, kind: spec.form === 'word' ? LEAF.longWord : LEAF.long, laneCount: 2 }
    case 'ranged-long': return { ...plain, ...longRange(path, spec.min, spec.max), kind: LEAF.longBits, laneCount: 2 }
    case 'float': return { ...plain, kind: LEAF.float, isFinite: spec.finite }
    case 'double': return { ...plain, kind: LEAF.double, isFinite: spec.finite, laneCount: 2 }
    case 'quat': {
      const fits = isWholeIn(spec.bits, QUAT_BITS_MIN, QUAT_BITS_MAX)
      check(fits, path, `${spec.bits} bits a component`, `Give ${QUAT_BITS_MIN} to ${QUAT_BITS_MAX}; 10 are a fifth of a degree`)
      return { ...plain, kind: LEAF.quat, width: spec.bits, laneCount: 4, tolerance: 1 }
    }
    case 'text':
    case 'bytes':
      check(isWholeIn(spec.maxBytes, 1, VALUE_BYTES_MAX), path, `at most ${spec.maxBytes} bytes`, `Give 1 to ${VALUE_BYTES_MAX}`)
      return { ...plain, kind: LEAF.heap }
    case 'fixed-text':
      check(isWholeIn(spec.bytes, 1, VALUE_BYTES_MAX), path, `${spec.bytes} bytes`, `Give 1 to ${VALUE_BYTES_MAX}`)
      return { ...plain, kind: LEAF.heap }
    case 'list':
      check(isWholeIn(spec.maxItems, 1, LIST_ITEMS_MAX), path, `at most ${spec.maxItems} items`, `Give 1 to ${LIST_ITEMS_MAX}, or make them objects`)
      return { ...plain, kind: LEAF.heap }
    case 'manual': return { ...plain, kind: LEAF.heap }
    case 'vector':
    case 'struct':
    case 'group':
      throw new ConfigError(path, `a ${spec.kind} is not one number`, 'This is a bug in Tickwire.')
  }
}

/** How many doubles a leaf keeps live. */
export function cellCount(leaf: Leaf): number {
  return leaf.kind === LEAF.quat ? 4 : leaf.kind >= LEAF.long && leaf.kind <= LEAF.longBits ? 2 : 1
}

/** Throws the ConfigError unless `condition` holds. */
export function check(condition: boolean, path: string, problem: string, fix: string): void {
  if (!condition) throw new ConfigError(path, problem, `${fix}.`)
}

function wholeRange(path: string, min: number, max: number): { width: number; max: number; min: number } {
  const isWhole = Number.isSafeInteger(min) && Number.isSafeInteger(max)
  check(isWhole && min < max, path, `the range ${min}..${max} is empty or not whole`, 'Give whole numbers with min < max')
  check(max - min < 2 ** 32, path, `${min}..${max} needs more than 32 bits`, 'Use long(min, max) or i64')
  return { width: bitsFor(max - min), max: max - min, min }
}

function names(path: string, list: readonly string[]): { width: number; max: number } {
  check(list.length >= 2, path, `oneOf has ${list.length} names`, 'Give at least two')
  check(new Set(list).size === list.length, path, 'oneOf names one thing twice', 'Make the names distinct')
  return { width: bitsFor(list.length - 1), max: list.length - 1 }
}

function steps(path: string, min: number, max: number, precision: number): Pick<Leaf, 'width' | 'max' | 'quant' | 'tolerance'> {
  const quant = floatQuant(min, max, precision, path)
  return { width: quant.bits, max: quant.stepsMax, quant, tolerance: 1 }
}

function longRange(path: string, min: bigint, max: bigint): { width: number; max: number; maxHigh: number } {
  const inside = min >= -(2n ** 63n) && max < 2n ** 63n
  check(inside && min < max, path, `the range ${min}..${max} is empty or beyond 64 bits`, 'Give bigints with min < max')
  const span = max - min
  return { width: span.toString(2).length, max: Number(span & 0xffff_ffffn), maxHigh: Number(span >> 32n) }
}

/** Bits that hold 0..max. */
export function bitsFor(max: number): number {
  return max < 1 ? 0 : max >= 2 ** 31 ? 32 : 32 - Math.clz32(max)
}

function isWholeIn(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max
}
