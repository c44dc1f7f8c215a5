/** The orders that players and bots give, what is allowed, and what they do. */

import { bool, int, u32, type ObjectId, type PeerId } from 'tickwire'
import { ids, order, type CheckedWorld, type GivenOrder, type Order } from 'tickwire/lockstep'
import type { Battlefield } from './battlefield.ts'
import {
  ADVANCING, ATTACKING, Building, BUILDING, Crystal, GATHERING, HOLDING, IDLE, isSeenBy, Match, MOVING, Seat,
  Unit, type UnitObject,
} from './definitions.ts'
import { cancel, queueLength, train } from './economy.ts'
import { ChooseMap, Introduce, Ready, Say, say, SetUp, setUp, Sit, sit, Vote, vote } from './lobby.ts'
import { CELLS } from './map-cells.ts'
import { changeMap } from './opening.ts'
import { BUILDINGS, UNITS, WORKER } from './rules.ts'
import { clearQueue, depositFor, orderUnit, slackOf } from './units.ts'

const units = ids(250)
const cell = int(0, CELLS - 1)
/** Cells around a deposit in which workers share the deposits. */
const AROUND = 6

/** The number of the seat of a player that is still in the match; -1: there is none. */
function seatOf(world: CheckedWorld, by: PeerId): number {
  for (const seat of world.each(Seat)) if (seat.player === by && !seat.isOut) return seat.number
  return -1
}

function ownUnits(world: CheckedWorld, by: PeerId, chosen: readonly ObjectId[]): boolean {
  const seat = seatOf(world, by)
  return seat >= 0 && chosen.length > 0 && chosen.every((id) => world.get(Unit, id)?.seat === seat)
}

function ownBuildings(world: CheckedWorld, by: PeerId, chosen: readonly ObjectId[]): boolean {
  const seat = seatOf(world, by)
  return seat >= 0 && chosen.length > 0 && chosen.every((id) => world.get(Building, id)?.seat === seat)
}

/** Whether an object is an enemy that the player's team may know. */
function isEnemy(world: CheckedWorld, by: PeerId, id: ObjectId): boolean {
  const seats = [...world.each(Seat)]
  const other = world.get(Unit, id) ?? world.get(Building, id)
  const team = seats[seatOf(world, by)]?.team
  if (other === null || team === undefined || seats[other.seat]?.team === team) return false
  for (const { isFoggy } of world.each(Match)) return !isFoggy || isSeenBy(other, team)
  return false
}

function hasCrystals(world: CheckedWorld, by: PeerId, cost: number): boolean {
  for (const seat of world.each(Seat)) if (seat.player === by) return seat.crystals >= cost
  return false
}

/** Units go to a cell and look neither left nor right. `isQueued`: after what they do now. */
export const Move = order({ units, to: cell, isQueued: bool }, 'Move', {
  check: (world, by, values) => ownUnits(world, by, values.units),
})
/** Units go to a cell and fight every enemy that they meet. */
export const Advance = order({ units, to: cell, isQueued: bool }, 'Advance', {
  check: (world, by, values) => ownUnits(world, by, values.units),
})
/** Units follow one enemy until it has fallen. */
export const Attack = order({ units, target: u32 }, 'Attack', {
  check: (world, by, values) => ownUnits(world, by, values.units) && isEnemy(world, by, values.target),
})
/** Workers mine a deposit. */
export const Gather = order({ units, at: cell, isQueued: bool }, 'Gather', {
  check(world, by, values) {
    if (!ownUnits(world, by, values.units)) return false
    if (!values.units.every((id) => world.get(Unit, id)?.kind === WORKER)) return false
    return [...world.each(Crystal)].some(({ at }) => at === values.at)
  },
})
/** Units stand still, and defend themselves. */
export const Stop = order({ units }, 'Stop', { check: (world, by, values) => ownUnits(world, by, values.units) })
/** Units stand still, and follow no enemy. */
export const Hold = order({ units }, 'Hold', { check: (world, by, values) => ownUnits(world, by, values.units) })
/** A worker goes to a site and builds. `at`: the upper left cell. It is paid when the building begins. */
export const Build = order({ unit: u32, kind: int(0, 3), at: cell }, 'Build', {
  check: (world, by, { unit, kind }) =>
    ownUnits(world, by, [unit]) && world.get(Unit, unit)?.kind === WORKER
    && hasCrystals(world, by, BUILDINGS[kind]!.cost),
})
/** A building trains a unit. */
export const Train = order({ building: u32, kind: int(0, 4) }, 'Train', {
  check(world, by, { building, kind }) {
    const place = world.get(Building, building)
    return place !== null && ownBuildings(world, by, [building]) && UNITS[kind]!.trainedIn === place.kind
      && queueLength(place) < 5 && hasCrystals(world, by, UNITS[kind]!.cost)
  },
})
/** The last unit of a queue is not trained, and paid back. */
export const Cancel = order({ building: u32 }, 'Cancel', {
  check(world, by, { building }) {
    const place = world.get(Building, building)
    return place !== null && ownBuildings(world, by, [building]) && place.queue > 0
  },
})
/** New units of these buildings go to a cell. */
export const Rally = order({ buildings: ids(64), to: cell }, 'Rally', {
  check: (world, by, values) => ownBuildings(world, by, values.buildings),
})
/** Puts units into a control group; 0: into none. */
export const Group = order({ units, group: int(0, 9) }, 'Group', {
  check: (world, by, values) => ownUnits(world, by, values.units),
})
/** The player gives up. */
export const Surrender = order({ isSure: bool }, 'Surrender', {
  check: (world, by, { isSure }) => isSure && seatOf(world, by) >= 0,
})

type Kinds = [
  typeof Move, typeof Advance, typeof Attack, typeof Gather, typeof Stop, typeof Hold, typeof Build, typeof Train,
  typeof Cancel, typeof Rally, typeof Group, typeof Surrender,
  typeof Introduce, typeof Sit, typeof SetUp, typeof Ready, typeof Say, typeof Vote, typeof ChooseMap,
]

/** All kinds of orders. Their sequence is that of the numbers on the wire. */
export const ORDERS: Kinds = [
  Move, Advance, Attack, Gather, Stop, Hold, Build, Train, Cancel, Rally, Group, Surrender,
  Introduce, Sit, SetUp, Ready, Say, Vote, ChooseMap,
]

type WithoutGiver<G> = G extends { readonly name: infer N; readonly values: infer V }
  ? { readonly name: N; readonly values: V } : never

/** An order without the player that gave it. */
export type Command = WithoutGiver<GivenOrder<Kinds[number]>>

/** The kind of order of a command. */
export function kindOf(command: Command): Order {
  return ORDERS.find(({ name }) => name === command.name) as unknown as Order
}

/** Executes a command of a seat. Units that are no longer there are left out. */
export function execute(field: Battlefield, seat: number, command: Command): void {
  switch (command.name) {
    case 'Move':
      return send(field, command.values.units, MOVING, command.values.to, command.values.isQueued)
    case 'Advance':
      return send(field, command.values.units, ADVANCING, command.values.to, command.values.isQueued)
    case 'Gather':
      return gather(field, command.values.units, command.values.at, command.values.isQueued)
    case 'Attack':
      return each(field, command.values.units, (unit) => {
        stand(unit, ATTACKING)
        unit.target = command.values.target
      })
    case 'Stop': return each(field, command.values.units, (unit) => stand(unit, IDLE))
    case 'Hold': return each(field, command.values.units, (unit) => stand(unit, HOLDING))
    case 'Group': return each(field, command.values.units, (unit) => { unit.group = command.values.group })
    case 'Build':
      return each(field, [command.values.unit], (unit) => {
        orderUnit(unit, BUILDING, command.values.at, 0, false)
        unit.plan = command.values.kind
      })
    default: return executeForBuildings(field, seat, command)
  }
}

function executeForBuildings(field: Battlefield, seat: number, command: Command): void {
  const { buildings } = field
  if (command.name === 'Surrender') {
    field.seats[seat]!.isOut = true
  } else if (command.name === 'Rally') {
    for (const id of command.values.buildings) {
      const building = buildings[field.buildingAt(id)]
      if (building !== undefined) Object.assign(building, { hasRally: true, rally: command.values.to })
    }
  } else if (command.name === 'Train' || command.name === 'Cancel') {
    const building = buildings[field.buildingAt(command.values.building)]
    if (building === undefined) return
    if (command.name === 'Train') train(field, building, command.values.kind)
    else cancel(field, building)
  }
}

/** Executes what players say and set up, in the lobby and later. */
export function executeTalk(field: Battlefield, by: number, command: Command): void {
  const seat = field.seats[by]!
  switch (command.name) {
    case 'Introduce': seat.name = command.values.name; return
    case 'Sit': return sit(field, by, command.values.seat)
    case 'SetUp': return setUp(field, by, command.values.seat, command.values.team, command.values.level)
    case 'Ready': seat.isReady = command.values.isReady; return
    case 'Say': return say(field, by, command.values.text)
    case 'ChooseMap': return changeMap(field, command.values.kind)
    case 'Vote': return vote(field, by, command.values.seat)
    default:
  }
}

function each(field: Battlefield, chosen: readonly ObjectId[], act: (unit: UnitObject) => void): void {
  for (const id of chosen) {
    const unit = field.units[field.unitAt(id)]
    if (unit !== undefined) act(unit)
  }
}

function send(
  field: Battlefield, chosen: readonly ObjectId[], mode: number, goal: number, isQueued: boolean,
): void {
  const slack = slackOf(chosen.length)
  each(field, chosen, (unit) => orderUnit(unit, mode, goal, slack, isQueued))
}

/** The first worker mines the deposit, and the others those around it where the fewest workers are. */
function gather(field: Battlefield, chosen: readonly ObjectId[], at: number, isQueued: boolean): void {
  let goal = at
  each(field, chosen, (unit) => {
    if (unit.id !== chosen[0]) goal = depositFor(field, unit, at, AROUND)
    orderUnit(unit, GATHERING, goal < 0 ? at : goal, 0, isQueued)
  })
}

function stand(unit: UnitObject, mode: number): void {
  clearQueue(unit)
  unit.mode = mode
  unit.target = 0
}
