/**
 * What `step` derives from the state and keeps beside it: the map, grids over the units, directions of flow fields.
 *
 * Nothing here is state: `refresh` makes it again in every tick, and the rest is a function of the seed and of the
 * fields in the world. A world that was restored from an image starts with an empty battlefield and steps the same.
 */

import type { ObjectId, World } from 'tickwire'
import type { Derived } from 'tickwire/lockstep'
import {
  Building, Crystal, Field, isSeenBy, Match, Seat, Unit, type BuildingObject, type MatchObject, type SeatObject,
  type UnitObject,
} from './definitions.ts'
import { FlowFinder } from './flow-field.ts'
import { makeMap, type GameMap } from './map.ts'
import { CELLS, columnOf, rowOf, SIZE } from './map-cells.ts'
import { BUILDINGS, SEATS, UNITS_PER_SEAT } from './rules.ts'

/** Cells of one side of a block: a coarse square in which enemies are looked for. */
const BLOCK = 4
export const BLOCKS: number = SIZE / BLOCK
/** Flow fields that are kept. */
const FIELDS_MAX = 64
/** Ticks from the request of a field to its use. */
const FIELD_DELAY = 4
/** Ticks after which an unused field may make room for another. */
const FIELD_IDLE = 90
/** Ticks between two notes of use. */
const FIELD_NOTE = 30

const CAPACITY: number = SEATS * UNITS_PER_SEAT + 64
const OBJECTS = 65_536
const FNV_BASIS = 0x811c_9dc5
const FNV_PRIME = 0x0100_0193

type FieldObject = { readonly id: ObjectId; goal: number; readyAt: number; usedAt: number }
type CrystalObject = { readonly id: ObjectId; at: number; left: number; readonly isAlive: boolean }

export class Battlefield {
  readonly world: World
  map: GameMap
  match: MatchObject
  isFoggy = false
  /** Indexed by seat. */
  readonly seats: SeatObject[] = []
  /** Indexed by seat. */
  readonly teams: Uint8Array = new Uint8Array(SEATS)
  /** All units, ascending by id; the arrays below have the same index. */
  readonly units: UnitObject[] = []
  readonly x: Float64Array = new Float64Array(CAPACITY)
  readonly y: Float64Array = new Float64Array(CAPACITY)
  readonly seatOf: Uint8Array = new Uint8Array(CAPACITY)
  readonly kindOf: Uint8Array = new Uint8Array(CAPACITY)
  /** 1: stands and shoots in this tick. */
  readonly stands: Uint8Array = new Uint8Array(CAPACITY)
  /** Where a unit follows an enemy to. */
  readonly isChasing: Uint8Array = new Uint8Array(CAPACITY)
  readonly chaseX: Float64Array = new Float64Array(CAPACITY)
  readonly chaseY: Float64Array = new Float64Array(CAPACITY)
  /** The first unit in a cell, plus 1, and the next one in the same cell. Indexed by cell, and by unit. */
  readonly cellFirst: Int32Array = new Int32Array(CELLS)
  readonly cellNext: Int32Array = new Int32Array(CAPACITY)
  /** The same for blocks. */
  readonly blockFirst: Int32Array = new Int32Array(BLOCKS * BLOCKS)
  readonly blockNext: Int32Array = new Int32Array(CAPACITY)
  /** The teams that have units in a block, as bits. Indexed by block. */
  readonly blockTeams: Uint8Array = new Uint8Array(BLOCKS * BLOCKS)
  readonly buildings: BuildingObject[] = []
  /** The building that covers a cell, plus 1. Indexed by cell. */
  readonly covered: Int16Array = new Int16Array(CELLS)
  readonly crystals: CrystalObject[] = []
  /** Indexed by seat. */
  readonly unitCounts: Int32Array = new Int32Array(SEATS)
  /** The place of an object in `units` (plus 1) or `buildings` (negative, less 1). Indexed by object index. */
  readonly #places = new Int32Array(OBJECTS)
  readonly #fields: FieldObject[] = []
  #finder: FlowFinder
  #mapKind: number
  /** Directions by goal, for fields that are ready. */
  // lint-ok: only looked up by goal, and rebuilt from the fields of the world
  readonly #directions = new Map<number, Uint8Array>()
  readonly #spare: Uint8Array[] = []
  /** Flow fields that were computed, for tests and benches. */
  computed = 0

  constructor(world: World) {
    this.world = world
    this.match = firstOf(world)
    this.#mapKind = this.match.mapKind
    this.map = makeMap(world.seed, this.#mapKind)
    this.#finder = new FlowFinder(this.map.rocks)
  }

  /** Reads the state at the start of a tick. */
  refresh(): void {
    const { world } = this
    this.match = firstOf(world)
    if (this.match.mapKind !== this.#mapKind) this.#changeMap()
    this.isFoggy = this.match.isFoggy
    this.seats.length = 0
    for (const seat of world.each(Seat)) this.seats.push(seat)
    for (const seat of this.seats) this.teams[seat.number] = seat.team
    this.#refreshBuildings()
    this.#refreshUnits()
    this.crystals.length = 0
    for (const crystal of world.each(Crystal)) this.crystals.push(crystal)
    this.#fields.length = 0
    for (const field of world.each(Field)) {
      this.#fields.push(field)
      if (field.readyAt === world.tick) this.#directionsTo(field.goal)
    }
  }

  /** The players have chosen another map. */
  #changeMap(): void {
    this.#mapKind = this.match.mapKind
    this.map = makeMap(this.world.seed, this.#mapKind)
    this.#finder = new FlowFinder(this.map.rocks)
    this.#directions.clear()
  }

  #refreshBuildings(): void {
    this.covered.fill(0)
    this.buildings.length = 0
    for (const building of this.world.each(Building)) this.addBuilding(building)
  }

  /** A building that was begun in this tick: the next one may not stand on it. */
  addBuilding(building: BuildingObject): void {
    this.#places[building.id >>> 16] = -1 - this.buildings.push(building)
    this.#cover(building, this.buildings.length)
  }

  /** Marks the cells of a building. */
  #cover(building: BuildingObject, value: number): void {
    const size = BUILDINGS[building.kind]!.size
    for (let row = 0; row < size; row++)
      for (let column = 0; column < size; column++) this.covered[building.at + row * SIZE + column] = value
  }

  #refreshUnits(): void {
    const { units, x, y, seatOf, kindOf, unitCounts } = this
    let count = 0
    unitCounts.fill(0)
    for (const unit of this.world.each(Unit)) {
      const seat = unit.seat
      units[count] = unit
      x[count] = unit.x
      y[count] = unit.y
      seatOf[count] = seat
      kindOf[count] = unit.kind
      unitCounts[seat]!++
      this.#places[unit.id >>> 16] = ++count
    }
    units.length = count
    this.#fillGrids(count)
  }

  #fillGrids(count: number): void {
    const { x, y, cellFirst, cellNext, blockFirst, blockNext, blockTeams } = this
    cellFirst.fill(0)
    blockFirst.fill(0)
    blockTeams.fill(0)
    for (let at = count - 1; at >= 0; at--) {
      const [column, row] = [x[at]! | 0, y[at]! | 0]
      const cell = row * SIZE + column
      cellNext[at] = cellFirst[cell]!
      cellFirst[cell] = at + 1
      const block = (row >> 2) * BLOCKS + (column >> 2)
      blockNext[at] = blockFirst[block]!
      blockFirst[block] = at + 1
      blockTeams[block]! |= 1 << this.teams[this.seatOf[at]!]!
    }
  }

  /** The place of a unit in `units`; -1: none lives with this id. */
  unitAt(id: ObjectId): number {
    const place = this.#places[id >>> 16]! - 1
    return place >= 0 && this.units[place]?.id === id && this.units[place].isAlive ? place : -1
  }

  /** The place of a building in `buildings`; -1: none stands with this id. */
  buildingAt(id: ObjectId): number {
    const place = -2 - this.#places[id >>> 16]!
    return place >= 0 && this.buildings[place]?.id === id && this.buildings[place].isAlive ? place : -1
  }

  /** The directions to a goal; undefined while they are not ready. Asks for them if nothing did before. */
  directionsTo(goal: number): Uint8Array | undefined {
    const { tick } = this.world
    for (const field of this.#fields) {
      if (field.goal !== goal) continue
      if (tick - field.usedAt >= FIELD_NOTE) field.usedAt = tick
      return field.readyAt <= tick ? this.#directionsTo(goal) : undefined
    }
    this.#request(goal)
    return undefined
  }

  #request(goal: number): void {
    const { world, match } = this
    if (this.#fields.length >= FIELDS_MAX) {
      let oldest = this.#fields[0]!
      for (const field of this.#fields) if (field.usedAt < oldest.usedAt) oldest = field
      if (world.tick - oldest.usedAt < FIELD_IDLE) return
      this.#fields.splice(this.#fields.indexOf(oldest), 1)
      const spare = this.#directions.get(oldest.goal)
      this.#directions.delete(oldest.goal)
      if (spare !== undefined) this.#spare.push(spare)
      world.despawn(oldest)
    }
    match.fieldAt = Math.max(match.fieldAt + 1, world.tick + FIELD_DELAY)
    this.#fields.push(world.spawn(Field, { goal, readyAt: match.fieldAt, usedAt: world.tick }))
  }

  #directionsTo(goal: number): Uint8Array {
    const known = this.#directions.get(goal)
    if (known !== undefined) return known
    const made = this.#spare.pop() ?? new Uint8Array(CELLS)
    this.#finder.find(goal, made)
    this.computed++
    this.#directions.set(goal, made)
    return made
  }

  /** Computes the directions of all fields that are ready. */
  findFields(): void {
    for (const { goal, readyAt } of this.#fields) if (readyAt <= this.world.tick) this.#directionsTo(goal)
  }

  /** A number that differs when the directions of a field that is ready do, or when they are missing. */
  hashFields(): number {
    let hash = FNV_BASIS
    for (const { goal, readyAt } of this.world.each(Field)) {
      if (readyAt > this.world.tick) continue
      hash = Math.imul(hash ^ goal, FNV_PRIME)
      for (const way of this.#directions.get(goal) ?? []) hash = Math.imul(hash ^ way, FNV_PRIME)
    }
    return hash >>> 0
  }

  /** The middle of a building. */
  middleX(building: BuildingObject): number {
    return columnOf(building.at) + BUILDINGS[building.kind]!.size / 2
  }

  middleY(building: BuildingObject): number {
    return rowOf(building.at) + BUILDINGS[building.kind]!.size / 2
  }

  /** Whether a seat may know an object of another. */
  isKnown(seat: number, object: { readonly seenBy: number }): boolean {
    return !this.isFoggy || isSeenBy(object, this.teams[seat]!)
  }

  /** Whether the seats are enemies. */
  areEnemies(seat: number, other: number): boolean {
    return this.teams[seat] !== this.teams[other]
  }
}

function firstOf(world: World): MatchObject {
  for (const match of world.each(Match)) return match
  throw new Error('skirmish: the world has no match (expected one). Fix: call onStart first.')
}

// lint-ok: a cache of each world, which `refresh` rebuilds in every tick
const battlefields = new WeakMap<World, Battlefield>()

/** The battlefield of a world. */
export function battlefieldOf(world: World): Battlefield {
  const known = battlefields.get(world)
  if (known !== undefined) return known
  const made = new Battlefield(world)
  battlefields.set(world, made)
  return made
}

/** The directions of flow fields, as a cache that is made again after a repair and compared when debugging. */
export const flowFields: Derived = {
  name: 'flowFields',
  rebuild(world) {
    battlefields.delete(world)
    const field = battlefieldOf(world)
    field.refresh()
    field.findFields()
  },
  hash: (world) => battlefieldOf(world).hashFields(),
}
