/** Damage, deaths, and the score for them. */

import type { ObjectOf, PeerId, Vec3, World } from 'tickwire'
import { Fighter, Hurt, Kill, Match, Seat } from './definitions.ts'

/** Armour absorbs two thirds of the damage, while it lasts. */
const ARMOUR_SHARE = 2 / 3
/** Seconds until a dead player may respawn. */
export const DEATH_SECONDS = 1.75

/** The match object, if this is the authority; clients do not have it. */
export function judge(world: World): ObjectOf<typeof Match> | undefined {
  for (const match of world.each(Match)) return match
  return undefined
}

export function seatOf(world: World, peer: PeerId): ObjectOf<typeof Seat> | undefined {
  for (const seat of world.each(Seat)) if (seat.owner === peer) return seat
  return undefined
}

/** Pushes and damages a fighter. Only the authority removes a fighter that dies of it. */
export function hurt(
  world: World,
  target: ObjectOf<typeof Fighter>,
  amount: number,
  by: PeerId,
  weapon: number,
  push: Vec3,
): void {
  const { speed } = target
  speed.x += push.x
  speed.y += push.y
  speed.z += push.z
  const match = judge(world)
  if (match?.phase === 'over' || !target.isAlive) return
  const damage = Math.round(amount)
  const absorbed = Math.min(target.armour, Math.ceil(damage * ARMOUR_SHARE))
  target.armour -= absorbed
  target.health = Math.max(target.health - (damage - absorbed), 0)
  if (match !== undefined && by !== target.owner)
    world.emit(match, Hurt, { by, victim: target.owner, weapon, amount: Math.min(damage, 255) })
  if (match !== undefined && target.health === 0) kill(world, match, target, by, weapon)
}

function kill(
  world: World,
  match: ObjectOf<typeof Match>,
  target: ObjectOf<typeof Fighter>,
  by: PeerId,
  weapon: number,
): void {
  const victim = seatOf(world, target.owner)
  const killer = seatOf(world, by)
  if (victim !== undefined) victim.deaths++
  if (killer !== undefined) killer.frags += by === target.owner ? -1 : 1
  world.emit(match, Kill, {
    killer: killer?.name ?? '', victim: victim?.name ?? '', weapon, killerPeer: by, victimPeer: target.owner,
    at: { x: target.at.x, y: target.at.y, z: target.at.z },
  })
  world.despawn(target)
}
