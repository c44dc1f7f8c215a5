/** What one player may draw: the objects he was told of, read-only. */

import type { ObjectId, Tick } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import type { ObjectView } from '../world/handle.ts'
import type { World } from '../world/world.ts'

export class View {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  /** The tick that is shown. */
  get tick(): Tick {
    return this.#world.tick
  }

  /** Every object of an entity that is in view, ascending by id. */
  each<E extends Entity>(entity: E): Iterable<ObjectView<E>> {
    return this.#world.each(entity) as Iterable<unknown> as Iterable<ObjectView<E>>
  }

  /** The object with an id, or null while it is not in view. */
  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null {
    return this.#world.get(entity, id) as unknown as ObjectView<E> | null
  }
}
