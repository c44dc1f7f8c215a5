/** Lab 4. The server judges a shot by what its shooter saw: `world.rewind`. */

import { angle, bool, defineGame, entity, math, sphere, u16, vec2, type Game } from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'
import { defineLab, type Hands, type Lab } from '../lab.ts'
import { figure, screen } from '../lab-parts.ts'
import type { Pen, Point } from '../pen.ts'
import { jitter, latency, loss, weatherOf } from '../weather-dials.ts'

const at = vec2(0, 320, 0.1).position()
const Target = entity({ at, speed: vec2(-200, 200, 1).velocity() })
const Shooter = entity({ at, aim: angle(16), shots: u16, hits: u16, isHit: bool })

const RADIUS = 7
const SPEED = 150
const FIRE_TICKS = 30
const input = { aim: angle(16), fire: bool }

const range = (rewindMs: number): Game<typeof input> => defineGame({
  tickRate: 60,
  net: { rewindMs },
  input,
  entities: [Target, Shooter],
  hitboxes: [[Target, [sphere(RADIUS)]]],
  onJoin(world, peer) {
    world.spawn(Target, { at: { x: 60, y: 45 }, speed: { x: SPEED, y: 0 } })
    world.spawn(Shooter, { at: { x: 160, y: 160 } }, peer)
  },
  step(world, inputs) {
    for (const target of world.each(Target)) {
      target.at.x += target.speed.x / 60
      if (target.at.x < 30) target.speed.x = SPEED
      if (target.at.x > 290) target.speed.x = -SPEED
    }
    for (const shooter of world.each(Shooter)) {
      const { aim, fire } = inputs.of(shooter.owner)
      if (!fire) continue
      const shot = { from: shooter.at, direction: { x: math.cos(aim), y: math.sin(aim) }, reach: 300 }
      const hit = world.rewind(shooter.owner, (past) => past.cast(shot))
      shooter.aim = aim
      shooter.isHit = hit !== null
      shooter.shots++
      if (hit !== null) shooter.hits++
    }
  },
})

export const lagCompensation: Lab = defineLab({
  name: 'lag-compensation',
  title: 'Lag compensation',
  idea: 'A good shot should hit, although the shooter sees the past.',
  words: `The shooter aims at the target on the screen and never misses there. But the screen shows the
    past, and the shot arrives even later: the target has moved on. The input contains the moment that
    the shooter saw, so the server rewinds to that moment and checks the shot there. With the same
    shooter and target, and a server that does not rewind, hits are luck.`,
  guide: 'shooting.md',
  hint: 'Hold ↑ to fire faster; the aim is always exact',
  dials: { latency: latency(100), jitter: jitter(10), loss: loss(2) },

  open(settings, hands) {
    const link = weatherOf(settings)
    const fair = new Range(simulate(range(500), { link }), hands)
    const plain = new Range(simulate(range(0), { link }), hands)
    return {
      sims: [fair.sim, plain.sim],
      screens: [
        screen("The shooter's screen", 'you', 'the aim', (pen) => fair.drawScreen(pen)),
        screen('Server that rewinds', 'server', 'outlined: what the shooter saw', (pen) => fair.drawVerdict(pen)),
        screen('Server that does not', 'bad', 'the same shots, at current positions', (pen) => plain.drawVerdict(pen)),
      ],
      figures: () => [
        figure('Hits, with rewinding', `${fair.hits} of ${fair.shots}`, 'good'),
        figure('Hits, without rewinding', `${plain.hits} of ${plain.shots}`, 'bad'),
      ],
      claim: () => ({
        text: 'A shooter that aims at what is on the screen hits every time.',
        isHeld: fair.shots < 8 ? undefined : fair.hits === fair.shots,
      }),
    }
  },
})

/** A match with one shooter, which aims at what it sees, and the last verdict on its shot. */
class Range {
  readonly sim: Simulation<typeof input>
  shots = 0
  hits = 0
  /** Where the shooter saw the target, per shot; and where the target was when the server received the last one. */
  readonly #seen: Point[] = []
  #was: Point = [0, 0]

  constructor(sim: Simulation<typeof input>, hands: Hands) {
    this.sim = sim
    sim.script(0, (tick) => {
      const [target] = sim.client(0, Target)
      const [shooter] = sim.client(0, Shooter)
      if (target === undefined || shooter === undefined) return {}
      const fire = tick % (hands.keys?.up === true ? FIRE_TICKS / 3 : FIRE_TICKS) === 0
      if (fire) this.#seen.push([target.at.x, target.at.y])
      return { aim: math.atan2(target.at.y - shooter.at.y, target.at.x - shooter.at.x), fire }
    })
    sim.draw(0, 120, () => {
      const [target] = sim.server(Target)
      const [shooter] = sim.server(Shooter)
      if (target === undefined || shooter === undefined || shooter.shots === this.shots) return
      this.shots = shooter.shots
      this.hits = shooter.hits
      this.#was = [target.at.x, target.at.y]
    })
  }

  drawScreen(pen: Pen): void {
    const [target] = this.sim.client(0, Target)
    const [shooter] = this.sim.client(0, Shooter)
    if (target === undefined || shooter === undefined) return
    pen.path([[shooter.at.x, shooter.at.y], [target.at.x, target.at.y]], 'you', 'dashed')
    pen.dot(target.at.x, target.at.y, RADIUS, 'other')
    pen.square(shooter.at.x, shooter.at.y, 16, 'you')
  }

  drawVerdict(pen: Pen): void {
    const [shooter] = this.sim.server(Shooter)
    const seen = this.#seen[this.shots - 1]
    if (shooter === undefined || seen === undefined) return
    const { at: { x, y }, aim, isHit } = shooter
    const verdict = isHit ? 'good' : 'bad'
    pen.path([[x, y], [x + 170 * math.cos(aim), y + 170 * math.sin(aim)]], verdict)
    pen.dot(...seen, RADIUS, 'you', 'ghost')
    pen.dot(...this.#was, RADIUS, 'server')
    pen.text(isHit ? 'hit' : 'miss', x + 16, y + 4, verdict)
    pen.square(x, y, 16, 'you')
  }
}
