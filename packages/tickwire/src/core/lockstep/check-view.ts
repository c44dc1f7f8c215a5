/** The read-only world that the check of an order sees. It has no random numbers and no `spawn`. */

import { InvariantError } from '../base/assert.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import type { ObjectView } from '../world/handle.ts'
import { encodeWorld } from '../world/world-image.ts'
import type { World } from '../world/world.ts'
import type { CheckedWorld } from './order.ts'

export class CheckView implements CheckedWorld {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  get tick(): Tick {
    return this.#world.tick
  }

  each<E extends Entity>(entity: E): Iterable<ObjectView<E>> {
    return this.#world.seen(entity)
  }

  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null {
    return this.#world.see(entity, id)
  }

  count(entity: Entity): number {
    return this.#world.count(entity)
  }

  /** Runs a check between two ticks, and throws if it changed the world. For development. */
  guard(name: string, check: () => boolean): boolean {
    if (this.#world.isStepping) return check()
    const before = encodeWorld(this.#world)
    const result = check()
    const after = encodeWorld(this.#world)
    if (before === undefined || after === undefined || before.some((byte, at) => byte !== after[at])) {
      throw new InvariantError(
        `${name}.check: changed the world (expected no change, got another image). Fix: only read in check.`,
      )
    }
    return result
  }
}
