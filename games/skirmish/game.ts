/** Skirmish: a real-time strategy game for eight seats over lockstep. Every peer steps it with the same orders. */

import { defineLockstep, type LockstepGame } from 'tickwire/lockstep'
import { battlefieldOf, flowFields, type Battlefield } from './battlefield.ts'
import { decide, isThinking } from './bots.ts'
import { fight } from './combat.ts'
import { Building, Crystal, Field, Line, Match, Seat, Unit } from './definitions.ts'
import { produce, work } from './economy.ts'
import { moveUnits } from './movement.ts'
import { beginsNow, empty, occupy } from './lobby.ts'
import { execute, executeTalk, ORDERS } from './orders.ts'
import { layOut } from './opening.ts'
import { HEADQUARTERS, SEATS, START_CRYSTALS, STORM_AT, STORM_DAMAGE, STORM_EVERY, TICK_RATE } from './rules.ts'

export type SkirmishGame = LockstepGame<typeof ORDERS>

/** How a match is set up. All peers need the same. */
export interface SkirmishOptions {
  /**
   * The level of the bot of each seat, 1 to 3, for as long as no player sits there; 0: nothing plays. Default: 2, and
   * with a lobby 1, for players choose another one there.
   */
  readonly levels?: readonly number[]
  /** The team of each seat. Default: each seat is alone. */
  readonly teams?: readonly number[]
  /** The seats that take part. Default: all eight. */
  readonly seats?: readonly number[]
  /** The kind of map, an index in `LAYOUTS`. Players in a lobby may choose another one. Default: 0. */
  readonly map?: number
  /** Whether the match begins in the lobby. Default: false, it begins in its first tick. */
  readonly hasLobby?: boolean
  /** Whether a server steps the match and hides what a team does not see. Default: false. */
  readonly isFoggy?: boolean
}

const ALL = Array.from({ length: SEATS }, (_, seat) => seat)

/** Makes the game. */
export function skirmishGame(options: SkirmishOptions = {}): SkirmishGame {
  const { levels = [], teams = [], seats = ALL, map = 0, hasLobby = false, isFoggy = false } = options
  return defineLockstep({
    tickRate: TICK_RATE,
    players: [1, SEATS],
    orders: ORDERS,
    entities: [Unit, Building, Crystal, Seat, Field, Match, Line],
    derived: [flowFields],
    onStart(world) {
      world.spawn(Match, { beganAt: hasLobby ? 0 : 1, isFoggy, mapKind: map })
      for (const number of ALL) {
        const isOut = !seats.includes(number)
        const [level, team] = [levels[number] ?? (hasLobby ? 1 : 2), teams[number] ?? number]
        world.spawn(Seat, { number, team, level, isOut, crystals: START_CRYSTALS })
      }
      layOut(world, map)
    },
    onJoin(world, player) {
      for (const seat of world.each(Seat)) {
        if (seat.player !== 0 || seat.isOut) continue
        occupy(world, seat, player)
        return
      }
    },
    onLeave(world, player) {
      for (const seat of world.each(Seat)) if (seat.player === player) empty(world, seat)
    },
    step(world, orders) {
      const field = battlefieldOf(world)
      field.refresh()
      if (field.match.winner !== 0) return
      for (const given of orders) {
        const seat = field.seats.find(({ player }) => player === given.by)
        if (seat === undefined) continue
        executeTalk(field, seat.number, given)
        if (field.match.beganAt !== 0) execute(field, seat.number, given)
      }
      if (field.match.beganAt === 0) {
        if (beginsNow(field)) begin(field)
        return
      }
      think(field)
      produce(field)
      work(field)
      fight(field)
      moveUnits(field)
      referee(field)
    },
  })
}

/** The game as it is served, for `tickwire verify --step` and other tools. */
export const game: SkirmishGame = skirmishGame({ hasLobby: true })

/** Leaves the lobby. Seats without a player and without a bot are out. */
function begin(field: Battlefield): void {
  field.match.beganAt = field.world.tick
  for (const seat of field.seats) if (seat.player === 0 && seat.level === 0) seat.isOut = true
}

function think(field: Battlefield): void {
  for (const seat of field.seats) {
    if (seat.player !== 0 || seat.isOut || !isThinking(field.world.tick, seat.number, seat.level)) continue
    for (const command of decide(field, seat.number, seat.level)) execute(field, seat.number, command)
  }
}

/** The storm, seats that are out, and the winner. */
function referee(field: Battlefield): void {
  const { world, match, seats } = field
  const isStorm = world.tick - match.beganAt >= STORM_AT && world.every(STORM_EVERY)
  const homes = new Uint8Array(SEATS)
  for (const building of field.buildings) {
    if (building.kind !== HEADQUARTERS || !building.isAlive) continue
    if (isStorm) building.hp = Math.max(0, building.hp - STORM_DAMAGE)
    if (building.hp === 0) world.despawn(building)
    else homes[building.seat] = 1
  }
  const before = seats.filter(({ isOut, number }) => !isOut || homes[number] === 1)
  for (const seat of before) {
    if (homes[seat.number] === 1 && !seat.isOut) continue
    seat.isOut = true
    for (const unit of field.units) if (unit.seat === seat.number) world.despawn(unit)
    for (const building of field.buildings) if (building.seat === seat.number) world.despawn(building)
  }
  const left = seats.filter(({ isOut }) => !isOut)
  if (left.some(({ team }) => team !== left[0]?.team)) return
  // All fell in the same tick: more kills, then more crystals, then the lower seat.
  const [first] = left.length > 0 ? left
    : [...before].sort((a, b) => b.kills - a.kills || b.mined - a.mined || a.number - b.number)
  if (first === undefined) return
  match.winner = first.team + 1
  match.endedAt = world.tick
}
