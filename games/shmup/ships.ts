/** Ships: movement (predicted by pages), weapons, the Force, and what hits do to them. */

import type { ObjectOf, ViewOf, World } from 'tickwire'
import {
  BEAM, Boom, Died, EXTRA_LIFE, Force, FORCE_BACK, FORCE_DETACHED, FORCE_FRONT, FORCE_ORBITING, FORCE_POWER, HEIGHT,
    Hurt,
  input, INVINCIBILITY, Picked, Pilot, Powerup, Scored, SHIELD, Ship, SPEED_BOOST, STICK, TICK_RATE, WEAPON_UPGRADE,
    WIDTH,
} from './definitions.ts'
import { clamp } from './enemies.ts'
import { firePlayer, leave, volleyOf } from './shots.ts'

export type ShipObject = ObjectOf<typeof Ship>
export type PilotObject = ObjectOf<typeof Pilot>
type Held = ViewOf<typeof input>

const PACE = 270
/** Ships stay above the names and bars at the bottom. */
const FLOOR = 72
const SECOND = TICK_RATE
const HUES = [140, 24, 200, 85]

/** Where a new ship begins. A player without a name gets one by its place. */
export function addPlayer(world: World, peer: number, name: string): void {
  const seat = world.count(Pilot)
  world.spawn(Ship, { x: 120, y: 110 + seat * 105 }, { id: peer })
  world.spawn(Pilot, {
    peer, name: name === '' ? `Player ${seat + 1}` : name, hue: HUES[seat % HUES.length]!, lives: 3, level: 1,
    safeUntil: world.tick + 3 * SECOND, isSafe: true,
  })
}

/** Moves a ship by the input of its player. The page runs this too. */
export function moveShip(ship: ShipObject, held: Held): void {
  if (!ship.isUp) return
  const pace = PACE * (1 + ship.boost * 0.15)
  let [side, rise] = [held.side / STICK, held.rise / STICK]
  const length = Math.sqrt(side * side + rise * rise)
  if (length > 1) [side, rise] = [side / length, rise / length]
  // Ships have a little weight: they reach their speed within a few ticks.
  ship.vx += (side * pace - ship.vx) * 0.35
  ship.vy += (rise * pace - ship.vy) * 0.35
  ship.x = clamp(ship.x + ship.vx / SECOND, 24, WIDTH - 60)
  ship.y = clamp(ship.y + ship.vy / SECOND, 24, HEIGHT - FLOOR)
}

/** Weapons, timers and the Force of one player. */
export function actPilot(world: World, pilot: PilotObject, ship: ShipObject,
  force: ObjectOf<typeof Force> | undefined, held: Held): void {
  pilot.isSafe = world.tick < pilot.safeUntil
  if (ship.boost > 0 && world.tick >= pilot.boostUntil) ship.boost = 0
  if (!ship.isUp) {
    if (pilot.lives > 0 && world.tick >= pilot.backAt) revive(world, pilot, ship)
    return
  }
  if (force !== undefined) moveForce(force, pilot, ship, held)
  pilot.wasSpecial = held.special
  if (held.charge) pilot.charge = Math.min(100, pilot.charge + 2)
  else if (pilot.wasCharging && pilot.charge >= 25) {
    const beam = { kind: BEAM, damage: Math.round(pilot.charge * 1.4), vy: 0, dy: 0, isBackwards: false }
    firePlayer(world, ship.id, pilot.peer, ship.x + 30, ship.y, beam)
  }
  if (!held.charge) pilot.charge = 0
  pilot.wasCharging = held.charge
  if (force !== undefined) force.isFiring = held.fire
  if (!held.fire || held.charge || world.tick < pilot.readyAt) return
  pilot.readyAt = world.tick + 9
  for (const volley of volleyOf(pilot.level, false)) firePlayer(world, ship.id, pilot.peer, ship.x + 22, ship.y, volley)
  if (force === undefined) return
  const [first] = volleyOf(1, force.mode === FORCE_BACK)
  firePlayer(world, force.id, pilot.peer, force.x, force.y, first!)
}

function moveForce(force: ObjectOf<typeof Force>, pilot: PilotObject, ship: ShipObject, held: Held): void {
  const isPressed = held.special && !pilot.wasSpecial
  if (isPressed && force.mode !== FORCE_DETACHED) {
    force.goalX = clamp(ship.x + (force.mode === FORCE_BACK ? -260 : 380), 30, WIDTH - 40)
    force.mode = FORCE_DETACHED
  } else if (isPressed) force.mode = FORCE_ORBITING
  const [goalX, goalY] = force.mode === FORCE_DETACHED ? [force.goalX, force.y + (ship.y - force.y) * 0.04] : [ship.x,
    ship.y]
  if (force.mode === FORCE_FRONT || force.mode === FORCE_BACK) {
    force.x = ship.x + (force.mode === FORCE_FRONT ? 34 : -34)
    force.y = ship.y
    return
  }
  force.x += clamp(goalX - force.x, -9, 9)
  force.y += clamp(goalY - force.y, -9, 9)
  const isNear = Math.abs(force.x - ship.x) < 36 && Math.abs(force.y - ship.y) < 30
  if (force.mode === FORCE_ORBITING && isNear) force.mode = force.x >= ship.x ? FORCE_FRONT : FORCE_BACK
}

function revive(world: World, pilot: PilotObject, ship: ShipObject): void {
  ship.isUp = true
  ship.x = 100
  ship.y = HEIGHT / 2
  ship.vx = 0
  ship.vy = 0
  pilot.health = 100
  pilot.safeUntil = world.tick + 3 * SECOND
}

/** A ship is hit by an enemy, or by a shot of one. */
export function hurt(world: World, pilot: PilotObject, ship: ShipObject, by: number, damage: number): void {
  if (world.tick < pilot.safeUntil) return
  const absorbed = Math.min(pilot.shield, damage)
  pilot.shield -= absorbed
  pilot.health = Math.max(0, pilot.health - (damage - absorbed))
  pilot.safeUntil = world.tick + Math.round(0.5 * SECOND)
  const { x, y } = ship
  world.emit(ship, Hurt, { peer: pilot.peer, by, damage, health: pilot.health, shield: pilot.shield, x, y })
  score(world, pilot, -10, 5)
  if (pilot.health > 0) return
  world.emit(ship, Died, { peer: pilot.peer, by, score: pilot.score, x, y })
  world.emit(ship, Boom, { x, y, size: 60, hue: pilot.hue })
  ship.isUp = false
  pilot.lives = Math.max(0, pilot.lives - 1)
  pilot.level = Math.max(1, pilot.level - 1)
  pilot.charge = 0
  pilot.backAt = world.tick + 2 * SECOND
}

/** Changes a score; 0 is the least. */
export function score(world: World, pilot: PilotObject, delta: number, reason: number): void {
  const before = pilot.score
  pilot.score = Math.max(0, before + delta)
  if (pilot.score !== before) {
    world.emit(pilot, Scored, { peer: pilot.peer, score: pilot.score, delta: pilot.score - before, reason })
  }
}

/** A ship takes a power-up. */
export function pick(world: World, pilot: PilotObject, ship: ShipObject, powerup: ObjectOf<typeof Powerup>): void {
  const { kind, x, y, id } = powerup
  let seconds = 0
  if (kind === SPEED_BOOST) {
    seconds = 10
    ship.boost = Math.min(3, ship.boost + 1)
    pilot.boostUntil = world.tick + seconds * SECOND
  } else if (kind === WEAPON_UPGRADE) pilot.level = Math.min(5, pilot.level + 1)
  else if (kind === SHIELD) pilot.shield = Math.min(100, pilot.shield + 50)
  else if (kind === EXTRA_LIFE) pilot.lives = Math.min(9, pilot.lives + 1)
  else if (kind === INVINCIBILITY) {
    seconds = 8
    pilot.safeUntil = world.tick + seconds * SECOND
  } else if (kind === FORCE_POWER) giveForce(world, pilot, ship)
  world.emit(ship, Picked, { peer: pilot.peer, kind, x, y, id, seconds })
  score(world, pilot, 50, 2)
  leave(world, powerup, 0)
}

function giveForce(world: World, pilot: PilotObject, ship: ShipObject): void {
  for (const force of world.each(Force)) {
    if (force.peer !== pilot.peer) continue
    force.level = Math.min(5, force.level + 1)
    return
  }
  world.spawn(Force, { x: ship.x + 34, y: ship.y, peer: pilot.peer, mode: FORCE_FRONT, level: 1 })
}
