/** The rules of the arena: the same on the server, in the page, in bots and in tests. */

import { defineGame, profiles, type Game } from 'tickwire'
import { blowAway, handOut, rollBalls } from './balls.ts'
import { judge } from './damage.ts'
import {
  Ball, Boom, Chat, Fighter, hitboxes, Hurt, input, Item, join, Kill, Launched, Match, Picked, Ping, Rename, Rocket,
  Said, Seat, Shot,
} from './definitions.ts'
import { moveFighter } from './movement.ts'
import { furnish, referee, seat, type MatchLimits } from './rules.ts'
import { fire, flyRockets } from './weapons.ts'

export interface ArenaOptions {
  readonly tickRate?: number
  readonly limits?: MatchLimits
}

export const TICK_RATE = 128
export const LIMITS: MatchLimits = { frags: 25, seconds: 600 }
export type ArenaGame = Game<typeof input, typeof join>

/** Makes the game; both sides must make it with the same tick rate. */
export function arenaGame({ tickRate = TICK_RATE, limits = LIMITS }: ArenaOptions = {}): ArenaGame {
  const seconds = 1 / tickRate
  return defineGame({
    ...profiles.arena,
    tickRate,
    // At 200 ms, a page sees what was 250 to 400 ms before the tick in which its shot is judged: the round trip, the
    // interpolation delay and the input lead.
    net: {
      ...profiles.arena.net,
      snapshotRate: tickRate,
      teleport: 3,
      interpolationMsMin: Math.min(1000 / tickRate, 20),
      rewindMs: 500,
      rewindsPerTick: 32,
    },
    input,
    join,
    entities: [Seat, Fighter, Rocket, Item, Ball, Match, Ping],
    messages: [Rename, Chat, Said, Kill, Shot, Hurt, Boom, Picked, Launched],
    hitboxes,
    onJoin(world, peer, { name }) {
      furnish(world, limits, tickRate)
      seat(world, peer, name)
    },
    step(world, inputs) {
      for (const fighter of world.each(Fighter)) {
        const held = inputs.of(fighter.owner)
        moveFighter(world, fighter, held, seconds)
        fighter.weapon = held.weapon
        if (held.fire) fire(world, fighter, tickRate)
      }
      flyRockets(world, seconds)
      rollBalls(world, seconds)
      const match = judge(world)
      if (match === undefined) return
      blowAway(world, match)
      handOut(world)
      referee(world, match, inputs, limits, tickRate)
    },
  })
}

export const game: ArenaGame = arenaGame()
