/**
 * The adapter for miniplex: an entity is a plain object, and its components are properties.
 *
 * Components are written in place: miniplex asks for a reindex only when components come or go.
 *
 * miniplex is not imported: its worlds have all that is needed.
 */

import type { Entity } from '../core/schema/definition.ts'
import type { Handle, ObjectView } from '../core/world/handle.ts'
import { Mirror } from './mirror.ts'
import { namesInside, Part } from './part.ts'

/** A world of miniplex. */
export interface MiniplexWorld<T> {
  /** Of miniplex. */
  add(entity: T): T
  /** Of miniplex. */
  remove(entity: T): unknown
}

/** The fields that have the values of a component. A component of one field is its value, one of several an object. */
export type MiniplexComponent<V> = (keyof V & string) | readonly (keyof V & string)[]

/** What a component holds: values that can be changed, without the objects that they came from. */
type Held<V, F> = F extends keyof V
  ? V[F] extends object ? { -readonly [K in keyof V[F]]: V[F][K] } : V[F]
  : F extends readonly (infer N extends keyof V)[] ? { -readonly [K in N]: V[K] } : never

/** The entities of such components. */
export type MiniplexEntity<C, V> = { -readonly [K in keyof C]: Held<V, C[K]> }

type Slots = Record<string, unknown>

/** A component: its name, its fields, and whether it is an object. */
interface Write {
  readonly component: string
  readonly part: Part
  readonly isObject: boolean
}

/**
 * Mirrors the objects of an entity into miniplex. Each component names its fields:
 * `mirrorMiniplex(Player, world, { position: 'at', health: 'health', looks: ['hue', 'name'] })`.
 */
export function mirrorMiniplex<
  E extends Entity, const C extends { readonly [component: string]: MiniplexComponent<ObjectView<E>> },
  T extends object,
>(
  entity: E, world: MiniplexWorld<T>, components: C & (MiniplexEntity<C, ObjectView<E>> extends T ? unknown : never),
): Mirror<E, T> {
  const listed = Object.entries(components as Record<string, string | readonly string[]>)
  const writes = listed.map(([component, fields]): Write => {
    if (typeof fields !== 'string') return { component, part: new Part(entity, fields), isObject: true }
    const inside = namesInside(entity, fields)
    return inside === undefined
      ? { component, part: new Part(entity, [fields]), isObject: false }
      : { component, part: new Part(entity, inside, fields), isObject: true }
  })
  const write = (to: Slots, object: object): void => {
    const from = object as Handle
    for (const { component, part, isObject } of writes) {
      if (!part.isIn(from)) continue
      if (isObject) writeFields(to[component] as Slots, part, from)
      else to[component] = part.read(from, 0)
    }
  }
  return new Mirror<E, T>(entity, {
    add(object) {
      const made: Slots = {}
      for (const { component, isObject } of writes) made[component] = isObject ? {} : undefined
      write(made, object)
      // Checked by the signature.
      return world.add(made as T)
    },
    write: (to, object) => write(to as Slots, object),
    remove: (gone) => void world.remove(gone),
  })
}

function writeFields(to: Slots, part: Part, from: Handle): void {
  const { names } = part
  for (let at = 0; at < names.length; at++) to[names[at]] = part.read(from, at)
}
