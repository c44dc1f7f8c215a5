/** Every game of the repository continues from an image exactly as it would have continued itself. */

import { expect, test, vi } from 'vitest'
import { bool, defineGame, entity, int, type Game, type InitOf, type Shape } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { createBot } from '../../games/arena/bots.ts'
import { game as arena } from '../../games/arena/game.ts'
import { game as hello } from '../../games/hello/game.ts'
import { game as calls } from '../../docs/guide/examples/calls.ts'
import { game as first } from '../../docs/guide/examples/first-game/game.ts'
import { game as prediction } from '../../docs/guide/examples/prediction.ts'
import { game as rooms } from '../../docs/guide/examples/rooms/game.ts'
import { game as shooting } from '../../docs/guide/examples/shooting.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { drawInput } from './heavy-input.ts'

vi.setConfig({ testTimeout: 60_000 })

const TICKS = 300

/** Plays 300 ticks with two players that press random keys. */
function play<I extends Shape>(game: Game<I>): void {
  const sim = simulate(game, { seed: 11, clients: 2, server: { heavy: true } })
  const dice = new Dice(11)
  for (const client of [0, 1]) {
    let held: InitOf<I> = {} as InitOf<I>
    sim.script(client, (tick) => {
      if (tick % 8 === 0) held = drawInput(game.input, dice) as InitOf<I>
      return held
    })
  }
  const from = sim.host.world.tick
  sim.runUntil(() => sim.host.world.tick >= from + TICKS, 60_000)
  expect(sim.host.world.tick).toBeGreaterThanOrEqual(from + TICKS)
}

test('[LOCK1] hello continues from an image in every tick', () => play(hello))
test('[LOCK1] the first game continues from an image in every tick', () => play(first))
test('[LOCK1] the game of the guide to calls continues from an image in every tick', () => play(calls))
test('[LOCK1] the game of the guide to prediction continues from an image in every tick', () => play(prediction))
test('[LOCK1] the game of the guide to rooms continues from an image in every tick', () => play(rooms))
test('[LOCK1] the game of the guide to shooting continues from an image in every tick', () => play(shooting))

test('[LOCK1] arena with four bots continues from an image in every tick', () => {
  const sim = simulate(arena, { seed: 11, clients: 1, server: { heavy: true } })
  for (let bot = 0; bot < 4; bot++) sim.host.addBot(createBot(bot, arena.tickRate))
  const from = sim.host.world.tick
  sim.runUntil(() => sim.host.world.tick >= from + TICKS, 60_000)
  expect(sim.host.world.tick).toBeGreaterThanOrEqual(from + TICKS)
})

test('[LOCK1] a variable outside the world is found, and named with tick, object and field', () => {
  const Counter = entity({ count: int(0, 1_000_000) }, { name: 'Counter' })
  let hidden = 0
  const impure = defineGame({
    tickRate: 30,
    input: { fire: bool },
    entities: [Counter],
    onJoin: (world, peer) => world.spawn(Counter, {}, peer),
    step(world) {
      hidden++
      for (const counter of world.each(Counter)) counter.count = hidden
    },
  })
  expect(() => simulate(impure, { seed: 1, server: { heavy: true } }).run(200)).toThrow(
    /^step: a world restored from an image .* \(tick \d+, Counter 1, field count, \d+ against \d+\)\. Fix: /,
  )
})

test('[LOCK1] external state that encode forgets is found', () => {
  const Counter = entity({ count: int(0, 1_000_000) }, { name: 'Counter' })
  const states: { seen: number; forgotten: number }[] = []
  const leaky = defineGame({
    tickRate: 30,
    input: { fire: bool },
    entities: [Counter],
    onJoin: (world, peer) => world.spawn(Counter, {}, peer),
    external() {
      const state = { seen: 0, forgotten: 0 }
      states.push(state)
      return {
        encode: () => Uint8Array.of(state.seen & 255),
        decode: (bytes: Uint8Array) => { state.seen = bytes[0]! },
      }
    },
    step(world) {
      const state = states.at(world.listener === undefined ? -1 : 0)!
      state.forgotten++
      for (const counter of world.each(Counter)) counter.count = state.forgotten
    },
  })
  expect(() => simulate(leaky, { seed: 1, server: { heavy: true } }).run(200)).toThrow(/Counter 1, field count/)
})
