/**
 * Recorded matches of two ships and a rock, and the command line without a process. For tests of the commands that read
 * recordings.
 */

import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import {
  angle, bool, bytes, f32, group, i64, text, u16, u8, vec2,
} from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { defineGame, type Game } from '../../packages/tickwire/src/core/game/define-game.ts'
import { packed } from '../../packages/tickwire/src/core/codec/snapshot-codec.ts'
import { Recorder } from '../../packages/tickwire/src/core/replay/recorder.ts'
import type { RecordingCodec } from '../../packages/tickwire/src/core/replay/recording-head.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { createRecordingFile } from '../../packages/tickwire/src/node/recording-file.ts'
import { runTickwire } from '../../packages/tickwire/src/cli/run.ts'

export const Ship = entity(
  {
    place: vec2(-500, 500, 0.001),
    heading: angle(14),
    speed: f32,
    ammo: u16,
    name: text(20),
    shield: group({ hp: u8 }),
    coins: i64,
    seal: bytes(4),
    plan: u8.owner(),
  },
  { name: 'Ship' },
)
export const Rock = entity({ size: u8 }, { name: 'Rock' })
export const game = defineGame({ tickRate: 30, input: { fire: bool }, entities: [Ship, Rock], step: () => {} })
export const plain = defineGame({
  tickRate: 30, input: { fire: bool }, entities: [Ship, Rock], codec: packed, step: () => {},
})

export function record(
  of: Game<never> | typeof game,
  path: string,
  ticks: number,
  way = 0.37,
  beat = 7,
  codec: RecordingCodec = 'packed',
): void {
  const world = new World([Ship, Rock])
  const file = createRecordingFile(path)
  const recorder = new Recorder(of, world, { sink: file, codec, startedAt: 1_800_000_000, now: () => world.tick * 33 })
  for (let tick = 1; tick <= ticks; tick++) {
    world.beginTick()
    if (tick === 1) {
      for (const owner of [1, 2])
        world.spawn(Ship, { name: `s${owner}`, speed: 1, ammo: 900, coins: 7n, seal: Uint8Array.of(1, 255) }, owner)
      world.spawn(Rock, { size: 9 })
      recorder.note('joined', 1)
      recorder.note('mark', 0, 'round 1')
      recorder.note('received', 2, Uint8Array.of(0, 1))
    }
    for (const ship of world.each(Ship)) {
      ship.heading += 0.03
      ship.place.x += way
      ship.speed = 1 + (tick % beat) / 10
      if (tick % 10 === 0) ship.ammo--
    }
    world.endTick()
    recorder.packet('sent', 2, new Uint8Array(30), 30)
    recorder.tick()
  }
  recorder.close()
  file.close()
}

export function tickwire(...args: string[]): { code: number; out: string; err: string } {
  const said = { out: '', err: '' }
  const code = runTickwire(args, {
    print: (line) => { said.out += `${line}\n` },
    complain: (line) => { said.err += `${line}\n` },
    nowSeconds: () => 0,
    entropy: { fill: () => {} },
  })
  return { code, ...said }
}
