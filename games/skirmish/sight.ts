/**
 * What each team sees: the cells around its units and buildings. A page draws its fog from this, and a server hides
 * what is outside.
 */

import type { ObjectView, World } from 'tickwire'
import { Building, Crystal, Match, Seat, Unit } from './definitions.ts'
import { CELLS, columnOf, rowOf, SIZE } from './map-cells.ts'
import { BUILDING_SIGHT, BUILDINGS, SEATS, SIGHT } from './rules.ts'

const ALL_TEAMS = 255

export class Sight {
  /** The teams that see a cell, as bits. Indexed by cell. */
  readonly cells: Uint8Array = new Uint8Array(CELLS)
  readonly #teams = new Uint8Array(SEATS)

  /** Looks around objects. Those of teams that are not in `teams`, as bits, do not see. Default: all teams see. */
  look(
    seats: Iterable<ObjectView<typeof Seat>>, units: Iterable<ObjectView<typeof Unit>>,
    buildings: Iterable<ObjectView<typeof Building>>, teams: number = ALL_TEAMS,
  ): void {
    this.cells.fill(0)
    for (const { number, team } of seats) this.#teams[number] = 1 << team & teams
    for (const { x, y, seat } of units) this.#see(x, y, SIGHT, this.#teams[seat]!)
    for (const { at, kind, seat } of buildings) {
      const middle = BUILDINGS[kind]!.size / 2
      this.#see(columnOf(at) + middle, rowOf(at) + middle, BUILDING_SIGHT, this.#teams[seat]!)
    }
  }

  /** Whether a team sees the point. */
  isSeen(x: number, y: number, team: number): boolean {
    return (this.cells[(y | 0) * SIZE + (x | 0)]! >> team & 1) === 1
  }

  #see(x: number, y: number, sight: number, bits: number): void {
    if (bits === 0) return
    const { cells } = this
    const [top, bottom] = [Math.max(0, Math.floor(y - sight)), Math.min(SIZE - 1, Math.floor(y + sight))]
    for (let row = top; row <= bottom; row++) {
      const away = row + 0.5 - y
      const across = Math.sqrt(Math.max(0, sight * sight - away * away))
      const right = row * SIZE + Math.min(SIZE - 1, Math.floor(x + across))
      for (let cell = row * SIZE + Math.max(0, Math.floor(x - across)); cell <= right; cell++) cells[cell]! |= bits
    }
  }

  /** Notes in every object which teams see it. A match that is over hides nothing. */
  mark(world: World): void {
    let isOver = false
    for (const { winner } of world.each(Match)) isOver = winner !== 0
    for (const unit of world.each(Unit)) {
      const bits = isOver ? ALL_TEAMS : this.cells[(unit.y | 0) * SIZE + (unit.x | 0)]! | this.#teams[unit.seat]!
      if (unit.seenBy !== bits) unit.seenBy = bits
    }
    for (const building of world.each(Building)) {
      const bits = isOver ? ALL_TEAMS : this.#around(building.at, BUILDINGS[building.kind]!.size)
      if (building.seenBy !== bits) building.seenBy = bits
    }
    for (const crystal of world.each(Crystal)) {
      const bits = isOver ? ALL_TEAMS : this.cells[crystal.at]!
      if (crystal.seenBy !== bits) crystal.seenBy = bits
    }
  }

  /** The teams that see a part of a square. */
  #around(at: number, size: number): number {
    let bits = 0
    for (let row = 0; row < size; row++)
      for (let column = 0; column < size; column++) bits |= this.cells[at + row * SIZE + column]!
    return bits
  }
}
