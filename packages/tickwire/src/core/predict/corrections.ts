/**
 * Reports which objects a rollback moved, so that the renderer can smooth the jump.
 *
 * Before the first step back the cells of all objects are copied. When the world reaches that tick again they are
 * compared, and the listener is called for each object that moved. A correction during another correction counts as
 * one.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import { widen } from '../base/widen.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import type { World } from '../world/world.ts'

/** Called for each corrected object. Its cells follow its entity's layout and start at `beforeAt` and `afterAt`. */
export interface CorrectionListener {
  handleCorrection(
    type: number, id: ObjectId, before: Float64Array, beforeAt: number, after: Float64Array, afterAt: number,
  ): void
}

export class Corrections {
  readonly #world: World
  readonly #listener: CorrectionListener
  #tick: Tick = -1
  #count = 0
  #ids: Uint32Array = new Uint32Array(16)
  #places: Uint32Array = new Uint32Array(16)
  #cells: Float64Array = new Float64Array(256)

  constructor(world: World, listener: CorrectionListener) {
    this.#world = world
    this.#listener = listener
  }

  /** Copies all cells before the world is rolled back. */
  begin(): void {
    if (this.#tick >= 0) return
    const { objects, stores, tick } = this.#world
    this.#tick = tick
    this.#count = 0
    let used = 0
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE) continue
      const { schema: { cellCount }, cells } = stores[type]
      this.#reserve(used + cellCount)
      const from = objects.slotAt(index) * cellCount
      for (let cell = 0; cell < cellCount; cell++) this.#cells[used + cell] = cells[from + cell]
      this.#ids[this.#count] = objects.idAt(index)
      this.#places[this.#count++] = used
      used += cellCount
    }
  }

  /** If the world has reached the tick that it was rolled back from, reports the objects that moved. */
  finishAt(tick: Tick): void {
    if (tick !== this.#tick) return
    this.#tick = -1
    const { objects, stores } = this.#world
    for (let at = 0; at < this.#count; at++) {
      const id = this.#ids[at]
      if (!objects.isAlive(id)) continue
      const type = objects.typeAt(indexOf(id))
      const { schema: { cellCount }, cells } = stores[type]
      const from = objects.slotAt(indexOf(id)) * cellCount
      let cell = 0
      while (cell < cellCount && cells[from + cell] === this.#cells[this.#places[at] + cell]) cell++
      if (cell < cellCount) this.#listener.handleCorrection(type, id, this.#cells, this.#places[at], cells, from)
    }
  }

  /** The world will not reach that tick again. */
  abandon(): void {
    this.#tick = -1
  }

  #reserve(cells: number): void {
    if (this.#count === this.#ids.length) {
      this.#ids = widen(this.#ids, new Uint32Array(2 * this.#count))
      this.#places = widen(this.#places, new Uint32Array(2 * this.#count))
    }
    if (cells > this.#cells.length) this.#cells = widen(this.#cells, new Float64Array(2 * cells))
  }
}
