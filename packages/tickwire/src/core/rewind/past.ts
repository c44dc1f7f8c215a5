/**
 * Objects to look at and to shoot at: a read-only world and the hitboxes of its entities.
 *
 * The authority gets one from `Rewinder`, as a shooter saw it. A client that predicts its own shots makes one from its
 * view, `new Past(view, hitboxes)`: it aims at what it draws.
 */

import type { ObjectId } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import type { ObjectView } from '../world/handle.ts'
import type { Cast, Hit, PastView } from '../world/past-view.ts'
import type { World } from '../world/world.ts'
import type { Caster, Hitboxes } from './hitbox-shape.ts'

export class Past implements PastView {
  readonly #world: World
  /** Undefined without hitboxes: a cast hits nothing then. */
  readonly #caster: Caster | undefined

  constructor(world: World, hitboxes: Hitboxes) {
    this.#world = world
    const [first] = hitboxes.flatMap(([, boxes]) => boxes)
    this.#caster = first?.createCaster(world, hitboxes)
  }

  each<E extends Entity>(entity: E): Iterable<ObjectView<E>> {
    return this.#world.each(entity) as Iterable<unknown> as Iterable<ObjectView<E>>
  }

  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null {
    return this.#world.get(entity, id) as unknown as ObjectView<E> | null
  }

  cast(cast: Cast): Hit | null {
    return this.#caster?.cast(cast) ?? null
  }
}
