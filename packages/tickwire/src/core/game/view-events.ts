/**
 * Listeners for objects that come into view, change there and leave it.
 *
 * `spawn` and `despawn` are called at once. `change` is called once per draw, by comparing the cells with those of the
 * previous draw, and only for entities that have such a listener.
 */

import type { ObjectId } from '../base/time.ts'
import { Listeners, type UserCode } from '../base/user-code.ts'
import type { Handle } from '../world/handle.ts'
import type { World } from '../world/world.ts'

export type ViewEventName = 'spawn' | 'despawn' | 'change'

type Listener = (object: never) => void

type ListenersOfType = { readonly [event in ViewEventName]: Listeners<[object: never]> } & {
  /** The cells of the previous draw. */
  readonly before: Map<ObjectId, Float64Array>
}

export class ViewEvents {
  readonly #code: UserCode
  readonly #listeners = new Map<number, ListenersOfType>()
  #world: World

  constructor(world: World, code: UserCode) {
    this.#world = world
    this.#code = code
  }

  /** The world that is drawn. */
  get world(): World {
    return this.#world
  }

  /** The returned function removes the listener. */
  on(event: ViewEventName, type: number, listener: Listener): () => void {
    const of = (name: ViewEventName): Listeners<[object: never]> =>
      new Listeners(this.#code, `view.on(${name}, ${this.#world.stores[type].schema.name})`)
    const listeners = this.#listeners.get(type) ?? {
      spawn: of('spawn'),
      despawn: of('despawn'),
      change: of('change'),
      before: new Map(),
    }
    this.#listeners.set(type, listeners)
    return listeners[event].add(listener)
  }

  /** Switches to another world: the objects of the previous world despawn, and those of the new world spawn. */
  show(world: World): void {
    for (const type of this.#listeners.keys())
      for (const handle of this.#world.stores[type].living()) this.handleHidden(handle)
    this.#world = world
    for (const type of this.#listeners.keys())
      for (const handle of world.stores[type].living()) this.handleShown(handle)
  }

  handleShown(handle: Handle): void {
    const listeners = this.#listeners.get(handle.$store.type)
    if (listeners === undefined) return
    if (listeners.change.size > 0) listeners.before.set(handle.id, handle.$cells.slice())
    listeners.spawn.call(0, handle as never)
  }

  handleHidden(handle: Handle): void {
    const listeners = this.#listeners.get(handle.$store.type)
    if (listeners === undefined) return
    listeners.before.delete(handle.id)
    listeners.despawn.call(0, handle as never)
  }

  handleDrawn(): void {
    for (const [type, listeners] of this.#listeners) {
      if (listeners.change.size === 0) continue
      for (const handle of this.#world.stores[type].living()) this.#compare(handle, listeners)
    }
  }

  #compare(handle: Handle, { change, before }: ListenersOfType): void {
    const { $cells } = handle
    const known = before.get(handle.id)
    if (known === undefined) {
      before.set(handle.id, $cells.slice())
      return
    }
    let cell = 0
    while (cell < $cells.length && Object.is($cells[cell], known[cell])) cell++
    if (cell === $cells.length) return
    known.set($cells)
    change.call(0, handle as never)
  }
}
