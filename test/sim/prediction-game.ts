/**
 * A small game for tests of prediction: runners, stones that they throw, and objects that a client cannot predict.
 */

import {
  bool, defineGame, entity, fixed, message, ref, u16, u8, type Game, type NetSettings, type Entity, type Predict,
} from 'tickwire'

export const Runner = entity({
  x: fixed(0, 1000, 0.1).position(), y: fixed(0, 1000, 0.1), throws: u16.owner(), cool: u8.local(), last: ref(),
}, { name: 'Runner' })
export const Stone = entity({ x: fixed(0, 1000, 0.1), born: u16 }, { name: 'Stone' })
/** Only the authority simulates it: clients do not, and `step` does not read it from the view. */
export const Wall = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Wall' })
export const Thud = message({ number: u16 }, 'Thud', { delivery: 'unordered' })

const INPUT = { right: bool, left: bool, throw: bool, jump: bool }
export type RunnerInput = typeof INPUT

export function makeRunners(
  options: {
    net?: Partial<NetSettings>
    tickRate?: number
    isImpure?: boolean
    seesWalls?: boolean
    predict?: Predict
    drawAhead?: boolean
  } = {},
): Game<RunnerInput> {
  let calls = 0
  return defineGame({
    tickRate: options.tickRate ?? 60,
    input: INPUT,
    entities: [Runner, Stone, Wall] as readonly Entity[],
    predict: options.predict ?? 'owned',
    drawAhead: options.drawAhead ?? true,
    messages: [Thud],
    net: { snapshotRate: 30, ...options.net },
    onJoin: (world, peer) => world.spawn(Runner, { x: 500, y: 10 * peer.id % 1000 }, peer),
    step(world, inputs) {
      for (const runner of world.each(Runner)) {
        const held = inputs.of(runner.owner)
        const before = runner.x
        runner.x += (+held.right - +held.left) * 2
        const walls = options.seesWalls === true ? world.seen(Wall) : world.each(Wall)
        for (const wall of walls) if (before <= wall.x && runner.x > wall.x) runner.x = wall.x
        if (options.isImpure === true && held.right) runner.y = 100 + calls++ % 50
        runner.cool = Math.max(0, runner.cool - 1)
        if (!held.throw || runner.cool > 0) continue
        runner.cool = 20
        runner.throws++
        const stone = world.spawn(Stone, { x: runner.x, born: world.tick % 65_536 }, runner.owner)
        runner.last = stone.id
        world.emit(stone, Thud, { number: runner.throws })
      }
      for (const stone of world.each(Stone)) {
        stone.x += 3
        if ((world.tick - stone.born + 65_536) % 65_536 > 60) world.despawn(stone)
      }
    },
  })
}
