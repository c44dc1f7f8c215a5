import { expect, test } from 'vitest'
import { UserCode } from '../base/user-code.ts'
import { u16 } from '../schema/field-kinds.ts'
import { TimingSink } from '../time/timing-frame.ts'
import { ClientPlay } from './client-play.ts'
import { defineGame } from './define-game.ts'

const game = defineGame({ tickRate: 60, input: { number: u16 }, entities: [], step() {} })
const TICK_MS = 1000 / 60

/**
 * A client that numbers its inputs, with a server whose ticks are `behind` their schedule.
 */
function makePlay(): {
  readonly play: ClientPlay<{ number: typeof u16 }>
  readonly run: (seconds: number, behind: number) => void
  readonly inputOf: (tick: number) => number
} {
  const play = new ClientPlay(game, new UserCode())
  const timing = new TimingSink(play)
  let number = 0
  let now = 1000
  play.sampleInput = () => ({ number: ++number })
  const run = (seconds: number, behind: number): void => {
    for (const end = now + seconds * 1000; now < end; now += TICK_MS / 2) {
      const ticks = now / TICK_MS - behind
      timing.tick = Math.floor(ticks)
      timing.phase = ticks % 1
      play.handleTiming(now, timing)
      play.tick(now, -1)
    }
  }
  return { play, run, inputOf: (tick) => play.inputs.ring.rows[play.inputs.ring.at(tick)]! }
}

test('[INPUT3] a client whose clock is set back sends no new inputs for ticks that it has already sent', () => {
  const { play, run, inputOf } = makePlay()
  run(3, 0)
  // The authority could not keep up: it skipped 30 of its ticks.
  run(0.45, 30)
  const { newest } = play.inputs
  expect(play.ticks.resyncs).toBe(1)
  expect(Math.floor(play.ticks.ticks)).toBeLessThan(newest)
  // The inputs are consecutive numbers: none was replaced.
  const last = inputOf(newest)
  expect(Array.from({ length: 30 }, (_, back) => inputOf(newest - back))).toEqual(
    Array.from({ length: 30 }, (_, back) => last - back),
  )
  run(1, 30)
  expect(play.inputs.newest).toBe(Math.floor(play.ticks.ticks))
  expect(play.inputs.newest).toBeGreaterThan(newest)
})

test('[INPUT5] inputs that were too far ahead for the authority are sent again', () => {
  const { play, run } = makePlay()
  run(3, 0)
  const { newest } = play.inputs
  run(3, 400)
  expect(play.inputs.newest).toBe(Math.floor(play.ticks.ticks))
  expect(play.inputs.newest).toBeLessThan(newest)
})
