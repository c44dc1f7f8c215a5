/**
 * One field of a definition, as a value: what it holds, how many bits it may cost, who may see it.
 *
 * A field is immutable; every modifier returns a new one, so `u8` can be shared by everybody. Nothing is checked
 * here: a field does not know its path yet. `layout.ts` checks the whole definition and names the path and the fix.
 */

import type { BitBuffer } from '../bits/bit-buffer.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'

/** Fields by name, in wire order: declaration order is wire order. */
export type Shape = { readonly [name: string]: Field<unknown> }

/**
 * How a field that rides by its own code is written and read, as twins or as one function for both directions.
 *
 * Bits must be canonical: what `read` accepts, `write` writes again as the same bits, or it is refused. Values are
 * immutable once they were given away: nobody writes into what `read` returned.
 */
export type ManualCodec<Value> = ManualTwins<Value> | ManualBuffer<Value>

interface ManualBase<Value> {
  /** What the bits mean, in a word of yours. Part of the fingerprint: change it whenever the bits change. */
  readonly format?: string
  /** A fresh initial value, every time: `serialize` may fill it. */
  create(): Value
}

export interface ManualTwins<Value> extends ManualBase<Value> {
  write(writer: BitWriter, value: Value): void
  /** May throw on bytes that it did not expect: that counts as nonsense. */
  read(reader: BitReader): Value
}

interface ManualBuffer<Value> extends ManualBase<Value> {
  /** Writes `value`, or fills it from the bits; either way returns what now stands there. */
  serialize(buffer: BitBuffer, value: Value): Value
}

/** Bounds and step of one quantised number. */
export interface Bounds {
  readonly min: number
  readonly max: number
  readonly precision: number
}

/** What a field is. Bounds are as the user gave them; the layout checks them. */
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
  | { readonly kind: 'vector'; readonly arity: 2 | 3 | 4; readonly components: readonly Bounds[]; readonly shape: Shape }
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
 * Who holds a field. `all`: everyone who sees the object. `team`, `owner`: only they (an owner is in the team).
 * `local`: saved, rolled back and hashed, never sent. `server`: never leaves the authority.
 */
export type Audience = 'all' | 'team' | 'owner' | 'local' | 'server'

/** How a drawn value lies between two known ones. */
export type Blend = 'linear' | 'angle' | 'slerp' | 'snap'

/** What a field means to motion; the snapshot codec and dead reckoning predict by it. */
export type Role = 'position' | 'velocity' | 'acceleration' | 'angular-velocity'

/** Everything about a field that is not its kind. */
export interface FieldOptions {
  readonly audience: Audience
  /** As the user said; undefined = as its kind is (`leaf.ts`). */
  readonly blend: Blend | undefined
  readonly role: Role | undefined
  /** The sibling whose rate of change this is; undefined = the only one that fits. */
  readonly roleOf: string | undefined
  /** The value of a fresh object; undefined = the zero of its kind. */
  readonly initial: unknown
  /** How often a second others are told of changes; undefined = every tick. */
  readonly rateHz: number | undefined
}

const ORDINARY: FieldOptions = { audience: 'all', blend: undefined, role: undefined, roleOf: undefined, initial: undefined, rateHz: undefined }

/** One field. Make one with `bool`, `u8`, `fixed(...)` and their kin; refine it with the methods below. */
export class Field<Value> {
  readonly spec: FieldSpec
  readonly options: FieldOptions
  /** Never set: carries the value's type for inference. */
  declare readonly '~value': Value

  constructor(spec: FieldSpec, options: FieldOptions = ORDINARY) {
    this.spec = spec
    this.options = options
  }

  /** Only the object's owner holds it: ammunition, a hand of cards. */
  owner(): Field<Value> { return this.#with({ audience: 'owner' }) }
  /** Only the owner's team holds it. */
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

  /** The value of a fresh object. A spawn costs only what differs from it. */
  initially(value: Value): Field<Value> { return this.#with({ initial: value }) }

  /** Others are told of changes this often a second, at most; `step` itself sees them at once. The tick rate is the default. */
  rate(hz: number): Field<Value> { return this.#with({ rateHz: hz }) }

  #with(change: Partial<FieldOptions>): Field<Value> {
    return new Field<Value>(this.spec, { ...this.options, ...change })
  }
}
