/** Combat: units and buildings find enemies, follow them and shoot. A shot hits at once. */

import { BLOCKS, type Battlefield } from './battlefield.ts'
import {
  ADVANCING, ATTACKING, HOLDING, IDLE, type BuildingObject, type UnitObject,
} from './definitions.ts'
import { BUILDINGS, SIGHT, STORM_AT, UNITS } from './rules.ts'
import { finishOrder, isFighting } from './units.ts'

/** Ticks between two looks for enemies, a power of two. Units look in turns. */
const LOOK_EVERY = 8
/** How far an enemy may be from the one that follows it. */
const LEASH = 12

/** Where the target of a unit is. One target is handled at a time, so one is enough. */
// lint-ok: written before it is read
const spot = { x: 0, y: 0, radius: 0 }

export function fight(field: Battlefield): void {
  const { units, stands, isChasing } = field
  const { tick } = field.world
  for (let at = 0; at < units.length; at++) {
    stands[at] = 0
    isChasing[at] = 0
    const unit = units[at]!
    if (!unit.isAlive) continue
    const mode = unit.mode
    if (!isFighting(mode)) continue
    let target = unit.target
    if (mode !== ATTACKING && ((tick + at) & (LOOK_EVERY - 1)) === 0 && (unit.kind !== 0 || mode === ADVANCING)) {
      const sight = mode === HOLDING ? UNITS[unit.kind]!.range : SIGHT
      const found = look(field, field.x[at]!, field.y[at]!, unit.seat, sight)
      if (found !== target) unit.target = found
      target = found
    }
    if (target !== 0) engage(field, at, unit, mode, target)
    else if (mode === ATTACKING) finishOrder(unit)
  }
  // The guns of buildings are silent in the storm.
  if (tick - field.match.beganAt < STORM_AT) for (const building of field.buildings) guard(field, building)
}

/** A unit with a target: shoots, follows, or lets go. */
function engage(field: Battlefield, at: number, unit: UnitObject, mode: number, target: number): void {
  const { kind } = unit
  const rule = UNITS[kind]!
  if (!locate(field, target, unit.seat)) {
    unit.target = 0
    if (mode === ATTACKING) finishOrder(unit)
    return
  }
  const [dx, dy] = [spot.x - field.x[at]!, spot.y - field.y[at]!]
  const square = dx * dx + dy * dy
  const range = rule.range + spot.radius
  if (square <= range * range) {
    field.stands[at] = 1
    const { tick } = field.world
    if (unit.readyAt > tick) return
    unit.readyAt = tick + rule.reload
    hit(field, target, rule.damage, kind, unit.seat)
  } else if (mode === HOLDING || (mode !== ATTACKING && square > LEASH * LEASH)) {
    unit.target = 0
  } else {
    field.isChasing[at] = mode === ATTACKING || mode === ADVANCING || mode === IDLE ? 1 : 0
    field.chaseX[at] = spot.x
    field.chaseY[at] = spot.y
  }
}

/** Finds where an enemy is. False: there is no such enemy, or the seat's team does not see it. */
function locate(field: Battlefield, id: number, seat: number): boolean {
  const unit = field.unitAt(id)
  if (unit >= 0) {
    spot.x = field.x[unit]!
    spot.y = field.y[unit]!
    spot.radius = 0
    return field.areEnemies(seat, field.seatOf[unit]!) && field.isKnown(seat, field.units[unit]!)
  }
  const building = field.buildings[field.buildingAt(id)]
  if (building === undefined) return false
  spot.x = field.middleX(building)
  spot.y = field.middleY(building)
  spot.radius = BUILDINGS[building.kind]!.size * 0.7
  return field.areEnemies(seat, building.seat) && field.isKnown(seat, building)
}

/** The nearest enemy within a distance, units before buildings; 0: there is none. */
function look(field: Battlefield, x: number, y: number, seat: number, sight: number): number {
  const { units, blockFirst, blockNext, blockTeams } = field
  const own = 1 << field.teams[seat]!
  let [found, least] = [-1, sight * sight]
  const [left, right] = [Math.max(0, (x - sight) | 0) >> 2, Math.min(127, (x + sight) | 0) >> 2]
  const [top, bottom] = [Math.max(0, (y - sight) | 0) >> 2, Math.min(127, (y + sight) | 0) >> 2]
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const block = row * BLOCKS + column
      if ((blockTeams[block]! & ~own) === 0) continue
      for (let other = blockFirst[block]!; other !== 0; other = blockNext[other - 1]!) {
        const [dx, dy] = [field.x[other - 1]! - x, field.y[other - 1]! - y]
        const square = dx * dx + dy * dy
        if (square >= least || !field.areEnemies(seat, field.seatOf[other - 1]!)) continue
        if (!units[other - 1]!.isAlive) continue
        found = other - 1
        least = square
      }
    }
  }
  return found >= 0 ? units[found]!.id : lookForBuilding(field, x, y, seat, sight)
}

function lookForBuilding(field: Battlefield, x: number, y: number, seat: number, sight: number): number {
  let [found, least] = [0, sight * sight]
  for (const building of field.buildings) {
    if (!field.areEnemies(seat, building.seat) || !building.isAlive) continue
    const [dx, dy] = [field.middleX(building) - x, field.middleY(building) - y]
    const square = dx * dx + dy * dy
    if (square >= least) continue
    found = building.id
    least = square
  }
  return found
}

/** A building with a gun. */
function guard(field: Battlefield, building: BuildingObject): void {
  const rule = BUILDINGS[building.kind]!
  const { tick } = field.world
  if (rule.damage === 0 || !building.isAlive || building.readyAt > tick || building.builtAt > tick) return
  const [x, y] = [field.middleX(building), field.middleY(building)]
  if (building.target !== 0 && locate(field, building.target, building.seat)) {
    const [dx, dy] = [spot.x - x, spot.y - y]
    if (dx * dx + dy * dy <= rule.range * rule.range) {
      building.readyAt = tick + rule.reload
      return hit(field, building.target, rule.damage, 1, building.seat)
    }
  }
  if (((tick + building.at) & (LOOK_EVERY - 1)) !== 0) return
  const found = look(field, x, y, building.seat, rule.range)
  if (found !== building.target) building.target = found
}

/** Does damage. `kind`: the kind of the unit that shoots. */
function hit(field: Battlefield, id: number, damage: number, kind: number, seat: number): void {
  const rule = UNITS[kind]!
  const unit = field.units[field.unitAt(id)]
  if (unit !== undefined) {
    unit.hp = Math.max(0, unit.hp - ((damage * rule.against[unit.kind]!) >> 4))
    if (unit.hp === 0) fall(field, unit, seat)
    return
  }
  const building = field.buildings[field.buildingAt(id)]
  if (building === undefined) return
  building.hp = Math.max(0, building.hp - ((damage * rule.againstBuildings) >> 4))
  if (building.hp === 0) fall(field, building, seat)
}

function fall(field: Battlefield, object: UnitObject | BuildingObject, by: number): void {
  const winner = field.seats[by]
  const loser = field.seats[object.seat]
  if (winner !== undefined) winner.kills++
  if (loser !== undefined) loser.losses++
  field.world.despawn(object)
}
