/** Shots of players and enemies, and the end of objects. */

import { math, type ObjectOf, type World } from 'tickwire'
import { BEAM, BULLET, Fired, Gone, HEIGHT, MISSILE, Shot, TICK_RATE, WIDTH } from './definitions.ts'

/** An enemy fires in a direction, in radians, at a speed in pixels per second. */
export function fireAt(world: World, from: { readonly id: number; x: number; y: number }, angle: number, pace: number,
  kind: number): void {
  const [dx, dy] = [math.cos(angle), math.sin(angle)]
  const shot = world.spawn(Shot, { x: from.x, y: from.y, vx: dx * pace, vy: dy * pace, kind, by: 0,
    damage: kind === MISSILE ? 18 : 12 })
  world.emit(shot, Fired, { shooter: from.id, x: from.x, y: from.y, kind, by: 0, dx, dy, shot: shot.id })
}

/** One shot of a ship. */
export interface Volley {
  readonly kind: number
  readonly damage: number
  /** Sideways speed. */
  readonly vy: number
  readonly dy: number
  readonly isBackwards: boolean
}

/** A player fires from a place. */
export function firePlayer(
  world: World, shooter: number, peer: number, x: number, y: number, { kind, damage, vy, dy, isBackwards }: Volley,
): void {
  const vx = (kind === BEAM ? 900 : 760) * (isBackwards ? -1 : 1)
  const shot = world.spawn(Shot, { x, y: y + dy, vx, vy, kind, by: peer, damage, pierces: kind === BEAM })
  const length = Math.sqrt(vx * vx + vy * vy)
  world.emit(shot, Fired, { shooter, x, y, kind, by: peer, dx: vx / length, dy: vy / length, shot: shot.id })
}

/** The volley of a weapon level, 1 to 5. */
export function volleyOf(level: number, isBackwards: boolean): Volley[] {
  const one = (dy: number, vy: number): Volley => ({ kind: BULLET, damage: 10, vy, dy, isBackwards })
  if (level === 1) return [one(0, 0)]
  if (level === 2) return [one(-7, 0), one(7, 0)]
  if (level === 3) return [one(0, 0), one(-6, -90), one(6, 90)]
  if (level === 4) return [one(-7, 0), one(7, 0), one(-8, -130), one(8, 130)]
  return [one(0, 0), one(-8, -60), one(8, 60), one(-9, -190), one(9, 190)]
}

/** Moves all shots; those that leave the field are gone. */
export function flyShots(world: World): void {
  for (const shot of [...world.each(Shot)]) {
    shot.x += shot.vx / TICK_RATE
    shot.y += shot.vy / TICK_RATE
    if (shot.x < -30 || shot.x > WIDTH + 30 || shot.y < -30 || shot.y > HEIGHT + 30) leave(world, shot, 2)
  }
}

/** Removes an object. The reason: 0 killed by a player, 1 by an enemy, 2 out of the field, 3 time, 4 end of level. */
export function leave(world: World, object: { readonly id: number; x: number; y: number }, reason: number): void {
  world.emit(object, Gone, { id: object.id, x: object.x, y: object.y, reason })
  world.despawn(object)
}

export type ShotObject = ObjectOf<typeof Shot>
