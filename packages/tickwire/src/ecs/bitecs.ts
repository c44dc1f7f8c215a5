/**
 * The adapter for bitECS: components are objects with one array per field, indexed by entity.
 *
 * bitECS is not imported: its functions are passed in, so that a page without it carries nothing of it.
 */

import { ConfigError } from '../core/base/assert.ts'
import type { Entity } from '../core/schema/definition.ts'
import type { Handle, ObjectView } from '../core/world/handle.ts'
import { Mirror } from './mirror.ts'
import { Part } from './part.ts'

/** The functions of bitECS, and a world of it: `{ world, addEntity, addComponent, removeEntity }`. */
export interface Bitecs<W> {
  /** A world made by `createWorld`. */
  readonly world: W
  /** Of bitECS. */
  addEntity(world: W): number
  /** Of bitECS. */
  addComponent(world: W, entity: number, component: object): unknown
  /** Of bitECS. */
  removeEntity(world: W, entity: number): void
}

type Column = { [entity: number]: unknown }
type Columns = { readonly [name: string]: Column }

/** What an array takes. An array of bytes takes booleans too. */
type ItemOf<C> = C extends Uint8Array ? number | boolean : C extends { [entity: number]: infer Item } ? Item : never

/** A component whose arrays take the fields of their names; where one does not, what it must be. */
type Fitting<C, V> = {
  readonly [K in keyof C]: K extends keyof V ? (V[K] extends ItemOf<C[K]> ? C[K] : { [entity: number]: V[K] }) : never
}

/** Components that fit an object: each alone, or with the name of the vector, struct or group that it takes. */
export type BitecsComponents<C extends readonly unknown[], V> = {
  readonly [I in keyof C]: C[I] extends readonly [infer P, infer N extends keyof V]
    ? readonly [Fitting<P, NonNullable<V[N]>>, N]
    : Fitting<C[I], V>
}

/** The arrays of a component, and the fields that are written to them. */
interface Write {
  readonly part: Part
  readonly columns: readonly Column[]
}

/**
 * Mirrors the objects of an entity into bitECS. Each array of a component receives the field of its name:
 * `mirrorBitecs(Player, bitecs, [Health, [Position, 'at']])`. A component without arrays is a tag.
 */
export function mirrorBitecs<E extends Entity, W, const C extends readonly unknown[]>(
  entity: E,
  bitecs: Bitecs<W>,
  components: C & BitecsComponents<C, ObjectView<E>>,
): Mirror<E, number> {
  const { world, addEntity, addComponent, removeEntity } = bitecs
  // Checked by the signature.
  const listed = (components as readonly (Columns | readonly [Columns, string])[]).map((each) =>
    Array.isArray(each) ? (each as [Columns, string]) : ([each as Columns, undefined] as const))
  const writes = listed.map(([component, inside]): Write => {
    return { part: new Part(entity, Object.keys(component), inside), columns: Object.values(component) }
  })
  return new Mirror<E, number>(entity, {
    add() {
      const added = addEntity(world)
      const short = writes.flatMap(({ columns }) => columns).find((column) => !hasRoom(column, added))
      if (short !== undefined) {
        removeEntity(world, added)
        throw tooShort(entity, short, added)
      }
      for (const [component] of listed) addComponent(world, added, component)
      return added
    },
    write(to, object) {
      const from = object as unknown as Handle
      for (const { part, columns } of writes) {
        if (!part.isIn(from)) continue
        for (let at = 0; at < columns.length; at++) columns[at][to] = part.read(from, at)
      }
    },
    remove: (gone) => removeEntity(world, gone),
  })
}

/** A typed array drops what is written behind its end. */
function hasRoom(column: Column, entity: number): boolean {
  return !ArrayBuffer.isView(column) || entity < lengthOf(column)
}

function lengthOf(column: Column): number {
  return (column as unknown as ArrayLike<unknown>).length
}

function tooShort({ schema }: Entity, column: Column, entity: number): ConfigError {
  return new ConfigError(
    schema.name,
    `a component's array is too short (expected more than ${entity} items, got ${lengthOf(column)})`,
    'make the arrays of the component as long as there are entities in the bitECS world.',
  )
}
