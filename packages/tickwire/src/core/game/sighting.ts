/**
 * What `step` can read on a client beyond what it simulates: own objects in their current state, others as drawn.
 */

import type { ObjectId } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import type { ObjectView } from '../world/handle.ts'
import type { Sight, World } from '../world/world.ts'

export class Sighting implements Sight {
  /** How often `step` has read it. A step that depends on the view cannot be repeated bit by bit. */
  looks = 0
  readonly #own: World
  readonly #view: World

  constructor(own: World, view: World) {
    this.#own = own
    this.#view = view
  }

  /** Both kinds of objects, ascending by id. */
  *each<E extends Entity>(entity: E): Generator<ObjectView<E>> {
    this.looks++
    const own = this.#own.storeOf(entity).living()
    let next = 0
    for (const handle of this.#view.storeOf(entity).living()) {
      while (next < own.length && own[next].id < handle.id) yield own[next++] as unknown as ObjectView<E>
      // An object that is simulated here is also drawn, but its simulated state is used.
      if (own[next]?.id === handle.id) continue
      if (this.#own.objects.isAlive(handle.id)) continue
      yield handle as unknown as ObjectView<E>
    }
    while (next < own.length) yield own[next++] as unknown as ObjectView<E>
  }

  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null {
    this.looks++
    return (this.#own.get(entity, id) ?? this.#view.get(entity, id)) as unknown as ObjectView<E> | null
  }
}
