/**
 * A page that draws a match of eight bots of the arena, faster than real time, for the test of its GPU objects. It has
 * the picture and the effects of the arena.
 */

import { createMatchHost } from 'tickwire/engine'
import { createBot } from '../../games/arena/bots.ts'
import { Boom, Fighter, Kill, RAIL, Shot, SHOTGUN } from '../../games/arena/definitions.ts'
import { arenaGame } from '../../games/arena/game.ts'
import { Picture } from '../../games/arena/page/picture.ts'
import { countGpuObjects } from './gpu-objects.ts'

const BOTS = 8
/** Time of the match between two draws, and the shorter one that effects are drawn with, so that each is seen. */
const DRAW_MS = 150
const EFFECTS_MS = 50

const counts = countGpuObjects()
const settings = { name: '', sensitivity: 1, fov: 100, volume: 0, hasGlow: false, isInverted: false, hasSeenKeys: true }
const picture = new Picture(document.querySelector('canvas')!, settings)
let seed = 1
const { rooms, host } = createMatchHost(arenaGame(), {
  role: 'local',
  entropy: {
    fill: (bytes) => { for (let at = 0; at < bytes.length; at++) bytes[at] = seed = (seed * 75 + 74) % 65_537 },
  },
})
for (let bot = 0; bot < BOTS; bot++) host.addBot(createBot(bot, host.game.tickRate))
let now = 0
let kills = 0
host.onEvent(Shot, ({ weapon, from, to }) => {
  if (weapon === RAIL) picture.effects.rail(from, to, 0xffffff)
  if (weapon === SHOTGUN) picture.effects.tracer(from, to)
})
host.onEvent(Boom, ({ at }) => picture.effects.explosion(at))
host.onEvent(Kill, ({ at }) => {
  kills++
  picture.effects.burst(at, 0xff8040)
})

/** Plays and draws so many seconds of the match. */
function play(seconds: number): { kills: number; fighters: number; alive: number } {
  for (const until = now + seconds * 1000; now < until;) {
    now += DRAW_MS
    rooms.tick(now)
    const place = { x: 0, y: 24, z: 30 }
    picture.draw(host.draw(), { eyesOf: 0, yaw: 0, pitch: -0.6, place, weapon: 0, isArmed: false }, EFFECTS_MS / 1000)
  }
  return { kills, fighters: host.world.count(Fighter), alive: counts.made - counts.deleted }
}

Object.assign(globalThis, { crowd: { play, picture } })
