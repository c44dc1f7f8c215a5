/** Training on the last minute of a match, and the decision whether to send the result. */

import { describe, expect, test } from 'vitest'
import { angle, bool, defineGame, entity, fixed, math, Recorder, RecordingRing, u8 } from 'tickwire'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { sourceOf } from '../../packages/tickwire/src/core/replay/byte-source.ts'
import { openRecording } from '../../packages/tickwire/src/core/replay/recording.ts'
import { study } from '../../packages/tickwire/src/core/replay/study.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { form } from '../form.ts'

const TICK_RATE = 60
/** Moves in circles, each at its own speed. */
const Boat = entity(
  { x: fixed(-500, 500, 0.01), y: fixed(-500, 500, 0.01), heading: angle(12), hp: u8 },
  { name: 'Boat' },
)
/** Hardly ever changes. */
const Buoy = entity({ hue: u8 }, { name: 'Buoy' })
const game = defineGame({ tickRate: TICK_RATE, input: { idle: bool }, entities: [Boat, Buoy], step: () => {} })

/** Records a match of boats. */
function record(seconds: number, boats: number): RecordingRing {
  const world = new World([Boat, Buoy])
  const ring = new RecordingRing()
  const recorder = new Recorder(game, world, { sink: ring })
  for (let tick = 1; tick <= seconds * TICK_RATE; tick++) {
    world.beginTick()
    if (tick === 1) {
      world.spawn(Buoy, {})
      for (let count = 0; count < boats; count++) world.spawn(Boat, { x: 20 * count, heading: count, hp: 100 })
    }
    for (const boat of world.each(Boat)) {
      boat.heading += 0.01 + math.sin(tick / 30 + boat.x) * 0.01
      boat.x += math.cos(boat.heading) * 0.1
      boat.y += math.sin(boat.heading) * 0.1
    }
    world.endTick()
    recorder.tick()
  }
  recorder.flush()
  return ring
}

describe('a study', () => {
  test('[LEARN1] finds tables that save bits on rows it did not learn from, for entities where that pays', () => {
    const { priors, bitsBefore, bitsAfter } = study(record(20, 12), game, {}, 7)
    expect(Object.keys(priors ?? {})).toEqual(['Boat'])
    expect(priors!.Boat!.version).toBe(7)
    expect(bitsAfter).toBeLessThan(0.8 * bitsBefore)
    expect(() => game.codersBy(priors!)).not.toThrow()
  })

  test('[LEARN1] tables that are no better than those in use are not sent', () => {
    const { priors: first } = study(record(20, 12), game, {}, 1)
    const again = study(record(20, 12), game, first!, 2)
    expect(again).toMatchObject({ priors: undefined, bitsAfter: again.bitsBefore })
  })

  test.each([
    ['too little to learn from', 0.5, 12],
    ['too few to pay', 8, 1],
    ['nothing', 0, 0],
  ])('[LEARN1] %s: no tables', (_name, seconds, boats) => {
    expect(study(record(seconds, boats), game, {}, 1).priors).toBeUndefined()
  })

  test('[LEARN3] half of a recording, or one with a gap, teaches less or nothing, and nothing breaks', () => {
    const bytes = record(6, 12).save()
    const dice = new Prng(27)
    let taught = 0
    for (let round = 0; round < form(10, 24); round++) {
      const torn = bytes.slice(0, dice.nextInt(0, bytes.length))
      if (round % 2 === 1) torn.fill(dice.nextInt(0, 255), dice.nextInt(0, torn.length), dice.nextInt(0, torn.length))
      const recording = openRecording(sourceOf(torn))
      if (typeof recording === 'string') continue
      const { priors = {} } = study(recording, game, {}, 1)
      expect(() => game.codersBy(priors), `round ${round}`).not.toThrow()
      if (Object.keys(priors).length > 0) taught++
    }
    expect(taught).toBeGreaterThan(0)
  })
})
