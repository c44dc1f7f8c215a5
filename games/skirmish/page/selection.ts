/** What is selected: own units, or one building. And the control groups, which are part of the state. */

import type { ObjectId, World } from 'tickwire'
import { Building, IDLE, Unit } from '../definitions.ts'
import { columnOf, rowOf } from '../map-cells.ts'
import { BUILDINGS, WORKER } from '../rules.ts'
import type { MapCamera, Spot } from './camera.ts'

/** Pixels around a click in which a unit is hit. */
const REACH = 22
/** Most units of a selection: what one order can name. */
const MOST = 250

export class Selection {
  readonly ids: Set<ObjectId> = new Set()
  /** Counts changes: the page shows a new selection in the same frame. */
  version = 0
  readonly #camera: MapCamera

  constructor(camera: MapCamera) {
    this.#camera = camera
  }

  /** Removes what is gone. */
  refresh(world: World): void {
    for (const id of this.ids) if (world.get(Unit, id) === null && world.get(Building, id) === null) this.ids.delete(id)
  }

  /** Adds what is not selected, and removes what is. */
  toggle(id: ObjectId): void {
    if (!this.ids.delete(id) && this.ids.size < MOST) this.ids.add(id)
    this.version++
  }

  units(world: World, seat: number): ObjectId[] {
    return [...this.ids].filter((id) => world.get(Unit, id)?.seat === seat).sort((a, b) => a - b)
  }

  workers(world: World, seat: number): ObjectId[] {
    return this.units(world, seat).filter((id) => world.get(Unit, id)?.kind === WORKER)
  }

  buildings(world: World, seat: number): ObjectId[] {
    return [...this.ids].filter((id) => world.get(Building, id)?.seat === seat).sort((a, b) => a - b)
  }

  replace(ids: Iterable<ObjectId>): void {
    this.version++
    this.ids.clear()
    for (const id of ids) if (this.ids.size < MOST) this.ids.add(id)
  }

  /** The unit or building under a pixel; 0: nothing. `isHidden` leaves out what the player does not see. */
  pick(world: World, pixel: Spot, isHidden: (x: number, y: number) => boolean): ObjectId {
    let [best, least]: [ObjectId, number] = [0, REACH * REACH]
    for (const { id, x, y } of world.each(Unit)) {
      if (isHidden(x, y)) continue
      const at = this.#camera.pixelOf(x, y, 0.4)
      const square = (at.x - pixel.x) ** 2 + (at.y - pixel.y) ** 2
      if (square < least) [best, least] = [id, square]
    }
    return best === 0 ? this.#pickBuilding(world, pixel, isHidden) : best
  }

  #pickBuilding(world: World, pixel: Spot, isHidden: (x: number, y: number) => boolean): ObjectId {
    const spot = this.#camera.spotAt(pixel.x, pixel.y)
    for (const { id, at, kind } of world.each(Building)) {
      const { size } = BUILDINGS[kind]!
      const [left, top] = [columnOf(at), rowOf(at)]
      // The walls stand north of where the ray meets the ground.
      const isAcross = spot.x >= left - 0.2 && spot.x <= left + size + 0.2
      const isHit = isAcross && spot.y >= top - 1 && spot.y <= top + size + 0.2
      if (isHit && !isHidden(left + size / 2, top + size / 2)) return id
    }
    return 0
  }

  /** Own units inside a box of pixels. Fighters win over workers when both are in it. */
  inBox(world: World, seat: number, a: Spot, b: Spot): ObjectId[] {
    const [left, right] = [Math.min(a.x, b.x), Math.max(a.x, b.x)]
    const [top, bottom] = [Math.min(a.y, b.y), Math.max(a.y, b.y)]
    const inside = [...world.each(Unit)].filter((unit) => {
      if (unit.seat !== seat) return false
      const { x, y } = this.#camera.pixelOf(unit.x, unit.y, 0.4)
      return x >= left && x <= right && y >= top && y <= bottom
    })
    const fighters = inside.filter(({ kind }) => kind !== WORKER)
    return (fighters.length > 0 ? fighters : inside).map(({ id }) => id)
  }

  /** Own units of the same kind that the screen shows. */
  alike(world: World, seat: number, id: ObjectId): ObjectId[] {
    const kind = world.get(Unit, id)?.kind
    const { left, right, top, bottom } = this.#camera.bounds()
    return [...world.each(Unit)]
      .filter((unit) => unit.seat === seat && unit.kind === kind
        && unit.x > left && unit.x < right && unit.y > top && unit.y < bottom)
      .map((unit) => unit.id)
  }

  /** All own units that fight. */
  fighters(world: World, seat: number): ObjectId[] {
    return [...world.each(Unit)].filter((unit) => unit.seat === seat && unit.kind !== WORKER).map(({ id }) => id)
  }

  group(world: World, seat: number, number: number): ObjectId[] {
    return [...world.each(Unit)].filter((unit) => unit.seat === seat && unit.group === number).map(({ id }) => id)
  }

  allWorkers(world: World, seat: number): ObjectId[] {
    return [...world.each(Unit)].filter((unit) => unit.seat === seat && unit.kind === WORKER).map(({ id }) => id)
  }

  /** Workers that do nothing. */
  idleWorkers(world: World, seat: number): ObjectId[] {
    return [...world.each(Unit)].filter((unit) => unit.seat === seat && unit.kind === WORKER && unit.mode === IDLE)
      .map(({ id }) => id)
  }
}
