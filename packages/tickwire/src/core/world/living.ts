/**
 * Iterates over the objects of an entity: those alive when the loop begins and still alive when reached, ascending by
 * id.
 *
 * A walk is iterator and result in one object and is reused after its loop has ended, so that loops produce no garbage.
 * Nested loops have a walk each. A walk reads a handle only if an object has died since the loop began: handles of many
 * entities pass through here, and V8 is slow at code that reads objects of many classes. bench/world.bench.ts has the
 * numbers.
 */

import type { PeerId } from '../base/time.ts'
import type { EntityStore } from './entity-store.ts'
import type { Handle } from './handle.ts'

/** All living objects of a store. May be iterated any number of times. */
export class Living implements Iterable<Handle> {
  readonly #store: EntityStore
  /** A walk that is not in use. */
  spare: Walk | undefined = undefined

  constructor(store: EntityStore) {
    this.#store = store
  }

  [Symbol.iterator](): Iterator<Handle> {
    const walk = this.spare ?? new Walk(this, this.#store)
    this.spare = undefined
    walk.begin()
    return walk as Iterator<Handle, undefined>
  }
}

/** Public fields instead of private names, which are slow in code that is not compiled yet. */
class Walk {
  declare readonly living: Living
  declare readonly store: EntityStore
  handles: readonly Handle[] = []
  deaths = 0
  /** The index of the current handle. */
  at = 0

  constructor(living: Living, store: EntityStore) {
    this.living = living
    this.store = store
  }

  begin(): void {
    this.handles = this.store.living()
    this.deaths = this.store.deaths
    this.at = -1
  }

  next(): this {
    this.at++
    if (this.store.deaths !== this.deaths) this.skipDead()
    if (this.store.isElsewhere !== undefined) this.skipElsewhere(this.store.isElsewhere)
    if (this.at >= this.handles.length) this.living.spare = this
    return this
  }

  /** Part of the result of `next`. */
  get done(): boolean {
    return this.at >= this.handles.length
  }

  get value(): Handle | undefined {
    return this.handles[this.at]
  }

  /** The loop was left early. */
  return(): this {
    this.at = this.handles.length
    this.living.spare = this
    return this
  }

  skipDead(): void {
    while (this.at < this.handles.length && !this.handles[this.at].isAlive) this.at++
  }

  /** Skips objects that their owner simulates elsewhere, and objects that have died since. */
  skipElsewhere(isElsewhere: (owner: PeerId) => boolean): void {
    const { handles } = this
    while (this.at < handles.length && (!handles[this.at].isAlive || isElsewhere(handles[this.at].owner))) this.at++
  }
}
