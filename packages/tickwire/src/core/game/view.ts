/** What one player may draw: the objects he knows of, read-only, and what became of them since the last draw. */

import type { ObjectId, Tick } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import type { ObjectView } from '../world/handle.ts'
import type { World } from '../world/world.ts'
import { ViewEvents, type ViewEventName } from './view-events.ts'

export class View {
  readonly events: ViewEvents
  readonly #world: World

  constructor(world: World) {
    this.#world = world
    this.events = new ViewEvents(world)
  }

  /** The tick that others are shown at. */
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

  /**
   * Calls `listener` in the draw in which an object of an entity comes into view (`spawn`), is not what it was in the draw
   * before (`change`), or goes (`despawn`; its last values can still be read).
   */
  on<E extends Entity>(event: ViewEventName, entity: E, listener: (object: ObjectView<E>) => void): void {
    this.events.on(event, this.#world.storeOf(entity).type, listener as (object: never) => void)
  }
}
