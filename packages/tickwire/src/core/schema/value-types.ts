/** The TypeScript side of a schema: from fields to the exact types that `step`, `draw`, `send` and tests see. */

import type { Field, Shape } from './field.ts'

/** A value of `vec2`. */
export interface Vec2 { x: number; y: number }
/** A value of `vec3`. */
export interface Vec3 { x: number; y: number; z: number }
/** A value of `vec4`. */
export interface Vec4 { x: number; y: number; z: number; w: number }

/** A writable value: the plain value of a shape, and the type of a handle in `step`. */
export type ValueOf<S extends Shape> = { -readonly [K in keyof S]: S[K] extends Field<infer Value> ? Value : never }

/** A read-only view of the same shape. */
export type ViewOf<S extends Shape> = {
  readonly [K in keyof S]: S[K] extends Field<infer Value> ? DeepReadonly<Value> : never
}

/** The values of a spawn: any of the fields; the rest keep their initial values. */
export type InitOf<S extends Shape> = Partial<ViewOf<S>>

/** Read-only down to its leaves; bytes, functions and primitives are unchanged. */
export type DeepReadonly<T> =
  T extends string | number | bigint | boolean | null | undefined | Uint8Array ? T
    : T extends readonly (infer Item)[] ? readonly DeepReadonly<Item>[]
      : T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
        : T
