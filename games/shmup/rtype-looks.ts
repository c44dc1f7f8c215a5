/**
 * How the shooter looks to R-Type clients: which object is which entity, with which components. This is all that the
 * game declares for its state; `RtypeWorldStream` does the rest.
 */

import type { World } from 'tickwire'
import { RTYPE, toRotation, type RtypeEntity } from 'tickwire/rtype'
import { wrecksAt } from './backdrop.ts'
import {
  BOSS, CARRIER, CHASER, DRONE, Enemy, Force, KAMIKAZE, ORBITER, PATROL, Pilot, Powerup, ROCK, Ship, Shot, TICK_RATE,
    WEAVER,
} from './definitions.ts'

const { AI, ENTITY, POWERUP } = RTYPE
/** Ids that no object and no player has: object ids count from below, and bots are few. */
const WRECKS_FROM = 0xf000_0000
const WRECKS = 0x10_0000
const BEHAVIOURS = new Map([
  [DRONE, AI.ATTACK_PATTERN_1], [WEAVER, AI.ATTACK_PATTERN_2], [ORBITER, AI.ATTACK_PATTERN_3], [CHASER, AI.CHASE],
  [KAMIKAZE, AI.KAMIKAZE], [PATROL, AI.PATROL], [CARRIER, AI.FLEE], [ROCK, AI.IDLE],
])

/** The behaviour of an enemy, as R-Type names it. */
export function behaviourOf(kind: number, phase: number): number {
  return kind === BOSS ? AI.BOSS_PHASE_1 + phase - 1 : (BEHAVIOURS.get(kind) ?? AI.IDLE)
}

const transform = (x: number, y: number, turn: number = 0): RtypeEntity['components'][number] => (
  { component: 'TRANSFORM', posX: Math.round(x), posY: Math.round(y), rotation: toRotation(turn), scale: 1000 }
)
const velocity = (x: number, y: number): RtypeEntity['components'][number] => (
  { component: 'VELOCITY', velX: Math.round(x), velY: Math.round(y), accelerationX: 0, accelerationY: 0 }
)
const byte = (part: number): number => Math.max(0, Math.min(255, Math.ceil(part * 255)))

/** All entities of a world. A ship has the id of its player. */
export function describeWorld(world: World, playerIdOf: (peer: number) => number): RtypeEntity[] {
  return [...ships(world, playerIdOf), ...forces(world, playerIdOf), ...enemies(world, playerIdOf), ...things(world)]
}

function* ships(world: World, playerIdOf: (peer: number) => number): Generator<RtypeEntity> {
  const bodies = new Map([...world.each(Ship)].map((ship) => [ship.owner, ship]))
  for (const pilot of world.each(Pilot)) {
    const ship = bodies.get(pilot.peer)
    if (ship === undefined || !ship.isUp) continue
    const { health, shield, level, readyAt, charge, isSafe } = pilot
    const cooldownRemainingMs = Math.max(0, Math.round(((readyAt - world.tick) * 1000) / TICK_RATE))
    yield {
      id: playerIdOf(pilot.peer), type: ENTITY.PLAYER, variant: pilot.hue, isPlayable: true,
      components: [
        transform(ship.x, ship.y), velocity(ship.vx, ship.vy),
        { component: 'HEALTH', currentHealth: health, maxHealth: 100, currentShield: shield, maxShield: 100 },
        { component: 'WEAPON', weaponType: charge > 0 ? 1 : 0, ammoCount: 255, cooldownRemainingMs, powerLevel: level },
        ...powerOf(ship.boost, isSafe),
      ],
    }
  }
}

/** The power-up that a ship has. Its remaining time would change in every tick, and the component with it. */
function powerOf(boost: number, isSafe: boolean): RtypeEntity['components'] {
  const power = (powerupType: number, powerLevel: number): RtypeEntity['components'] => (
    [{ component: 'POWERUP', powerupType, powerLevel, remainingMs: 0 }]
  )
  if (boost > 0) return power(POWERUP.SPEED_BOOST, boost)
  return isSafe ? power(POWERUP.INVINCIBILITY, 1) : []
}

function* forces(world: World, playerIdOf: (peer: number) => number): Generator<RtypeEntity> {
  for (const { id, x, y, peer, mode, level } of world.each(Force)) {
    yield {
      id, type: ENTITY.PROJECTILE_PLAYER, variant: 100, isPlayable: false,
      components: [
        transform(x, y),
        { component: 'FORCE', parentShipId: playerIdOf(peer), attachmentPoint: mode, forceLevel: level,
          chargeState: 0 },
      ],
    }
  }
}

function* enemies(world: World, playerIdOf: (peer: number) => number): Generator<RtypeEntity> {
  const targets = new Map([...world.each(Ship)].map((ship) => [ship.id as number, ship.owner as number]))
  for (const { id, x, y, kind, health, healthMax, phase, vx, vy, bornAt, target } of world.each(Enemy)) {
    const owner = targets.get(target)
    const elapsedMs = Math.min(65_535, Math.round(((world.tick - bornAt) * 1000) / TICK_RATE))
    yield {
      id, type: kind === BOSS ? ENTITY.ENEMY_BOSS : kind === ROCK ? ENTITY.OBSTACLE : ENTITY.ENEMY, variant: kind,
      isPlayable: false,
      components: [
        transform(x, y), velocity(vx, vy),
        { component: 'HEALTH', currentHealth: byte(health / healthMax), maxHealth: 255, currentShield: 0,
          maxShield: 0 },
        {
          component: 'AI', aiState: phase, behaviorType: behaviourOf(kind, phase),
          targetEntityId: owner === undefined ? 0 : playerIdOf(owner), elapsedMs,
        },
        { component: 'ANIMATION', animationId: kind, frame: Math.floor(world.tick / 6) % 8, elapsedMs: 0, flags: 1 },
      ],
    }
  }
}

function* things(world: World): Generator<RtypeEntity> {
  for (const { id, x, y, vx, vy, kind, by } of world.each(Shot)) {
    const type = by === 0 ? ENTITY.PROJECTILE_ENEMY : ENTITY.PROJECTILE_PLAYER
    const components = [transform(x, y, Math.atan2(vy, vx)), velocity(vx, vy)]
    yield { id, type, variant: kind, isPlayable: false, components }
  }
  for (const { id, x, y, kind } of world.each(Powerup)) {
    yield { id, type: ENTITY.POWERUP, variant: kind, isPlayable: false, components: [transform(x, y)] }
  }
  for (const { number, kind, x, y } of wrecksAt(world.tick)) {
    const id = WRECKS_FROM + (number % WRECKS)
    yield { id, type: ENTITY.BG_ELEMENT, variant: kind, isPlayable: false, components: [transform(x, y)] }
  }
}
