/**
 * The field kinds of definitions. Each comment states the cost on the wire; a field that did not change costs only its
 * share of the mask.
 */

import { VALUE_BYTES_MAX } from '../base/limits.ts'
import type { ObjectId } from '../base/time.ts'
import { BitBuffer } from '../bits/bit-buffer.ts'
import { Field, type Bounds, type ManualCodec, type ManualTwins, type Shape } from './field.ts'
import type { DeepReadonly, ValueOf, Vec2, Vec3, Vec4 } from './value-types.ts'

/** True or false. In a definition it costs only its bit in the mask; inside a struct or list, 1 bit. */
export const bool: Field<boolean> = new Field({ kind: 'bool' })
/** 0..255, 8 bits. */
export const u8: Field<number> = int(0, 255)
/** -128..127, 8 bits. */
export const i8: Field<number> = int(-128, 127)
/** 0..65,535, 16 bits. */
export const u16: Field<number> = new Field({ kind: 'word', bits: 16, signed: false })
/** -32,768..32,767, 16 bits. */
export const i16: Field<number> = new Field({ kind: 'word', bits: 16, signed: true })
/** 0..2^32-1, 32 bits: for flags, colours and seeds. */
export const u32: Field<number> = new Field({ kind: 'word', bits: 32, signed: false })
/** -2^31..2^31-1; 1 to 5 bytes, small numbers cheap. */
export const i32: Field<number> = new Field({ kind: 'varint' })
/** -2^31..2^31-1, always 32 bits. */
export const i32Word: Field<number> = new Field({ kind: 'word', bits: 32, signed: true })
/** A 64-bit whole number, a bigint in your code; 1 to 9 bytes, small numbers cheap. */
export const i64: Field<bigint> = new Field({ kind: 'long', form: 'varint' })
/** A 64-bit whole number, always 64 bits. */
export const i64Word: Field<bigint> = new Field({ kind: 'long', form: 'word' })
/** A single-precision float, 32 bits, finite. Prefer `fixed`: it costs half and cannot drift. */
export const f32: Field<number> = new Field({ kind: 'float', finite: true })
/** A double, 64 bits, finite. */
export const f64: Field<number> = new Field({ kind: 'double', finite: true })
/** As `f32`, but NaN and the infinities are values too. */
export const f32Any: Field<number> = new Field({ kind: 'float', finite: false })
/** As `f64`, but NaN and the infinities are values too. */
export const f64Any: Field<number> = new Field({ kind: 'double', finite: false })

/** A whole number from `min` to `max`: ceil(log2(max - min + 1)) bits. `int(0, 1023)` costs 10. */
export function int(min: number, max: number): Field<number> {
  return new Field({ kind: 'int', min, max })
}

/** A bigint from `min` to `max`: ceil(log2(max - min + 1)) bits, at most 64. */
export function long(min: bigint, max: bigint): Field<bigint> {
  return new Field({ kind: 'ranged-long', min, max })
}

/** A number from `min` to `max` in steps of `precision`: ceil(log2((max - min) / precision)) bits. */
export function fixed(min: number, max: number, precision: number): Field<number> {
  return new Field({ kind: 'fixed', min, max, precision })
}

/** An angle in radians, wrapping, read back in [-pi, pi): 2^bits steps a turn. 12 bits are a tenth of a degree. */
export function angle(bits = 12): Field<number> {
  return new Field({ kind: 'angle', bits })
}

/** Two numbers `x`, `y` with one bound for both, or one each: the sum of their bits. */
export function vec2(...bounds: VectorBounds): Field<Vec2> {
  return vector(2, bounds)
}

/** Three numbers `x`, `y`, `z`. `vec3(-4096, 4096, 0.001)` costs 69 bits. */
export function vec3(...bounds: VectorBounds): Field<Vec3> {
  return vector(3, bounds)
}

/** Four numbers `x`, `y`, `z`, `w`. For rotations use `quat`. */
export function vec4(...bounds: VectorBounds): Field<Vec4> {
  return vector(4, bounds)
}

/**
 * A unit quaternion, smallest three: 2 + 3 x bits. 10 bits a component are 32 in all and 0.28 degrees at worst. It is
 * one value: replace it, do not write to its parts.
 */
export function quat(bits = 10): Field<Readonly<Vec4>> {
  return new Field({ kind: 'quat', bits })
}

/** One of some names: ceil(log2(count)) bits. `oneOf('idle', 'run', 'jump')` costs 2. */
export function oneOf<const Name extends string>(...names: readonly Name[]): Field<Name> {
  return new Field({ kind: 'enum', names })
}

/** Text of at most `maxBytes` bytes of UTF-8: its length as a varint, then the bytes. */
export function text(maxBytes: number): Field<string> {
  return new Field({ kind: 'text', maxBytes })
}

/** Text in exactly `bytes` bytes, whatever its length: for records of fixed size. */
export function fixedText(bytes: number): Field<string> {
  return new Field({ kind: 'fixed-text', bytes })
}

/** Raw bytes, at most `maxBytes`: their count as a varint, then the bytes. */
export function bytes(maxBytes: number = VALUE_BYTES_MAX): Field<Uint8Array> {
  return new Field({ kind: 'bytes', maxBytes })
}

/** A value made of fields, without an identity of its own. Changes as a whole: one bit in the mask. */
export function struct<S extends Shape>(shape: S): Field<ValueOf<S>> {
  return new Field({ kind: 'struct', shape, perMember: false })
}

/** As `struct`, with a mask of its own, so that only the members that changed are sent. For large, calm ones. */
export function deltaStruct<S extends Shape>(shape: S): Field<ValueOf<S>> {
  return new Field({ kind: 'struct', shape, perMember: true })
}

/** A part that may be absent: a shield, a carried flag. `null` while absent, which costs nothing. */
export function group<S extends Shape>(shape: S): Field<ValueOf<S> | null> {
  return new Field({ kind: 'group', shape })
}

/**
 * At most `maxItems` values, replaced as a whole, never changed in place: ceil(log2(maxItems + 1)) bits, then the
 * items.
 */
export function list<Value>(item: Field<Value>, maxItems: number): Field<readonly DeepReadonly<Value>[]> {
  return new Field({ kind: 'list', item, maxItems })
}

/** A reference to an object, by its id; null while that object does not exist: 1 to 5 bytes. */
export function ref(): Field<ObjectId | null> {
  return new Field({ kind: 'ref' })
}

/** A field with your own code, in exactly the bits you write. Can be mixed with declared fields. */
export function manual<Value>(codec: ManualCodec<Value>): Field<Value> {
  return new Field({ kind: 'manual', codec: twinsOf(codec) as ManualTwins<never> })
}

/**
 * Splits one function for both directions into two. Only a game with such a field bundles all of BitBuffer. A value
 * that is not a codec is left for the layout to refuse.
 */
function twinsOf<Value>(codec: ManualCodec<Value>): ManualTwins<Value> {
  if (typeof codec !== 'object' || codec === null || !('serialize' in codec) || typeof codec.create !== 'function')
    return codec as ManualTwins<Value>
  return {
    ...(codec.format !== undefined && { format: codec.format }),
    create: () => codec.create(),
    write: (writer, value) => { codec.serialize(new BitBuffer().overWriter(writer), value) },
    read: (reader) => codec.serialize(new BitBuffer().overReader(reader), codec.create()),
  }
}

/** `min, max, precision` for all components, or one `{ min, max, precision }` each. */
export type VectorBounds = readonly [min: number, max: number, precision: number] | readonly Bounds[]

const AXES = ['x', 'y', 'z', 'w'] as const

/**
 * A vector is a struct of `fixed` fields, so that no code below this line knows vectors. The layout counts the bounds.
 */
function vector<Value>(arity: 2 | 3 | 4, bounds: VectorBounds): Field<Value> {
  const components = isOneForAll(bounds) ? AXES.slice(0, arity).map(() => boundsOf(bounds)) : bounds
  const shape: Record<string, Field<number>> = {}
  components.slice(0, arity).forEach((bound, axis) => (shape[AXES[axis]] = new Field({ kind: 'fixed', ...bound })))
  return new Field({ kind: 'vector', arity, components, shape })
}

function isOneForAll(bounds: VectorBounds): bounds is readonly [min: number, max: number, precision: number] {
  return typeof bounds[0] === 'number'
}

function boundsOf([min, max, precision]: readonly [min: number, max: number, precision: number]): Bounds {
  return { min, max, precision }
}
