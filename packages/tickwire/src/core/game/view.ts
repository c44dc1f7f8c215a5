/** The read-only view of one player: the objects it knows of, and how they changed since the last draw. */

import type { ObjectId, Tick } from '../base/time.ts'
import type { UserCode } from '../base/user-code.ts'
import type { Entity } from '../schema/definition.ts'
import type { ObjectView } from '../world/handle.ts'
import type { World } from '../world/world.ts'
import { ViewEvents, type ViewEventName } from './view-events.ts'

/** The world as it is drawn: read-only, between two ticks, with predicted objects ahead. */
export class View {
  /** The listeners of `on`. */
  readonly events: ViewEvents
  #world: World

  /** `code` reports what listeners throw. */
  constructor(world: World, code: UserCode) {
    this.#world = world
    this.events = new ViewEvents(world, code)
  }

  /** Switches to another world of the same game. Listeners stay. */
  show(world: World): void {
    if (world === this.#world) return
    this.#world = world
    this.events.show(world)
  }

  /** The tick at which other players' objects are shown. */
  get tick(): Tick {
    return this.#world.tick
  }

  /** All objects of an entity that are in view, ascending by id. */
  each<E extends Entity>(entity: E): Iterable<ObjectView<E>> {
    return this.#world.each(entity) as Iterable<unknown> as Iterable<ObjectView<E>>
  }

  /** The object with this id, or null while it is not in view. */
  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null {
    return this.#world.get(entity, id) as unknown as ObjectView<E> | null
  }

  /**
   * Calls `listener` in the draw in which an object of an entity comes into view (`spawn`), differs from the previous
   * draw (`change`), or leaves the view (`despawn`; its last values can still be read). The returned function removes
   * the listener.
   */
  on<E extends Entity>(event: ViewEventName, entity: E, listener: (object: ObjectView<E>) => void): () => void {
    return this.events.on(event, this.#world.storeOf(entity).type, listener as (object: never) => void)
  }
}
