/**
 * Walks the objects of an entity: those alive when the loop begins and still alive when reached, ascending by id.
 *
 * It is iterable, iterator and result in one object, which is one allocation a loop at most and none where the loop is
 * compiled. It touches a handle only when somebody has died since the loop began: handles of many entities pass through
 * here, and what looks into all of them is slow for each of them. bench/world.bench.ts has the numbers.
 */

import type { EntityStore } from './entity-store.ts'
import type { Handle } from './handle.ts'

const NOBODY: readonly Handle[] = []

export class Living {
  /** As the result of `next`. */
  done = false
  value: Handle | undefined = undefined
  /** Fields, not private names, for those are slow in code that is not compiled yet. */
  readonly store: EntityStore
  handles: readonly Handle[] = NOBODY
  deaths = 0
  /** The next to visit; -1 before the loop begins. */
  at = -1

  constructor(store: EntityStore) {
    this.store = store
  }

  /** A loop over what was looped over before begins anew. */
  [Symbol.iterator](): this | Living {
    const walk = this.at < 0 ? this : new Living(this.store)
    walk.handles = this.store.living()
    walk.deaths = this.store.deaths
    walk.at = 0
    return walk
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
