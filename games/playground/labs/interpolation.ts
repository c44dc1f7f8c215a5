/** Lab 3. Three ways to draw an object that is updated ten times a second. */

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
/** The same, but drawn at its last received position, without interpolation. */
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
  title: 'Interpolation and extrapolation',
  idea: 'Updates arrive ten times a second, and the screen draws sixty times. What is drawn in between?',
  words: `The same runner and the same network, drawn in three ways. Drawn as last received, the runner
    stutters. Drawn between the last two updates, it moves smoothly along its path, but a little late.
    Extrapolated by its velocity, it is less late, and overshoots at turns. Tickwire interpolates, and
    extrapolates only while updates are missing.`,
  guide: 'smoothness.md',
  hint: 'Hold ↓ to stop the runner',
  dials: { latency: latency(60), jitter: jitter(20), loss: loss(5) },

  open(settings, hands) {
    const link = weatherOf(settings)
    const raw = new Watched(simulate(race(Puppet, NO_DELAY), { link }), Puppet, 'bad')
    const between = new Watched(simulate(race(Runner, { interpolationMs: 150 }), { link }), Runner, 'you')
    const ahead = new Watched(simulate(race(Runner, { ...NO_DELAY, extrapolationMs: 500 }), { link }), Runner, 'other')
    const all = [raw, between, ahead]
    for (const { sim } of all) sim.script(0, () => ({ halt: hands.keys?.down === true }))

    const scope = new Scope('Distance from the drawn to the current position', [0, 40], {
      'as received': 'bad', interpolated: 'you', extrapolated: 'other',
    })
    ahead.sim.draw(0, 60, (_, now) => scope.add(now, ...all.map(({ offset }) => offset)))

    return {
      sims: all.map(({ sim }) => sim),
      scope,
      screens: [
        screen('As received', 'bad', 'outlined: the current position', (pen) => raw.draw(pen)),
        screen('Interpolated', 'you', 'between two updates, a little late', (pen) => between.draw(pen)),
        screen('Extrapolated', 'other', 'after the last update, by velocity', (pen) => ahead.draw(pen)),
      ],
      figures: () => [
        figure('As received: stands still in', percent(raw.witness.stillPart), 'bad'),
        figure('Interpolated: stands still in', percent(between.witness.stillPart), 'you'),
        figure('Interpolated: off the path by', pixels(between.witness.strayMax), 'you'),
        figure('Extrapolated: off the path by', pixels(ahead.witness.strayMax), 'other'),
        figure('Interpolated: late by', milliseconds(between.witness.lateMs), 'you'),
        figure('Extrapolated: late by', milliseconds(ahead.witness.lateMs), 'other'),
      ],
      claim: () => ({
        text: 'Interpolated, the runner moves in every draw and keeps closest to its path.',
        isHeld: between.witness.draws < 120 ? undefined
          : between.witness.stillPart < 0.05 && between.witness.strayMax < ahead.witness.strayMax,
      }),
      forget: () => { for (const { witness } of all) witness.forget() },
    }
  },
})

/** A race, and how its runner is drawn compared with its real position, sixty times a second. */
class Watched {
  readonly sim: Simulation<typeof input>
  readonly witness: Witness = new Witness()
  /** Distance from the real to the drawn position. */
  offset = 0
  readonly #entity: typeof Runner
  readonly #role: Role

  constructor(sim: Simulation<typeof input>, entity: typeof Runner, role: Role) {
    this.sim = sim
    this.#entity = entity
    this.#role = role
    sim.draw(0, 60, (view, now) => {
      const [truth] = sim.server(entity)
      const [seen] = view.each(entity)
      if (truth === undefined || seen === undefined) return
      this.witness.compare(now, truth.at, seen.at)
      this.offset = math.hypot(truth.at.x - seen.at.x, truth.at.y - seen.at.y)
    })
  }

  draw(pen: Pen): void {
    pen.path([...CORNERS, ...CORNERS.slice(0, 1)], 'faint')
    for (const [x, y] of this.witness.trail) pen.dot(x, y, 1.5, this.#role)
    for (const runner of this.sim.server(this.#entity)) pen.dot(runner.at.x, runner.at.y, 8, 'server', 'ghost')
    for (const runner of this.sim.client(0, this.#entity)) pen.dot(runner.at.x, runner.at.y, 8, this.#role)
  }
}
