import { expect, test } from 'vitest'
import { World } from 'tickwire'
import { RTYPE } from 'tickwire/rtype'
import {
  BOSS, CARRIER, CHASER, DRONE, Enemy, KAMIKAZE, Match, ORBITER, PATROL, ROCK, Ship, Shot, TICK_RATE, WEAVER, WIDTH,
} from './definitions.ts'
import { moveEnemies } from './enemies.ts'
import { behaviourOf } from './rtype-looks.ts'

const SHIP = { x: 200, y: 300 }
const HOME = { x: 700, y: 200 }

interface Place {
  readonly x: number
  readonly y: number
}

/** The places of an enemy, one for each tick, while a ship waits at one place. */
function placesOf(kind: number, seconds: number, home: Place = HOME, health: number = 100): Place[] {
  const world = new World([Enemy, Match, Ship, Shot])
  const match = world.spawn(Match, { level: 1 })
  world.spawn(Ship, SHIP)
  const { id } = world.spawn(Enemy, {
    ...home, kind, health, healthMax: 100, homeX: home.x, homeY: home.y, phase: kind === BOSS ? 1 : 0, fireAt: 100_000,
  })
  const places: Place[] = []
  for (let tick = 0; tick < seconds * TICK_RATE; tick++) {
    world.beginTick()
    moveEnemies(world, match)
    world.endTick()
    const enemy = world.get(Enemy, id)
    if (enemy === null) break
    places.push({ x: enemy.x, y: enemy.y })
  }
  return places
}

const spread = (numbers: readonly number[]): number => Math.max(...numbers) - Math.min(...numbers)
const stepsOf = (places: readonly Place[]): number[] => places.slice(1).map(({ x }, at) => x - places[at]!.x)

test('[SHMUP9] enemies of a straight line, a wave and a circle keep to it', () => {
  expect([DRONE, WEAVER, ORBITER].map((kind) => behaviourOf(kind, 0)))
    .toEqual([RTYPE.AI.ATTACK_PATTERN_1, RTYPE.AI.ATTACK_PATTERN_2, RTYPE.AI.ATTACK_PATTERN_3])
  const line = placesOf(DRONE, 3)
  expect(spread(line.map(({ y }) => y))).toBe(0)
  expect(Math.max(...stepsOf(line))).toBeLessThan(0)
  expect(spread(stepsOf(line))).toBeLessThan(0.3)
  const wave = placesOf(WEAVER, 3)
  expect(spread(stepsOf(wave))).toBeLessThan(0.3)
  wave.forEach(({ y }, tick) =>
    expect(Math.abs(y - HOME.y - 80 * Math.sin((tick + 1) / TICK_RATE * 2.6)), `tick ${tick}`).toBeLessThan(0.3))
  const circle = placesOf(ORBITER, 3)
  circle.forEach(({ x, y }, tick) => {
    const middle = HOME.x - (tick + 1) * 120 / TICK_RATE
    expect(Math.hypot(x - middle, y - HOME.y), `tick ${tick}`).toBeCloseTo(60, -0.3)
  })
})

test('[SHMUP9] a chaser lines up with the ship, a kamikaze dives into it, and a carrier flees', () => {
  expect([CHASER, KAMIKAZE, CARRIER].map((kind) => behaviourOf(kind, 0)))
    .toEqual([RTYPE.AI.CHASE, RTYPE.AI.KAMIKAZE, RTYPE.AI.FLEE])
  expect(Math.abs(placesOf(CHASER, 2).at(-1)!.y - SHIP.y)).toBeLessThan(2)
  const least = Math.min(...placesOf(KAMIKAZE, 5).map(({ x, y }) => Math.hypot(x - SHIP.x, y - SHIP.y)))
  expect(least).toBeLessThan(20)
  // The ship is below the carrier, so it goes up.
  const fleeing = placesOf(CARRIER, 4)
  expect(fleeing.at(-1)!.y).toBeLessThan(HOME.y - 60)
  const leaving = placesOf(CARRIER, 60)
  expect(leaving.length).toBeLessThan(60 * TICK_RATE)
})

test('[SHMUP9] a patrol stays at its line and goes up and down, a rock only drifts', () => {
  expect([PATROL, ROCK].map((kind) => behaviourOf(kind, 0))).toEqual([RTYPE.AI.PATROL, RTYPE.AI.IDLE])
  const patrol = placesOf(PATROL, 12, { x: WIDTH - 130, y: 270 })
  expect(spread(patrol.map(({ x }) => x))).toBeLessThan(3)
  expect(spread(patrol.map(({ y }) => y))).toBeGreaterThan(200)
  const rock = placesOf(ROCK, 3)
  expect(spread(rock.map(({ y }) => y))).toBe(0)
  expect(spread(rock.map(({ x }) => x))).toBeGreaterThan(200)
})

test('[SHMUP9] a boss moves in three ways, by what is left of its health', () => {
  expect([1, 2, 3].map((phase) => behaviourOf(BOSS, phase)))
    .toEqual([RTYPE.AI.BOSS_PHASE_1, RTYPE.AI.BOSS_PHASE_2, RTYPE.AI.BOSS_PHASE_3])
  const [first, second, third] = [90, 50, 20].map((health) => placesOf(BOSS, 20, { x: WIDTH - 150, y: 270 }, health))
  const [one, two, three] = [first!, second!, third!].map((places) => spread(places.map(({ y }) => y)))
  expect(one).toBeGreaterThan(200)
  expect(two).toBeGreaterThan(one! + 50)
  expect(three).toBeGreaterThan(one!)
  // Only in its last phase does it leave its place at the right.
  const wander = [first!, second!, third!].map((places) => spread(places.map(({ x }) => x)))
  expect(wander[0]).toBeLessThan(5)
  expect(wander[1]).toBeLessThan(5)
  expect(wander[2]).toBeGreaterThan(100)
})
