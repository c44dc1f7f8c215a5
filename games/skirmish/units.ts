/** Units: how they come to be, what they are ordered to do, and the orders that wait. */

import type { PeerId, World } from 'tickwire'
import type { Battlefield } from './battlefield.ts'
import {
  ADVANCING, ATTACKING, BUILDING, GATHERING, HOLDING, IDLE, MINING, MOVING, RETURNING, Unit, type UnitObject,
} from './definitions.ts'
import { CELLS, columnOf, rowOf } from './map-cells.ts'
import { UNITS } from './rules.ts'

const SLACK_MAX = 16
/** Half cells from the goal for a group of one: a group of n units takes the place of a disc. */
const SLACK_ONE = 1.25
/** Cells of one field of crystals, and the way that a worker goes to share a deposit with one worker less. */
const FIELD_CELLS = 8
const CROWD_CELLS = 3

/** Workers of one seat at each deposit. Indexed by cell. */
// lint-ok: filled again before it is read
const crowd = new Uint8Array(CELLS)

export function spawnUnit(
  world: World, kind: number, seat: number, x: number, y: number, player: PeerId = 0,
): UnitObject {
  return world.spawn(Unit, { kind, seat, x, y, hp: UNITS[kind]!.hp }, player)
}

/** How far from the goal the units of a group may stop, in half cells. */
export function slackOf(count: number): number {
  return Math.min(SLACK_MAX, Math.floor(SLACK_ONE * Math.sqrt(count)))
}

/** Gives a unit an order with a goal, now or after those that it has. A full queue drops the order. */
export function orderUnit(unit: UnitObject, mode: number, goal: number, slack: number, isQueued: boolean): void {
  if (!isQueued || unit.mode === IDLE) {
    clearQueue(unit)
    begin(unit, mode, goal)
  } else {
    const waiting = mode * CELLS + goal
    if (unit.next1 === 0) unit.next1 = waiting
    else if (unit.next2 === 0) unit.next2 = waiting
    else if (unit.next3 === 0) unit.next3 = waiting
  }
  unit.slack = slack
}

export function clearQueue(unit: UnitObject): void {
  unit.next1 = 0
  unit.next2 = 0
  unit.next3 = 0
}

function begin(unit: UnitObject, mode: number, goal: number): void {
  unit.mode = mode
  unit.goal = goal
  unit.target = 0
  unit.isDirect = false
  if (mode === GATHERING || mode === BUILDING) unit.site = goal
}

/** The unit has done its order: it begins the next one, or is idle. */
export function finishOrder(unit: UnitObject): void {
  const waiting = unit.next1
  if (waiting === 0) {
    unit.mode = IDLE
    return
  }
  unit.next1 = unit.next2
  unit.next2 = unit.next3
  unit.next3 = 0
  begin(unit, Math.floor(waiting / CELLS), waiting % CELLS)
}

/** Sends a new unit on its way: to the rally point, or to the nearest crystals. */
export function sendOut(field: Battlefield, unit: UnitObject, goal: number, hasGoal: boolean): void {
  if (unit.kind === 0) {
    const deposit = depositFor(field, unit, hasGoal ? goal : cellOf(unit))
    const isNear = deposit >= 0 && (!hasGoal || distance(deposit, goal) <= 3)
    if (isNear) return orderUnit(unit, GATHERING, deposit, 0, false)
  }
  if (hasGoal) orderUnit(unit, MOVING, goal, 4, false)
}

/**
 * The deposit that a worker should mine: near a cell, and with few other workers of its seat. -1: there is none left.
 * `far`: the most cells from the nearest deposit.
 */
export function depositFor(field: Battlefield, unit: UnitObject, cell: number, far: number = FIELD_CELLS): number {
  const first = nearestDeposit(field, cell)
  if (first < 0) return -1
  const { seat, id } = unit
  crowd.fill(0)
  for (const other of field.units) {
    if (other.seat !== seat || other.kind !== 0 || other.id === id || !other.isAlive) continue
    if (other.mode === GATHERING || other.mode === RETURNING || other.mode === MINING) crowd[other.site]!++
  }
  const farthest = distance(first, cell) + far
  let [best, least] = [first, Infinity]
  for (const { at, isAlive } of field.crystals) {
    const apart = distance(at, cell)
    if (!isAlive || apart > farthest) continue
    const cost = apart + CROWD_CELLS * crowd[at]!
    if (cost < least) [best, least] = [at, cost]
  }
  return best
}

export function cellOf(unit: { readonly x: number; readonly y: number }): number {
  return Math.floor(unit.y) * 128 + Math.floor(unit.x)
}

/** The deposit that is nearest to a cell; -1: there is none left. */
export function nearestDeposit(field: Battlefield, cell: number): number {
  let [best, least] = [-1, Infinity]
  for (const crystal of field.crystals) {
    if (!crystal.isAlive) continue
    const apart = distance(crystal.at, cell)
    if (apart < least) [best, least] = [crystal.at, apart]
  }
  return best
}

/** The larger of the two distances of two cells, plus half of the smaller. */
export function distance(a: number, b: number): number {
  const [dx, dy] = [Math.abs(columnOf(a) - columnOf(b)), Math.abs(rowOf(a) - rowOf(b))]
  return Math.max(dx, dy) + Math.min(dx, dy) / 2
}

/** Whether a unit looks for enemies by itself. */
export function isFighting(mode: number): boolean {
  return mode === IDLE || mode === ADVANCING || mode === ATTACKING || mode === HOLDING
}
