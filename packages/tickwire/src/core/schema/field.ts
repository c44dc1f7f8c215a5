/**
 * One field of a definition, as a value: its type, its bits, its audience.
 *
 * A field is immutable; every modifier returns a new one, so `u8` can be shared. Nothing is checked here: a field does
 * not know its path yet. `layout.ts` checks the whole definition and names the path and the fix.
 */

import type { BitBuffer } from '../bits/bit-buffer.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'

/** Fields by name, in wire order: declaration order is wire order. */
export type Shape = { readonly [name: string]: Field<unknown> }

/**
 * The code of a manual field: a pair of functions to write and read, or one function for both directions.
 *
 * Bits must be canonical: `write` must produce the same bits that `read` accepted, or the value is refused. Values are
 * immutable once they are returned: no code writes to the result of `read`.
 */
export type ManualCodec<Value> = ManualTwins<Value> | ManualBuffer<Value>

interface ManualBase<Value> {
  /** A name of your own for the meaning of the bits. Part of the fingerprint: change it whenever the bits change. */
  readonly format?: string
  /** A fresh initial value, every time: `serialize` may fill it. */
  create(): Value
}

export interface ManualTwins<Value> extends ManualBase<Value> {
  write(writer: BitWriter, value: Value): void
  /** May throw on unexpected bytes: that counts as invalid input. */
  read(reader: BitReader): Value
}

interface ManualBuffer<Value> extends ManualBase<Value> {
  /** Writes `value`, or fills it from the bits; in both cases returns the current value. */
  serialize(buffer: BitBuffer, value: Value): Value
}

/** Bounds and step of one quantised number. */
export interface Bounds {
  readonly min: number
  readonly max: number
  readonly precision: number
}

/** The kind of a field. Bounds are as the user gave them; the layout checks them. */
export type FieldSpec =
  | { readonly kind: 'bool' }
  | { readonly kind: 'int'; readonly min: number; readonly max: number }
  | { readonly kind: 'word'; readonly bits: 16 | 32; readonly signed: boolean }
  | { readonly kind: 'varint' }
  | { readonly kind: 'long'; readonly form: 'varint' | 'word' }
  | { readonly kind: 'ranged-long'; readonly min: bigint; readonly max: bigint }
  | { readonly kind: 'float'; readonly finite: boolean }
  | { readonly kind: 'double'; readonly finite: boolean }
  | ({ readonly kind: 'fixed' } & Bounds)
  | { readonly kind: 'angle'; readonly bits: number }
  | {
      readonly kind: 'vector'
      readonly arity: 2 | 3 | 4
      readonly components: readonly Bounds[]
      readonly shape: Shape
    }
  | { readonly kind: 'quat'; readonly bits: number }
  | { readonly kind: 'enum'; readonly names: readonly string[] }
  | { readonly kind: 'text'; readonly maxBytes: number }
  | { readonly kind: 'fixed-text'; readonly bytes: number }
  | { readonly kind: 'bytes'; readonly maxBytes: number }
  | { readonly kind: 'struct'; readonly shape: Shape; readonly perMember: boolean }
  | { readonly kind: 'group'; readonly shape: Shape }
  | { readonly kind: 'list'; readonly item: Field<unknown>; readonly maxItems: number }
  | { readonly kind: 'ref' }
  | { readonly kind: 'manual'; readonly codec: ManualTwins<never> }

/**
 * The audience of a field. `all`: every client that sees the object. `team`, `owner`: only those (an owner is in the
 * team). `local`: saved, rolled back and hashed, never sent. `server`: never leaves the authority.
 */
export type Audience = 'all' | 'team' | 'owner' | 'local' | 'server'

/** How a drawn value is interpolated between two known ones. */
export type Blend = 'linear' | 'angle' | 'slerp' | 'snap'

/** What a field means to motion; the snapshot codec and dead reckoning predict by it. */
export type Role = 'position' | 'velocity' | 'acceleration' | 'angular-velocity'

/** Everything about a field except its kind. */
export interface FieldOptions {
  /** Which peers receive the field. Default: `all`. */
  readonly audience: Audience
  /** As the user gave it; undefined = the default of its kind (`leaf.ts`). */
  readonly blend: Blend | undefined
  /** What the field means to motion. Undefined: nothing. */
  readonly role: Role | undefined
  /** The sibling whose rate of change this is; undefined = the only candidate. */
  readonly roleOf: string | undefined
  /** The value of a new object; undefined = the zero of its kind. */
  readonly initial: unknown
  /** How often per second changes are sent; undefined = every tick. */
  readonly rateHz: number | undefined
}

const ORDINARY: FieldOptions = {
  audience: 'all',
  blend: undefined,
  role: undefined,
  roleOf: undefined,
  initial: undefined,
  rateHz: undefined,
}

/** One field. Create one with `bool`, `u8`, `fixed(...)` and the like; refine it with the methods below. */
export class Field<Value> {
  /** The kind of the field, with its bounds. */
  readonly spec: FieldSpec
  /** Everything else about the field. */
  readonly options: FieldOptions
  /** Never set: has the value's type, for inference. */
  declare readonly '~value': Value

  constructor(spec: FieldSpec, options: FieldOptions = ORDINARY) {
    this.spec = spec
    this.options = options
  }

  /** Only the object's owner receives it: ammunition, a hand of cards. */
  owner(): Field<Value> { return this.#with({ audience: 'owner' }) }
  /** Only the owner's team receives it. */
  team(): Field<Value> { return this.#with({ audience: 'team' }) }
  /** Saved, rolled back and hashed on every peer that steps the object; never sent. */
  local(): Field<Value> { return this.#with({ audience: 'local' }) }
  /** Never leaves the authority. Elsewhere it stays at its initial value. */
  server(): Field<Value> { return this.#with({ audience: 'server' }) }

  /** Drawn between two known values in a straight line. The default of `fixed`, `f32`, `f64` and vectors. */
  linear(): Field<Value> { return this.#with({ blend: 'linear' }) }
  /**
   * Drawn as the latest known value, without blending. The default of whole numbers, text and references; on a vector,
   * struct or group it holds for everything inside.
   */
  snap(): Field<Value> { return this.#with({ blend: 'snap' }) }

  /** Where the object is: its rate of change is the field marked `velocity`. */
  position(): Field<Value> { return this.#with({ role: 'position' }) }
  /** Units of `of` per second; without a name, of the only field marked `position`. */
  velocity(of?: string): Field<Value> { return this.#with({ role: 'velocity', roleOf: of }) }
  /** Units of `of` per second, per second; without a name, of the only field marked `velocity`. */
  acceleration(of?: string): Field<Value> { return this.#with({ role: 'acceleration', roleOf: of }) }
  /** Radians per second of the angle or quaternion `of`; without a name, of the only one. */
  angularVelocity(of?: string): Field<Value> { return this.#with({ role: 'angular-velocity', roleOf: of }) }

  /** The value of a new object. A spawn costs only the fields that differ from it. */
  initially(value: Value): Field<Value> { return this.#with({ initial: value }) }

  /** Changes are sent at most this often per second; `step` itself sees them at once. Default: the tick rate. */
  rate(hz: number): Field<Value> { return this.#with({ rateHz: hz }) }

  #with(change: Partial<FieldOptions>): Field<Value> {
    return new Field<Value>(this.spec, { ...this.options, ...change })
  }
}
