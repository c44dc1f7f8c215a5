import { expect, test } from 'vitest'
import { gameOf, opened } from '../../../../../test/reference/recording-games.ts'
import { entity } from '../schema/definition.ts'
import { fixed, text, u8 } from '../schema/field-kinds.ts'
import { World } from '../world/world.ts'
import { Recorder } from './recorder.ts'
import type { RecordingCodec } from './recording-head.ts'
import { MemorySink } from './recording-memory.ts'
import { Theatre } from './theatre.ts'

const Ball = entity({ x: fixed(0, 1000, 0.001), label: text(20) }, { name: 'Ball' })
const Spark = entity({ left: u8 }, { name: 'Spark' })
const game = gameOf([Ball, Spark], 20)

/** Ten seconds: two balls at constant speed, sparks that come and go, one gap if asked for. */
function record(lost: readonly number[] = [], codec: RecordingCodec = 'packed'): Theatre {
  const world = new World([Ball, Spark])
  const sink = new MemorySink()
  let rows = 0
  const recorder = new Recorder(game, world, {
    codec,
    sink: { write: (bytes, chunk) => (chunk?.type === 2 && lost.includes(++rows) ? false : sink.write(bytes)) },
  })
  for (let tick = 1; tick <= 200; tick++) {
    world.beginTick()
    if (tick === 1) for (const owner of [1, 2]) world.spawn(Ball, { x: owner * 100, label: 'a' }, owner)
    for (const ball of world.each(Ball)) {
      ball.x += 0.5 * ball.owner
      ball.label = `t${tick}`
    }
    if (tick % 40 === 0) world.spawn(Spark, { left: 10 })
    for (const spark of world.each(Spark)) if (--spark.left === 0) world.despawn(spark)
    world.endTick()
    recorder.tick()
  }
  recorder.close()
  return new Theatre(opened(sink.bytes()), game)
}

const xs = (theatre: Theatre): number[] => [...theatre.view.each(Ball)].map(({ x }) => x)
const at = (moment: number): unknown[] => [1, 2].map((owner) => expect.closeTo(owner * 100 + moment * 0.5 * owner, 3))

test.each(['packed', 'entropy'] as const)(
  '[REC17] any moment is drawn between its ticks: forwards at any speed, backwards, and after a jump (%s)',
  (codec) => {
    const theatre = record([], codec)
    for (const step of [0.25, 1, 3.5, 40]) {
      for (let moment = 2; moment < 195; moment += step) {
        expect(theatre.show(moment)).toBe('ok')
        expect(xs(theatre), `moment ${moment}, step ${step}`).toEqual(at(moment))
      }
    }
    for (const moment of [150.5, 20.25, 20.75, 190, 1, 60.125]) {
      expect(theatre.show(moment)).toBe('ok')
      expect(xs(theatre)).toEqual(at(moment))
    }
    expect([...theatre.view.each(Ball)].map(({ label, owner }) => [label, owner])).toEqual([
      ['t60', 1],
      ['t60', 2],
    ])
  },
)

test('[REC17] an object is shown from its spawn to its despawn', () => {
  const theatre = record()
  const sparks = (moment: number): number => {
    theatre.show(moment)
    return theatre.view.count(Spark)
  }
  expect([30, 39, 41, 45.5, 48.5, 55, 81, 85, 95].map(sparks)).toEqual([0, 0, 1, 1, 1, 0, 1, 1, 0])
})

test.each(['packed', 'entropy'] as const)('[REC17] playback stops at the end and resumes after a gap (%s)', (codec) => {
  const theatre = record([5], codec)
  const shown: number[] = []
  for (let moment = 2; moment < 230; moment += 0.5) {
    if (theatre.show(moment) !== 'ok') continue
    shown.push(moment)
    expect(xs(theatre)).toEqual(at(Math.min(moment, theatre.playback.tick)))
  }
  expect(shown.at(-1)).toBe(200.5)
  expect(shown.length).toBeGreaterThan(350)
  expect(shown.length).toBeLessThan(396)
  expect(record().show(500)).toBe('missing')
})
