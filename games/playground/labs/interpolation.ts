/** Lab 3. Three ways to draw somebody of whom you hear ten times a second. */

import { bool, defineGame, entity, math, u8, vec2, type Game, type NetSettings } from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import { figure, milliseconds, percent, pixels, screen } from '../lab-parts.ts'
import type { Pen, Point, Role } from '../pen.ts'
import { Scope } from '../scope.ts'
import { Witness } from '../witness.ts'
import { jitter, latency, loss, weatherOf } from '../weather-dials.ts'

const at = vec2(0, 320, 0.1).position()
const speed = vec2(-150, 150, 1).velocity()

const Runner = entity({ at, speed, corner: u8 })
/** The same, but drawn where it was last told, without a thought. */
const Puppet = entity({ at: at.snap(), speed, corner: u8 })

const CORNERS: readonly Point[] = [[40, 30], [280, 30], [280, 150], [200, 70], [120, 150], [40, 150]]
const SPEED = 120
const input = { halt: bool }

const race = (Who: typeof Runner, net: Partial<NetSettings>): Game<typeof input> => defineGame({
  tickRate: 60,
  predict: 'none',
  net: { snapshotRate: 10, ...net },
  input,
  entities: [Who],
  onJoin: (world, peer) => world.spawn(Who, { at: { x: 40, y: 150 } }, peer),
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

const NO_DELAY = { interpolationMs: 0, interpolationMsMax: 0 }

export const interpolation: Lab = defineLab({
  name: 'interpolation',
  title: 'Interpolation and dead reckoning',
  idea: 'News come ten times a second, pictures sixty. What to draw in between?',
  words: `The same runner, the same network, drawn in three ways. Where he was last told to be: he
    stutters. Between the last two news: he glides along his way, but a moment late. Ahead of the
    last news, by his velocity: he is sooner, and overshoots where he turns. Tickwire does the
    second, and the third only while news fail to come.`,
  guide: 'smoothness.md',
  hint: 'Hold ↓ to stop him short',
  dials: { latency: latency(60), jitter: jitter(20), loss: loss(5) },

  open(settings, hands) {
    const link = weatherOf(settings)
    const told = new Watched(simulate(race(Puppet, NO_DELAY), { link }), Puppet, 'bad')
    const between = new Watched(simulate(race(Runner, { interpolationMs: 150 }), { link }), Runner, 'you')
    const ahead = new Watched(simulate(race(Runner, { ...NO_DELAY, extrapolationMs: 500 }), { link }), Runner, 'other')
    const all = [told, between, ahead]
    for (const { sim } of all) sim.script(0, () => ({ halt: hands.keys?.down === true }))

    const scope = new Scope('How far he is drawn from where he is now', [0, 40], {
      'as told': 'bad', interpolated: 'you', reckoned: 'other',
    })
    ahead.sim.draw(0, 60, (_, now) => scope.add(now, ...all.map(({ offset }) => offset)))

    return {
      sims: all.map(({ sim }) => sim),
      scope,
      screens: [
        screen('As told', 'bad', 'outlined: where he is now', (pen) => told.draw(pen)),
        screen('Interpolated', 'you', 'between two news, a moment late', (pen) => between.draw(pen)),
        screen('Reckoned', 'other', 'ahead of the last news, by velocity', (pen) => ahead.draw(pen)),
      ],
      figures: () => [
        figure('As told: stands still in', percent(told.witness.stillPart), 'bad'),
        figure('Interpolated: stands still in', percent(between.witness.stillPart), 'you'),
        figure('Interpolated: off his way', pixels(between.witness.strayMax), 'you'),
        figure('Reckoned: off his way', pixels(ahead.witness.strayMax), 'other'),
        figure('Interpolated: late by', milliseconds(between.witness.lateMs), 'you'),
        figure('Reckoned: late by', milliseconds(ahead.witness.lateMs), 'other'),
      ],
      claim: () => ({
        text: 'Interpolated, he moves in every draw and keeps closest to his way.',
        isHeld: between.witness.draws < 120 ? undefined
          : between.witness.stillPart < 0.05 && between.witness.strayMax < ahead.witness.strayMax,
      }),
      forget: () => { for (const { witness } of all) witness.forget() },
    }
  },
})

/** A race, and how its runner is drawn compared with where he is, sixty times a second. */
class Watched {
  readonly sim: Simulation<typeof input>
  readonly witness: Witness = new Witness()
  /** From where he is to where he is drawn. */
  offset = 0
  readonly #who: typeof Runner
  readonly #role: Role

  constructor(sim: Simulation<typeof input>, who: typeof Runner, role: Role) {
    this.sim = sim
    this.#who = who
    this.#role = role
    sim.draw(0, 60, (view, now) => {
      const [truth] = sim.server(who)
      const [seen] = view.each(who)
      if (truth === undefined || seen === undefined) return
      this.witness.compare(now, truth.at, seen.at)
      this.offset = math.hypot(truth.at.x - seen.at.x, truth.at.y - seen.at.y)
    })
  }

  draw(pen: Pen): void {
    pen.path([...CORNERS, ...CORNERS.slice(0, 1)], 'faint')
    for (const [x, y] of this.witness.trail) pen.dot(x, y, 1.5, this.#role)
    for (const runner of this.sim.server(this.#who)) pen.dot(runner.at.x, runner.at.y, 8, 'server', 'ghost')
    for (const runner of this.sim.client(0, this.#who)) pen.dot(runner.at.x, runner.at.y, 8, this.#role)
  }
}
