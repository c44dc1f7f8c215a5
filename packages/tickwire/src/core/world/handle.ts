/**
 * Handles: how a game accesses an object. `player.x += 1` reads and writes the object's cells in place.
 *
 * A handle class is built once per entity, from accessors over the layout; no code is generated. Each handle stands for
 * one object as long as that object lives, and can be kept. Vectors, structs and groups are parts: small handles over
 * the same cells, made on first use and then kept. A read-only class has the same shape without setters, so that
 * writing to a view is an error at compile time and at run time.
 *
 * Internal names in a handle begin with $, which no field name can.
 */

import { assert } from '../base/assert.ts'
import type { ObjectId, PeerId } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import type { Field, Shape } from '../schema/field.ts'
import type { Layout } from '../schema/layout.ts'
import type { ValueOf, ViewOf } from '../schema/value-types.ts'
import { innerShape, storeField } from '../schema/values.ts'
import { accessorsOf } from './accessor.ts'
import type { EntityStore } from './entity-store.ts'

/** What every object has in addition to its fields. */
export interface ObjectIdentity {
  /** The id of the object, unique in its world. */
  readonly id: ObjectId
  /** The peer that owns it; 0: the server. */
  readonly owner: PeerId
  /** Whether it exists. False after it was despawned. */
  readonly isAlive: boolean
}

/** An object as `step` sees it. */
export type ObjectOf<E> = E extends Entity<infer S extends Shape> ? ValueOf<S> & ObjectIdentity : never
/** An object as `draw` sees it. */
export type ObjectView<E> = E extends Entity<infer S extends Shape> ? ViewOf<S> & ObjectIdentity : never

/**
 * Some cells of an object under names: the whole object, or a vector, struct or group in it.
 *
 * Fields are only declared here and assigned in the constructor: a field that is defined first and set later has held
 * `undefined`, and engines check it at every access for the rest of its life.
 */
export class Place {
  /** The cells of this object only: a subarray of the store's cells. */
  declare $cells: Float64Array
  declare readonly $store: EntityStore
  /** The parts inside, by number. All are made together on first use. */
  declare $parts: readonly Place[] | undefined

  constructor(store: EntityStore, cells: Float64Array) {
    this.$cells = cells
    this.$store = store
    this.$parts = undefined
  }

  /** The fields as plain values, by name. */
  toJSON(): Record<string, unknown> {
    const names = Object.keys(Object.getPrototypeOf(this))
    return Object.fromEntries(names.map((name) => [name, Reflect.get(this, name)]))
  }
}

/** The part of a handle that is the same for all entities. */
export class Handle extends Place {
  /** Changes at most once: when the authority gives its real id to an object that was predicted here. */
  declare id: ObjectId
  declare isAlive: boolean

  constructor(store: EntityStore, id: ObjectId, cells: Float64Array) {
    super(store, cells)
    this.id = id
    this.isAlive = true
  }

  /** The owner of the object; 0 once it is dead and released. */
  get owner(): PeerId {
    return this.$store.ownerOf(this)
  }

  override toJSON(): Record<string, unknown> {
    return { id: this.id, owner: this.owner, ...super.toJSON() }
  }
}

export type HandleClass = new (store: EntityStore, id: ObjectId, cells: Float64Array) => Handle
type PartClass = new (store: EntityStore, cells: Float64Array) => Place

/** Points a handle and all its parts at other cells. */
export function move(place: Place, cells: Float64Array): void {
  place.$cells = cells
  const parts = place.$parts
  if (parts !== undefined) for (const part of parts) move(part, cells)
}

/** Whether fields can be written, and whether the store's `onWrite` is called after each write. */
export type HandleKind = 'writable' | 'read-only' | 'traced'

const classes = {
  writable: new WeakMap<Layout, HandleClass>(),
  'read-only': new WeakMap<Layout, HandleClass>(),
  traced: new WeakMap<Layout, HandleClass>(),
}

/** The handle class of a layout. All worlds share it, so that code that meets several worlds stays fast. */
export function handleClassOf(layout: Layout, kind: HandleKind): HandleClass {
  let known = classes[kind].get(layout)
  if (known === undefined) {
    class ObjectHandle extends Handle {}
    new Accessors(layout, kind).define(
      ObjectHandle.prototype,
      layout.members.map(({ name, field }) => [name, field]),
      0,
    )
    known = ObjectHandle
    classes[kind].set(layout, known)
  }
  return known
}

/** Defines accessors for the fields of one layout. */
class Accessors {
  readonly #layout: Layout
  readonly #kind: HandleKind

  constructor(layout: Layout, kind: HandleKind) {
    this.#layout = layout
    this.#kind = kind
  }

  /** Defines fields on a prototype, from their first leaf on; returns the leaf after their last. */
  define(
    prototype: object,
    fields: readonly (readonly [name: string, field: Field<unknown>])[],
    first: number,
  ): number {
    const partClasses: PartClass[] = []
    let next = first
    for (const [name, field] of fields) {
      const shape = innerShape(field)
      if (shape === undefined) {
        const { get, set } = accessorsOf(this.#layout.leaves[next])
        this.#property(prototype, name, get, set, next, ++next)
      } else {
        next = this.#definePart(prototype, name, field, shape, next, partClasses)
      }
    }
    return next
  }

  #definePart(
    prototype: object, name: string, field: Field<unknown>, shape: Shape, first: number, partClasses: PartClass[],
  ): number {
    class FieldPart extends Place {}
    const { leaves } = this.#layout
    const isGroup = field.spec.kind === 'group'
    const number = partClasses.push(FieldPart) - 1
    const next = this.define(FieldPart.prototype, Object.entries(shape), isGroup ? first + 1 : first)
    const presence = leaves[first].cell
    const get = isGroup
      ? function (this: Place): unknown {
          return this.$cells[presence] === 0 ? null : (this.$parts ?? makeParts(this, partClasses))[number]
        }
      : function (this: Place): unknown { return (this.$parts ?? makeParts(this, partClasses))[number] }
    this.#property(prototype, name, get, function (this: Place, value: unknown): void {
      storeField(leaves, first, field, value, this.$cells, 0, this.$store.heap)
    }, first, next)
    return next
  }

  #property(
    prototype: object,
    name: string,
    get: (this: Place) => unknown,
    set: (this: Place, value: never) => void,
    first: number,
    end: number,
  ): void {
    const write = this.#kind === 'traced' ? traced(set, first, end) : set
    const setter = this.#kind === 'read-only' ? {} : { set: write as (value: unknown) => void }
    Object.defineProperty(prototype, name, { get, ...setter, enumerable: true, configurable: false })
  }
}

/** A setter that reports the leaves from `first` to before `end`, which it has written. */
function traced(set: (this: Place, value: never) => void, first: number, end: number): (value: never) => void {
  return function (this: Place, value: never): void {
    set.call(this, value)
    this.$store.onWrite?.(this, first, end)
  }
}

function makeParts(place: Place, partClasses: readonly PartClass[]): readonly Place[] {
  assert(place.$parts === undefined, 'parts are made once')
  const parts = partClasses.map((PartClass) => new PartClass(place.$store, place.$cells))
  place.$parts = parts
  return parts
}
