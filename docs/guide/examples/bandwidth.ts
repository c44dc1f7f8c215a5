/**
 * The code of docs/guide/bandwidth.md: one battle, declared twice. It is compiled with the tests.
 * tools/capture-bandwidth.ts plays it and writes the tables of the profiler beside this file.
 * test/reference/bandwidth-docs.test.ts checks that the tables are up to date.
 */

import {
  angle, bool, defineGame, entity, f32, fixed, int, math, Recorder, text, u32, u8, World, type Game,
} from 'tickwire'
import { MemorySink } from 'tickwire/engine'

// #region before
export const Loose = entity({
  x: f32, y: f32, heading: f32, turret: f32, speed: f32,
  hp: u32, ammo: u32, isHidden: bool, name: text(20),
}, { name: 'Tank' })
// #endregion

// #region after
export const Tight = entity(
  {
    x: fixed(-500, 500, 0.02),
    y: fixed(-500, 500, 0.02),
    heading: angle(10),
    turret: angle(8),
    speed: fixed(-10, 10, 0.1),
    hp: u8,
    ammo: int(0, 60).owner(),
    isHidden: bool,
    name: text(20),
  },
  { name: 'Tank' },
)
// #endregion

const TICK_RATE = 60
const TANKS = 24
const SECONDS = 20

interface Tank {
  readonly id: number
  x: number
  y: number
  heading: number
  turret: number
  speed: number
  hp: number
  ammo: number
}

/** Drives, turns, looks about and shoots. */
function drive(world: World, tank: Tank): void {
  const { random } = world
  if (random.int(tank, 0, 90) === 0) tank.speed = random.int(tank, 0, 2) === 0 ? 0 : 4 + random.float(tank) * 4
  if (tank.speed > 0) tank.heading += math.sin(world.tick / 40 + tank.id) * 0.02
  tank.turret += math.sin(world.tick / 25 + tank.id / 7) * 0.05
  tank.x += (math.cos(tank.heading) * tank.speed) / TICK_RATE
  tank.y += (math.sin(tank.heading) * tank.speed) / TICK_RATE
  if (random.int(tank, 0, 120) === 0) tank.ammo = tank.ammo === 0 ? 60 : tank.ammo - 1
  if (random.int(tank, 0, 300) === 0) tank.hp = Math.max(0, tank.hp - 10)
}

/** The battle as a recording. */
export function recordBattle(Kind: typeof Loose | typeof Tight, seed = 4, snapshotRate = 30): Uint8Array {
  const game: Game = defineGame({
    tickRate: TICK_RATE,
    input: { fire: bool },
    entities: [Kind],
    net: { snapshotRate },
    step: () => {},
  })
  const world = new World([Kind], { seed })
  const sink = new MemorySink()
  const recorder = new Recorder(game, world, { sink })
  for (let count = 0; count < TANKS; count++) {
    world.spawn(
      Kind as typeof Tight,
      { x: (count % 6) * 60 - 150, y: Math.floor(count / 6) * 60 - 90, hp: 100, ammo: 60, name: `tank ${count}` },
      count + 1,
    )
  }
  while (world.tick < TICK_RATE * SECONDS) {
    world.beginTick()
    for (const tank of world.each(Kind as typeof Tight)) drive(world, tank)
    world.endTick()
    recorder.tick()
  }
  recorder.close()
  return sink.bytes()
}
