/**
 * The value of a field in a new object: the one that `initially(...)` gives to the field or to a surrounding one, else
 * the zero of its kind.
 *
 * Initial values are checked strictly when the definition is compiled: live values are clamped to their bounds, but an
 * initial value outside them is an error in the definition. `schema.ts` checks that a text fits its bytes, by encoding
 * it.
 */

import { ConfigError } from '../base/assert.ts'
import type { FieldSpec } from './field.ts'
import { LEAF, type Leaf } from './leaf.ts'
import { whyNotValue } from './value-check.ts'

/** The zero of a kind: 0 or the nearest value in bounds, false, the first name, an empty text, no object. */
export function zeroOf(spec: FieldSpec): unknown {
  switch (spec.kind) {
    case 'bool': return false
    case 'enum': return spec.names[0]
    case 'int': case 'fixed': return spec.min > 0 ? spec.min : spec.max < 0 ? spec.max : 0
    case 'long': return 0n
    case 'ranged-long': return spec.min > 0n ? spec.min : spec.max < 0n ? spec.max : 0n
    case 'quat': return { x: 0, y: 0, z: 0, w: 1 }
    case 'text': case 'fixed-text': return ''
    case 'bytes': return new Uint8Array(0)
    case 'list': return []
    case 'ref': case 'group': return null
    case 'manual': return spec.codec.create()
    default: return 0
  }
}

/** The initial values of the fields inside one, by name. Throws if `given` names fields that do not exist. */
export function initialInside(
  path: string,
  names: readonly string[],
  given: unknown,
): { readonly [name: string]: unknown } {
  if (given === undefined || given === null) return {}
  if (typeof given !== 'object')
    throw new ConfigError(
      path,
      `invalid initial value (expected fields by name, got ${String(given)})`,
      'give its fields by name.',
    )
  const unknownName = Object.keys(given).find((name) => !names.includes(name))
  if (unknownName !== undefined)
    throw new ConfigError(path, `initially() names the unknown field "${unknownName}"`, `use ${names.join(', ')}.`)
  return { ...given }
}

/** Throws unless the leaf's initial value is a legal value. */
export function checkInitial(leaf: Leaf): void {
  const problem = whyNotValue(leaf.field.spec, leaf.initial) ?? whyOutside(leaf)
  if (problem !== undefined)
    throw new ConfigError(
      leaf.path,
      `initially(${show(leaf.initial)}): ${problem}`,
      'give a value that the field can hold.',
    )
}

function whyOutside({ kind, field: { spec }, initial, isFinite, isSigned, width }: Leaf): string | undefined {
  if (typeof initial === 'bigint') {
    const [min, max] = spec.kind === 'ranged-long' ? [spec.min, spec.max] : [-(2n ** 63n), 2n ** 63n - 1n]
    return initial < min || initial > max ? `not in ${min}..${max}` : undefined
  }
  if (typeof initial === 'object' && kind === LEAF.quat) return whyNoRotation(Object.values(initial ?? {}))
  if (typeof initial !== 'number') return undefined
  if (kind === LEAF.float && isFinite && !Number.isFinite(Math.fround(initial))) return 'not a finite float'
  if (kind === LEAF.float || kind === LEAF.double || kind === LEAF.angle) {
    return isFinite && !Number.isFinite(initial) ? 'not a finite number' : undefined
  }
  if (kind !== LEAF.fixed && !Number.isInteger(initial)) return 'not a whole number'
  const [min, max] = boundsOf(spec, isSigned, width)
  return initial >= min && initial <= max ? undefined : `not in ${min}..${max}`
}

function boundsOf(spec: FieldSpec, isSigned: boolean, width: number): readonly [min: number, max: number] {
  if (spec.kind === 'int' || spec.kind === 'fixed') return [spec.min, spec.max]
  if (spec.kind === 'varint') return [-(2 ** 31), 2 ** 31 - 1]
  if (spec.kind === 'ref' || width === 32) return isSigned ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1]
  return isSigned ? [-(2 ** 15), 2 ** 15 - 1] : [0, 2 ** 16 - 1]
}

function whyNoRotation(parts: readonly number[]): string | undefined {
  const isRotation = parts.every(Number.isFinite) && parts.some((part) => part !== 0)
  return isRotation ? undefined : 'not a rotation'
}

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
