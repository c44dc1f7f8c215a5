/**
 * Movement: each unit follows its flow field or a straight line, walks around buildings, and keeps apart from others.
 *
 * Positions are read from the grid of this tick, so the sequence of the units makes no difference to what they see.
 */

import type { Battlefield } from './battlefield.ts'
import {
  ADVANCING, ATTACKING, BUILDING, GATHERING, HOLDING, IDLE, MINING, MOVING, RETURNING, type UnitObject,
} from './definitions.ts'
import { isClear, NO_WAY, STEP_X, STEP_Y } from './flow-field.ts'
import { columnOf, rowOf, SIZE } from './map-cells.ts'
import { UNITS } from './rules.ts'
import { finishOrder } from './units.ts'

/** The room that a unit takes: where there is room, two of them are apart by both radii. Indexed by kind of unit. */
const RADIUS: readonly number[] = [0.375, 0.375, 0.4375, 0.5625, 0.5625]
const RADIUS_MAX = 0.5625
/** The part of an overlap that is removed in one tick, and the longest way. */
const PUSH = 0.25
const PUSH_MAX = 0.109375
/** One over the square root of two, as a fraction that is exact. */
const DIAGONAL = 181 / 256
/** How far ahead a unit looks for buildings. */
const AHEAD = 0.6
/** Up to this distance a unit may walk straight to its goal. */
const STRAIGHT_MAX = 12
/** Eighths of a turn that are tried where a building is in the way. */
const TURNS: readonly number[] = [1, 2, 3, -1, -2, -3]

/** The way of the unit that is being moved. A unit is moved at a time, so one is enough. */
// lint-ok: written before it is read
const way = { x: 0, y: 0 }

export function moveUnits(field: Battlefield): void {
  const { units, stands, isChasing, chaseX, chaseY } = field
  for (let at = 0; at < units.length; at++) {
    const unit = units[at]!
    if (!unit.isAlive) continue
    way.x = 0
    way.y = 0
    const mode = unit.mode
    if (stands[at] === 0) {
      if (isChasing[at] !== 0) aimAt(field, at, chaseX[at]!, chaseY[at]!)
      else if (mode !== IDLE && mode !== HOLDING && mode !== MINING && mode !== ATTACKING) walk(field, at, unit, mode)
    }
    const speed = UNITS[unit.kind]!.speed
    if (way.x !== 0 || way.y !== 0) {
      avoidBuildings(field, at)
      way.x *= speed
      way.y *= speed
    }
    keepApart(field, at)
    if (way.x !== 0 || way.y !== 0) place(field, at, unit)
  }
}

/** The way to the goal of an order. */
function walk(field: Battlefield, at: number, unit: UnitObject, mode: number): void {
  const goal = unit.goal
  const [x, y, goalX, goalY] = [field.x[at]!, field.y[at]!, columnOf(goal) + 0.5, rowOf(goal) + 0.5]
  const [dx, dy] = [goalX - x, goalY - y]
  const reach = reachOf(unit, mode)
  if (dx * dx + dy * dy <= reach * reach) {
    if (mode === MOVING || mode === ADVANCING) finishOrder(unit)
    return
  }
  const isNear = Math.abs(dx) <= STRAIGHT_MAX && Math.abs(dy) <= STRAIGHT_MAX
  if (!isNear) {
    if (unit.isDirect) unit.isDirect = false
  } else if (!unit.isDirect || ((field.world.tick + at) & 15) === 0) {
    const isDirect = isClear(field.map.rocks, x, y, goalX, goalY)
    if (isDirect !== unit.isDirect) unit.isDirect = isDirect
  }
  const directions = unit.isDirect ? undefined : field.directionsTo(goal)
  const direction = directions === undefined ? NO_WAY : directions[(y | 0) * SIZE + (x | 0)]!
  if (direction === NO_WAY) return aimAt(field, at, goalX, goalY)
  const length = (direction & 1) === 1 ? DIAGONAL : 1
  way.x = STEP_X[direction]! * length
  way.y = STEP_Y[direction]! * length
}

/** How near to its goal a unit has arrived. */
export function reachOf(unit: UnitObject, mode: number): number {
  if (mode === GATHERING) return 1.4
  if (mode === RETURNING) return 2.9
  return mode === BUILDING ? 2.5 : 0.5 + unit.slack / 2
}

function aimAt(field: Battlefield, at: number, toX: number, toY: number): void {
  const [dx, dy] = [toX - field.x[at]!, toY - field.y[at]!]
  const length = Math.sqrt(dx * dx + dy * dy)
  if (length < 0.05) return
  way.x = dx / length
  way.y = dy / length
}

/**
 * Turns the way of a unit where a building is in front of it. A unit inside of a building walks out freely.
 *
 * It turns away from the middle of the building. So it stays on the side on which it began: a unit that chooses by what
 * is free walks back and forth at a wall.
 */
function avoidBuildings(field: Battlefield, at: number): void {
  const [x, y] = [field.x[at]!, field.y[at]!]
  const { covered } = field
  const ahead = covered[((y + way.y * AHEAD) | 0) * SIZE + ((x + way.x * AHEAD) | 0)]!
  if (ahead === 0 || covered[(y | 0) * SIZE + (x | 0)] !== 0) return
  const [wayX, wayY, building] = [way.x, way.y, field.buildings[ahead - 1]!]
  const across = (field.middleX(building) - x) * wayY - (field.middleY(building) - y) * wayX
  const side = across > 0 || (across === 0 && (at & 1) === 0) ? 1 : -1
  for (let each = 0; each < TURNS.length; each++) {
    turn(wayX, wayY, TURNS[each]! * side)
    const cell = ((y + way.y * AHEAD) | 0) * SIZE + ((x + way.x * AHEAD) | 0)
    if (covered[cell] === 0 && field.map.rocks[cell] === 0) return
  }
  way.x = 0
  way.y = 0
}

/** Turns a direction by eighths. */
function turn(x: number, y: number, eighths: number): void {
  const quarters = eighths & 6
  way.x = quarters === 0 ? x : quarters === 2 ? -y : quarters === 4 ? -x : y
  way.y = quarters === 0 ? y : quarters === 2 ? x : quarters === 4 ? -y : -x
  if ((eighths & 1) === 0) return
  const [turnedX, turnedY] = [(way.x - way.y) * DIAGONAL, (way.x + way.y) * DIAGONAL]
  way.x = turnedX
  way.y = turnedY
}

/** Adds the way out of the reach of other units. */
function keepApart(field: Battlefield, at: number): void {
  const { x, y, kindOf, cellFirst, cellNext } = field
  const [ownX, ownY] = [x[at]!, y[at]!]
  const radius = RADIUS[kindOf[at]!]!
  const far = radius + RADIUS_MAX
  const right = Math.min(SIZE - 1, (ownX + far) | 0)
  const bottom = Math.min(SIZE - 1, (ownY + far) | 0)
  let [pushX, pushY] = [0, 0]
  for (let cellY = Math.max(0, ownY - far) | 0; cellY <= bottom; cellY++) {
    for (let cellX = Math.max(0, ownX - far) | 0; cellX <= right; cellX++) {
      for (let other = cellFirst[cellY * SIZE + cellX]!; other !== 0; other = cellNext[other - 1]!) {
        if (other - 1 === at) continue
        const [dx, dy] = [ownX - x[other - 1]!, ownY - y[other - 1]!]
        const square = dx * dx + dy * dy
        const apart = radius + RADIUS[kindOf[other - 1]!]!
        if (square >= apart * apart) continue
        if (square === 0) {
          pushX += other - 1 > at ? 0.05 : -0.05
          pushY += other % 2 === 0 ? 0.01 : -0.01
          continue
        }
        const length = Math.sqrt(square)
        const push = ((apart - length) / length) * PUSH
        pushX += dx * push
        pushY += dy * push
      }
    }
  }
  way.x += Math.max(-PUSH_MAX, Math.min(PUSH_MAX, pushX))
  way.y += Math.max(-PUSH_MAX, Math.min(PUSH_MAX, pushY))
}

/** Moves a unit along its way, as far as there are no rocks. */
function place(field: Battlefield, at: number, unit: UnitObject): void {
  const { rocks } = field.map
  const [x, y] = [field.x[at]!, field.y[at]!]
  // As the end of the tick will round it: a unit just before a rock must not be rounded into it.
  const toX = Math.round((x + way.x) * 256) / 256
  const toY = Math.round((y + way.y) * 256) / 256
  if (rocks[(toY | 0) * SIZE + (toX | 0)] === 0) {
    unit.x = toX
    unit.y = toY
  } else if (rocks[(y | 0) * SIZE + (toX | 0)] === 0) {
    unit.x = toX
  } else if (rocks[(toY | 0) * SIZE + (x | 0)] === 0) {
    unit.y = toY
  }
}
