/**
 * The definitions of the shooter: objects, inputs and messages. One unit is one pixel of a field of 960 by 540.
 */

import { bool, entity, fixed, int, message, text, u16, u32, u8 } from 'tickwire'

export const WIDTH = 960
export const HEIGHT = 540
export const TICK_RATE = 60
export const PLAYERS_MAX = 4
/** How long the score table is shown. */
export const PAUSE_SECONDS = 5

const x = fixed(-200, 1160, 1 / 8)
const y = fixed(-100, 640, 1 / 8)
const speed = fixed(-1000, 1000, 1)

/** The ship of a player, which the page predicts. */
export const Ship = entity({ x, y, vx: speed, vy: speed, isUp: bool.initially(true), boost: int(0, 3) },
  { name: 'Ship', priority: 3 })

/** The rest of a player. It has no owner: the page does not predict it. */
export const Pilot = entity({
  peer: u32, name: text(16), hue: u8, health: u8.initially(100), shield: u8, lives: int(0, 9), level: int(1, 5),
  score: u32, charge: int(0, 100), isSafe: bool, isBot: bool,
  readyAt: u32.server(), backAt: u32.server(), safeUntil: u32.server(), boostUntil: u32.server(),
    wasCharging: bool.server(),
  wasSpecial: bool.server(),
}, { name: 'Pilot', priority: 1 })

export const FORCE_DETACHED = 0
export const FORCE_FRONT = 1
export const FORCE_BACK = 2
export const FORCE_ORBITING = 3
/** The Force: an indestructible pod that attaches to the front or the back of a ship, or flies ahead of it. */
export const Force = entity({
  x, y, peer: u32, mode: int(0, 3), level: int(1, 5), isFiring: bool, goalX: x.server(),
}, { name: 'Force', priority: 2 })

export const DRONE = 0
export const WEAVER = 1
export const ORBITER = 2
export const CHASER = 3
export const KAMIKAZE = 4
export const PATROL = 5
export const CARRIER = 6
export const ROCK = 7
export const BOSS = 8
/** An enemy, a rock or a boss. `phase` is that of a boss, 1 to 3; 0 for the others. */
export const Enemy = entity({
  x, y, kind: int(0, 8), health: u16, healthMax: u16, phase: int(0, 3), isHit: bool,
  homeX: x.server(), homeY: y.server(), bornAt: u32.server(), fireAt: u32.server(), hitUntil: u32.server(),
  vx: speed.server(), vy: speed.server(), target: u32.server(),
}, { name: 'Enemy', priority: 2 })

export const BULLET = 0
export const BEAM = 1
export const MISSILE = 2
export const ORB = 3
/** A shot of a player (`by` is its peer) or of an enemy (0). */
export const Shot = entity({
  x, y, vx: speed, vy: speed, kind: int(0, 3), by: u32, damage: u16.server(), pierces: bool.server(),
}, { name: 'Shot', priority: 2 })

export const SPEED_BOOST = 0
export const WEAPON_UPGRADE = 1
export const FORCE_POWER = 2
export const SHIELD = 3
export const EXTRA_LIFE = 4
export const INVINCIBILITY = 5
export const Powerup = entity({ x, y, kind: int(0, 5), baseY: y.server(), bornAt: u32.server() }, { name: 'Powerup' })

export const PLAYING = 0
export const CLEARED = 1
export const LOST = 2
export const WON = 3
/** The match itself. Only the authority has it in `each`. */
export const Match = entity({
  level: int(1, 3), phase: int(0, 3), startedAt: u32, phaseAt: u32, gameAt: u32, hasBoss: bool, drops: u16.server(),
}, { name: 'Match' })

export const Boom = message({ x, y, size: u8, hue: u8 }, 'Boom', { delivery: 'unordered' })
export const Spark = message({ x, y, hue: u8 }, 'Spark', { delivery: 'unordered' })
export const Fired = message({ shooter: u32, x, y, kind: int(0, 3), by: u32, dx: fixed(-1, 1, 1 / 128), dy: fixed(-1,
  1, 1 / 128), shot: u32 }, 'Fired', { delivery: 'unordered' })
export const Hurt = message({ peer: u32, by: u32, damage: u8, health: u8, shield: u8, x, y }, 'Hurt',
  { delivery: 'unordered' })
export const Died = message({ peer: u32, by: u32, score: u32, x, y }, 'Died', { delivery: 'unordered' })
export const Picked = message({ peer: u32, kind: int(0, 5), x, y, id: u32, seconds: u8 }, 'Picked',
  { delivery: 'unordered' })
export const Scored = message({ peer: u32, score: u32, delta: int(-10_000, 10_000), reason: int(0, 5) }, 'Scored',
  { delivery: 'unordered' })
/** Why an object is gone, for clients of another protocol. */
export const Gone = message({ id: u32, x, y, reason: int(0, 4) }, 'Gone', { delivery: 'unordered' })
export const Level = message({ level: u8, state: int(0, 3), bonus: u32, seconds: u16 }, 'Level',
  { delivery: 'unordered' })
/** The join data of a page. */
export const join = { name: text(16) } as const

export const STICK = 8
export const input = { side: int(-STICK, STICK), rise: int(-STICK, STICK), fire: bool, charge: bool,
  special: bool } as const
