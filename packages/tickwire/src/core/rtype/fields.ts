/**
 * The fields of R-Type packets: each kind with its bytes, its bounds, and how it is written and read. Big-endian.
 *
 * A value outside of its bounds is written as the nearest bound and refused when read. A text is UTF-8, is cut to one
 * byte less than its field, and ends in a zero; the bytes after the first zero have no meaning and are written as 0.
 */

import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { clipUtf8, readUtf8, writeUtf8 } from '../bits/utf8.ts'
import { read32, write32 } from './header.ts'

/**
 * The kinds of fields. `flag` is 0 or 1, `percent` 0 to 100, `level` 1 to 5, `players` 0 to 4, `winner` 0 to 3 or 255,
 * `point` the attachment point of a Force, `entity` an entity type, `inputs` 16 bits of which 7 are defined. `name32`
 * is a text that must have its zero, and is empty when it cannot be read; `text32` and `text64` may fill their field.
 */
export type RtypeFieldKind =
  | 'u8'
  | 'u16'
  | 'u32'
  | 'i16'
  | 'flag'
  | 'percent'
  | 'level'
  | 'players'
  | 'winner'
  | 'point'
  | 'entity'
  | 'inputs'
  | 'u32x4'
  | 'name32'
  | 'text32'
  | 'text64'

/** Fields by name, in the order of the wire. */
export interface RtypeFieldList {
  /** The kind of the field with this name. */
  readonly [name: string]: RtypeFieldKind
}

/** The value of a field. */
export type RtypeFieldValue<Kind> = Kind extends 'name32' | 'text32' | 'text64'
  ? string
  : Kind extends 'flag'
    ? boolean
    : Kind extends 'u32x4'
      ? readonly number[]
      : number

interface Kind {
  readonly bytes: number
  readonly min: number
  readonly max: number
}

const WORDS = 4
/** The bits of an input state that have a meaning; the others are reserved and ignored. */
const INPUTS_DEFINED = 0x7f
const NO_WINNER = 0xff

const KINDS: { readonly [kind in RtypeFieldKind]: Kind } = {
  u8: { bytes: 1, min: 0, max: 0xff },
  u16: { bytes: 2, min: 0, max: 0xffff },
  u32: { bytes: 4, min: 0, max: 0xffff_ffff },
  i16: { bytes: 2, min: -0x8000, max: 0x7fff },
  flag: { bytes: 1, min: 0, max: 1 },
  percent: { bytes: 1, min: 0, max: 100 },
  level: { bytes: 1, min: 1, max: 5 },
  players: { bytes: 1, min: 0, max: 4 },
  winner: { bytes: 1, min: 0, max: NO_WINNER },
  point: { bytes: 1, min: 0, max: 3 },
  entity: { bytes: 1, min: 1, max: 8 },
  inputs: { bytes: 2, min: 0, max: 0xffff },
  u32x4: { bytes: 4 * WORDS, min: 0, max: 0xffff_ffff },
  name32: { bytes: 32, min: 0, max: 0 },
  text32: { bytes: 32, min: 0, max: 0 },
  text64: { bytes: 64, min: 0, max: 0 },
}

/** Bytes of a field. */
export function fieldBytes(kind: RtypeFieldKind): number {
  return KINDS[kind].bytes
}

/** Bytes of all fields of a list. */
export function fieldListBytes(fields: RtypeFieldList): number {
  return Object.values(fields).reduce((sum, kind) => sum + KINDS[kind].bytes, 0)
}

/** Writes a number of a kind that is not a text or a list, as the nearest bound if it is outside. @hot */
export function writeNumber(bytes: Uint8Array, at: number, kind: RtypeFieldKind, value: number): void {
  const { bytes: size, min, max } = KINDS[kind]
  // The comparison refuses NaN too.
  const whole = value >= min ? (value <= max ? Math.round(value) : max) : min
  if (size === 1) bytes[at] = whole
  else if (size === 4) write32(bytes, at, whole)
  else {
    bytes[at] = whole >> 8
    bytes[at + 1] = whole
  }
}

/** Writes the value of any kind. What has the wrong type is written as 0. */
export function writeField(bytes: Uint8Array, at: number, kind: RtypeFieldKind, value: unknown): void {
  if (kind === 'name32' || kind === 'text32' || kind === 'text64') {
    writeText(bytes, at, KINDS[kind].bytes, typeof value === 'string' ? value : '')
  } else if (kind === 'u32x4') {
    const words: readonly unknown[] = Array.isArray(value) ? value : []
    for (let word = 0; word < WORDS; word++) writeNumber(bytes, at + word * 4, 'u32', Number(words[word] ?? 0))
  } else if (kind === 'inputs') {
    writeNumber(bytes, at, kind, Number(value ?? 0) & INPUTS_DEFINED)
  } else {
    writeNumber(bytes, at, kind, Number(value ?? 0))
  }
}

/** The value of a field, or undefined if it is out of its bounds or not a text. The bytes must be there. */
export function readField(
  bytes: Uint8Array,
  at: number,
  kind: RtypeFieldKind,
): string | number | boolean | readonly number[] | undefined {
  if (kind === 'name32') return readText(bytes, at, 32, true) ?? ''
  if (kind === 'text32' || kind === 'text64') return readText(bytes, at, KINDS[kind].bytes, false)
  if (kind === 'u32x4') return Array.from({ length: WORDS }, (_, word) => read32(bytes, at + word * 4))
  const value = readNumber(bytes, at, kind)
  if (kind === 'inputs') return value & INPUTS_DEFINED
  if (kind === 'winner' && value > 3 && value !== NO_WINNER) return undefined
  const { min, max } = KINDS[kind]
  if (value < min || value > max) return undefined
  return kind === 'flag' ? value === 1 : value
}

function readNumber(bytes: Uint8Array, at: number, kind: RtypeFieldKind): number {
  const size = KINDS[kind].bytes
  if (size === 1) return bytes[at]
  if (size === 4) return read32(bytes, at)
  const word = (bytes[at] << 8) | bytes[at + 1]
  return kind === 'i16' ? (word << 16) >> 16 : word
}

function writeText(bytes: Uint8Array, at: number, size: number, value: string): void {
  // A zero would end the text early.
  const zero = value.indexOf('\0')
  const text = clipUtf8(zero < 0 ? value : value.slice(0, zero), size - 1)
  const field = new Uint8Array(size)
  const writer = new BitWriter(field)
  writeUtf8(writer, text)
  writer.finish()
  bytes.set(field, at)
}

function readText(bytes: Uint8Array, at: number, size: number, needsZero: boolean): string | undefined {
  const zero = bytes.subarray(at, at + size).indexOf(0)
  if (zero < 0 && needsZero) return undefined
  const length = zero < 0 ? size : zero
  const reader = new BitReader(bytes.subarray(at, at + length))
  const text = readUtf8(reader, length)
  return reader.failed ? undefined : text
}
