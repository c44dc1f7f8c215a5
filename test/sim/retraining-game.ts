/** A small game whose motions do not fit the built-in tables, and training on a recording of it. */

import { bool, defineGame, entity, fixed, int, openRecording, sourceOf, u8, type Game, type Priors } from 'tickwire'
import { MemorySink, trainRecording } from 'tickwire/engine'
import { simulate } from 'tickwire/testing'

const INPUT = { go: bool }

export const Moth = entity(
  { x: fixed(0, 1000, 0.1), y: fixed(0, 1000, 0.1), wing: int(0, 4095), dust: u8 },
  { name: 'Moth' },
)
export type MothInput = typeof INPUT

const MOTHS = 24

/** Moths that flutter by rules, in steps that do not fit the built-in tables. `isCalm` stops them. */
export function makeMoths(air: { isCalm: boolean } = { isCalm: false }, tickRate = 30): Game<MothInput> {
  return defineGame({
    tickRate,
    input: INPUT,
    entities: [Moth],
    predict: 'none',
    onJoin: (world, peer) => world.spawn(Moth, { x: 500, y: 10 * peer.id }, peer),
    step(world) {
      for (let count = [...world.each(Moth)].length; count < MOTHS; count++)
        world.spawn(Moth, { x: 40 * count, y: 500, wing: count })
      if (air.isCalm) return
      for (const moth of world.each(Moth)) {
        const beat = (world.tick + moth.id % 7) % 3
        moth.wing = (moth.wing + [517, 1203, 2376][beat]!) % 4096
        moth.x = (moth.x + [7.7, 0.4, 31.3][beat]!) % 1000
        if (beat === 0) moth.dust = (moth.dust + 37) % 256
      }
    },
  })
}

/** Trains on a match of `seconds`. */
export function learnMoths(seed: number, seconds = 6, tickRate = 30): Priors {
  const sink = new MemorySink()
  const game = makeMoths(undefined, tickRate)
  const sim = simulate(game, { seed })
  const recorder = sim.host.record(sink)
  sim.run(seconds * 1000)
  recorder.close()
  sim.run(100)
  const recording = openRecording(sourceOf(sink.bytes()))
  if (typeof recording === 'string') throw new Error(recording)
  return trainRecording(recording, game, seed).priors
}
