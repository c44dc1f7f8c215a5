/**
 * Rows as lanes, from docs/wire/STATE.md alone: plain values become the whole numbers that the codecs predict and
 * compare. Imports nothing from src.
 *
 * A leaf that the codecs write "as in STATE.md" has no number that means anything to them. Its lane here is a number
 * that stands for its bits: equal bits, equal lane. (The engine uses two lanes for a 64-bit leaf. No bit on the wire
 * depends on that.)
 */

import { BitSource, type Bits } from './bits-reference.ts'
import {
  decodeField, encodeField, initialValues, type Plain, type PlainShape, type Values,
} from './schema-reference.ts'

const lanes = new Map<Bits, number>()

/** The lane that stands for a leaf's bits. */
export function laneOfBits(bits: Bits): number {
  const lane = lanes.get(bits) ?? lanes.size
  lanes.set(bits, lane)
  return lane
}

/** Reads a leaf as STATE.md writes it, and returns the lane that stands for it. Throws `Refused`. */
export function readValueLane(source: BitSource, field: Plain): number {
  const from = source.taken
  decodeField(source, field)
  return laneOfBits(source.bits.slice(from, source.taken))
}

/** The lanes of a whole definition, in the order of its fields. */
export function lanesOf(shape: PlainShape, values: Values): number[] {
  return Object.entries(shape).flatMap(([name, field]) => lanesOfField(field, values[name]))
}

/** The lanes of a fresh object. */
export function initialLanes(shape: PlainShape): number[] {
  return lanesOf(shape, initialValues(shape))
}

/** The lanes of one field. A rotation may be given as its four lanes: how a writer rounds it is its own choice. */
export function lanesOfField(field: Plain, value: unknown): number[] {
  const { spec, options } = field
  if (spec.kind === 'quat' && Array.isArray(value)) return value as number[]
  if (spec.kind === 'struct' || spec.kind === 'vector') return lanesOf(spec.shape, value as Values)
  if (spec.kind === 'group') {
    const absent = initialValues(spec.shape, (options.initial ?? {}) as Values)
    return [value === null ? 0 : 1, ...lanesOf(spec.shape, (value ?? absent) as Values)]
  }
  const bits = encodeField(field, value)
  switch (spec.kind) {
    case 'bool':
    case 'int':
    case 'enum':
    case 'fixed':
    case 'angle':
      return [Number.parseInt(bits, 2) | 0]
    case 'word':
    case 'varint':
      return [(decodeField(new BitSource(bits), field) as number) | 0]
    case 'float':
      return [
        [0, 8, 16, 24].reduce((word, place) => word | (Number.parseInt(bits.slice(place, place + 8), 2) << place), 0),
      ]
    case 'quat':
      return [0, 1, 2, 3].map((part) =>
        Number.parseInt(
          part === 0 ? bits.slice(0, 2) : bits.slice(2 + (part - 1) * spec.bits, 2 + part * spec.bits),
          2,
        ),
      )
    default:
      return [laneOfBits(bits)]
  }
}
