/**
 * What two peers must agree on, as text and as 64 bits.
 *
 * The text lists every field with everything that shapes a bit or a meaning: order, name, kind, bounds, bits, audience,
 * role in motion and initial value. Two builds with equal text are compatible. The handshake compares its hash, and
 * refuses before a snapshot is misread. How a field is drawn between two values (`linear`, `snap`) is decided by each
 * client and is not part of it.
 *
 * Of a manual field only its `format` and its initial bits are known: a change of its code must change its format.
 */

import { hashBytes } from '../base/hash.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { utf8Size, writeUtf8 } from '../bits/utf8.ts'
import type { Field, FieldSpec, ManualTwins, Shape } from './field.ts'
import { VALUE_BITS_MAX } from './value-codec.ts'

/** A shape as canonical text: `{x:fixed(0,640,0.1);alive:bool=true}`. */
export function describeShape(shape: Shape): string {
  return `{${Object.entries(shape).map(([name, field]) => `${name}:${describeField(field)}`).join(';')}}`
}

/** 64 bits of a canonical text, low word first. */
export function fingerprintOf(text: string): Uint32Array {
  const writer = new BitWriter(new Uint8Array(utf8Size(text)))
  writeUtf8(writer, text)
  const fingerprint = new Uint32Array(2)
  hashBytes(writer.bytes, 0, writer.finish(), FINGERPRINT_SEED, fingerprint, 0)
  return fingerprint
}

/** Incremented when the meaning of the text changes: then equal texts must not match across versions. */
const FINGERPRINT_SEED = 1

function describeField(field: Field<unknown>): string {
  const { audience, role, roleOf, initial } = field.options
  const who = audience === 'all' ? '' : `@${audience}`
  const motion = role === undefined ? '' : `~${role}${roleOf === undefined ? '' : `(${roleOf})`}`
  const start = initial === undefined ? '' : `=${describeInitial(field.spec, initial)}`
  return `${describeSpec(field.spec)}${who}${motion}${start}`
}

function describeSpec(spec: FieldSpec): string {
  switch (spec.kind) {
    case 'int':
    case 'ranged-long':
      return `${spec.kind}(${spec.min},${spec.max})`
    case 'word':
      return `${spec.signed ? 'i' : 'u'}${spec.bits}`
    case 'long':
      return spec.form === 'word' ? 'i64-word' : 'i64'
    case 'float':
    case 'double':
      return spec.finite ? spec.kind : `${spec.kind}-any`
    case 'fixed':
      return `fixed(${spec.min},${spec.max},${spec.precision})`
    case 'angle':
    case 'quat':
      return `${spec.kind}(${spec.bits})`
    case 'vector':
      return `vec${spec.arity}(${spec.components.map((c) => `${c.min},${c.max},${c.precision}`).join('|')})`
    case 'enum':
      return `oneOf(${spec.names.map((name) => JSON.stringify(name)).join(',')})`
    case 'text':
    case 'bytes':
      return `${spec.kind}(${spec.maxBytes})`
    case 'fixed-text':
      return `fixed-text(${spec.bytes})`
    case 'struct':
      return `${spec.perMember ? 'delta-struct' : 'struct'}${describeShape(spec.shape)}`
    case 'group':
      return `group${describeShape(spec.shape)}`
    case 'list':
      return `list(${describeField(spec.item)},${spec.maxItems})`
    case 'manual':
      return `manual(${JSON.stringify(spec.codec.format ?? '')},${describeBits(spec.codec, spec.codec.create())})`
    case 'bool':
    case 'varint':
    case 'ref':
      return spec.kind
  }
}

function describeInitial(spec: FieldSpec, initial: unknown): string {
  return spec.kind === 'manual' ? describeBits(spec.codec, initial as never) : describeValue(initial)
}

/** A value of a manual field as its bits: `13:fa08`. Its form in memory is up to the game. */
function describeBits(codec: ManualTwins<never>, value: never): string {
  const writer = new BitWriter(new Uint8Array(VALUE_BITS_MAX / 8))
  codec.write(writer, value)
  const hex = Array.from(writer.bytes.subarray(0, writer.finish()), (byte) => byte.toString(16).padStart(2, '0'))
  return `${writer.bitLength}:${hex.join('')}`
}

/** A value as text: keys sorted, so that the order of a literal does not matter. */
function describeValue(value: unknown): string {
  if (value instanceof Uint8Array) return `bytes[${value.join(',')}]`
  if (Array.isArray(value)) return `[${value.map(describeValue).join(',')}]`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${describeValue(inner)}`).join(',')}}`
}
