/**
 * The adapter for koota: traits with a schema, written with `entity.set`.
 *
 * A trait is set only when one of its fields changed, so that `Changed` queries and `onChange` mean what they say.
 *
 * koota is not imported: its worlds and traits have all that is needed.
 */

import { ConfigError } from '../core/base/assert.ts'
import type { Entity } from '../core/schema/definition.ts'
import type { Handle, ObjectView } from '../core/world/handle.ts'
import { Mirror } from './mirror.ts'
import { Part } from './part.ts'

/** An entity of koota. */
interface KootaEntity {
  set(trait: never, value: never): void
  destroy(): void
}

/** A world of koota. */
export interface KootaWorld<T> {
  /** Of koota. */
  spawn(...traits: never[]): T
}

/** A trait whose schema takes the fields of its names; where one does not, what it must be. */
type Fitting<C, V> = C extends { readonly schema: infer S }
  ? { readonly schema: { readonly [K in keyof S]: K extends keyof V ? (V[K] extends S[K] ? S[K] : V[K]) : never } }
  : { readonly schema: object }

/** Traits that fit an object: each alone, or with the name of the vector, struct or group that it takes. */
export type KootaTraits<C extends readonly unknown[], V> = {
  readonly [I in keyof C]: C[I] extends readonly [infer P, infer N extends keyof V]
    ? readonly [Fitting<P, NonNullable<V[N]>>, N]
    : Fitting<C[I], V>
}

interface Trait {
  readonly schema: object
}

/** A trait with its fields. */
interface Write {
  readonly trait: Trait
  readonly part: Part
}

/** What was set last: an object per trait, and its values again. Indexed like the traits, and like their fields. */
interface Known {
  readonly values: readonly Record<string, unknown>[]
  readonly before: readonly unknown[][]
}

/**
 * Mirrors the objects of an entity into koota. A trait receives the fields that its schema names:
 * `mirrorKoota(Player, world, [Health, [Position, 'at']])`. A trait without fields is a tag.
 */
export function mirrorKoota<E extends Entity, T extends KootaEntity, const C extends readonly unknown[]>(
  entity: E,
  world: KootaWorld<T>,
  traits: C & KootaTraits<C, ObjectView<E>>,
): Mirror<E, T> {
  // Checked by the signature.
  const writes = (traits as readonly (Trait | readonly [Trait, string])[]).map((each): Write => {
    const [trait, inside] = Array.isArray(each) ? (each as [Trait, string]) : [each as Trait, undefined]
    if (typeof trait.schema === 'function')
      throw new ConfigError(entity.schema.name, 'a trait is made by a function', 'write it with mirror().')
    return { trait, part: new Part(entity, Object.keys(trait.schema), inside) }
  })
  const known = new Map<T, Known>()
  return new Mirror<E, T>(entity, {
    add() {
      const added = world.spawn(...(writes.map(({ trait }) => trait) as never[]))
      known.set(added, { values: writes.map(() => ({})), before: writes.map(() => []) })
      return added
    },
    write(to, object) {
      const from = object as unknown as Handle
      const last = known.get(to)
      if (last === undefined) return
      const { values, before } = last
      for (let at = 0; at < writes.length; at++) {
        const { trait, part } = writes[at]
        if (part.isIn(from) && hasChanged(part, from, values[at], before[at]))
          to.set(trait as never, values[at] as never)
      }
    },
    remove(gone) {
      known.delete(gone)
      gone.destroy()
    },
  })
}

/** Copies what changed; returns whether anything did. */
function hasChanged(part: Part, from: Handle, values: Record<string, unknown>, before: unknown[]): boolean {
  const { names } = part
  let isChanged = false
  for (let at = 0; at < names.length; at++) {
    const value = part.read(from, at)
    if (Object.is(before[at], value)) continue
    before[at] = value
    values[names[at]] = value
    isChanged = true
  }
  return isChanged
}
