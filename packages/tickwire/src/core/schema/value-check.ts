/**
 * Whether a plain JavaScript value has the type of a field: the compiler checks it, but a value from JSON, or from code
 * without types, may have a different type.
 *
 * Bounds are not checked: numbers are clamped when they are quantised.
 */

import type { FieldSpec } from './field.ts'

/**
 * What is wrong with the type of a value; undefined if nothing is. Structs, vectors and groups are checked leaf by
 * leaf.
 */
export function whyNotValue(spec: FieldSpec, value: unknown): string | undefined {
  switch (spec.kind) {
    case 'bool': return typeof value === 'boolean' ? undefined : 'not a boolean'
    case 'enum': return spec.names.some((name) => name === value) ? undefined : `none of ${spec.names.join(', ')}`
    case 'long': case 'ranged-long': return typeof value === 'bigint' ? undefined : 'not a bigint'
    case 'ref': return value === null || typeof value === 'number' ? undefined : 'neither an object\'s id nor null'
    case 'quat': return isQuaternion(value) ? undefined : 'not { x, y, z, w }'
    case 'text': case 'fixed-text': return typeof value === 'string' ? undefined : 'not a string'
    case 'bytes': return value instanceof Uint8Array ? undefined : 'not a Uint8Array'
    case 'list': return Array.isArray(value) ? undefined : 'not an array'
    case 'struct': case 'vector': return isObject(value) ? undefined : 'not an object with its fields'
    case 'group': return value === null || isObject(value) ? undefined : 'neither null nor an object with its fields'
    case 'manual': return undefined
    default: return typeof value === 'number' ? undefined : 'not a number'
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isQuaternion(value: unknown): boolean {
  return (
    isObject(value)
    && 'x' in value
    && 'y' in value
    && 'z' in value
    && 'w' in value
    && typeof value.x === 'number'
    && typeof value.y === 'number'
    && typeof value.z === 'number'
    && typeof value.w === 'number'
  )
}
