/** The economy: workers mine and build, buildings train units. */

import type { Battlefield } from './battlefield.ts'
import {
  ADVANCING, Building, BUILDING, GATHERING, MINING, RETURNING, type BuildingObject, type UnitObject,
} from './definitions.ts'
import { CELLS, cellAt, columnOf, rowOf, SIZE } from './map-cells.ts'
import { reachOf } from './movement.ts'
import { BUILDINGS, HEADQUARTERS, LOAD, MINING_TICKS, UNITS, UNITS_PER_SEAT, WORKER } from './rules.ts'
import { cellOf, depositFor, distance, finishOrder, orderUnit, sendOut, spawnUnit } from './units.ts'

/** Digits of the queue of a building. */
const DIGIT = 8
const QUEUE_MAX = 5
const CRYSTALS_MAX = 65_535
/** Cells from a building to where its fighters meet, and half cells around that place. */
const MUSTER_CELLS = 5
const MUSTER_SLACK = 4

/** Workers that have arrived, and those that have mined. */
export function work(field: Battlefield): void {
  const { units } = field
  for (let at = 0; at < units.length; at++) {
    const unit = units[at]!
    if (unit.kind !== 0) continue
    const mode = unit.mode
    if (mode === MINING) mine(field, unit)
    else if (mode === GATHERING || mode === RETURNING || mode === BUILDING) arrive(field, at, unit, mode)
  }
}

function arrive(field: Battlefield, at: number, unit: UnitObject, mode: number): void {
  const goal = unit.goal
  const [dx, dy] = [columnOf(goal) + 0.5 - field.x[at]!, rowOf(goal) + 0.5 - field.y[at]!]
  const reach = reachOf(unit, mode)
  if (dx * dx + dy * dy > reach * reach || !unit.isAlive) return
  if (mode === RETURNING) deliver(field, unit)
  else if (mode === BUILDING) build(field, unit)
  else if (crystalAt(field, unit.site) === undefined) lookFurther(field, unit)
  else {
    unit.mode = MINING
    unit.readyAt = field.world.tick + MINING_TICKS
  }
}

function crystalAt(field: Battlefield, cell: number): Battlefield['crystals'][number] | undefined {
  for (const crystal of field.crystals) if (crystal.at === cell && crystal.isAlive) return crystal
  return undefined
}

function mine(field: Battlefield, unit: UnitObject): void {
  if (unit.readyAt > field.world.tick) return
  const crystal = crystalAt(field, unit.site)
  if (crystal === undefined) return lookFurther(field, unit)
  unit.cargo = Math.min(LOAD, crystal.left)
  crystal.left -= unit.cargo
  if (crystal.left === 0) field.world.despawn(crystal)
  const home = nearestHome(field, unit)
  if (home === undefined) return finishOrder(unit)
  unit.mode = RETURNING
  unit.goal = home.at + SIZE + 1
  unit.isDirect = false
}

/** Brings crystals home, and goes back. */
function deliver(field: Battlefield, unit: UnitObject): void {
  const seat = field.seats[unit.seat]
  if (seat !== undefined && nearestHome(field, unit) !== undefined) {
    seat.crystals = Math.min(CRYSTALS_MAX, seat.crystals + unit.cargo)
    seat.mined += unit.cargo
  }
  unit.cargo = 0
  if (unit.next1 !== 0) return finishOrder(unit)
  unit.mode = GATHERING
  unit.goal = unit.site
  unit.isDirect = false
}

/** The deposit is empty: the worker goes to another one near it. */
function lookFurther(field: Battlefield, unit: UnitObject): void {
  const next = depositFor(field, unit, unit.site)
  if (next < 0) finishOrder(unit)
  else orderUnit(unit, GATHERING, next, 0, false)
}

function nearestHome(field: Battlefield, unit: UnitObject): BuildingObject | undefined {
  let [best, least]: [BuildingObject | undefined, number] = [undefined, Infinity]
  for (const building of field.buildings) {
    if (building.kind !== HEADQUARTERS || building.seat !== unit.seat || !building.isAlive) continue
    const apart = distance(building.at, cellOf(unit))
    if (apart < least) [best, least] = [building, apart]
  }
  return best
}

/** Begins a building, if there are crystals and room for it. Then the worker does its next order, or mines. */
function build(field: Battlefield, unit: UnitObject): void {
  const seat = field.seats[unit.seat]!
  const rule = BUILDINGS[unit.plan]!
  if (seat.crystals >= rule.cost && isFree(field, unit.plan, unit.site)) {
    seat.crystals -= rule.cost
    const builtAt = field.world.tick + rule.building
    const begun = { kind: unit.plan, seat: unit.seat, at: unit.site, hp: rule.hp, builtAt }
    field.addBuilding(field.world.spawn(Building, begun, seat.player))
  }
  finishOrder(unit)
  if (unit.mode === 0) sendOut(field, unit, 0, false)
}

/** Whether a building may stand at a cell: workers can go there, and no rock, crystal or building is in the way. */
export function isFree(field: Battlefield, kind: number, cell: number): boolean {
  const { size } = BUILDINGS[kind]!
  const [left, top] = [columnOf(cell), rowOf(cell)]
  if (left < 2 || top < 2 || left + size > SIZE - 2 || top + size > SIZE - 2) return false
  for (let row = top - 1; row <= top + size; row++) {
    for (let column = left - 1; column <= left + size; column++) {
      const at = row * SIZE + column
      if (field.map.ground[at] === 0 || field.covered[at] !== 0) return false
    }
  }
  const isApart = (deposit: number): boolean =>
    Math.abs(columnOf(deposit) - left) > size + 1 || Math.abs(rowOf(deposit) - top) > size + 1
  return field.crystals.every((crystal) => isApart(crystal.at))
}

/** How many units a building will train. */
export function queueLength(building: { readonly queue: number }): number {
  let length = 0
  for (let rest = building.queue; rest > 0; rest = Math.floor(rest / DIGIT)) length++
  return length
}

/** Adds a unit to the queue of a building, and pays for it. */
export function train(field: Battlefield, building: BuildingObject, kind: number): void {
  const seat = field.seats[building.seat]!
  const { cost, training } = UNITS[kind]!
  const length = queueLength(building)
  if (seat.crystals < cost || length >= QUEUE_MAX) return
  seat.crystals -= cost
  let place = 1
  for (let each = 0; each < length; each++) place *= DIGIT
  building.queue += (kind + 1) * place
  if (length === 0) building.trainedAt = Math.max(field.world.tick, building.builtAt) + training
}

/** Takes the last unit out of the queue of a building, and pays it back. */
export function cancel(field: Battlefield, building: BuildingObject): void {
  const length = queueLength(building)
  if (length === 0) return
  let place = 1
  for (let each = 1; each < length; each++) place *= DIGIT
  const kind = Math.floor(building.queue / place) - 1
  building.queue %= place
  const seat = field.seats[building.seat]!
  seat.crystals = Math.min(CRYSTALS_MAX, seat.crystals + UNITS[kind]!.cost)
}

/** Buildings put out the units that they have trained. */
export function produce(field: Battlefield): void {
  const { tick } = field.world
  for (const building of field.buildings) {
    if (building.queue === 0 || building.trainedAt > tick || !building.isAlive) continue
    if (field.unitCounts[building.seat]! >= UNITS_PER_SEAT) continue
    const kind = (building.queue % DIGIT) - 1
    building.queue = Math.floor(building.queue / DIGIT)
    if (building.queue > 0) building.trainedAt = tick + UNITS[(building.queue % DIGIT) - 1]!.training
    field.unitCounts[building.seat]!++
    const cell = exitOf(field, building)
    const { player } = field.seats[building.seat]!
    const unit = spawnUnit(field.world, kind, building.seat, columnOf(cell) + 0.5, rowOf(cell) + 0.5, player)
    if (kind === WORKER || building.hasRally) sendOut(field, unit, building.rally, building.hasRally)
    else muster(field, building, unit)
  }
}

/** A new fighter without a rally point goes a few cells towards the centre, so that the exit stays free. */
function muster(field: Battlefield, building: BuildingObject, unit: UnitObject): void {
  const [x, y] = [columnOf(building.at), rowOf(building.at)]
  const [dx, dy] = [SIZE / 2 - x, SIZE / 2 - y]
  const far = Math.max(Math.abs(dx), Math.abs(dy), MUSTER_CELLS)
  const goal = cellAt(x + Math.trunc((dx * MUSTER_CELLS) / far), y + Math.trunc((dy * MUSTER_CELLS) / far))
  if (field.map.rocks[goal] === 0 && field.covered[goal] === 0) orderUnit(unit, ADVANCING, goal, MUSTER_SLACK, false)
}

/** A free cell beside a building, on the side of the centre first. */
function exitOf(field: Battlefield, building: BuildingObject): number {
  const { size } = BUILDINGS[building.kind]!
  const [left, top] = [columnOf(building.at), rowOf(building.at)]
  const [toX, toY] = [left < SIZE / 2 ? size : -1, top < SIZE / 2 ? size : -1]
  const cells = [[toX, 0], [0, toY], [size - 1 - toX, 0], [0, size - 1 - toY]]
    .map(([dx, dy]) => building.at + dx! + dy! * SIZE)
  return cells.find((cell) => cell >= 0 && cell < CELLS && field.map.rocks[cell] === 0 && field.covered[cell] === 0)
    ?? building.at
}
