/**
 * What the arena consists of: objects, inputs, and what is said.
 *
 * Two kinds of delivery meet here. What a player holds and where everybody is goes 128 times a second, newest first, and what
 * is lost is not sent again. What is said goes once and surely: names, chat, kills (`reliable`), bangs (`unordered`).
 */

import { angle, bool, capsule, entity, fixed, int, message, oneOf, ref, text, u16, u32, u8, vec3, type Hitboxes } from 'tickwire'

/** Who writes the balls: 'shared' lets whoever pushes one simulate it himself. */
export const BALL_AUTHORITY: 'server' | 'shared' = 'shared'

export const WEAPONS = ['shotgun', 'rockets', 'rail'] as const
export type Weapon = 0 | 1 | 2
export const SHOTGUN: Weapon = 0
export const ROCKETS: Weapon = 1
export const RAIL: Weapon = 2

const position = vec3(-32, 32, 1 / 512).position()
const velocity = vec3(-48, 48, 1 / 128).velocity()

/** Someone in the match, alive or dead. Who only looks on has none: the game does not know of him. */
export const Seat = entity({
  name: text(16), hue: u8, frags: int(-99, 999), deaths: int(0, 999), isBot: bool,
  /** The tick in which he may come in again. */
  readyAt: u32.owner(),
  pingMs: u16.rate(1),
}, { name: 'Seat', priority: 0.5 })

/** A body, while it lives. */
export const Fighter = entity({
  at: position, speed: velocity, yaw: angle(16), pitch: fixed(-1.5625, 1.5625, 1 / 512),
  health: u8.initially(100), armour: u8, weapon: int(0, 2), seat: ref(),
  readyAt: u32.owner(), slugs: u8.owner().initially(5), rockets: u8.owner().initially(10),
}, { name: 'Fighter', priority: 2 })

export const Rocket = entity({ at: position, speed: velocity, diesAt: u32 }, { name: 'Rocket', priority: 2 })

export const Item = entity({
  at: position, kind: oneOf('health', 'armour', 'mega', 'slugs', 'rockets'), isThere: bool.initially(true), backAt: u32.server(),
}, { name: 'Item', priority: 0.5 })

/** Something to kick about. */
export const Ball = entity({ at: position, speed: velocity }, { name: 'Ball', authority: BALL_AUTHORITY, priority: 0.5 })

/** The match itself: only the authority has it in `each`, so whoever has it there is the judge. */
export const Match = entity({
  phase: oneOf('play', 'over'), endsAt: u32, fragLimit: u8, winner: text(16),
  /** What went off in the tick before, for balls that were somebody's until then. */
  blast: position.server(), blastAt: u32.server(),
}, { name: 'Match' })

/** How he wants to be called. */
export const Enter = message({ name: text(16) }, 'Enter')
export const Chat = message({ text: text(120) }, 'Chat')

export const Said = message({ name: text(16), text: text(120) }, 'Said')
export const Kill = message({ killer: text(16), victim: text(16), weapon: int(0, 3), killerPeer: u32, victimPeer: u32, at: position }, 'Kill')
export const Shot = message({ peer: u32, weapon: int(0, 2), from: position, to: position }, 'Shot', { delivery: 'unordered' })
/** Somebody hurt somebody else: what a hit marker is for. */
export const Hurt = message({ by: u32, victim: u32, weapon: int(0, 2), amount: u8 }, 'Hurt', { delivery: 'unordered' })
export const Boom = message({ at: position }, 'Boom', { delivery: 'unordered' })
export const Picked = message({ kind: oneOf('health', 'armour', 'mega', 'slugs', 'rockets'), peer: u32 }, 'Picked', { delivery: 'unordered' })
export const Launched = message({ at: position }, 'Launched', { delivery: 'unordered' })

/** A stick goes from -8 to 8; keys are all or nothing. */
export const STICK = 8
export const input = {
  ahead: int(-STICK, STICK), side: int(-STICK, STICK), yaw: angle(16), pitch: fixed(-1.5625, 1.5625, 1 / 512),
  jump: bool, fire: bool, weapon: int(0, 2),
} as const

export const hitboxes: Hitboxes = [[Fighter, [capsule(0.5, 0.45, { offset: { x: 0, y: 0.9, z: 0 } })]]]
