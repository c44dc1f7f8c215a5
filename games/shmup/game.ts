/** The rules of the shooter: the same on the server, in the page, in bots and in tests. */

import { defineGame, type Game, type Inputs, type ObjectOf, type World } from 'tickwire'
import { collide } from './collision.ts'
import {
  Boom, CLEARED, Died, Enemy, Fired, Force, Gone, Hurt, input, join, Level, LOST, Match, PAUSE_SECONDS, Picked, Pilot,
  PLAYING, Powerup, Scored, Ship, Shot, Spark, TICK_RATE, WON,
} from './definitions.ts'
import { bringWaves, moveEnemies } from './enemies.ts'
import { actPilot, addPlayer, moveShip, score } from './ships.ts'
import { flyShots, leave } from './shots.ts'
import { STAGES } from './waves.ts'

export type ShmupGame = Game<typeof input, typeof join>
type MatchObject = ObjectOf<typeof Match>

const SECOND = TICK_RATE
const LEVEL_BONUS = 2000

/**
 * Makes the game. For tests and practice, it may begin with another level, 1 to 3, and leave out the first seconds of
 * the waves of each level.
 */
export function shmupGame(firstLevel: number = 1, skippedSeconds: number = 0): ShmupGame {
  return defineGame({
    tickRate: TICK_RATE,
    input,
    join,
    entities: [Ship, Pilot, Force, Enemy, Shot, Powerup, Match],
    messages: [Boom, Spark, Fired, Hurt, Died, Picked, Scored, Gone, Level],
    net: { snapshotRate: 30 },
    onJoin(world, peer, { name }) {
      if (world.count(Match) === 0) beginGame(world, world.spawn(Match, {}), firstLevel)
      addPlayer(world, peer.id, name.trim())
    },
    onLeave(world, peer) {
      for (const ship of world.each(Ship)) if (ship.owner === peer.id) world.despawn(ship)
      for (const pilot of [...world.each(Pilot)]) if (pilot.peer === peer.id) world.despawn(pilot)
      for (const force of [...world.each(Force)]) if (force.peer === peer.id) leave(world, force, 3)
    },
    step(world, inputs) {
      for (const ship of world.each(Ship)) moveShip(ship, inputs.of(ship.owner))
      // Only the authority has the match. Pages predict nothing but their ship.
      for (const match of world.each(Match)) stepMatch(world, match, inputs, firstLevel, skippedSeconds * SECOND)
    },
  })
}

export const game: ShmupGame = shmupGame()

function stepMatch(
  world: World, match: MatchObject, inputs: Inputs<typeof input>, firstLevel: number, skippedTicks: number,
): void {
  const forces = new Map([...world.each(Force)].map((force) => [force.peer, force]))
  const ships = new Map([...world.each(Ship)].map((ship) => [ship.owner, ship]))
  const pilots = [...world.each(Pilot)]
  if (pilots.length === 0) return sweep(world)
  for (const pilot of pilots) {
    const ship = ships.get(pilot.peer)
    if (ship !== undefined) actPilot(world, pilot, ship, forces.get(pilot.peer), inputs.of(pilot.peer))
  }
  flyShots(world)
  if (match.phase === PLAYING) bringWaves(world, match, pilots.length, skippedTicks)
  moveEnemies(world, match)
  const isBossDead = collide(world, match, pilots, ships)
  referee(world, match, pilots, ships, isBossDead, firstLevel)
}

function referee(
  world: World, match: MatchObject, pilots: readonly ObjectOf<typeof Pilot>[],
  ships: ReadonlyMap<number, ObjectOf<typeof Ship>>, isBossDead: boolean, firstLevel: number,
): void {
  const since = world.tick - match.phaseAt
  if (match.phase !== PLAYING) {
    if (since < PAUSE_SECONDS * SECOND) return
    if (match.phase === CLEARED) return beginLevel(world, match, match.level + 1)
    for (const pilot of pilots) Object.assign(pilot, { lives: 3, score: 0, level: 1, shield: 0, health: 100,
      backAt: 0 })
    for (const force of [...world.each(Force)]) leave(world, force, 4)
    return beginGame(world, match, firstLevel)
  }
  if (isBossDead) {
    match.hasBoss = false
    const seconds = Math.floor((world.tick - match.startedAt) / SECOND)
    for (const pilot of pilots) {
      score(world, pilot, LEVEL_BONUS, 3)
      if (ships.get(pilot.peer)?.isUp === true) score(world, pilot, 500, 4)
    }
    sweep(world)
    end(world, match, match.level === STAGES.length ? WON : CLEARED, seconds)
  } else if (pilots.every(({ peer, lives }) => lives === 0 && ships.get(peer)?.isUp !== true)) {
    end(world, match, LOST, Math.floor((world.tick - match.startedAt) / SECOND))
  }
}

function end(world: World, match: MatchObject, phase: number, seconds: number): void {
  match.phase = phase
  match.phaseAt = world.tick
  world.emit(match, Level, { level: match.level, state: phase, bonus: phase === LOST ? 0 : LEVEL_BONUS, seconds })
}

function beginGame(world: World, match: MatchObject, level: number): void {
  match.gameAt = world.tick
  beginLevel(world, match, level)
}

function beginLevel(world: World, match: MatchObject, level: number): void {
  sweep(world)
  Object.assign(match, { level, phase: PLAYING, startedAt: world.tick, phaseAt: world.tick, hasBoss: false })
  world.emit(match, Level, { level, state: PLAYING, bonus: 0, seconds: STAGES[level - 1]!.seconds })
}

/** Removes enemies, shots and power-ups. */
function sweep(world: World): void {
  for (const entity of [Enemy, Shot, Powerup] as const) {
    for (const object of [...world.each(entity)] as { readonly id: number; x: number; y: number }[]) leave(world,
      object, 4)
  }
}
