/**
 * The objects that a client draws as predicted. All others are drawn by the interpolator.
 *
 * Invariant: an id is in the set exactly while the interpolator treats it as local.
 */

import type { ObjectId } from '../base/time.ts'
import type { Interpolator } from '../interpolate/interpolator.ts'
import type { Predictor } from '../predict/predictor.ts'
import type { HeldObjects } from '../replication/receive/held-objects.ts'
import type { Handle } from '../world/handle.ts'
import { indexOf } from '../world/object-table.ts'
import type { World } from '../world/world.ts'
import type { ViewEvents } from './view-events.ts'

export class OwnObjects {
  readonly #ids = new Set<ObjectId>()
  readonly #world: World
  readonly #interpolator: Interpolator
  readonly #events: () => ViewEvents

  /** `world` is the one that is drawn. `events` are those of the view in use. */
  constructor(world: World, interpolator: Interpolator, events: () => ViewEvents) {
    this.#world = world
    this.#interpolator = interpolator
    this.#events = events
  }

  get ids(): ReadonlySet<ObjectId> {
    return this.#ids
  }

  /** Copies the current state of all predicted objects into the view. */
  show(predictor: Predictor): void {
    const world = this.#world
    for (const store of predictor.world.stores) {
      for (const predicted of store.living()) {
        const { id, owner } = predicted
        let handle = world.atIndexOf(id)
        if (!this.#ids.has(id)) {
          this.#ids.add(id)
          this.#interpolator.setLocal(id, true)
        }
        const isNew = handle?.id !== id
        if (handle !== undefined && isNew) this.hide(handle)
        if (handle === undefined || isNew) handle = world.seat(store.type, id, owner)
        if (handle.owner !== owner) world.setOwner(handle, owner)
        if (isNew) this.#interpolator.smoother.reset(store.type, handle.$store.slotOf(handle))
        handle.$cells.set(predicted.$cells)
        if (isNew) this.#events().handleShown(handle)
      }
    }
  }

  /**
   * Gives up the objects that are no longer predicted. Objects of other players return to the interpolator. The others
   * have ended and leave the view: `onEnded` is called for each before that.
   */
  release(predictor: Predictor, held: HeldObjects, onEnded: (id: ObjectId) => void): void {
    for (const store of this.#world.stores) {
      for (const handle of store.living()) {
        if (!this.#ids.has(handle.id) || predictor.world.objects.isAlive(handle.id)) continue
        const { id } = handle
        this.#ids.delete(id)
        const isReceived = held.ids[indexOf(id)] === id
        const isOthers = isReceived && held.owners[indexOf(id)] !== predictor.peer
        if (!isOthers) {
          onEnded(id)
          // Prediction is ahead of received rows, so older rows must not show the object again.
          this.#interpolator.remove(id)
          this.hide(handle)
        }
        this.#interpolator.setLocal(id, false)
      }
    }
  }

  /** Removes an object from the view. */
  hide(handle: Handle): void {
    // Also when a new object of this client has taken its index: `release` would never find the old id again.
    this.#ids.delete(handle.id)
    this.#events().handleHidden(handle)
    this.#world.unseat(handle)
  }

  /** An own object has a new id. */
  rename(handle: Handle, to: ObjectId): void {
    const from = handle.id
    const other = this.#world.atIndexOf(to)
    if (other !== undefined) this.hide(other)
    this.#world.rename(handle, to)
    this.#ids.delete(from)
    this.#ids.add(to)
    this.#interpolator.setLocal(from, false)
    this.#interpolator.setLocal(to, true)
  }
}
