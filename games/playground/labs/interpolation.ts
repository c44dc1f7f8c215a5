/** Lab 3. Three ways to draw somebody of whom you hear ten times a second. */

import { bool, defineGame, entity, math, u8, vec2, type Game, type NetSettings } from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'
import { defineLab, type Lab, type Screen } from '../lab.ts'
import type { Pen, Point } from '../pen.ts'
import { milliseconds } from '../reaction.ts'
import { Witness } from '../witness.ts'
import { jitter, latency, loss, weatherOf } from '../weather-dials.ts'

const at = vec2(0, 320, 0.1).position()
const speed = vec2(-150, 150, 1).velocity()

const Runner = entity({ at, speed, corner: u8 }, { name: 'Runner' })
/** The same, but drawn where it was last told, without a thought. */
const Puppet = entity({ at: at.snap(), speed, corner: u8 }, { name: 'Puppet' })

const CORNERS: readonly Point[] = [[40, 30], [280, 30], [280, 150], [200, 70], [120, 150], [40, 150]]
const SPEED = 120
const input = { halt: bool }
const NO_DELAY = { interpolationMs: 0, interpolationMsMax: 0 }

function race(Who: typeof Runner, net: Partial<NetSettings>): Game<typeof input> {
  return defineGame({
    tickRate: 60,
    net: { snapshotRate: 10, ...net },
    input,
    entities: [Who],
    onJoin: (world, peer) => world.spawn(Who, { at: { x: 40, y: 150 } }, peer),
    predict: 'none',
    step(world, inputs) {
      for (const runner of world.each(Who)) {
        const pace = inputs.of(runner.owner).halt ? 0 : SPEED
        const [x, y] = CORNERS[runner.corner] ?? [0, 0]
        const way = math.hypot(x - runner.at.x, y - runner.at.y)
        if (way < SPEED / 60) {
          runner.corner = (runner.corner + 1) % CORNERS.length
          continue
        }
        runner.speed.x = (x - runner.at.x) / way * pace
        runner.speed.y = (y - runner.at.y) / way * pace
        runner.at.x += runner.speed.x / 60
        runner.at.y += runner.speed.y / 60
      }
    },
  })
}

export const interpolation: Lab = defineLab({
  name: 'interpolation',
  title: 'Interpolation and dead reckoning',
  idea: 'News come ten times a second, pictures sixty. What to draw in between?',
  words: `The same runner, the same network, drawn in three ways. Where he was last told to be: he stutters. Between the last two
    news: he glides along his way, but a moment late. Ahead of the last news, by his velocity: he is sooner, and overshoots
    where he turns. Tickwire does the second, and the third only while news fail to come.`,
  guide: 'smoothness.md',
  hint: 'Hold ↓ to stop him short',
  dials: { latency: latency(60), jitter: jitter(20), loss: loss(5) },

  open(settings, hands) {
    const link = weatherOf(settings)
    const told = watch(simulate(race(Puppet, NO_DELAY), { link }), Puppet)
    const between = watch(simulate(race(Runner, { interpolationMs: 150 }), { link }), Runner)
    const ahead = watch(simulate(race(Runner, { ...NO_DELAY, extrapolationMs: 500 }), { link }), Runner)
    for (const { sim } of [told, between, ahead]) sim.script(0, () => ({ halt: hands.keys?.down === true }))
    const percent = (part: number): string => Number.isNaN(part) ? '–' : `${Math.round(part * 100)} %`

    const screen = (title: string, note: string, { sim, who, witness }: Watched): Screen => ({
      title, note, role: 'you',
      draw(pen) {
        drawTrack(pen)
        for (const [x, y] of witness.trail) pen.dot(x, y, 1.5, 'you')
        for (const runner of sim.server(who)) pen.dot(runner.at.x, runner.at.y, 8, 'server', 'ghost')
        for (const runner of sim.client(0, who)) pen.dot(runner.at.x, runner.at.y, 8, 'you')
      },
    })
    return {
      sims: [told.sim, between.sim, ahead.sim],
      screens: [
        screen('As told', 'the outline is where the server has him', told),
        screen('Interpolated', 'between two news, a moment late', between),
        screen('Reckoned', 'ahead of the last news, by velocity', ahead),
      ],
      figures: () => [
        { name: 'As told: draws that stand still', value: percent(told.witness.stillPart), role: 'bad' },
        { name: 'Interpolated: draws that stand still', value: percent(between.witness.stillPart), role: 'you' },
        { name: 'Interpolated: off his way, at most', value: `${between.witness.strayMax.toFixed(1)} px`, role: 'you' },
        { name: 'Reckoned: off his way, at most', value: `${ahead.witness.strayMax.toFixed(1)} px`, role: 'bad' },
        { name: 'Late: told, interpolated, reckoned', value: [told, between, ahead].map(({ witness }) => milliseconds(witness.lateMs)).join(', ') },
      ],
      claim: () => ({
        text: 'Interpolated, he moves in every draw and keeps closest to his way.',
        isHeld: between.witness.draws < 120 ? undefined : between.witness.stillPart < 0.05 && between.witness.strayMax < ahead.witness.strayMax,
      }),
      forget: () => { for (const { witness } of [told, between, ahead]) witness.forget() },
    }
  },
})

interface Watched {
  readonly sim: Simulation<typeof input>
  readonly who: typeof Runner
  readonly witness: Witness
}

/** Compares what is drawn with what was true, sixty times a second. */
function watch(sim: Simulation<typeof input>, who: typeof Runner): Watched {
  const witness = new Witness()
  sim.draw(0, 60, (view, now) => {
    const [truth] = sim.server(who)
    const [seen] = view.each(who)
    if (truth !== undefined && seen !== undefined) witness.compare(now, truth.at, seen.at)
  })
  return { sim, who, witness }
}

function drawTrack(pen: Pen): void {
  const [first] = CORNERS
  if (first !== undefined) pen.path([...CORNERS, first], 'faint')
}
