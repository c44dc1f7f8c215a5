/**
 * Who wants to know what comes into view, changes there and goes.
 *
 * Comings and goings are told as they happen; changes once a draw, by comparing cells with those of the draw before, and
 * only of entities that somebody listens to.
 */

import type { ObjectId } from '../base/time.ts'
import type { Handle } from '../world/handle.ts'
import type { World } from '../world/world.ts'

export type ViewEventName = 'spawn' | 'despawn' | 'change'

type Listener = (object: never) => void

interface Listeners {
  readonly spawn: Listener[]
  readonly despawn: Listener[]
  readonly change: Listener[]
  /** Cells of the draw before. */
  readonly before: Map<ObjectId, Float64Array>
}

export class ViewEvents {
  /** What is drawn. */
  readonly world: World
  readonly #listeners = new Map<number, Listeners>()

  constructor(world: World) {
    this.world = world
  }

  on(event: ViewEventName, type: number, listener: Listener): void {
    const listeners: Listeners = this.#listeners.get(type) ?? { spawn: [], despawn: [], change: [], before: new Map() }
    listeners[event].push(listener)
    this.#listeners.set(type, listeners)
  }

  handleShown(handle: Handle): void {
    const listeners = this.#listeners.get(handle.$store.type)
    if (listeners === undefined) return
    if (listeners.change.length > 0) listeners.before.set(handle.id, handle.$cells.slice())
    for (const listener of listeners.spawn) listener(handle as never)
  }

  handleHidden(handle: Handle): void {
    const listeners = this.#listeners.get(handle.$store.type)
    if (listeners === undefined) return
    listeners.before.delete(handle.id)
    for (const listener of listeners.despawn) listener(handle as never)
  }

  handleDrawn(): void {
    for (const [type, listeners] of this.#listeners) {
      if (listeners.change.length === 0) continue
      for (const handle of this.world.stores[type].living()) this.#compare(handle, listeners)
    }
  }

  #compare(handle: Handle, { change, before }: Listeners): void {
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
    for (const listener of change) listener(handle as never)
  }
}
