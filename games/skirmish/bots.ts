/**
 * Bots: they read the world as a player does, give the same orders, and remember nothing. So they run inside of the
 * simulation, and equally well as players of their own.
 */

import type { ObjectId, PeerId, World } from 'tickwire'
import { battlefieldOf, type Battlefield } from './battlefield.ts'
import { BUILDING, IDLE, type BuildingObject, type UnitObject } from './definitions.ts'
import { isFree, queueLength } from './economy.ts'
import { columnOf, rowOf, SIZE } from './map-cells.ts'
import type { Command } from './orders.ts'
import {
  ARTILLERY, BARRACKS, BUILDINGS, FACTORY, HEADQUARTERS, RAIDER, SEATS, SOLDIER, STORM_AT, TANK, TICK_RATE, TURRET,
  UNITS, WORKER,
} from './rules.ts'
import { cellOf, distance, nearestDeposit } from './units.ts'

interface Skill {
  /** Ticks between two thoughts. */
  readonly every: number
  /** Headquarters, and workers for each of them. */
  readonly homes: number
  readonly workers: number
  readonly barracks: number
  readonly factories: number
  readonly turrets: number
  /** Fighters at home that attack together. In the storm, half of them is enough. */
  readonly wave: number
  /** Whether it attacks the weakest enemy that is near, and only when it is stronger. Otherwise the nearest enemy. */
  readonly isSly: boolean
  /** The first attack is not before this tick. */
  readonly patience: number
  /** What barracks and factories train, in turns. */
  readonly infantry: readonly number[]
  readonly vehicles: readonly number[]
}

/** Indexed by level. */
const SKILLS: readonly Skill[] = [
  {
    every: 300, homes: 0, workers: 0, barracks: 0, factories: 0, turrets: 0, wave: 999, isSly: false,
    patience: 0, infantry: [], vehicles: [],
  },
  {
    every: 150, homes: 1, workers: 7, barracks: 1, factories: 0, turrets: 1, wave: 9, isSly: false,
    patience: 330 * TICK_RATE,
    infantry: [SOLDIER, RAIDER], vehicles: [],
  },
  {
    every: 75, homes: 1, workers: 12, barracks: 2, factories: 1, turrets: 2, wave: 22, isSly: false,
    patience: 240 * TICK_RATE,
    infantry: [SOLDIER, SOLDIER, RAIDER], vehicles: [TANK],
  },
  {
    every: 30, homes: 2, workers: 18, barracks: 3, factories: 2, turrets: 2, wave: 30, isSly: true,
    patience: 240 * TICK_RATE,
    infantry: [SOLDIER, SOLDIER, SOLDIER, RAIDER], vehicles: [TANK, TANK, ARTILLERY],
  },
]

/** Cells around home that a bot defends, and units that are farther are in the field. */
const HOME = 20
/** A deposit that is farther from headquarters needs other headquarters. */
const FAR = 16
/** How many times the fighters of an enemy a sly bot needs to attack it. */
const ADVANTAGE = 1.25
/** Workers first, and vehicles before infantry, which would spend everything. Indexed by kind of building. */
const TURN: readonly number[] = [0, 2, 1, 3]
/** Ticks between the first attacks of two seats: not all of them attack in the same second. */
const LATER: number = 10 * TICK_RATE
/** Units that one order names. */
const ORDER_UNITS = 120

/** What a seat has, at one moment. */
interface Survey {
  readonly field: Battlefield
  readonly seat: number
  readonly skill: Skill
  readonly home: BuildingObject
  readonly workers: readonly UnitObject[]
  readonly fighters: readonly UnitObject[]
  readonly buildings: readonly BuildingObject[]
  /** Crystals that are not spent yet in this thought. */
  crystals: number
}

/** Whether the bot of a seat thinks in this tick. */
export function isThinking(tick: number, seat: number, level: number): boolean {
  return (tick + seat * 7) % SKILLS[level]!.every === 0
}

/** What a bot orders now. */
export function decide(field: Battlefield, seat: number, level: number): Command[] {
  const own = field.units.filter((unit) => unit.seat === seat && unit.isAlive)
  const buildings = field.buildings.filter((building) => building.seat === seat && building.isAlive)
  const home = buildings.find(({ kind }) => kind === HEADQUARTERS)
  if (home === undefined || level === 0) return []
  const survey: Survey = {
    field, seat, skill: SKILLS[level]!, home, buildings,
    workers: own.filter(({ kind }) => kind === WORKER), fighters: own.filter(({ kind }) => kind !== WORKER),
    crystals: field.seats[seat]!.crystals,
  }
  return [...sendWorkers(survey), ...expand(survey), ...recruit(survey), ...command(survey)]
}

/** What a bot in a player's seat orders after a tick, through the player's connection. */
export function ordersOfPlayer(world: World, player: PeerId, level: number): Command[] {
  const field = battlefieldOf(world)
  field.refresh()
  const seat = field.seats.find((each) => each.player === player)
  if (seat === undefined || seat.isOut || field.match.winner !== 0) return []
  return isThinking(world.tick, seat.number, level) ? decide(field, seat.number, level) : []
}

function sendWorkers({ field, workers, home }: Survey): Command[] {
  const idle = workers.filter(({ mode }) => mode === IDLE)
  const at = nearestDeposit(field, home.at)
  if (idle.length === 0 || at < 0) return []
  return [{ name: 'Gather', values: { units: idsOf(idle), at, isQueued: false } }]
}

/** The next building that the bot lacks. */
function expand(survey: Survey): Command[] {
  const { skill, workers, buildings, field, home } = survey
  const count = (kind: number): number => buildings.filter((building) => building.kind === kind).length
  const isLacking: readonly (readonly [number, boolean])[] = [
    [BARRACKS, count(BARRACKS) < 1 && workers.length >= 6],
    [FACTORY, count(FACTORY) < skill.factories && count(BARRACKS) >= 1 && workers.length >= 9],
    [TURRET, count(TURRET) < skill.turrets && workers.length >= 7 && survey.fighters.length >= 4],
    [BARRACKS, count(BARRACKS) < skill.barracks && workers.length >= 6 + 4 * count(BARRACKS)],
    [HEADQUARTERS, count(HEADQUARTERS) < skill.homes && workers.length >= 14 && survey.fighters.length >= 26],
  ]
  const kind = isLacking.find(([, isNeeded]) => isNeeded)?.[0]
  const worker = workers[0]
  const builder = workers.find(({ mode }) => mode === BUILDING)
  // A building is paid when its worker arrives.
  if (builder !== undefined) survey.crystals -= BUILDINGS[builder.plan]!.cost
  if (kind === undefined || worker === undefined || builder !== undefined) return []
  if (survey.crystals < BUILDINGS[kind]!.cost) {
    // Saves for it.
    survey.crystals = 0
    return []
  }
  survey.crystals -= BUILDINGS[kind]!.cost
  const around = kind === HEADQUARTERS ? farDeposit(survey) : home.at
  const at = around < 0 ? -1 : siteFor(field, around, kind)
  return at < 0 ? [] : [{ name: 'Build', values: { unit: worker.id, kind, at } }]
}

/** The deposit that is nearest to home, of those that no own headquarters is near; -1: there is none. */
function farDeposit({ field, home, buildings }: Survey): number {
  const homes = buildings.filter(({ kind }) => kind === HEADQUARTERS)
  let [best, least] = [-1, Infinity]
  for (const { at } of field.crystals) {
    const apart = distance(at, home.at)
    if (apart < least && homes.every((each) => distance(at, each.at) > FAR)) [best, least] = [at, apart]
  }
  return best
}

/** The nearest free site around a cell: on squares that grow. */
function siteFor(field: Battlefield, around: number, kind: number): number {
  for (let ring = 4; ring <= 14; ring++) {
    for (let side = -ring; side <= ring; side += 2) {
      for (const [dx, dy] of [[side, -ring], [ring, side], [-side, ring], [-ring, -side]] as const) {
        const [x, y] = [columnOf(around) + dx, rowOf(around) + dy]
        if (x > 1 && y > 1 && x < SIZE - 4 && y < SIZE - 4 && isFree(field, kind, y * SIZE + x)) return y * SIZE + x
      }
    }
  }
  return -1
}

function recruit(survey: Survey): Command[] {
  const { skill, buildings, field, fighters } = survey
  const commands: Command[] = []
  const workers = survey.workers.length
  const homes = buildings.filter(({ kind }) => kind === HEADQUARTERS).length
  for (const building of [...buildings].sort((a, b) => TURN[a.kind]! - TURN[b.kind]!)) {
    if (building.builtAt > field.world.tick || queueLength(building) >= 2) continue
    const choice = building.kind === BARRACKS ? skill.infantry : building.kind === FACTORY ? skill.vehicles : []
    const isHome = building.kind === HEADQUARTERS && workers < homes * skill.workers && queueLength(building) === 0
    const kind = isHome ? WORKER : choice[(fighters.length + commands.length) % choice.length]
    if (kind === undefined) continue
    // A factory that does nothing saves for its next unit.
    const isPaid = survey.crystals >= UNITS[kind]!.cost
    if (isPaid || (building.kind === FACTORY && building.queue === 0)) survey.crystals -= UNITS[kind]!.cost
    if (!isPaid) continue
    commands.push({ name: 'Train', values: { building: building.id, kind } })
  }
  return commands
}

/** Defends home, or attacks. */
function command(survey: Survey): Command[] {
  const { field, seat, skill, home, fighters } = survey
  const intruder = field.units.find((unit) =>
    field.areEnemies(seat, unit.seat) && unit.isAlive && distance(cellOf(unit), home.at) <= HOME - 6)
  const isNear = (unit: UnitObject): boolean => distance(cellOf(unit), home.at) <= HOME
  const atHome = fighters.filter((unit) => unit.mode === IDLE && isNear(unit))
  const away = fighters.filter((unit) => unit.mode === IDLE && !isNear(unit))
  if (intruder !== undefined) return advance(atHome.filter(({ target }) => target === 0), cellOf(intruder))
  const { at: target, fighters: defenders } = targetOf(survey)
  if (target < 0) return []
  const lost = away.filter((unit) => unit.target === 0)
  const played = field.world.tick - field.match.beganAt
  const wave = played < STORM_AT ? skill.wave : skill.wave / 2
  const patience = skill.patience + LATER * ((seat * 5) % SEATS)
  const isReady = played >= patience && atHome.length >= Math.max(wave, defenders * ADVANTAGE)
  return [
    ...(isReady ? advance(atHome, target) : []),
    ...advance(lost, away.length >= wave / 3 ? target : home.at - SIZE),
  ]
}

/** The headquarters of the enemy to attack. Of two that are equally near, the next one clockwise. */
function targetOf({ field, seat, home, skill }: Survey): { at: number; fighters: number } {
  const fighters = new Int32Array(SEATS)
  if (skill.isSly) for (const unit of field.units) if (unit.kind !== WORKER) fighters[unit.seat]!++
  let [best, least] = [{ at: -1, fighters: 0 }, Infinity]
  for (const building of field.buildings) {
    if (building.kind !== HEADQUARTERS || !field.areEnemies(seat, building.seat) || !building.isAlive) continue
    const turns = (building.seat - seat + SEATS) % SEATS
    const cost = distance(building.at, home.at) + fighters[building.seat]! + turns / SEATS
    if (cost < least) [best, least] = [{ at: building.at + SIZE + 1, fighters: fighters[building.seat]! }, cost]
  }
  return best
}

function advance(units: readonly UnitObject[], to: number): Command[] {
  const commands: Command[] = []
  for (let from = 0; from < units.length; from += ORDER_UNITS) {
    const some = idsOf(units.slice(from, from + ORDER_UNITS))
    commands.push({ name: 'Advance', values: { units: some, to, isQueued: false } })
  }
  return commands
}

function idsOf(units: readonly UnitObject[]): ObjectId[] {
  return units.map(({ id }) => id)
}
