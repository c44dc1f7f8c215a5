/** How enemies come, move and fire. Angles are exact, so that a recorded match plays back. */

import { math, type ObjectOf, type World } from 'tickwire'
import {
  BOSS, BULLET, CARRIER, CHASER, DRONE, Enemy, HEIGHT, KAMIKAZE, Match, MISSILE, ORB, ORBITER, PATROL, ROCK, Ship,
    TICK_RATE,
  WEAVER, WIDTH,
} from './definitions.ts'
import { fireAt, leave } from './shots.ts'
import { STAGES } from './waves.ts'

type EnemyObject = ObjectOf<typeof Enemy>
type ShipObject = ObjectOf<typeof Ship>

const HEALTH = [20, 24, 30, 36, 16, 60, 40, 90, 1500]
/** Half of an enemy's size, by kind. */
export const ENEMY_SIZE: readonly number[] = [16, 16, 18, 18, 15, 22, 20, 26, 74]
export const ENEMY_SCORE: readonly number[] = [100, 120, 150, 180, 150, 250, 200, 80, 5000]
const SPEED = [190, 160, 120, 150, 130, 110, 120, 80, 70]
const SECOND = TICK_RATE

/** Spawns the enemies of the level that are due in this tick. */
export function bringWaves(
  world: World, match: ObjectOf<typeof Match>, players: number, skippedTicks: number,
): void {
  const since = world.tick - match.startedAt + skippedTicks
  for (const { at, kind, count, gap, y, step } of STAGES[match.level - 1]!.waves) {
    for (let index = 0; index < count; index++) {
      if (Math.round((at + index * gap) * SECOND) !== since) continue
      const crowd = kind === BOSS ? 0.5 + 0.5 * players : 1
      const most = Math.round(HEALTH[kind]! * (1 + 0.35 * (match.level - 1)) * crowd)
      const top = Math.min(HEIGHT - 30, y + step * index)
      world.spawn(Enemy, {
        x: WIDTH + 60, y: top, kind, health: most, healthMax: most, phase: kind === BOSS ? 1 : 0, homeX: WIDTH + 60,
        homeY: top, bornAt: world.tick, fireAt: world.tick + SECOND + ((index * 37) % 50),
      })
      if (kind === BOSS) match.hasBoss = true
    }
  }
}

/** Moves all enemies and lets them fire. */
export function moveEnemies(world: World, match: ObjectOf<typeof Match>): void {
  const ships = [...world.each(Ship)].filter(({ isUp }) => isUp)
  for (const enemy of [...world.each(Enemy)]) {
    enemy.isHit = world.tick < enemy.hitUntil
    const age = (world.tick - enemy.bornAt) / SECOND
    const target = nearest(enemy, ships)
    enemy.target = target?.id ?? 0
    const before = { x: enemy.x, y: enemy.y }
    move(enemy, age, target)
    enemy.vx = clamp((enemy.x - before.x) * SECOND, -999, 999)
    enemy.vy = clamp((enemy.y - before.y) * SECOND, -999, 999)
    if (world.tick >= enemy.fireAt && enemy.x < WIDTH && enemy.x > 40) shoot(world, enemy, age, target, match.level)
    if (enemy.x < -80 || enemy.y < -90 || enemy.y > HEIGHT + 90) leave(world, enemy, 2)
  }
}

function move(enemy: EnemyObject, age: number, target: ShipObject | undefined): void {
  const pace = SPEED[enemy.kind]! / SECOND
  switch (enemy.kind) {
    case WEAVER:
      enemy.x -= pace
      enemy.y = clamp(enemy.homeY + 80 * math.sin(age * 2.6), 20, HEIGHT - 20)
      break
    case ORBITER:
      enemy.homeX = Math.max(-100, enemy.homeX - pace)
      enemy.x = enemy.homeX + 60 * math.cos(age * 2.4)
      enemy.y = clamp(enemy.homeY + 60 * math.sin(age * 2.4), 20, HEIGHT - 20)
      break
    case CHASER:
      enemy.x -= pace * (enemy.x > 420 ? 1 : 0.6)
      enemy.y += clamp((target?.y ?? enemy.y) - enemy.y, -1.4, 1.4)
      break
    case KAMIKAZE: dive(enemy, age, target, pace); break
    case PATROL:
      if (enemy.x > WIDTH - 130 || age > 14) enemy.x -= pace
      else enemy.y = clamp(enemy.homeY + 110 * math.sin((age - 1.5) * 1.2), 30, HEIGHT - 30)
      break
    case CARRIER:
      // It flees from the players: back and forth, and then away.
      enemy.x -= age < 3 || age > 9 ? pace : pace * math.sin(age * 2) * 0.5
      enemy.y += clamp(enemy.y - (target?.y ?? 0), -0.5, 0.5) * (enemy.y > 60 && enemy.y < HEIGHT - 60 ? 1 : 0)
      break
    case BOSS: moveBoss(enemy, age); break
    default: enemy.x -= pace
  }
}

function dive(enemy: EnemyObject, age: number, target: ShipObject | undefined, pace: number): void {
  if (age < 1.1 || target === undefined) {
    enemy.x -= pace
    return
  }
  const faster = pace * Math.min(3.2, 1 + age * 0.8)
  const [dx, dy] = [target.x - enemy.x, target.y - enemy.y]
  const distance = Math.max(1, Math.sqrt(dx * dx + dy * dy))
  enemy.x += dx < 0 ? (dx / distance) * faster : -faster
  enemy.y += (dy / distance) * faster * 0.7
}

function moveBoss(enemy: EnemyObject, age: number): void {
  if (enemy.x > WIDTH - 150 && age < 4) enemy.x -= 1.4
  enemy.phase = enemy.health > enemy.healthMax * 0.66 ? 1 : enemy.health > enemy.healthMax * 0.33 ? 2 : 3
  const [wide, quick] = [[0, 120, 0.9], [0, 170, 1.3], [60, 190, 1.8]][enemy.phase - 1]!.slice(-2) as [number, number]
  enemy.y += clamp(HEIGHT / 2 + wide * math.sin(age * quick) - enemy.y, -3, 3)
  if (enemy.phase === 3 && age >= 4) {
    enemy.x += clamp(WIDTH - 190 + 90 * math.sin(age * 0.7) - enemy.x, -2, 2)
  }
}

function shoot(world: World, enemy: EnemyObject, age: number, target: ShipObject | undefined, level: number): void {
  const calm = 1.25 - level * 0.13
  const wait = (seconds: number): void => {
    enemy.fireAt = world.tick + Math.round(seconds * SECOND * calm)
  }
  const aimed = target === undefined ? math.atan2(0, -1) : math.atan2(target.y - enemy.y, target.x - enemy.x)
  switch (enemy.kind) {
    case WEAVER: case CHASER:
      fireAt(world, enemy, aimed, 210, BULLET)
      return wait(2.6)
    case ORBITER:
      fireAt(world, enemy, age * 2, 170, ORB)
      return wait(1.4)
    case PATROL:
      for (const turn of [-0.22, 0, 0.22]) fireAt(world, enemy, aimed + turn, 220, BULLET)
      return wait(2)
    case BOSS: return wait(bossFire(world, enemy, age, aimed))
    case DRONE: case KAMIKAZE: case CARRIER: case ROCK: return wait(60)
  }
}

/** Fires as its phase says, and returns the seconds until it fires again. */
function bossFire(world: World, enemy: EnemyObject, age: number, aimed: number): number {
  if (enemy.phase === 1) {
    for (let ray = -2; ray <= 2; ray++) fireAt(world, enemy, aimed + ray * 0.2, 220, BULLET)
    return 1.3
  }
  if (enemy.phase === 2) {
    for (let ray = 0; ray < 3; ray++) fireAt(world, enemy, age * 1.7 + (ray * 2 * Math.PI) / 3, 190, ORB)
    return 0.28
  }
  for (let ray = 0; ray < 12; ray++) fireAt(world, enemy, (ray * Math.PI) / 6 + age, 180, ORB)
  for (const turn of [-0.1, 0.1]) fireAt(world, enemy, aimed + turn, 300, MISSILE)
  return 1.15
}

function nearest(enemy: EnemyObject, ships: readonly ShipObject[]): ShipObject | undefined {
  let best: ShipObject | undefined
  let least = Infinity
  for (const ship of ships) {
    const distance = Math.abs(ship.x - enemy.x) + Math.abs(ship.y - enemy.y)
    if (distance < least) [best, least] = [ship, distance]
  }
  return best
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
