/**
 * The view of the player on the authority's own machine: its world between the last two ticks, read-only.
 *
 * Nothing is predicted or received, because the authority runs here. The Timeline is sampled between the previous tick
 * and the last tick, so that drawing between ticks is smooth.
 */

import type { UserCode } from '../base/user-code.ts'
import { Poser, MODE } from '../interpolate/pose.ts'
import type { Shape } from '../schema/field.ts'
import { NO_TYPE } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import type { Game } from './define-game.ts'
import { poseOptions } from './settings.ts'
import { View } from './view.ts'

export class LocalView {
  readonly view: View
  readonly #world: World
  readonly #poser: Poser
  readonly #authority: World
  readonly #cells: Float64Array

  constructor({ entities, tickRate, net }: Game<Shape>, timeline: Timeline, authority: World, code: UserCode) {
    this.#authority = authority
    this.#world = new World(entities, { isReadOnly: true, sharing: authority })
    this.#poser = new Poser(timeline, poseOptions(tickRate, net))
    this.#cells = new Float64Array(authority.stores.reduce((most, { schema }) => Math.max(most, schema.cellCount), 0))
    this.view = new View(this.#world, code)
  }

  /** Updates the view to a moment between the previous tick (`alpha` 0) and the last tick (1). */
  draw(alpha: number): View {
    const { objects, tick } = this.#authority
    this.#poser.moment[0] = Math.max(tick - 1 + alpha, 0)
    for (const store of this.#world.stores) {
      for (const handle of store.living()) {
        if (objects.isAlive(handle.id)) continue
        this.view.events.handleHidden(handle)
        this.#world.unseat(handle)
      }
    }
    for (let index = 0; index < objects.highWater; index++) if (objects.typeAt(index) !== NO_TYPE) this.#show(index)
    this.#world.tick = tick
    this.view.events.handleDrawn()
    return this.view
  }

  #show(index: number): void {
    const { objects } = this.#authority
    const [id, type] = [objects.idAt(index), objects.typeAt(index)]
    if (this.#poser.poseKnown(type, id, undefined, this.#cells, 0) === MODE.hidden) return
    const known = this.#world.atIndexOf(id)
    const handle = known?.id === id ? known : this.#world.seat(type, id, objects.ownerAt(index))
    if (handle.owner !== objects.ownerAt(index)) this.#world.setOwner(handle, objects.ownerAt(index))
    const { $cells } = handle
    for (let cell = 0; cell < $cells.length; cell++) $cells[cell] = this.#cells[cell]
    if (handle !== known) this.view.events.handleShown(handle)
  }
}
