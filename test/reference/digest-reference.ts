/**
 * The digest of a timing frame once more, from docs/wire/STATE.md alone. Imports nothing from src.
 */

import { bitsToBytes, type Bits } from './bits-reference.ts'
import { referenceHash } from './hash-reference.ts'
import { encodeField, initialValues, type Plain, type PlainShape, type Values } from './schema-reference.ts'
import { lanesOfField } from './value-lanes.ts'

/** The digest of one object's row. `values` by name; `isLeftOut`: fields that are sent less often than every tick. */
export function digestOfRow(
  id: number,
  shape: PlainShape,
  values: Values,
  isLeftOut: (name: string) => boolean,
): number {
  const leaves = Object.entries(shape)
    .filter(([name, { options }]) => ['all', 'team', 'owner'].includes(options.audience) && !isLeftOut(name))
    .flatMap(([name, field]) => leavesOf(field, values[name]))
  let hash = Math.imul(0x811c9dc5 ^ id, 0x01000193)
  for (const { lanes } of leaves) {
    for (const lane of lanes) {
      hash = Math.imul(hash ^ lane, 0x01000193)
      hash ^= hash >>> 15
    }
  }
  for (const { content } of leaves) {
    if (content === undefined) continue
    const whole = referenceHash(bitsToBytes(content), content.length)
    hash = Math.imul(hash ^ Number(BigInt.asIntN(32, whole)), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 15) ^ Number(BigInt.asIntN(32, whole >> 32n)), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}

interface Leaf {
  readonly lanes: readonly number[]
  /** Of text, bytes, lists and manual values: their bits. */
  readonly content?: Bits
}

function leavesOf(field: Plain, value: unknown): Leaf[] {
  const { spec, options } = field
  const inside = (shape: PlainShape, values: Values): Leaf[] =>
    Object.entries(shape).flatMap(([name, inner]) => leavesOf(inner, values[name]))
  switch (spec.kind) {
    case 'struct':
    case 'vector':
      return inside(spec.shape, value as Values)
    case 'group':
      return [
        { lanes: [value === null ? 0 : 1] },
        ...inside(spec.shape, (value ?? initialValues(spec.shape, (options.initial ?? {}) as Values)) as Values),
      ]
    case 'text':
    case 'fixed-text':
    case 'bytes':
    case 'list':
    case 'manual':
      return [{ lanes: [], content: encodeField(field, value) }]
    case 'ref':
      return [{ lanes: [((value as number | null) ?? 0) | 0] }]
    case 'long':
      return [{ lanes: halves(BigInt.asUintN(64, value as bigint)) }]
    case 'ranged-long':
      return [{ lanes: halves((value as bigint) - spec.min) }]
    case 'double':
      return [{ lanes: halves(new DataView(Float64Array.of(value as number).buffer).getBigUint64(0, true)) }]
    default:
      return [{ lanes: lanesOfField(field, value) }]
  }
}

/** The low half first. */
function halves(value: bigint): number[] {
  return [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))]
}
