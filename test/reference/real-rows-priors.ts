/**
 * Trained tables for the game of `real-rows-game.ts`: those that training found in a recorded match, and random ones,
 * which are more extreme than trained ones.
 */

import { openRecording, sourceOf, type Priors } from 'tickwire'
import { MemorySink, trainRecording } from 'tickwire/engine'
import { Dice, simulate } from 'tickwire/testing'
import { planRow } from '../../packages/tickwire/src/core/codec/row-plan.ts'
import { drawEntity, drawPriors } from '../sim/draw-priors.ts'
import { Drifter, Everything, makeFlyers, MOVERS, TICK_RATE } from './real-rows-game.ts'

/** Trains on a recorded match, for the entities that move. Tables of all other entities are random. */
export function learn(version: number): Priors {
  const sink = new MemorySink()
  const game = makeFlyers()
  const sim = simulate(game, { seed: version, clients: 2 })
  const recorder = sim.host.record(sink)
  sim.run(5000)
  recorder.close()
  sim.run(100)
  const recording = openRecording(sourceOf(sink.bytes()))
  if (typeof recording === 'string') throw new Error(recording)
  const { priors } = trainRecording(recording, game, version)
  const drawn = [Everything, Drifter].map(({ schema }) => [
    schema.name,
    drawEntity(planRow(schema, TICK_RATE), TICK_RATE, version, new Dice(version)),
  ])
  return { ...priors, ...(Object.fromEntries(drawn) as Priors) }
}

/** Random tables of entities that have few items: they are sent over the wire. */
export function draw(version: number): Priors {
  return drawPriors(MOVERS, TICK_RATE, version, new Dice(100 + version))
}
