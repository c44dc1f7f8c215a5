/** Lab 5. Which objects a client receives, and which come first when not all of them fit: `interest`. */

import {
  always, bool, defineGame, entity, math, near, vec2,
  type Entity, type Game, type InterestRule, type ObjectView,
} from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import { figure, pixels, screen } from '../lab-parts.ts'
import type { Pen } from '../pen.ts'
import { latency, loss, weatherOf } from '../weather-dials.ts'

const at = vec2(0, 320, 0.1).position()
const Shepherd = entity({ at })
const wool = { at, speed: vec2(-60, 60, 1).server() }
type Sheep = Entity<typeof wool>
const sheepOf = (interest: InterestRule): Sheep => entity<typeof wool>(wool, { interest })

const FLOCK = 300
const [WIDTH, HEIGHT] = [320, 180]
const within = (size: number, place: number): number => Math.min(Math.max(place, 8), size - 8)
const input = { left: bool, right: bool, up: bool, down: bool }

const meadow = (Sheep: Sheep): Game<typeof input> => defineGame({
  tickRate: 60,
  input,
  entities: [Shepherd, Sheep],
  onJoin(world, peer) {
    world.spawn(Shepherd, { at: { x: 100, y: 90 } }, peer)
    const scatter = (size: number): number => world.random.int(world, 8, size - 8)
    for (let n = 0; n < FLOCK; n++) world.spawn(Sheep, { at: { x: scatter(WIDTH), y: scatter(HEIGHT) } })
  },
  step(world, inputs) {
    for (const shepherd of world.each(Shepherd)) {
      const { left, right, up, down } = inputs.of(shepherd.owner)
      shepherd.at.x = within(WIDTH, shepherd.at.x + (+right - +left))
      shepherd.at.y = within(HEIGHT, shepherd.at.y + (+down - +up))
    }
    for (const sheep of world.each(Sheep)) {
      if (world.every(30, sheep.id)) {
        sheep.speed.x = world.random.int(sheep, -50, 50)
        sheep.speed.y = world.random.int(sheep, -50, 50)
      }
      sheep.at.x = within(WIDTH, sheep.at.x + sheep.speed.x / 60)
      sheep.at.y = within(HEIGHT, sheep.at.y + sheep.speed.y / 60)
    }
  },
})

export const interest: Lab = defineLab({
  name: 'interest',
  title: 'Interest and priority',
  idea: 'Send each player only what the player can see, and near objects first.',
  words: `Three hundred sheep, one shepherd. With interest the server sends only the sheep in sight: the
    page does not know where the others are, or that they exist. Without interest it sends all sheep.
    The bytes per second are limited, and not everything fits. With interest, near sheep stay exact,
    because urgent objects are sent first. Without, no sheep is exact. Raise the limit to see what
    everything costs.`,
  guide: 'interest.md',
  hint: 'Walk with the arrow keys',
  dials: {
    sight: { label: 'Sight', value: 60, min: 20, max: 160, step: 5, unit: 'px' },
    line: { label: 'Sent at most', value: 4, min: 2, max: 60, step: 2, unit: 'KB/s' },
    latency: latency(40), loss: loss(0),
  },

  open({ sight, line, ...weather }, hands) {
    const server = { bytesPerSecond: line * 1000 }
    const watch = (Sheep: Sheep): Watched =>
      new Watched(simulate(meadow(Sheep), { link: weatherOf(weather), server }), Sheep)
    const [some, all] = [watch(sheepOf(near(sight))), watch(sheepOf(always))]

    for (const { sim } of [some, all]) {
      sim.script(0, (tick) => hands.keys ?? { right: tick % 400 < 130, left: tick % 400 >= 200 && tick % 400 < 330 })
    }
    return {
      sims: [some.sim, all.sim],
      screens: [
        screen('Server', 'server', 'all sheep, and those in sight', (pen) => some.drawServer(pen, sight)),
        screen('Your screen, with interest', 'you', 'red ones are drawn more than 5 px off', (pen) => some.draw(pen)),
        screen('Your screen, without', 'bad', 'all sheep, all equally late', (pen) => all.draw(pen)),
      ],
      figures: () => [
        figure('Sheep you know of', `${some.known} of ${FLOCK}`, 'you'),
        figure('Sent per second, with interest', `${some.rate.toFixed(1)} KB`, 'you'),
        figure('Sent per second, without', `${all.rate.toFixed(1)} KB`, 'bad'),
        figure('Error of near sheep, with interest', pixels(some.error), 'you'),
        figure('Error of near sheep, without', pixels(all.error), 'bad'),
      ],
      claim() {
        const isEnough = some.seconds >= 2
        if (line >= 30) {
          const text = 'Sending what a player can see costs less than half of sending everything.'
          return { text, isHeld: isEnough ? some.rate < all.rate / 2 : undefined }
        }
        const text = 'If not everything fits, near sheep stay more exact, because they are sent first.'
        return { text, isHeld: isEnough ? some.error < all.error : undefined }
      },
    }
  },
})

/** A meadow, and how accurate its shepherd's view is. */
class Watched {
  readonly sim: Simulation<typeof input>
  known = 0
  /** Distance between the real and the displayed position of the nearest sheep, averaged and smoothed. */
  error = 0
  readonly #Sheep: Sheep
  readonly #startedAt: number

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

  /** Kilobytes of snapshots a second. */
  get rate(): number {
    const { bits, headBits } = this.sim.host.bandwidth()
    return (bits + headBits) / 8000 / this.seconds
  }

  draw(pen: Pen): void {
    for (const sheep of this.sim.client(0, this.#Sheep)) {
      pen.dot(sheep.at.x, sheep.at.y, 2.5, this.#errorOf(sheep) > 5 ? 'bad' : 'ink')
    }
    for (const { at } of this.sim.client(0, Shepherd)) pen.square(at.x, at.y, 10, 'you')
  }

  drawServer(pen: Pen, sight: number): void {
    for (const { at } of this.sim.server(this.#Sheep)) pen.dot(at.x, at.y, 2.5, 'server')
    for (const { at } of this.sim.server(Shepherd)) {
      pen.dot(at.x, at.y, sight, 'you', 'ghost')
      pen.square(at.x, at.y, 10, 'you')
    }
  }

  #measure(): void {
    const [shepherd] = this.sim.server(Shepherd)
    const sheep = this.sim.client(0, this.#Sheep)
    this.known = sheep.length
    if (shepherd === undefined) return
    const { x, y } = shepherd.at
    const close = sheep.filter(({ at }) => math.hypot(at.x - x, at.y - y) < 30)
    for (const one of close) this.error += (this.#errorOf(one) - this.error) / 300
  }

  #errorOf(sheep: ObjectView<Sheep>): number {
    const truth = this.sim.host.world.get(this.#Sheep, sheep.id)
    return truth === null ? 0 : math.hypot(sheep.at.x - truth.at.x, sheep.at.y - truth.at.y)
  }
}
