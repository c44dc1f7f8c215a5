/** Lab 3. Three ways to draw somebody of whom you hear ten times a second. */

import { bool, defineGame, entity, math, u8, vec2, type Game, type NetSettings } from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'
import { defineLab, type Lab, type Screen } from '../lab.ts'
import type { Pen, Point, Role } from '../pen.ts'
import { milliseconds } from '../reaction.ts'
import { Scope } from '../scope.ts'
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
    const scope = new Scope('How far he is drawn from where he is now', [0, 40], { 'as told': 'bad', interpolated: 'you', reckoned: 'other' })
    ahead.sim.draw(0, 60, (_, now) => scope.add(now, told.offset, between.offset, ahead.offset))

    const screen = (title: string, note: string, role: Role, { sim, who, witness }: Watched): Screen => ({
      title, note, role,
      draw(pen) {
        drawTrack(pen)
        for (const [x, y] of witness.trail) pen.dot(x, y, 1.5, role)
        for (const runner of sim.server(who)) pen.dot(runner.at.x, runner.at.y, 8, 'server', 'ghost')
        for (const runner of sim.client(0, who)) pen.dot(runner.at.x, runner.at.y, 8, role)
      },
    })
    const percent = (part: number): string => Number.isNaN(part) ? '–' : `${Math.round(part * 100)} %`
    return {
      sims: [told.sim, between.sim, ahead.sim],
      scope,
      screens: [
        screen('As told', 'outlined: where he is now', 'bad', told),
        screen('Interpolated', 'between two news, a moment late', 'you', between),
        screen('Reckoned', 'ahead of the last news, by velocity', 'other', ahead),
      ],
      figures: () => [
        { name: 'As told: stands still in', value: percent(told.witness.stillPart), role: 'bad' },
        { name: 'Interpolated: stands still in', value: percent(between.witness.stillPart), role: 'you' },
        { name: 'Interpolated: off his way', value: `${between.witness.strayMax.toFixed(1)} px`, role: 'you' },
        { name: 'Reckoned: off his way', value: `${ahead.witness.strayMax.toFixed(1)} px`, role: 'other' },
        { name: 'Interpolated: late by', value: milliseconds(between.witness.lateMs), role: 'you' },
        { name: 'Reckoned: late by', value: milliseconds(ahead.witness.lateMs), role: 'other' },
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
  /** From where he is to where he is drawn. */
  offset: number
}

/** Compares what is drawn with what was true, sixty times a second. */
function watch(sim: Simulation<typeof input>, who: typeof Runner): Watched {
  const watched: Watched = { sim, who, witness: new Witness(), offset: 0 }
  sim.draw(0, 60, (view, now) => {
    const [[truth], [seen]] = [sim.server(who), [...view.each(who)]]
    if (truth === undefined || seen === undefined) return
    watched.witness.compare(now, truth.at, seen.at)
    watched.offset = math.hypot(truth.at.x - seen.at.x, truth.at.y - seen.at.y)
  })
  return watched
}

function drawTrack(pen: Pen): void {
  const [first] = CORNERS
  if (first !== undefined) pen.path([...CORNERS, first], 'faint')
}
