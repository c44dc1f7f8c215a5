/**
 * The received state of all objects in view, in a separate world that can be drawn, recorded and compared.
 *
 *   bring()        the newest row of every object, whatever its tick (drawn as ghosts by the devtools)
 *   bringTo(T)     the world at tick T, as far as it has been received; call it with ascending ticks
 *
 * Nothing here is predicted, interpolated or smoothed.
 */

import { NO_TYPE } from '../world/object-table.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Shape } from '../schema/field.ts'
import { World } from '../world/world.ts'
import type { ClientHost } from './client-host.ts'
import { View } from './view.ts'

/** The newest state that the server sent, without prediction and interpolation. */
export class ReceivedWorld {
  /** The world of the received rows. */
  readonly world: World
  /** The same world for drawing. */
  readonly view: View
  readonly #host: ClientHost<Shape>
  /** The tick of the row that is shown. Keyed by object index. */
  readonly #shown = new Map<number, Tick>()

  constructor(host: ClientHost<Shape>) {
    this.#host = host
    this.world = new World(host.game.entities, { isReadOnly: true, sharing: host.insides.world })
    this.view = new View(this.world, host.guard)
  }

  /** Updates the world to the newest received rows. */
  bring(): View {
    const { held, tick } = this.#host.insides.snapshots
    this.#drop((index, id) => held.ids[index] !== id)
    for (let index = 0; index < held.ids.length; index++) {
      const id = held.ids[index]
      if (id === 0) continue
      const type = held.types[index]
      this.#show(type, id, held.owners[index], this.#host.confirmed.findLatest(type, id), held.receivedAt[index])
    }
    this.world.tick = Math.max(this.world.tick, tick)
    return this.view
  }

  /** Advances the world to a tick, which must be later than the previous one. */
  bringTo(tick: Tick): void {
    const { held } = this.#host.insides.snapshots
    const { confirmed } = this.#host
    this.#drop((index, id) => held.ids[index] !== id && tick >= held.floors[index])
    for (let index = 0; index < held.ids.length; index++) {
      const id = held.ids[index]
      if (id === 0) continue
      const type = held.types[index]
      const isShown = this.#shown.has(index)
      const isOld = !isShown && confirmed.changedAt(id) <= tick
      const knownAt = isOld ? confirmed.changedAt(id) : isShown ? tick : confirmed.lastKnown(type, id, tick, 0)
      const at = isOld ? confirmed.findLatest(type, id) : knownAt < 0 ? -1 : confirmed.find(type, id, knownAt)
      if (at >= 0) this.#show(type, id, isOld ? held.owners[index] : confirmed.owner(type, id, knownAt), at, knownAt)
    }
    this.world.tick = tick
    this.world.sample()
  }

  #drop(isGone: (index: number, id: ObjectId) => boolean): void {
    const { objects } = this.world
    for (let index = 0; index < objects.highWater; index++) {
      if (objects.typeAt(index) === NO_TYPE || !isGone(index, objects.idAt(index))) continue
      const handle = this.world.atIndexOf(objects.idAt(index))
      this.#shown.delete(index)
      if (handle !== undefined) this.world.unseat(handle)
    }
  }

  #show(type: number, id: ObjectId, owner: PeerId, at: number, tick: Tick): void {
    const index = id >>> 16
    const lives = this.world.atIndexOf(id)
    if (at < 0 || (lives?.id === id && this.#shown.get(index) === tick)) return
    if (lives !== undefined && lives.id !== id) this.world.unseat(lives)
    const handle = lives?.id === id ? lives : this.world.seat(type, id, owner)
    if (handle.owner !== owner) this.world.setOwner(handle, owner)
    this.#shown.set(index, tick)
    handle.$store.load(handle, this.#host.confirmed.pools[type].rows, at)
  }
}
