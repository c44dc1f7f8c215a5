/**
 * Three weapons: a shotgun and a rail gun that hit instantly what their shooter saw, and rockets that fly.
 *
 * A client runs this for its own fighter, so that shots, rockets and rocket jumps have no delay. Damage to other
 * fighters is decided by the authority.
 */

import { math, type Cast, type ObjectOf, type PastView, type Vec3, type World } from 'tickwire'
import { BLAST_PUSH, blowBalls, nearness } from './balls.ts'
import { BODY_HALF, BODY_HEIGHT, EYE_HEIGHT, rayLength } from './collision.ts'
import { Boom, Fighter, RAIL, Rocket, ROCKETS, Shot, SHOTGUN, type Weapon } from './definitions.ts'
import { hurt, judge } from './damage.ts'

type FighterObject = ObjectOf<typeof Fighter>

const { sin, cos } = math

/** Seconds between two shots. Indexed by weapon. */
export const RELOAD_SECONDS = [0.85, 0.8, 1.4] as const
export const ROCKET_SPEED = 27
const REACH = 80
const RAIL_DAMAGE = 75
const PELLETS = 9
const PELLET_DAMAGE = 7
const SPREAD = 0.055
const ROCKET_DAMAGE = 90
const BLAST_DAMAGE = 80
const ROCKET_SECONDS = 3
/** Rockets start this far ahead of the eye, if there is room. */
const MUZZLE = 0.75

/** The view direction as a vector of length 1. */
export function lookOf(yaw: number, pitch: number): Vec3 {
  return { x: -sin(yaw) * cos(pitch), y: sin(pitch), z: -cos(yaw) * cos(pitch) }
}

export function eyeOf({ at }: { readonly at: Readonly<Vec3> }): Vec3 {
  return { x: at.x, y: at.y + EYE_HEIGHT, z: at.z }
}

/** Fires the fighter's weapon, if it is ready and loaded. */
export function fire(world: World, fighter: FighterObject, tickRate: number): void {
  const weapon: number = fighter.weapon
  if (world.tick < fighter.readyAt) return
  if (weapon === RAIL && fighter.slugs === 0 || weapon === ROCKETS && fighter.rockets === 0) return
  fighter.readyAt = world.tick + Math.round(RELOAD_SECONDS[weapon as Weapon] * tickRate)
  if (weapon === ROCKETS) launchRocket(world, fighter, tickRate)
  else if (weapon === RAIL) fireRail(world, fighter)
  else fireShotgun(world, fighter)
}

function fireRail(world: World, fighter: FighterObject): void {
  fighter.slugs--
  const from = eyeOf(fighter)
  const direction = lookOf(fighter.yaw, fighter.pitch)
  const hit = world.rewind(fighter.owner, (past) => strike(past, fighter, from, direction))
  world.emit(fighter, Shot, { peer: fighter.owner, weapon: RAIL, from, to: along(from, direction, hit.distance) })
  const target = world.get(Fighter, hit.id)
  if (target !== null) hurt(world, target, RAIL_DAMAGE, fighter.owner, RAIL, push(direction, 5))
}

function fireShotgun(world: World, fighter: FighterObject): void {
  const from = eyeOf(fighter)
  const middle = lookOf(fighter.yaw, fighter.pitch)
  /** Number of pellets by fighter hit: each fighter is damaged once, however many pellets hit it. */
  const hits = new Map<number, number>()
  let distance = REACH
  world.rewind(fighter.owner, (past) => {
    for (let pellet = 0; pellet < PELLETS; pellet++) {
      const direction = lookOf(fighter.yaw + spread(world, fighter), fighter.pitch + spread(world, fighter))
      const hit = strike(past, fighter, from, direction)
      distance = Math.min(distance, hit.distance)
      if (hit.id !== 0) hits.set(hit.id, (hits.get(hit.id) ?? 0) + 1)
    }
  })
  world.emit(fighter, Shot, { peer: fighter.owner, weapon: SHOTGUN, from, to: along(from, middle, distance) })
  for (const [id, pellets] of hits) {
    const target = world.get(Fighter, id)
    if (target !== null) hurt(world, target, PELLET_DAMAGE * pellets, fighter.owner, SHOTGUN, push(middle, pellets))
  }
}

/** Random spread; the same numbers wherever this fighter is stepped. */
function spread(world: World, fighter: FighterObject): number {
  return (world.random.float(fighter) + world.random.float(fighter) - 1) * SPREAD
}

/** The first thing that a ray hits, a wall or a fighter: id 0 is a wall. */
function strike(past: PastView, fighter: FighterObject, from: Vec3, direction: Vec3): { id: number; distance: number } {
  const reach = rayLength(from, direction, REACH)
  const cast: Cast = { from, direction, reach, ignore: fighter.owner }
  const hit = past.cast(cast)
  return hit === null ? { id: 0, distance: reach } : { id: hit.id, distance: hit.distance }
}

function launchRocket(world: World, fighter: FighterObject, tickRate: number): void {
  fighter.rockets--
  const from = eyeOf(fighter)
  const direction = lookOf(fighter.yaw, fighter.pitch)
  const at = along(from, direction, Math.min(MUZZLE, Math.max(rayLength(from, direction, MUZZLE) - 0.125, 0)))
  world.spawn(
    Rocket,
    { at, speed: push(direction, ROCKET_SPEED), diesAt: world.tick + ROCKET_SECONDS * tickRate },
    fighter.owner,
  )
  world.emit(fighter, Shot, { peer: fighter.owner, weapon: ROCKETS, from, to: at })
}

/** Moves rockets, and explodes those that hit something. */
export function flyRockets(world: World, seconds: number): void {
  for (const rocket of world.each(Rocket)) {
    const { at, speed } = rocket
    const pace = Math.sqrt(speed.x * speed.x + speed.y * speed.y + speed.z * speed.z)
    const direction = { x: speed.x / pace, y: speed.y / pace, z: speed.z / pace }
    const way = pace * seconds
    const free = rayLength(at, direction, way)
    const victim = struck(world, rocket, free, direction)
    at.x += direction.x * free
    at.y += direction.y * free
    at.z += direction.z * free
    if (victim === null && free >= way && world.tick < rocket.diesAt) continue
    if (victim !== null) hurt(world, victim, ROCKET_DAMAGE, rocket.owner, ROCKETS, push(direction, 7))
    // Slightly back, so that the blast does not begin inside the wall.
    explode(world, rocket, along(at, direction, -0.125), victim)
  }
}

/** The fighter that a rocket hits. A client checks only its own fighter, and not against its own rockets. */
function struck(
  world: World,
  { at, owner }: ObjectOf<typeof Rocket>,
  way: number,
  direction: Vec3,
): FighterObject | null {
  for (const fighter of world.each(Fighter)) {
    if (fighter.owner === owner) continue
    const x = fighter.at.x - at.x
    const z = fighter.at.z - at.z
    const y = fighter.at.y + BODY_HEIGHT / 2 - at.y
    const share = Math.max(0, Math.min(x * direction.x + y * direction.y + z * direction.z, way))
    const side = BODY_HALF + 0.125
    const isIn = Math.abs(x - direction.x * share) < side && Math.abs(z - direction.z * share) < side
    if (isIn && Math.abs(y - direction.y * share) < BODY_HEIGHT / 2 + 0.125) return fighter
  }
  return null
}

function explode(world: World, rocket: ObjectOf<typeof Rocket>, at: Vec3, struckOne: FighterObject | null): void {
  world.emit(rocket, Boom, { at })
  for (const fighter of world.each(Fighter)) {
    if (fighter.id === struckOne?.id) continue
    const share = nearness(at, { x: fighter.at.x, y: fighter.at.y + BODY_HEIGHT / 2, z: fighter.at.z })
    if (share <= 0) continue
    const isOwn = fighter.owner === rocket.owner
    const away = unit(fighter.at.x - at.x, fighter.at.y + BODY_HEIGHT * 0.75 - at.y, fighter.at.z - at.z)
    hurt(
      world,
      fighter,
      BLAST_DAMAGE * share * (isOwn ? 0.4 : 1),
      rocket.owner,
      ROCKETS,
      push(away, BLAST_PUSH * share),
    )
  }
  blowBalls(world, rocket, at, judge(world))
  world.despawn(rocket)
}

function along(from: Readonly<Vec3>, direction: Readonly<Vec3>, distance: number): Vec3 {
  return { x: from.x + direction.x * distance, y: from.y + direction.y * distance, z: from.z + direction.z * distance }
}

function push(direction: Vec3, speed: number): Vec3 {
  return { x: direction.x * speed, y: direction.y * speed, z: direction.z * speed }
}

function unit(x: number, y: number, z: number): Vec3 {
  const length = Math.sqrt(x * x + y * y + z * z)
  return length === 0 ? { x: 0, y: 1, z: 0 } : { x: x / length, y: y / length, z: z / length }
}
