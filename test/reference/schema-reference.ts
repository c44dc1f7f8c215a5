/**
 * The schema layer again, slow and simple: from a shape and plain values straight to a string of '0' and '1',
 * field by field, without rows, leaves, tables or heaps. Written from docs/spec/schema.md; of src it knows only types.
 *
 * The fast codecs are compared with this twin, and `schema-checker.ts` reads the golden vectors with it.
 */

import type { Audience, Field, FieldSpec, ManualCodec } from '../../packages/tickwire/src/core/schema/field.ts'
import { BitSource, Refused, TWINS, type Bits } from './bits-reference.ts'

/** Plain values by field name. */
export type Values = { readonly [name: string]: unknown }

/** The parts of a field that the twin needs. Schema texts are parsed into the same form. */
export type Plain = Pick<Field<unknown>, 'spec' | 'options'>
export type PlainShape = { readonly [name: string]: Plain }

/** The receiver of a delta. */
export type Reader = 'all' | 'team' | 'owner'

/** [SCHEMA9] What turns `base` into `values`: the mask, then the members that differ. */
export function encodeDelta(shape: PlainShape, values: Values, base: Values, reader: Reader): Bits {
  return encodeMasked(shape, namesFor(shape, reader), values, base, initialValues(shape))
}

/** The inverse: `base` with the changes in it. Throws `Refused`. */
export function decodeDelta(source: BitSource, shape: PlainShape, base: Values, reader: Reader): Values {
  return decodeMasked(source, shape, namesFor(shape, reader), base, initialValues(shape))
}

/** [SCHEMA15] All fields in order, without a mask. */
export function encodeWhole(shape: PlainShape, values: Values): Bits {
  return Object.entries(shape).map(([name, field]) => encodeField(field, values[name])).join('')
}

/** The inverse. Throws `Refused`. */
export function decodeWhole(source: BitSource, shape: PlainShape): Values {
  return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, decodeField(source, field)]))
}

/** [SCHEMA6] What a fresh object holds; `around` is the value of `initially(...)` on an enclosing field. */
export function initialValues(shape: PlainShape, around: Values = {}): Values {
  return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, initialValue(field, around[name])]))
}

function initialValue(field: Plain, around: unknown): unknown {
  const { spec, options } = field
  const said = around === undefined ? options.initial : around
  if (spec.kind === 'group')
    return said === undefined || said === null ? null : initialValues(spec.shape, said as Values)
  if (spec.kind === 'struct' || spec.kind === 'vector') return initialValues(spec.shape, said as Values | undefined)
  // An initial value is rounded to a value that can be sent.
  return decodeField(new BitSource(encodeField(field, said === undefined ? zeroOf(spec) : said)), field)
}

/** The values inside an absent group: those of the group in a new object. */
function insideAbsent({ spec, options }: Plain): Values {
  return spec.kind === 'group' ? initialValues(spec.shape, (options.initial ?? {}) as Values) : {}
}

const HOLDERS: { readonly [R in Reader]: readonly Audience[] } = {
  all: ['all'],
  team: ['all', 'team'],
  owner: ['all', 'team', 'owner'],
}

function namesFor(shape: PlainShape, reader: Reader): string[] {
  return Object.keys(shape).filter((name) => HOLDERS[reader].includes(shape[name]!.options.audience))
}

function encodeMasked(
  shape: PlainShape,
  names: readonly string[],
  values: Values,
  base: Values,
  initial: Values,
): Bits {
  const changed = names.filter(
    (name) => encodeField(shape[name]!, values[name]) !== encodeField(shape[name]!, base[name]),
  )
  const mask = names.map((name) => (changed.includes(name) ? '1' : '0')).join('')
  return mask + changed.map((name) => encodeChange(shape[name]!, values[name], base[name], initial[name])).join('')
}

function encodeChange(field: Plain, value: unknown, base: unknown, initial: unknown): Bits {
  const { spec } = field
  if (spec.kind === 'bool') return ''
  if (spec.kind === 'struct' && spec.perMember) {
    return encodeMasked(spec.shape, Object.keys(spec.shape), value as Values, base as Values, initial as Values)
  }
  if (spec.kind !== 'group') return encodeField(field, value)
  if (value === null) return '0'
  const absent = insideAbsent(field)
  return '1' + encodeMasked(spec.shape, Object.keys(spec.shape), value as Values, (base ?? absent) as Values, absent)
}

function decodeMasked(
  source: BitSource,
  shape: PlainShape,
  names: readonly string[],
  base: Values,
  initial: Values,
): Values {
  const mask = source.take(names.length)
  const changes = names.filter((_, index) => mask[index] === '1').map((name) => {
    const value = decodeChange(source, shape[name]!, base[name], initial[name])
    // [SCHEMA10] A set bit without a difference.
    if (encodeField(shape[name]!, value) === encodeField(shape[name]!, base[name])) throw new Refused('no change')
    return [name, value]
  })
  return { ...base, ...Object.fromEntries(changes) }
}

function decodeChange(source: BitSource, field: Plain, base: unknown, initial: unknown): unknown {
  const { spec } = field
  if (spec.kind === 'bool') return !base
  if (spec.kind === 'struct' && spec.perMember) {
    return decodeMasked(source, spec.shape, Object.keys(spec.shape), base as Values, initial as Values)
  }
  if (spec.kind !== 'group') return decodeField(source, field)
  if (source.take(1) === '0') return null
  const absent = insideAbsent(field)
  return decodeMasked(source, spec.shape, Object.keys(spec.shape), (base ?? absent) as Values, absent)
}

/** One field with everything in it and no mask: inside structs, lists and messages. */
export function encodeField({ spec }: Plain, value: unknown): Bits {
  switch (spec.kind) {
    case 'struct': case 'vector': return encodeWhole(spec.shape, value as Values)
    case 'group': return value === null ? '0' : '1' + encodeWhole(spec.shape, value as Values)
    case 'list': {
      const items = value as readonly unknown[]
      return (
        TWINS.enum.encode(items.length, spec.maxItems + 1) + items.map((item) => encodeField(spec.item, item)).join('')
      )
    }
    case 'manual': return encodeManual(spec.codec, value as never)
    case 'angle': return TWINS.bits.encode(angleStep(value as number, 2 ** spec.bits), spec.bits)
    case 'fixed': return TWINS.compressedFloat.encode(value as number, spec)
    case 'int': return TWINS.rangedInt.encode(whole(value as number, spec.min, spec.max), spec.min, spec.max)
    case 'word': return encodeWord(spec.bits, spec.signed, value as number)
    default: return encodeSimple(spec, value)
  }
}

function encodeSimple(spec: FieldSpec, value: unknown): Bits {
  switch (spec.kind) {
    case 'bool':
      return TWINS.bool.encode(value as boolean)
    case 'varint':
      return TWINS.int.encode(whole(value as number, -(2 ** 31), 2 ** 31 - 1))
    case 'long':
      return spec.form === 'word'
        ? TWINS.u64.encode(BigInt.asUintN(64, value as bigint))
        : TWINS.long.encode(value as bigint)
    case 'ranged-long':
      return TWINS.rangedLong.encode(value as bigint, spec.min, spec.max)
    case 'float':
      return (spec.finite ? TWINS.float : TWINS.floatAny).encode(value as number)
    case 'double':
      return (spec.finite ? TWINS.double : TWINS.doubleAny).encode(value as number)
    case 'quat':
      return TWINS.quaternion.encode(value as { x: number; y: number; z: number; w: number }, spec.bits)
    case 'enum':
      return TWINS.enum.encode(spec.names.indexOf(value as string), spec.names.length)
    case 'text':
      return TWINS.string.encode(value as string, spec.maxBytes)
    case 'fixed-text':
      return TWINS.fixedString.encode(value as string, spec.bytes)
    case 'bytes':
      return TWINS.bytes.encode(value as Uint8Array, spec.maxBytes)
    case 'ref':
      return TWINS.varint.encode((value as number | null) ?? 0)
    default:
      throw new Error(`no simple field: ${spec.kind}`)
  }
}

/** The inverse. Throws `Refused`. */
export function decodeField(source: BitSource, { spec }: Plain): unknown {
  switch (spec.kind) {
    case 'struct': case 'vector': return decodeWhole(source, spec.shape)
    case 'group': return source.take(1) === '0' ? null : decodeWhole(source, spec.shape)
    case 'list': {
      const count = TWINS.enum.decode(source, spec.maxItems + 1)
      return Array.from({ length: count }, () => decodeField(source, spec.item))
    }
    case 'manual': return decodeManual(source, spec.codec)
    case 'angle': return angleOf(TWINS.bits.decode(source, spec.bits), 2 ** spec.bits)
    case 'fixed': return TWINS.compressedFloat.decode(source, spec)
    case 'int': return TWINS.rangedInt.decode(source, spec.min, spec.max)
    case 'word': return decodeWord(source, spec.bits, spec.signed)
    default: return decodeSimple(source, spec)
  }
}

function decodeSimple(source: BitSource, spec: FieldSpec): unknown {
  switch (spec.kind) {
    case 'bool': return TWINS.bool.decode(source)
    case 'varint': return TWINS.int.decode(source)
    case 'long': return spec.form === 'word' ? BigInt.asIntN(64, TWINS.u64.decode(source)) : TWINS.long.decode(source)
    case 'ranged-long': return TWINS.rangedLong.decode(source, spec.min, spec.max)
    case 'float': return (spec.finite ? TWINS.float : TWINS.floatAny).decode(source)
    case 'double': return (spec.finite ? TWINS.double : TWINS.doubleAny).decode(source)
    case 'quat': return TWINS.quaternion.decode(source, spec.bits)
    case 'enum': return spec.names[TWINS.enum.decode(source, spec.names.length)]
    case 'text': return TWINS.string.decode(source, spec.maxBytes)
    case 'fixed-text': return TWINS.fixedString.decode(source, spec.bytes)
    case 'bytes': return TWINS.bytes.decode(source, spec.maxBytes)
    case 'ref': {
      const id = TWINS.varint.decode(source)
      if (id >= 2 ** 32) throw new Refused('no id')
      return id === 0 ? null : id
    }
    default: throw new Error(`no simple field: ${spec.kind}`)
  }
}

/** [SCHEMA6] The zero of a kind. */
function zeroOf(spec: FieldSpec): unknown {
  switch (spec.kind) {
    case 'bool': return false
    case 'enum': return spec.names[0]
    case 'int': case 'fixed': return Math.min(spec.max, Math.max(spec.min, 0))
    case 'long': return 0n
    case 'ranged-long': return spec.min > 0n ? spec.min : spec.max < 0n ? spec.max : 0n
    case 'quat': return { x: 0, y: 0, z: 0, w: 1 }
    case 'text': case 'fixed-text': return ''
    case 'bytes': return new Uint8Array(0)
    case 'list': return []
    case 'ref': return null
    case 'manual': return spec.codec.create()
    default: return 0
  }
}

function whole(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.round(value)))
}

function angleStep(radians: number, steps: number): number {
  const step = Math.round(radians * (steps / (2 * Math.PI))) % steps
  return step < 0 ? step + steps : step
}

function angleOf(step: number, steps: number): number {
  return (step * 2 >= steps ? step - steps : step) * ((2 * Math.PI) / steps)
}

function encodeWord(bits: 16 | 32, isSigned: boolean, value: number): Bits {
  const span = 2 ** bits
  const [min, max] = isSigned ? [-span / 2, span / 2 - 1] : [0, span - 1]
  const unsigned = (whole(value, min, max) + span) % span
  return bits === 16 ? TWINS.u16.encode(unsigned) : TWINS.u32.encode(unsigned)
}

function decodeWord(source: BitSource, bits: 16 | 32, isSigned: boolean): number {
  const unsigned = bits === 16 ? TWINS.u16.decode(source) : TWINS.u32.decode(source)
  return isSigned && unsigned >= 2 ** (bits - 1) ? unsigned - 2 ** bits : unsigned
}

/** Manual codecs of tests use bit fields only, so a string can stand in for the cursor. */
function encodeManual(codec: ManualCodec<never>, value: never): Bits {
  let bits = ''
  const writer = { writeBits: (field: number, width: number) => { bits += TWINS.bits.encode(field, width) } }
  if (!('write' in codec)) throw new Error('the twin runs manual codecs of two functions only')
  codec.write(writer as never, value)
  return bits
}

function decodeManual(source: BitSource, codec: ManualCodec<never>): unknown {
  if (!('read' in codec)) throw new Error('the twin runs manual codecs of two functions only')
  const start = source.taken
  const fail = (): never => { throw new Refused('by the codec') }
  const value = codec.read({ readBits: (width: number) => TWINS.bits.decode(source, width), fail } as never)
  if (encodeManual(codec, value) !== source.bits.slice(start, source.taken)) throw new Refused('not canonical')
  return value
}
