/** Lab 5. Who is told of what, and what comes first when not all of it fits: `interest`. */

import { always, bool, defineGame, entity, FixedController, math, near, vec2, type Entity, type Game, type InterestRule, type ObjectView } from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import type { Pen } from '../pen.ts'
import { latency, loss, weatherOf } from '../weather-dials.ts'

const at = vec2(0, 320, 0.1).position()
const Shepherd = entity({ at }, { name: 'Shepherd' })
const wool = { at, speed: vec2(-60, 60, 1).server() }
type Sheep = Entity<typeof wool>
const sheepOf = (interest: InterestRule): Sheep => entity<typeof wool>(wool, { name: 'Sheep', interest })

const FLOCK = 300
const [WIDTH, HEIGHT] = [320, 180]
const input = { left: bool, right: bool, up: bool, down: bool }

const meadow = (Sheep: Sheep): Game<typeof input> => defineGame({
  tickRate: 60,
  input,
  entities: [Shepherd, Sheep],
  onJoin(world, peer) {
    world.spawn(Shepherd, { at: { x: 100, y: 90 } }, peer)
    for (let n = 0; n < FLOCK; n++) world.spawn(Sheep, { at: { x: (n * 73) % WIDTH, y: (n * 41) % HEIGHT } })
  },
  step(world, inputs) {
    for (const shepherd of world.each(Shepherd)) {
      const { left, right, up, down } = inputs.of(shepherd.owner)
      shepherd.at.x = within(WIDTH, shepherd.at.x + (+right - +left))
      shepherd.at.y = within(HEIGHT, shepherd.at.y + (+down - +up))
    }
    for (const sheep of world.each(Sheep)) {
      if (world.every(30, sheep.id)) sheep.speed = { x: world.random.int(sheep, -50, 50), y: world.random.int(sheep, -50, 50) }
      sheep.at.x = within(WIDTH, sheep.at.x + sheep.speed.x / 60)
      sheep.at.y = within(HEIGHT, sheep.at.y + sheep.speed.y / 60)
    }
  },
})

export const interest: Lab = defineLab({
  name: 'interest',
  title: 'Interest and priority',
  idea: 'Tell each player what concerns him, and what is near first.',
  words: `Three hundred sheep, one shepherd. With interest he is told of those in his sight, and of nothing else: not where the
    others are, not that they exist. Without, he is told of all. The line is narrow, so not everything fits: those near
    him stay exact, since what is urgent goes first; who is told of everybody has nobody exact. Widen it, and see what all of
    it costs.`,
  guide: 'interest.md',
  hint: 'Walk with the arrow keys',
  dials: {
    sight: { label: 'Sight', value: 60, min: 20, max: 160, step: 5, unit: 'px' },
    line: { label: 'Line to the player', value: 8, min: 6, max: 60, step: 2, unit: 'KB/s' },
    latency: latency(40), loss: loss(0),
  },

  open(settings, hands) {
    const options = { link: weatherOf(settings), server: { congestion: () => new FixedController(settings.line * 1000) } }
    const [InSight, Any] = [sheepOf(near(settings.sight)), sheepOf(always)]
    const some = new Watched(simulate(meadow(InSight), options), InSight)
    const all = new Watched(simulate(meadow(Any), options), Any)
    for (const { sim } of [some, all]) {
      sim.script(0, (tick) => hands.keys ?? { right: tick % 400 < 130, left: tick % 400 >= 200 && tick % 400 < 330 })
    }
    return {
      sims: [some.sim, all.sim],
      screens: [
        {
          title: 'Server', role: 'server', note: 'everybody, and who is in sight',
          draw(pen) {
            for (const { at } of some.sim.server(InSight)) pen.dot(at.x, at.y, 2.5, 'server')
            for (const { at } of some.sim.server(Shepherd)) pen.dot(at.x, at.y, settings.sight, 'you', 'ghost')
            for (const { at } of some.sim.server(Shepherd)) pen.square(at.x, at.y, 10, 'you')
          },
        },
        { title: 'Your screen, with interest', role: 'you', note: 'red ones are drawn more than 5 px off', draw: (pen) => some.draw(pen) },
        { title: 'Your screen, without', role: 'bad', note: 'all of them, and all as late', draw: (pen) => all.draw(pen) },
      ],
      figures: () => [
        { name: 'Sheep you know of', value: `${some.known} of ${FLOCK}`, role: 'you' },
        { name: 'Told a second, with interest', value: `${some.rate.toFixed(1)} KB`, role: 'you' },
        { name: 'Told a second, without', value: `${all.rate.toFixed(1)} KB`, role: 'bad' },
        { name: 'At your feet off by, with interest', value: `${some.error.toFixed(1)} px`, role: 'you' },
        { name: 'At your feet off by, without', value: `${all.error.toFixed(1)} px`, role: 'bad' },
      ],
      claim: () => settings.line >= 30
        ? { text: 'Telling a player what he can see costs less than half of telling him everything.', isHeld: some.seconds < 2 ? undefined : some.rate < all.rate / 2 }
        : { text: 'On a narrow line, what is at your feet stays exact: it goes first.', isHeld: some.seconds < 2 ? undefined : some.error < all.error },
    }
  },
})

/** A meadow, and how well its shepherd is told. */
class Watched {
  readonly sim: Simulation<typeof input>
  readonly #Sheep: Sheep
  readonly #startedAt: number
  known = 0
  /** How far the sheep at his feet are from where he sees them, on average, smoothed. */
  error = 0

  constructor(sim: Simulation<typeof input>, Sheep: Sheep) {
    this.sim = sim
    this.#Sheep = Sheep
    this.#startedAt = sim.clock.now
    sim.host.watch.resetBandwidth()
    sim.draw(0, 30, () => this.#measure())
  }

  get seconds(): number {
    return (this.sim.clock.now - this.#startedAt) / 1000
  }

  /** Kilobytes a second that the server told, with all that rides along. */
  get rate(): number {
    const { bits, headBits, otherBits } = this.sim.host.bandwidth()
    return (bits + headBits + otherBits) / 8000 / this.seconds
  }

  draw(pen: Pen): void {
    for (const sheep of this.sim.client(0, this.#Sheep)) pen.dot(sheep.at.x, sheep.at.y, 2.5, this.#errorOf(sheep) > 5 ? 'bad' : 'ink')
    for (const { at } of this.sim.client(0, Shepherd)) pen.square(at.x, at.y, 10, 'you')
  }

  #measure(): void {
    const [shepherd] = this.sim.server(Shepherd)
    const sheep = this.sim.client(0, this.#Sheep)
    this.known = sheep.length
    const close = sheep.filter(({ at }) => shepherd !== undefined && math.hypot(at.x - shepherd.at.x, at.y - shepherd.at.y) < 30)
    if (close.length === 0) return
    const mean = close.reduce((sum, one) => sum + this.#errorOf(one), 0) / close.length
    this.error += (mean - this.error) / 30
  }

  #errorOf(sheep: ObjectView<Sheep>): number {
    const truth = this.sim.host.world.get(this.#Sheep, sheep.id)
    return truth === null ? 0 : math.hypot(sheep.at.x - truth.at.x, sheep.at.y - truth.at.y)
  }
}

const within = (size: number, place: number): number => Math.min(Math.max(place, 8), size - 8)
