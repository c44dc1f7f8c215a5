/**
 * Small matches whose recordings are the vectors of docs/wire/RECORDING.md. They have every part of a file once.
 */

import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { angle, bool, fixed, int, u8, vec2 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { Recorder, type RecorderOptions } from '../../packages/tickwire/src/core/replay/recorder.ts'
import { MemorySink } from '../../packages/tickwire/src/core/replay/recording-memory.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { gameOf } from './recording-games.ts'

const Ball = entity(
  { x: fixed(0, 640, 0.1), up: bool, hp: u8.initially(9), secret: int(0, 5).server(), ammo: int(0, 100).owner() },
  { name: 'Ball' },
)
const Rover = entity(
  {
    at: vec2(0, 100, 0.01).position(),
    speed: vec2(-8, 8, 0.05).velocity(),
    yaw: angle(10),
    fuel: int(0, 100),
    isLit: bool,
    plan: u8.server(),
  },
  { name: 'Rover' },
)
const Spark = entity({ left: int(0, 7) }, { name: 'Spark' })

/** A match in which objects spawn, move, change owners and despawn. */
function ballGame(options: Partial<RecorderOptions>, ticks: number, isClosed = true): Uint8Array {
  const world = new World([Ball, Spark], { seed: 7 })
  const sink = new MemorySink()
  const now = (): number => world.tick * 99.5
  const recorder = new Recorder(gameOf([Ball, Spark]), world, { sink, flushMs: 300, keyMs: 600, now, ...options })
  const heap = new ValueHeap()
  for (let tick = 1; tick <= ticks; tick++) {
    world.beginTick()
    if (tick === 1 || tick === 4) world.spawn(Ball, { x: 100, secret: 3, ammo: 50 }, tick)
    if (tick === 2) for (let count = 0; count < 10; count++) world.spawn(Spark, { left: 5 })
    for (const ball of world.each(Ball)) {
      ball.x += tick * tick
      ball.up = tick % 3 === 0
      if (tick === 6) world.setOwner(ball, 77)
    }
    for (const spark of world.each(Spark)) if (tick > 4 && (spark.left -= 1) < 2) world.despawn(spark)
    if (tick === 5) world.prng.nextU32()
    if (tick > 1) recorder.input(1, Int32Array.of(tick % 4), 0, heap, tick === 4)
    if (tick > 3 && tick < 7) recorder.input(300, Int32Array.of(10), 0, heap, true)
    if (tick === 3) recorder.note('joined', 1)
    if (tick === 5) recorder.note('mark', 0, 'runde ü')
    recorder.packet(tick % 2 === 0 ? 'sent' : 'received', 1, Uint8Array.of(tick, 2, 3), 3)
    world.endTick()
    recorder.tick()
  }
  recorder.note('left', 300, 'timed out')
  if (isClosed) recorder.close()
  else recorder.flush()
  return sink.bytes()
}

/** A match of objects that move by rates, move without, jump, and rest. */
function roverGame(options: Partial<RecorderOptions>, ticks: number): Uint8Array {
  const world = new World([Rover], { seed: 3 })
  const sink = new MemorySink()
  const recorder = new Recorder(gameOf([Rover]), world, { sink, ...options })
  for (let tick = 1; tick <= ticks; tick++) {
    world.beginTick()
    if (tick === 1)
      for (let count = 0; count < 3; count++) world.spawn(Rover, { at: { x: 30 * count, y: 50 }, fuel: 100 - count })
    ;[...world.each(Rover)].forEach((rover, at) => {
      const isResting = (tick + 9 * at) % 20 > 13
      if (tick % 7 === at) rover.speed = { x: isResting ? 0 : tick / 10, y: isResting ? 0 : 1.5 - at }
      rover.at = {
        x: (rover.at.x + rover.speed.x / 10 + 100) % 100,
        y: Math.abs(rover.at.y + rover.speed.y / 10) % 100,
      }
      if (!isResting) rover.yaw += 0.1 * (at - 1)
      rover.isLit = tick % 11 === 0 ? !rover.isLit : rover.isLit
      if (tick % 17 === 16) rover.at = { x: (tick * 37) % 100, y: (tick * 53) % 100 }
      if (world.prng.nextInt(0, 9) === 0) rover.fuel -= 1
      if (tick === 25 && at === 1) world.despawn(rover)
    })
    if (tick === 28) world.spawn(Rover, { at: { x: 1, y: 2 } }, 9)
    world.endTick()
    recorder.tick()
  }
  recorder.close()
  return sink.bytes()
}

/** By name. */
export const SCENES: Readonly<Record<string, () => Uint8Array>> = {
  'nothing happened': () => ballGame({}, 0),
  'everything, closed': () => ballGame({ startedAt: 1_800_000_000 }, 9),
  'everything, not closed': () => ballGame({}, 5, false),
  'what everyone may see': () => ballGame({ fields: 'all' }, 4),
  'what the owner may see': () => ballGame({ fields: 'owner' }, 4),
  'range-coded: nothing happened': () => ballGame({ codec: 'entropy' }, 0),
  'range-coded: everything, closed': () => ballGame({ codec: 'entropy' }, 16),
  'range-coded: everything, not closed': () => ballGame({ codec: 'entropy' }, 5, false),
  'range-coded: what everyone may see': () => ballGame({ codec: 'entropy', fields: 'all' }, 8),
  'range-coded: what moves': () => roverGame({ codec: 'entropy', keyMs: 3000, flushMs: 1000 }, 40),
}
