/**
 * What the page remembers of the tick before: where every unit was, so that frames between two ticks are smooth, and
 * what happened in the last tick, for effects. It reads the world and never writes it.
 */

import type { ObjectId, World } from 'tickwire'
import { Building, MINING, Unit } from '../definitions.ts'
import { columnOf, rowOf } from '../map-cells.ts'
import { BUILDINGS, UNITS } from '../rules.ts'

const OBJECTS = 65_536

/** Something that happened in a tick. */
export type Happening =
  /** `by`: the seat that shoots; `at`: the seat that is shot at. */
  | { readonly kind: 'shot'; readonly by: number; readonly at: number; readonly weapon: number; readonly x: number
    readonly y: number; readonly toX: number; readonly toY: number }
  | { readonly kind: 'fall'; readonly id: ObjectId; readonly seat: number; readonly size: number; readonly x: number
    readonly y: number }
  | { readonly kind: 'ready'; readonly seat: number; readonly x: number; readonly y: number }

export class Memory {
  /** Where a unit is and was a tick ago. Indexed by object index. */
  readonly x: Float32Array = new Float32Array(OBJECTS)
  readonly y: Float32Array = new Float32Array(OBJECTS)
  readonly fromX: Float32Array = new Float32Array(OBJECTS)
  readonly fromY: Float32Array = new Float32Array(OBJECTS)
  /** Where it looks, in radians; 0 is south. */
  readonly heading: Float32Array = new Float32Array(OBJECTS)
  readonly #ids = new Uint32Array(OBJECTS)
  readonly #seenAt = new Uint32Array(OBJECTS)
  readonly #seat = new Uint8Array(OBJECTS)
  readonly #size = new Uint8Array(OBJECTS)
  /** Indexes of the objects of the last tick. */
  #present: number[] = []
  #before: number[] = []

  /** Reads the world after a tick. `onHappening` sees what the tick changed. */
  note(world: World, onHappening: (happening: Happening) => void): void {
    ;[this.#before, this.#present] = [this.#present, this.#before]
    this.#present.length = 0
    const { tick } = world
    for (const unit of world.each(Unit)) {
      const { id, x, y, kind, seat } = unit
      const at = id >>> 16
      if (this.#remember(at, id, tick, seat, x, y, 0)) onHappening({ kind: 'ready', seat, x, y })
      const [dx, dy] = [x - this.fromX[at]!, y - this.fromY[at]!]
      if (dx * dx + dy * dy > 1e-5) this.heading[at] = Math.atan2(dx, dy)
      const rule = UNITS[kind]!
      if (unit.target === 0 || unit.readyAt !== tick + rule.reload || unit.mode === MINING) continue
      this.#shoot(world, at, unit.target, kind, seat, x, y, onHappening)
    }
    for (const building of world.each(Building)) {
      const { id, kind, seat } = building
      const rule = BUILDINGS[kind]!
      const [x, y] = [columnOf(building.at) + rule.size / 2, rowOf(building.at) + rule.size / 2]
      this.#remember(id >>> 16, id, tick, seat, x, y, rule.size)
      if (building.target !== 0 && rule.damage > 0 && building.readyAt === tick + rule.reload)
        this.#shoot(world, id >>> 16, building.target, 5, seat, x, y, onHappening)
    }
    for (const at of this.#before) {
      if (this.#seenAt[at] === tick) continue
      const [id, seat, size] = [this.#ids[at]!, this.#seat[at]!, this.#size[at]!]
      onHappening({ kind: 'fall', id, seat, size, x: this.x[at]!, y: this.y[at]! })
    }
  }

  /** Forgets everything: the next tick does not follow the last one. */
  clear(): void {
    this.#present = []
    this.#before = []
    this.#ids.fill(0)
    this.#seenAt.fill(0)
  }

  /** True: the object is new. */
  #remember(at: number, id: number, tick: number, seat: number, x: number, y: number, size: number): boolean {
    const isNew = this.#ids[at] !== id
    this.fromX[at] = isNew ? x : this.x[at]!
    this.fromY[at] = isNew ? y : this.y[at]!
    this.x[at] = x
    this.y[at] = y
    this.#ids[at] = id
    this.#seenAt[at] = tick
    this.#seat[at] = seat
    this.#size[at] = size
    this.#present.push(at)
    return isNew
  }

  #shoot(
    world: World, at: number, target: number, weapon: number, by: number, x: number, y: number,
    onHappening: (happening: Happening) => void,
  ): void {
    const to = target >>> 16
    if (world.get(Unit, target) === null && world.get(Building, target) === null && this.#ids[to] !== target) return
    const [toX, toY] = [this.x[to]!, this.y[to]!]
    this.heading[at] = Math.atan2(toX - x, toY - y)
    onHappening({ kind: 'shot', by, at: this.#seat[to]!, weapon, x, y, toX, toY })
  }
}
