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
 *
 * This file plans leaves and refuses invalid ones. `leaf-table.ts` packs them for the loops.
 */

import { ConfigError } from '../base/assert.ts'
import {
  LARGE_MESSAGE_BYTES_MAX, LIST_ITEMS_MAX, QUAT_BITS_MAX, QUAT_BITS_MIN, VALUE_BYTES_MAX,
} from '../base/limits.ts'
import { floatQuant, type FloatQuant } from '../bits/quantize.ts'
import type { Blend, Field, FieldSpec, ManualTwins } from './field.ts'
import type { ItemLayout } from './layout.ts'

/** The kind of a leaf, as a number, so that codecs are one loop with one dense switch. */
export const LEAF = {
  bits: 0, fixed: 1, angle: 2, word: 3, varint: 4, ref: 5, long: 6, longWord: 7, longBits: 8, float: 9, double: 10,
  quat: 11, heap: 12,
} as const

export type LeafKind = (typeof LEAF)[keyof typeof LEAF]

/** One leaf. */
export interface Leaf {
  readonly path: string
  readonly kind: LeafKind
  readonly field: Field<unknown>
  /** First cell and lane, counted from the start of the object. */
  readonly cell: number
  readonly cellCount: number
  readonly lane: number
  readonly laneCount: number
  /** Bits on the wire, where that is fixed (for a quaternion, of one component). */
  readonly width: number
  /** Largest legal lane value, as uint32. For `longBits` the low word; the high word is `maxHigh`. */
  readonly max: number
  readonly maxHigh: number
  /** Added to the lane to give the value (`bits`); for whole numbers. */
  readonly min: number
  readonly isSigned: boolean
  readonly isFinite: boolean
  readonly quant: FloatQuant
  /** The layout of one item of a list; undefined for other kinds. */
  readonly item: ItemLayout | undefined
  readonly blend: Blend
  /** Lanes may differ by this much and still be equal to prediction: one step, where a step is a rounding. */
  readonly tolerance: number
  /** The plain value in a new object: from the definition, or the zero of its kind. Checked by `initial.ts`. */
  readonly initial: unknown
}

/** The position of a leaf, and what it inherits from its surroundings. */
export interface LeafPlace {
  readonly path: string
  readonly cell: number
  readonly lane: number
  readonly item: ItemLayout | undefined
  /** Whether a surrounding field is drawn without blending. */
  readonly snaps: boolean
}

/** A leaf whose initial value is not determined yet. */
export type LeafPlan = Omit<Leaf, 'initial'>

const NO_QUANT = floatQuant(0, 1, 0.5)

/** Plans the leaf of a field that is one (not a struct, vector or group), or throws a ConfigError. */
export function planLeaf(field: Field<unknown>, { path, cell, lane, item, snaps }: LeafPlace): LeafPlan {
  const { spec } = field
  const plain = {
    path, field, cell, lane, kind: LEAF.bits, cellCount: 1, laneCount: 1, width: 0, max: 0, maxHigh: 0, min: 0,
    isSigned: false, isFinite: true, quant: NO_QUANT, item, blend: blendOf(field, snaps), tolerance: 0,
  }
  switch (spec.kind) {
    case 'bool': return { ...plain, width: 1, max: 1 }
    case 'int': return { ...plain, ...wholeRange(path, spec.min, spec.max) }
    case 'enum': return { ...plain, ...names(path, spec.names) }
    case 'fixed': return { ...plain, ...steps(path, spec.min, spec.max, spec.precision), kind: LEAF.fixed }
    case 'angle': return { ...plain, ...turn(path, spec.bits), kind: LEAF.angle }
    case 'word': return { ...plain, kind: LEAF.word, width: spec.bits, isSigned: spec.signed }
    case 'varint': return { ...plain, kind: LEAF.varint }
    case 'ref': return { ...plain, kind: LEAF.ref }
    case 'long': return { ...plain, ...PAIR, kind: spec.form === 'word' ? LEAF.longWord : LEAF.long }
    case 'ranged-long': return { ...plain, ...PAIR, ...longRange(path, spec.min, spec.max), kind: LEAF.longBits }
    case 'float': return { ...plain, kind: LEAF.float, isFinite: spec.finite }
    case 'double': return { ...plain, kind: LEAF.double, isFinite: spec.finite, laneCount: 2 }
    case 'quat': return { ...plain, ...rotation(path, spec.bits), kind: LEAF.quat }
    case 'text': case 'fixed-text': case 'bytes': case 'list': case 'manual':
      checkSize(path, spec)
      return { ...plain, kind: LEAF.heap }
    case 'vector': case 'struct': case 'group':
      throw new ConfigError(path, `a ${spec.kind} is not one number`, 'report this bug of Tickwire.')
  }
}

const PAIR = { cellCount: 2, laneCount: 2 } as const

/** Throws the ConfigError unless `condition` holds. */
export function check(condition: boolean, path: string, problem: string, fix: string): void {
  if (!condition) throw new ConfigError(path, problem, fix.endsWith('?') ? fix : `${fix}.`)
}

/** Bits that hold 0..max. */
export function bitsFor(max: number): number {
  return max < 1 ? 0 : max >= 2 ** 31 ? 32 : 32 - Math.clz32(max)
}

/** The kinds that are drawn linearly by default, and the kinds that may ask for it. */
const LINES: readonly FieldSpec['kind'][] = ['float', 'double', 'fixed', 'vector']
const NUMBERS: readonly FieldSpec['kind'][] = [...LINES, 'int', 'word', 'varint']

function blendOf(field: Field<unknown>, snaps: boolean): Blend {
  const { kind } = field.spec
  if (snaps) return 'snap'
  if (field.options.blend !== undefined) return field.options.blend
  return kind === 'angle' ? 'angle' : kind === 'quat' ? 'slerp' : LINES.includes(kind) ? 'linear' : 'snap'
}

/** Only numbers have a straight line between them. */
export function checkLine(path: string, field: Field<unknown>): void {
  const { kind } = field.spec
  check(
    field.options.blend !== 'linear' || NUMBERS.includes(kind),
    path,
    `linear() on a field of kind ${kind}`,
    'leave it out: angles and rotations turn the short way, structs are drawn field by field, others do not blend',
  )
}

function wholeRange(path: string, min: number, max: number): Pick<Leaf, 'width' | 'max' | 'min'> {
  const isWhole = Number.isSafeInteger(min) && Number.isSafeInteger(max)
  check(
    isWhole && min < max,
    path,
    `empty or fractional range (got ${min}..${max})`,
    'give whole numbers with min < max',
  )
  check(max - min < 2 ** 32, path, `too large a range for 32 bits (got ${min}..${max})`, 'use long(min, max) or i64')
  return { width: bitsFor(max - min), max: max - min, min }
}

function names(path: string, list: readonly string[]): Pick<Leaf, 'width' | 'max'> {
  check(
    list.length >= 2,
    path,
    `too few names for oneOf (expected at least two, got ${list.length})`,
    'give at least two',
  )
  check(list.every((name) => typeof name === 'string'), path, 'a name of oneOf is not a string', 'give strings')
  check(new Set(list).size === list.length, path, 'oneOf has a name twice', 'make the names distinct')
  return { width: bitsFor(list.length - 1), max: list.length - 1 }
}

function steps(
  path: string,
  min: number,
  max: number,
  precision: number,
): Pick<Leaf, 'width' | 'max' | 'quant' | 'tolerance'> {
  const quant = floatQuant(min, max, precision, path)
  return { width: quant.bits, max: quant.stepsMax, quant, tolerance: 1 }
}

function turn(path: string, bits: number): Pick<Leaf, 'width' | 'max' | 'tolerance'> {
  check(
    isWholeIn(bits, 2, 24),
    path,
    `invalid bits of an angle (expected 2 to 24, got ${bits})`,
    'give 2 to 24; 12 bits are a tenth of a degree',
  )
  return { width: bits, max: (1 << bits) - 1, tolerance: 1 }
}

function rotation(path: string, bits: number): Pick<Leaf, 'width' | 'cellCount' | 'laneCount' | 'tolerance'> {
  const fits = isWholeIn(bits, QUAT_BITS_MIN, QUAT_BITS_MAX)
  check(
    fits,
    path,
    `invalid bits of a component (expected ${QUAT_BITS_MIN} to ${QUAT_BITS_MAX}, got ${bits})`,
    'give bits in this range; 10 have an error of at most 0.28 degrees',
  )
  return { width: bits, cellCount: 4, laneCount: 4, tolerance: 1 }
}

function longRange(path: string, min: bigint, max: bigint): Pick<Leaf, 'width' | 'max' | 'maxHigh'> {
  check(
    typeof min === 'bigint' && typeof max === 'bigint',
    path,
    `not bigints (got ${min}..${max})`,
    'write 0n, not 0; or use int(min, max)',
  )
  const inside = min >= -(2n ** 63n) && max < 2n ** 63n
  check(inside && min < max, path, `range empty or beyond 64 bits (got ${min}..${max})`, 'give bigints with min < max')
  const span = max - min
  return { width: span.toString(2).length, max: Number(span & 0xffff_ffffn), maxHigh: Number(span >> 32n) }
}

type HeapSpec = FieldSpec & { kind: 'text' | 'fixed-text' | 'bytes' | 'list' | 'manual' }

function checkSize(path: string, spec: HeapSpec): void {
  if (spec.kind === 'manual') {
    check(
      isCodec(spec.codec),
      path,
      'manual() without its functions',
      'give { create, write, read } or { create, serialize }',
    )
  } else if (spec.kind === 'list') {
    const fits = isWholeIn(spec.maxItems, 1, LIST_ITEMS_MAX)
    check(
      fits,
      path,
      `invalid number of items (expected 1 to ${LIST_ITEMS_MAX}, got ${spec.maxItems})`,
      'give a number in this range, or make them objects',
    )
  } else {
    const bytes = spec.kind === 'fixed-text' ? spec.bytes : spec.maxBytes
    // A fixed text of one byte has room only for its size.
    const bytesMin = spec.kind === 'fixed-text' ? 2 : 1
    // Outside of reliable messages and calls the limit is lower: see value-sizes.ts.
    const bytesMax = spec.kind === 'fixed-text' ? VALUE_BYTES_MAX : LARGE_MESSAGE_BYTES_MAX
    check(
      isWholeIn(bytes, bytesMin, bytesMax),
      path,
      `invalid size of ${spec.kind} (expected ${bytesMin} to ${bytesMax} bytes, got ${bytes})`,
      'give a size in this range',
    )
  }
}

function isCodec(codec: ManualTwins<never>): boolean {
  const has = (name: string): boolean => typeof Reflect.get(codec, name) === 'function'
  return typeof codec === 'object' && codec !== null && has('create') && has('write') && has('read')
}

function isWholeIn(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max
}
