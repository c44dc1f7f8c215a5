/** The read-only world that the check of an order sees. It has no random numbers and no `spawn`. */

import { InvariantError } from '../base/assert.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import type { ObjectView } from '../world/handle.ts'
import { encodeWorld } from '../world/world-image.ts'
import type { World } from '../world/world.ts'
import type { CheckedWorld, Order } from './order.ts'
import type { RunnerOptions } from './runner-options.ts'

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

  /**
   * Whether an order is allowed. `purity`: between two ticks, when the player gives the order, the world must be the
   * same after its check. Before a tick is stepped the check runs on every peer, and changes the same everywhere.
   */
  allows(kind: Order, by: PeerId, values: object, purity: RunnerOptions['checkPurity'] = false): boolean {
    const { check, name } = kind
    if (check === undefined) return true
    if (purity === false || this.#world.isStepping) return check(this, by, values as never)
    const before = encodeWorld(this.#world)
    const result = check(this, by, values as never)
    const after = encodeWorld(this.#world)
    if (before === undefined || after === undefined || before.some((byte, at) => byte !== after[at])) {
      const message = `${name}.check: changed the world (expected no change, got another image). `
        + 'Fix: only read in check.'
      if (purity === true) throw new InvariantError(message)
      purity(message)
    }
    return result
  }
}
