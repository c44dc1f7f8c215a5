/**
 * Handles: how a game touches an object. `player.x += 1` reads and writes the object's cells in place.
 *
 * A handle class is built once per entity, from accessors over the layout; no code is generated. Each handle stands
 * for one object as long as that object lives, and can be kept. Vectors, structs and groups are parts: little handles
 * over the same cells, made when first asked for and then kept. A read-only class has the same shape without setters,
 * so that writing to a view is an error at compile time and at run time.
 */

import type { ObjectId, PeerId } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import type { Field, Shape } from '../schema/field.ts'
import type { Layout } from '../schema/layout.ts'
import { LEAF, type Leaf } from '../schema/leaf.ts'
import type { ValueOf, ViewOf } from '../schema/value-types.ts'
import { innerShape, loadLeaf, storeField, storeLeaf } from '../schema/values.ts'
import type { EntityStore } from './entity-store.ts'

/** What every object has beside its fields. */
export interface ObjectIdentity {
  readonly id: ObjectId
  readonly owner: PeerId
  readonly isAlive: boolean
}

/** An object as `step` sees it. */
export type ObjectOf<E> = E extends Entity<infer S extends Shape> ? ValueOf<S> & ObjectIdentity : never
/** An object as `draw` sees it. */
export type ObjectView<E> = E extends Entity<infer S extends Shape> ? ViewOf<S> & ObjectIdentity : never

/** The part of a handle that is the same for all entities. Its own names begin with $, which no field's can. */
export class Handle {
  readonly $store: EntityStore
  readonly id: ObjectId
  /** Where the object's cells begin; 0, the grave, once it is dead and gone. */
  $at: number
  isAlive: boolean
  /** Parts by their first leaf, made when first asked for. */
  $parts: Part[] | undefined

  constructor(store: EntityStore, id: ObjectId, at: number) {
    this.$store = store
    this.id = id
    this.$at = at
    this.isAlive = true
    this.$parts = undefined
  }

  get owner(): PeerId {
    return this.$store.ownerOf(this.id)
  }
}

/** A vector, struct or group inside an object. */
class Part {
  readonly $handle: Handle

  constructor(handle: Handle) {
    this.$handle = handle
  }
}

export type HandleClass = new (store: EntityStore, id: ObjectId, at: number) => Handle

/** Builds the handle class of a layout. */
export function makeHandleClass(layout: Layout, isReadOnly: boolean): HandleClass {
  class ObjectHandle extends Handle {}
  const build = new Accessors(layout, isReadOnly)
  for (const member of layout.members) build.define(ObjectHandle.prototype, member.name, member.field, member.firstLeaf, handleItself)
  return ObjectHandle
}

type Reach = (self: unknown) => Handle
const handleItself: Reach = (self) => self as Handle
const handleOfPart: Reach = (self) => (self as Part).$handle

/** Defines accessors for fields of one layout. */
class Accessors {
  readonly #layout: Layout
  readonly #isReadOnly: boolean

  constructor(layout: Layout, isReadOnly: boolean) {
    this.#layout = layout
    this.#isReadOnly = isReadOnly
  }

  /** Defines `name` on a prototype; returns the leaf after the field's last. */
  define(prototype: object, name: string, field: Field<unknown>, first: number, reach: Reach): number {
    const shape = innerShape(field)
    if (shape) return this.#definePart(prototype, name, field, shape, first, reach)
    const leaf = this.#layout.leaves[first]
    if (isPlainNumber(leaf)) this.#defineNumber(prototype, name, leaf.cell, reach)
    else this.#defineValue(prototype, name, leaf, reach)
    return first + 1
  }

  /** The common case, and the hot one: a number in a cell. Two forms, so that `player.x` needs no call to reach. */
  #defineNumber(prototype: object, name: string, cell: number, reach: Reach): void {
    const get = reach === handleItself
      ? function (this: Handle): number { return this.$store.cells[this.$at + cell] }
      : function (this: Part): number { return this.$handle.$store.cells[this.$handle.$at + cell] }
    const set = reach === handleItself
      ? function (this: Handle, value: number): void { this.$store.cells[this.$at + cell] = value }
      : function (this: Part, value: number): void { this.$handle.$store.cells[this.$handle.$at + cell] = value }
    this.#property(prototype, name, get, set)
  }

  #defineValue(prototype: object, name: string, leaf: Leaf, reach: Reach): void {
    this.#property(prototype, name, function (this: unknown): unknown {
      const { $store: store, $at: at } = reach(this)
      return loadLeaf(leaf, store.cells, at, store.heap)
    }, function (this: unknown, value: unknown): void {
      const { $store: store, $at: at } = reach(this)
      storeLeaf(leaf, value, store.cells, at, store.heap)
    })
  }

  #definePart(prototype: object, name: string, field: Field<unknown>, shape: Shape, first: number, reach: Reach): number {
    class FieldPart extends Part {}
    const isGroup = field.spec.kind === 'group'
    const presence = isGroup ? this.#layout.leaves[first].cell : -1
    let next = isGroup ? first + 1 : first
    for (const [inner, innerField] of Object.entries(shape)) {
      next = this.define(FieldPart.prototype, inner, innerField, next, handleOfPart)
    }
    const { leaves } = this.#layout
    this.#property(prototype, name, function (this: unknown): unknown {
      const handle = reach(this)
      if (presence >= 0 && handle.$store.cells[handle.$at + presence] === 0) return null
      const parts = (handle.$parts ??= [])
      return (parts[first] ??= new FieldPart(handle))
    }, function (this: unknown, value: unknown): void {
      const { $store: store, $at: at } = reach(this)
      storeField(leaves, first, field, value, store.cells, at, store.heap)
    })
    return next
  }

  #property(prototype: object, name: string, get: () => unknown, set: (value: never) => void): void {
    const setter = this.#isReadOnly ? {} : { set: set as (value: unknown) => void }
    Object.defineProperty(prototype, name, { get, ...setter, enumerable: true, configurable: false })
  }
}

function isPlainNumber(leaf: Leaf): boolean {
  const { kind } = leaf.field.spec
  return kind !== 'bool' && kind !== 'enum' && (leaf.kind <= LEAF.varint || leaf.kind === LEAF.float || leaf.kind === LEAF.double)
}
