/**
 * The server's truth as far as it was told: the newest row of every object in view, in a world of its own that can be drawn.
 *
 * Nothing here is predicted, interpolated or smoothed, so it jumps: that is what ghosts are for. `bring` costs a pass over
 * what is held, and is called once a draw while somebody looks.
 */

import type { Tick } from '../core/base/time.ts'
import type { ClientHost } from '../core/game/client-host.ts'
import { View } from '../core/game/view.ts'
import type { Shape } from '../core/schema/field.ts'
import { World } from '../core/world/world.ts'

export class TruthWorld {
  readonly world: World
  readonly view: View
  readonly #host: ClientHost<Shape>
  /** By index: the tick of the row that is shown. */
  readonly #shown = new Map<number, Tick>()

  constructor(host: ClientHost<Shape>, sharing: World) {
    this.#host = host
    this.world = new World(host.game.entities, { isReadOnly: true, sharing })
    this.view = new View(this.world)
  }

  /** Brings it up to what was told. */
  bring(): View {
    const { snapshots } = this.#host.insides
    const { held } = snapshots
    const { confirmed } = this.#host
    const { world } = this
    for (const store of world.stores) for (const handle of store.living()) {
      const index = handle.id >>> 16
      if (held.ids[index] === handle.id) continue
      this.#shown.delete(index)
      world.unseat(handle)
    }
    for (let index = 0; index < held.ids.length; index++) {
      const id = held.ids[index]
      if (id === 0) continue
      const type = held.types[index]
      const at = confirmed.findLatest(type, id)
      if (at < 0) continue
      const lives = world.atIndexOf(id)
      const handle = lives ?? world.seat(type, id, held.owners[index])
      if (handle.owner !== held.owners[index]) world.setOwner(handle, held.owners[index])
      if (lives !== undefined && this.#shown.get(index) === held.tellings[index]) continue
      this.#shown.set(index, held.tellings[index])
      handle.$store.load(handle, confirmed.pools[type].rows, at)
    }
    world.tick = Math.max(world.tick, snapshots.tick)
    return this.view
  }
}
