/** Small matches whose recordings are the vectors of docs/wire/RECORDING.md: everything in a file, and nothing twice. */

import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool, fixed, int, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { Recorder, type RecorderOptions } from '../../packages/tickwire/src/core/replay/recorder.ts'
import { MemorySink } from '../../packages/tickwire/src/core/replay/recording-memory.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { gameOf } from './recording-games.ts'

const Ball = entity({ x: fixed(0, 640, 0.1), up: bool, hp: u8.initially(9), secret: int(0, 5).server(), ammo: int(0, 100).owner() }, { name: 'Ball' })
const Spark = entity({ left: int(0, 7) }, { name: 'Spark' })

/** A match in which objects are born, move, change hands and die. */
function ballGame(options: Partial<RecorderOptions>, ticks: number, isClosed = true): Uint8Array {
  const world = new World([Ball, Spark], { seed: 7 })
  const sink = new MemorySink()
  const recorder = new Recorder(gameOf([Ball, Spark]), world, { sink, flushMs: 300, keyMs: 600, ...options })
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
    recorder.packet(tick * 99.5, tick % 2 === 0 ? 'sent' : 'received', 1, Uint8Array.of(tick, 2, 3), 3)
    world.endTick()
    recorder.tick()
  }
  recorder.note('left', 300, 'timed out')
  if (isClosed) recorder.close()
  else recorder.flush()
  return sink.bytes()
}

/** By name. */
export const SCENES: Readonly<Record<string, () => Uint8Array>> = {
  'nothing happened': () => ballGame({}, 0),
  'everything, closed': () => ballGame({ startedAt: 1_800_000_000 }, 9),
  'everything, not closed': () => ballGame({}, 5, false),
  'what everyone may see': () => ballGame({ fields: 'all' }, 4),
  'what the owner may see': () => ballGame({ fields: 'owner' }, 4),
}
