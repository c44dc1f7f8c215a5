/** The TypeScript side of a schema: from fields to the exact types that `step`, `draw`, `send` and tests see. */

import type { Field, Shape } from './field.ts'

export interface Vec2 { x: number; y: number }
export interface Vec3 { x: number; y: number; z: number }
export interface Vec4 { x: number; y: number; z: number; w: number }

/** What may be written: the plain value of a shape, and what a handle looks like in `step`. */
export type ValueOf<S extends Shape> = { -readonly [K in keyof S]: S[K] extends Field<infer Value> ? Value : never }

/** What may only be read: a view of the same shape. */
export type ViewOf<S extends Shape> = { readonly [K in keyof S]: S[K] extends Field<infer Value> ? DeepReadonly<Value> : never }

/** What a spawn may say: any of the fields, the rest keep their initial values. */
export type InitOf<S extends Shape> = Partial<ViewOf<S>>

/** Read-only to its leaves; bytes, functions and primitives as they are. */
export type DeepReadonly<T> =
  T extends string | number | bigint | boolean | null | undefined | Uint8Array ? T
    : T extends readonly (infer Item)[] ? readonly DeepReadonly<Item>[]
      : T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
        : T
