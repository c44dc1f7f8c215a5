/**
 * The lobby: the beginning of a match, before its clock runs. It is part of the simulation, so every peer and every
 * replay has the same names, seats, teams and lines of chat.
 */

import { bool, int, text, type PeerId, type World } from 'tickwire'
import { order, type CheckedWorld } from 'tickwire/lockstep'
import type { Battlefield } from './battlefield.ts'
import { Building, Line, Match, Seat, Unit, type SeatObject } from './definitions.ts'
import { MAP_KINDS, NAME_BYTES, SAY_BYTES, SEATS, TICK_RATE } from './rules.ts'

/** Lines of chat that are kept. */
const LINES = 8
/** Ticks from the last player's ready to the start. */
export const COUNTDOWN: number = 3 * TICK_RATE

function isLobby(world: CheckedWorld): boolean {
  for (const match of world.each(Match)) return match.beganAt === 0
  return false
}

function sits(world: CheckedWorld, by: PeerId): boolean {
  for (const seat of world.each(Seat)) if (seat.player === by) return true
  return false
}

/** The name that others see. */
export const Introduce = order({ name: text(NAME_BYTES) }, 'Introduce', { check: sits })
/** Takes another seat, as long as no player sits there. */
export const Sit = order({ seat: int(0, SEATS - 1) }, 'Sit', {
  check: (world, by) => isLobby(world) && sits(world, by),
})
/** Sets the team of a seat, and the level of its bot; 0: the seat stays empty. Seats of other players keep theirs. */
export const SetUp = order({ seat: int(0, SEATS - 1), team: int(0, SEATS - 1), level: int(0, 3) }, 'SetUp', {
  check: (world, by) => isLobby(world) && sits(world, by),
})
/** Another map. No player is ready after that. */
export const ChooseMap = order({ kind: int(0, MAP_KINDS - 1) }, 'ChooseMap', {
  check: (world, by) => isLobby(world) && sits(world, by),
})
/** The player is ready, or not any more. The match begins when all are. */
export const Ready = order({ isReady: bool }, 'Ready', { check: (world, by) => isLobby(world) && sits(world, by) })
/** Says something to all. */
export const Say = order({ text: text(SAY_BYTES) }, 'Say', { check: sits })
/** Votes that a bot takes the seat of a player. It needs all other players but one, and at least two. */
export const Vote = order({ seat: int(0, SEATS - 1) }, 'Vote', { check: sits })

/** What was said, the oldest line replaced first. */
export function say({ world }: Battlefield, seat: number, said: string): void {
  const lines = [...world.each(Line)]
  const line = lines.length < LINES ? world.spawn(Line, {}) : [...lines].sort((a, b) => a.at - b.at || a.id - b.id)[0]!
  Object.assign(line, { seat, text: said, at: world.tick })
}

/** Another seat for the player of a seat. A bot plays the old one. */
export function sit(field: Battlefield, from: number, to: number): void {
  const [old, next] = [field.seats[from]!, field.seats[to]!]
  if (next.player !== 0 || from === to) return
  const { player, name } = old
  empty(field.world, old)
  occupy(field.world, next, player)
  next.name = name
}

export function setUp(field: Battlefield, by: number, seat: number, team: number, level: number): void {
  const wanted = field.seats[seat]!
  if (wanted.player !== 0 && seat !== by) return
  wanted.team = team
  wanted.level = level
}

/** Counts a vote. Voting again takes it back. */
export function vote(field: Battlefield, by: number, seat: number): void {
  const wanted = field.seats[seat]!
  if (wanted.player === 0 || seat === by) return
  wanted.votes ^= 1 << by
  const others = field.seats.filter(({ player, number }) => player !== 0 && number !== seat)
  const count = others.filter(({ number }) => (wanted.votes >> number & 1) === 1).length
  if (count >= 2 && count >= others.length - 1) empty(field.world, wanted)
}

/** A player sits here now: its objects belong to the player. 0: to none. */
export function occupy(world: World, seat: SeatObject, player: PeerId): void {
  seat.player = player
  world.setOwner(seat, player)
  for (const unit of world.each(Unit)) if (unit.seat === seat.number) world.setOwner(unit, player)
  for (const building of world.each(Building)) if (building.seat === seat.number) world.setOwner(building, player)
}

/** No player sits here any more. */
export function empty(world: World, seat: SeatObject): void {
  occupy(world, seat, 0)
  seat.name = ''
  seat.isReady = false
  seat.votes = 0
}

/** Whether the match begins in this tick: all players have been ready for the countdown. */
export function beginsNow({ world, match, seats }: Battlefield): boolean {
  const players = seats.filter(({ player }) => player !== 0)
  const areReady = players.length > 0 && players.every(({ isReady }) => isReady)
  if (!areReady) match.readyAt = 0
  else if (match.readyAt === 0) match.readyAt = world.tick
  return areReady && world.tick >= match.readyAt + COUNTDOWN
}
