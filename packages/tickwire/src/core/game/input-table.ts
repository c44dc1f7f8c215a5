/**
 * What every player holds in this tick, as `step` reads it: a read-only object per player, loaded from his row.
 */

import type { PeerId } from '../base/time.ts'
import { Entity } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { Handle } from '../world/handle.ts'
import type { ValueKeeper } from '../world/value-keeping.ts'
import { World } from '../world/world.ts'
import type { Inputs } from './define-game.ts'

/** A world of its own, with one object a player: the machinery of views, used once more. */
export class InputTable<I extends Shape> implements Inputs<I> {
  readonly #entity: Entity<I>
  readonly #world: World
  readonly #held = new Map<PeerId, Handle>()
  readonly #idle: Handle

  constructor(input: I) {
    this.#entity = new Entity(input, { name: 'input' })
    this.#world = new World([this.#entity], { isReadOnly: true })
    this.#idle = this.#seat()
  }

  get heap(): ValueHeap {
    return this.#world.heap
  }

  of(owner: PeerId): ViewOf<I> {
    return (this.#held.get(owner) ?? this.#idle) as unknown as ViewOf<I>
  }

  add(peer: PeerId): void {
    this.#held.set(peer, this.#seat())
  }

  remove(peer: PeerId): void {
    const handle = this.#held.get(peer)
    if (!handle) return
    this.#held.delete(peer)
    this.#world.despawn(handle)
    this.#world.endTick()
  }

  /** Sets what a player holds from now on. @hot */
  load(peer: PeerId, row: Int32Array): void {
    const handle = this.#held.get(peer)
    if (handle) handle.$store.load(handle, row, 0)
  }

  /** Inputs on their way hold texts and lists of this heap: from now on these stay in it. */
  keepValuesOf(inputs: ValueKeeper): void {
    this.#world.keepValuesOf(inputs)
  }

  /** The opposite, once he is gone. */
  dropValuesOf(inputs: ValueKeeper): void {
    this.#world.dropValuesOf(inputs)
  }

  /** Lets go of values nobody holds any more, if it is time: a player may send new ones for ever. */
  collectValues(): void {
    this.#world.collectValues()
  }

  #seat(): Handle {
    return this.#world.spawn(this.#entity, {}) as unknown as Handle
  }
}
