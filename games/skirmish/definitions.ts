/**
 * The state of a match: everything that `step` remembers. All numbers are whole, or whole parts of 1/256.
 *
 * In lockstep every peer has all of it. When a server steps the match (`fog-game.ts`), fields of the audience `team`
 * are sent to the owner and its team only, and an object only to teams that see it.
 */

import { bool, entity, fixed, int, owner, text, u16, u32, where, type ObjectOf, type World } from 'tickwire'
import { CELLS, SIZE } from './map-cells.ts'
import { MAP_KINDS, NAME_BYTES, SAY_BYTES, SEATS } from './rules.ts'

/** What a unit is doing. */
export const IDLE = 0
export const MOVING = 1
/** Moves, and fights everything that it meets. */
export const ADVANCING = 2
/** Follows one enemy. */
export const ATTACKING = 3
export const HOLDING = 4
/** On its way to a deposit. */
export const GATHERING = 5
/** On its way home with crystals. */
export const RETURNING = 6
/** On its way to a building site. */
export const BUILDING = 7
export const MINING = 8

const cell = int(0, CELLS - 1)
/** The teams that see an object, as bits. Only a server computes it, and it is never sent. */
const seenBy = int(0, 255).local()
/** Nine hours: a lobby may be open for long. */
const tick = int(0, 1_048_575)

export const Unit = entity(
  {
    kind: int(0, 4),
    seat: int(0, SEATS - 1),
    mode: int(0, 8),
    /** Whether the straight way to the goal is free of rocks. */
    isDirect: bool.team(),
    x: fixed(0, SIZE, 1 / 256),
    y: fixed(0, SIZE, 1 / 256),
    hp: int(0, 511),
    goal: cell.team(),
    /** Half cells from the goal at which the unit has arrived: more for a large group. */
    slack: int(0, 31).team(),
    /** The id of the enemy that it shoots at; 0: none. */
    target: u32,
    /** The tick from which on it may shoot again, or has mined its load. */
    readyAt: tick,
    cargo: int(0, 15),
    /** The deposit that a worker mines, or the site that it builds on. */
    site: cell.team(),
    /** The kind of building that a worker will build. */
    plan: int(0, 3).team(),
    /** The number of its control group; 0: none. */
    group: int(0, 9).team(),
    /** Orders that wait, the next first: mode x 16,384 + goal; 0: none. */
    next1: int(0, 131_071).team(),
    next2: int(0, 131_071).team(),
    next3: int(0, 131_071).team(),
    seenBy,
  },
  { name: 'Unit', interest: where((viewer, object) => isSeenBy(object, viewer.team - 1)) },
)

export const Building = entity(
  {
    kind: int(0, 3),
    seat: int(0, SEATS - 1),
    /** Its upper left cell. */
    at: cell,
    hp: int(0, 4095),
    /** The tick in which it is finished. */
    builtAt: tick,
    /** Kinds of units that it will train, plus 1, as digits of base 8, the next one last; 0: none. */
    queue: int(0, 32_767).team(),
    /** The tick in which the next one is trained. */
    trainedAt: tick.team(),
    hasRally: bool.team(),
    rally: cell.team(),
    target: u32,
    readyAt: tick,
    seenBy,
  },
  { name: 'Building', interest: where((viewer, object) => isSeenBy(object, viewer.team - 1)) },
)

export const Crystal = entity({ at: cell, left: int(0, 4095), seenBy }, {
  name: 'Crystal', interest: where((viewer, object) => isSeenBy(object, viewer.team - 1)),
})

export const Seat = entity(
  {
    number: int(0, SEATS - 1),
    /** The player in this seat; 0: a bot. */
    player: u16,
    team: int(0, SEATS - 1),
    /** The level of the bot that plays while there is no player: 0 (none) to 3. */
    level: int(0, 3),
    crystals: u16.team(),
    isOut: bool,
    mined: u32.team(),
    kills: u16,
    losses: u16,
    /** The name of the player. */
    name: text(NAME_BYTES),
    /** In the lobby: the player wants to begin. */
    isReady: bool,
    /** The seats that vote for a bot in this seat, as bits. */
    votes: int(0, 255),
  },
  { name: 'Seat' },
)

/** A flow field: which way to a goal. Its directions are derived from the map. */
export const Field = entity({ goal: cell, readyAt: tick, usedAt: tick }, { name: 'Field', interest: owner })

export const Match = entity(
  {
    /** The team that has won, plus 1; 0: the match goes on. */
    winner: int(0, SEATS),
    endedAt: tick,
    /** The tick in which the match left the lobby; 0: it is in the lobby. */
    beganAt: tick,
    /** The kind of map, as chosen in the lobby: an index in `LAYOUTS`. */
    mapKind: int(0, MAP_KINDS - 1),
    /** In the lobby: the tick since which all players are ready; 0: they are not. */
    readyAt: tick,
    /** The last tick for which a flow field is planned: at most one is computed in a tick. */
    fieldAt: tick.local(),
    /** Whether a server hides what a team does not see. Then units follow and orders name only what their team sees. */
    isFoggy: bool.local(),
  },
  { name: 'Match' },
)

/** A line of chat. */
export const Line = entity({ seat: int(0, SEATS - 1), text: text(SAY_BYTES), at: tick }, { name: 'Line' })

/** Whether a team sees an object. */
export function isSeenBy(object: { readonly seenBy: number }, team: number): boolean {
  return team >= 0 && (object.seenBy >> team & 1) === 1
}

/** The kind of map of a match. */
export function mapKindOf(world: Pick<World, 'each'>): number {
  for (const { mapKind } of world.each(Match)) return mapKind
  return 0
}

export type UnitObject = ObjectOf<typeof Unit>
export type BuildingObject = ObjectOf<typeof Building>
export type SeatObject = ObjectOf<typeof Seat>
export type MatchObject = ObjectOf<typeof Match>
