/** Collisions between objects, and their effects. All shapes are circles. */

import { math, type ObjectOf, type World } from 'tickwire'
import {
  Boom, BOSS, CARRIER, Enemy, EXTRA_LIFE, Force, FORCE_POWER, HEIGHT, INVINCIBILITY, Match, Pilot, Powerup, ROCK,
  SHIELD, Shot, Spark, SPEED_BOOST, TICK_RATE, WEAPON_UPGRADE,
} from './definitions.ts'
import { clamp, ENEMY_SCORE, ENEMY_SIZE } from './enemies.ts'
import { hurt, pick, score, type PilotObject, type ShipObject } from './ships.ts'
import { leave } from './shots.ts'

/** The power-ups that carriers drop, in turn. */
const DROPS = [
  FORCE_POWER, WEAPON_UPGRADE, SPEED_BOOST, SHIELD, INVINCIBILITY, EXTRA_LIFE, WEAPON_UPGRADE, FORCE_POWER,
]
const SHIP_SIZE = 13
const PICK_SIZE = 34
const FORCE_SIZE = 17
const ENEMY_HUES = [0, 20, 210, 150, 10, 190, 35, 30, 220]

interface Round {
  readonly x: number
  readonly y: number
}

const touches = (a: Round, b: Round, distance: number): boolean => {
  const [dx, dy] = [a.x - b.x, a.y - b.y]
  return dx * dx + dy * dy < distance * distance
}

/** Returns whether a boss died. */
export function collide(
  world: World, match: ObjectOf<typeof Match>, pilots: readonly PilotObject[], ships: ReadonlyMap<number, ShipObject>,
): boolean {
  let isBossDead = false
  const byPeer = new Map(pilots.map((pilot) => [pilot.peer, pilot]))
  const enemies = [...world.each(Enemy)]
  const forces = [...world.each(Force)]
  const gone = new Set<number>()
  const strike = (enemy: ObjectOf<typeof Enemy>, damage: number, peer: number): void => {
    enemy.health = Math.max(0, enemy.health - damage)
    enemy.hitUntil = world.tick + 5
    if (enemy.health > 0 || gone.has(enemy.id)) return
    gone.add(enemy.id)
    isBossDead ||= enemy.kind === BOSS
    destroy(world, match, enemy, byPeer.get(peer))
  }
  for (const shot of [...world.each(Shot)]) {
    if (shot.by === 0) {
      if (forces.some((force) => touches(force, shot, FORCE_SIZE + 6))) absorb(world, shot)
      continue
    }
    for (const enemy of enemies) {
      if (gone.has(enemy.id) || !touches(enemy, shot, ENEMY_SIZE[enemy.kind]! + 7)) continue
      // A beam goes through, and hits while it is inside.
      if (!shot.pierces || world.every(4)) strike(enemy, shot.pierces ? Math.ceil(shot.damage / 3) : shot.damage,
        shot.by)
      world.emit(enemy, Spark, { x: shot.x, y: shot.y, hue: 40 })
      if (shot.pierces) continue
      leave(world, shot, 3)
      break
    }
  }
  for (const force of forces) {
    if (!world.every(6)) break
    for (const enemy of enemies) {
      if (!gone.has(enemy.id) && touches(enemy, force, ENEMY_SIZE[enemy.kind]! + FORCE_SIZE)) strike(enemy,
        12 + 4 * force.level, force.peer)
    }
  }
  for (const pilot of pilots) {
    const ship = ships.get(pilot.peer)
    if (ship?.isUp === true) touchShip(world, pilot, ship, enemies.filter(({ id }) => !gone.has(id)), strike)
  }
  floatPowerups(world)
  return isBossDead
}

function touchShip(
  world: World, pilot: PilotObject, ship: ShipObject, enemies: readonly ObjectOf<typeof Enemy>[],
  strike: (enemy: ObjectOf<typeof Enemy>, damage: number, peer: number) => void,
): void {
  for (const shot of [...world.each(Shot)]) {
    if (shot.by !== 0 || !touches(ship, shot, SHIP_SIZE + 5)) continue
    hurt(world, pilot, ship, shot.id, shot.damage)
    leave(world, shot, 1)
  }
  for (const enemy of enemies) {
    if (!touches(ship, enemy, ENEMY_SIZE[enemy.kind]! + SHIP_SIZE - 4)) continue
    hurt(world, pilot, ship, enemy.id, 34)
    if (enemy.kind !== BOSS) strike(enemy, 40, pilot.peer)
  }
  for (const powerup of [...world.each(Powerup)]) {
    if (touches(ship, powerup, PICK_SIZE)) pick(world, pilot, ship, powerup)
  }
}

function absorb(world: World, shot: ObjectOf<typeof Shot>): void {
  world.emit(shot, Spark, { x: shot.x, y: shot.y, hue: 140 })
  leave(world, shot, 0)
}

function destroy(
  world: World, match: ObjectOf<typeof Match>, enemy: ObjectOf<typeof Enemy>, pilot: ObjectOf<typeof Pilot> | undefined,
): void {
  const { x, y, kind } = enemy
  const size = kind === BOSS ? 200 : ENEMY_SIZE[kind]! * 2
  world.emit(enemy, Boom, { x, y, size, hue: ENEMY_HUES[kind]! })
  if (pilot !== undefined) score(world, pilot, ENEMY_SCORE[kind]!, kind === BOSS ? 1 : 0)
  const isLucky = kind !== ROCK && (enemy.id * 7) % 11 === 0
  if (kind === CARRIER || isLucky) {
    const drop = DROPS[match.drops % DROPS.length]!
    match.drops = (match.drops + 1) % 0x1_0000
    world.spawn(Powerup, { x, y: clamp(y, 40, HEIGHT - 40), kind: drop, baseY: clamp(y, 40, HEIGHT - 40),
      bornAt: world.tick })
  }
  leave(world, enemy, 0)
}

function floatPowerups(world: World): void {
  for (const powerup of [...world.each(Powerup)]) {
    const age = (world.tick - powerup.bornAt) / TICK_RATE
    powerup.x -= 0.8
    powerup.y = powerup.baseY + 18 * math.sin(age * 2)
    if (powerup.x < -20) leave(world, powerup, 2)
    else if (age > 25) leave(world, powerup, 3)
  }
}
