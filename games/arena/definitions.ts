/**
 * The definitions of the arena: objects, inputs, and messages.
 *
 * Two kinds of delivery are used. Inputs and positions are sent 128 times a second, newest first, and lost ones are not
 * sent again. Messages are sent once and arrive reliably: names, chat, kills (`reliable`), explosions (`unordered`).
 */

import {
  angle, bool, capsule, entity, fixed, int, message, oneOf, ref, text, u16, u32, u8, vec3, type Hitboxes,
} from 'tickwire'

/** Which peer simulates the balls: with 'shared', the player that pushes one simulates it. */
export const BALL_AUTHORITY: 'server' | 'shared' = 'shared'

export const WEAPONS = ['shotgun', 'rockets', 'rail'] as const
export type Weapon = 0 | 1 | 2
export const SHOTGUN: Weapon = 0
export const ROCKETS: Weapon = 1
export const RAIL: Weapon = 2

const position = vec3(-32, 32, 1 / 512).position()
const velocity = vec3(-48, 48, 1 / 128).velocity()

/** A player in the match, alive or dead. A spectator has none: the game does not know of it. */
export const Seat = entity({
  name: text(16), hue: u8, frags: int(-99, 999), deaths: int(0, 999), isBot: bool,
  /** The tick from which the player may respawn. */
  readyAt: u32.owner(),
}, { name: 'Seat', priority: 0.5 })

/** A player's round trip time. It has no owner: values that `step` does not compute must not be predicted. */
export const Ping = entity({ peer: u32, ms: u16 }, { name: 'Ping', priority: 0.2 })

/** A player's body, while it lives. */
export const Fighter = entity({
  at: position, speed: velocity, yaw: angle(16), pitch: fixed(-1.5625, 1.5625, 1 / 512),
  health: u8.initially(100), armour: u8, weapon: int(0, 2), seat: ref(),
  readyAt: u32.owner(), slugs: u8.owner().initially(5), rockets: u8.owner().initially(10),
}, { name: 'Fighter', priority: 2 })

export const Rocket = entity({ at: position, speed: velocity, diesAt: u32 }, { name: 'Rocket', priority: 2 })

export const Item = entity(
  {
    at: position,
    kind: oneOf('health', 'armour', 'mega', 'slugs', 'rockets'),
    isThere: bool.initially(true),
    backAt: u32.server(),
  },
  { name: 'Item', priority: 0.5 },
)

/** A ball to kick. */
export const Ball = entity(
  { at: position, speed: velocity },
  { name: 'Ball', authority: BALL_AUTHORITY, priority: 0.5 },
)

/** The match itself. Only the authority has it in `each`, so its presence there identifies the authority. */
export const Match = entity({
  phase: oneOf('play', 'over'), endsAt: u32, fragLimit: u8, winner: text(16),
  /** The explosion of the previous tick, for balls that a player owned until then. */
  blast: position.server(), blastAt: u32.server(),
}, { name: 'Match' })

/** The join data of a client. */
export const join = { name: text(16) } as const
/** Changes the name of a player that has joined. */
export const Rename = message({ name: text(16) }, 'Rename')
export const Chat = message({ text: text(120) }, 'Chat')

export const Said = message({ name: text(16), text: text(120) }, 'Said')
export const Kill = message(
  { killer: text(16), victim: text(16), weapon: int(0, 3), killerPeer: u32, victimPeer: u32, at: position },
  'Kill',
)
export const Shot = message({ peer: u32, weapon: int(0, 2), from: position, to: position }, 'Shot', {
  delivery: 'unordered',
})
/** A player damaged another one. Used for hit markers. */
export const Hurt = message({ by: u32, victim: u32, weapon: int(0, 2), amount: u8 }, 'Hurt', { delivery: 'unordered' })
export const Boom = message({ at: position }, 'Boom', { delivery: 'unordered' })
export const Picked = message({ kind: oneOf('health', 'armour', 'mega', 'slugs', 'rockets'), peer: u32 }, 'Picked', {
  delivery: 'unordered',
})
export const Launched = message({ at: position }, 'Launched', { delivery: 'unordered' })

/** An analogue stick has values from -8 to 8; keys give only the extremes. */
export const STICK = 8
export const input = {
  ahead: int(-STICK, STICK), side: int(-STICK, STICK), yaw: angle(16), pitch: fixed(-1.5625, 1.5625, 1 / 512),
  jump: bool, fire: bool, weapon: int(0, 2),
} as const

export const hitboxes: Hitboxes = [[Fighter, [capsule(0.5, 0.45, { offset: { x: 0, y: 0.9, z: 0 } })]]]
