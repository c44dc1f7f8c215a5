/**
 * Mirrors the objects of one entity as other things, one for each object: entities of an ECS, sprites, meshes.
 *
 * Things are found by the handle of their object, not by its id: the id of a predicted object changes once, its handle
 * never. What a view has is read in every update, so that nothing has to be subscribed to, and a view of another
 * connection is no special case.
 *
 * Nothing flows back: what others write to the things is overwritten or ignored.
 */

import type { View } from '../core/game/view.ts'
import type { Entity } from '../core/schema/definition.ts'
import type { ObjectIdentity, ObjectView } from '../core/world/handle.ts'
import type { World } from '../core/world/world.ts'

/** Where objects are read: the view of a player, a world, or a recorded world. */
export type MirrorSource = Pick<View, 'each'> | Pick<World, 'each'>

/** How the things that stand for objects are made, updated and removed. */
export interface MirrorTarget<E extends Entity, T> {
  /** Makes the thing of an object that came into view. */
  add(object: ObjectView<E>): T
  /** Called for every object in every update, also right after `add`. Default: nothing. */
  write?(thing: T, object: ObjectView<E>): void
  /** Removes the thing of an object that left the view. The place to free what `add` took. */
  remove(thing: T): void
}

interface Entry<T> {
  readonly object: ObjectIdentity
  readonly thing: T
  /** The number of the last update that met the object. */
  seen: number
  /** Its position in that update. */
  place: number
}

/** The things of the objects of one entity. */
export class Mirror<E extends Entity, T> {
  readonly #entity: E
  readonly #target: MirrorTarget<E, T>
  readonly #entries = new Map<ObjectIdentity, Entry<T>>()
  /** The entries in the order of the last update. Objects keep their order, so most need no search. */
  #order: Entry<T>[] = []
  /** Filled by the current update. */
  #next: Entry<T>[] = []
  #updates = 0

  constructor(entity: E, target: MirrorTarget<E, T>) {
    this.#entity = entity
    this.#target = target
  }

  /** How many things there are. */
  get size(): number {
    return this.#entries.size
  }

  /** Adds the things of new objects, writes all, and removes the things of objects that are gone. Call it in `draw`. */
  update(source: MirrorSource): void {
    const target = this.#target
    const order = this.#order
    const next = this.#next
    const seen = ++this.#updates
    let count = 0
    let expected = 0
    // A world gives writable objects and a view read-only ones. Both can be read.
    for (const object of source.each(this.#entity) as Iterable<ObjectView<E>>) {
      let entry = order[expected]
      if (entry?.object !== object) entry = this.#entries.get(object) ?? this.#add(object, expected - 1)
      expected = entry.place + 1
      entry.seen = seen
      entry.place = count
      next[count++] = entry
      target.write?.(entry.thing, object)
    }
    next.length = count
    this.#order = next
    this.#next = order
    if (count < this.#entries.size) this.#removeUnseen(seen)
  }

  /** The thing of an object, or undefined if the last update did not meet the object. */
  of(object: ObjectIdentity): T | undefined {
    return this.#entries.get(object)?.thing
  }

  /** Removes all things: at the end of a match. A later update adds them again. */
  clear(): void {
    this.#order.length = 0
    this.#removeUnseen(++this.#updates)
  }

  #add(object: ObjectView<E>, place: number): Entry<T> {
    const entry = { object, thing: this.#target.add(object), seen: 0, place }
    this.#entries.set(object, entry)
    return entry
  }

  #removeUnseen(seen: number): void {
    for (const [object, entry] of this.#entries) {
      if (entry.seen === seen) continue
      this.#entries.delete(object)
      this.#target.remove(entry.thing)
    }
  }
}

/** Mirrors the objects of an entity as things of any kind: `mirror(Player, { add, write, remove })`. */
export function mirror<E extends Entity, T>(entity: E, target: MirrorTarget<E, T>): Mirror<E, T> {
  return new Mirror(entity, target)
}
