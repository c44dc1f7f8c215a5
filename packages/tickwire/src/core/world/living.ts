/**
 * Walks the objects of an entity: those alive when the loop begins and still alive when reached, ascending by id.
 *
 * The walker is its own result, and touches a handle only when somebody has died since it began: handles of many
 * entities pass through here, and what looks into all of them is slow for each of them.
 */

import type { EntityStore } from './entity-store.ts'
import type { Handle } from './handle.ts'

export class Living implements Iterable<Handle> {
  readonly #store: EntityStore

  constructor(store: EntityStore) {
    this.#store = store
  }

  [Symbol.iterator](): Iterator<Handle> {
    return new Walker(this.#store) as Iterator<Handle, undefined>
  }
}

/** Fields instead of private names: this is read once an object, and some engines are slow at private names. */
class Walker {
  done = false
  value: Handle | undefined = undefined
  readonly store: EntityStore
  readonly handles: readonly Handle[]
  readonly deaths: number
  at = 0

  constructor(store: EntityStore) {
    this.store = store
    this.handles = store.living()
    this.deaths = store.deaths
  }

  next(): this {
    const { handles } = this
    while (this.at < handles.length) {
      const handle = handles[this.at++]
      if (this.store.deaths !== this.deaths && !handle.isAlive) continue
      this.value = handle
      return this
    }
    this.done = true
    this.value = undefined
    return this
  }
}
