/** Lab 4. The server judges a shot by what its shooter saw: `world.rewind`. */

import { angle, bool, defineGame, entity, math, sphere, u16, vec2, type Game } from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import type { Pen } from '../pen.ts'
import { jitter, latency, loss, weatherOf } from '../weather-dials.ts'

const at = vec2(0, 320, 0.1).position()
const Target = entity({ at, speed: vec2(-200, 200, 1).velocity() }, { name: 'Target' })
const Shooter = entity({ at, aim: angle(16), shots: u16, hits: u16, isHit: bool }, { name: 'Shooter' })

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
      if (target.at.x < 30 || target.at.x > 290) target.speed.x = target.at.x < 160 ? SPEED : -SPEED
    }
    for (const shooter of world.each(Shooter)) {
      const { aim, fire } = inputs.of(shooter.owner)
      if (!fire) continue
      const direction = { x: math.cos(aim), y: math.sin(aim) }
      const hit = world.rewind(shooter.owner, (past) => past.cast({ from: shooter.at, direction, reach: 300 }))
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
  idea: 'Who aims well should hit, though what he sees is the past.',
  words: `The shooter aims at what is on his screen and never misses there. But his screen shows the past, and his shot arrives
    later still: the target has run on. His input says which moment he looked at, so the server looks back to that moment and
    judges by it. The same shooter, the same target, and a server that does not look back: he hits by luck.`,
  guide: 'shooting.md',
  hint: 'Hold ↑ to fire faster; the aim is always true',
  dials: { latency: latency(100), jitter: jitter(10), loss: loss(2) },

  open(settings, hands) {
    const link = weatherOf(settings)
    const [fair, plain] = [simulate(range(500), { link }), simulate(range(0), { link })]
    for (const sim of [fair, plain]) {
      sim.script(0, (tick) => ({ aim: aimOf(sim), fire: tick % (hands.keys?.up ? FIRE_TICKS / 3 : FIRE_TICKS) === 0 }))
    }
    return {
      sims: [fair, plain],
      screens: [
        { title: "The shooter's screen", role: 'you', note: 'where he aims', draw: (pen) => drawScreen(pen, fair) },
        { title: 'Server that looks back', role: 'server', note: 'the outline is what he saw', draw: (pen) => drawServer(pen, fair) },
        { title: 'Server that does not', role: 'bad', note: 'the same shots, judged by now', draw: (pen) => drawServer(pen, plain) },
      ],
      figures: () => [
        { name: 'Hits, looking back', value: score(fair), role: 'good' },
        { name: 'Hits, not looking back', value: score(plain), role: 'bad' },
      ],
      claim: () => ({
        text: 'Who aims at what he sees hits it, every time.',
        isHeld: fair.server(Shooter).some(({ shots }) => shots >= 8) ? fair.server(Shooter).every(({ shots, hits }) => hits === shots) : undefined,
      }),
    }
  },
})

/** From the shooter to where he sees the target. */
function aimOf(sim: Simulation<typeof input>): number {
  const [target] = sim.client(0, Target)
  const [shooter] = sim.client(0, Shooter)
  return target === undefined || shooter === undefined ? 0 : math.atan2(target.at.y - shooter.at.y, target.at.x - shooter.at.x)
}

function score(sim: Simulation<typeof input>): string {
  const [shooter] = sim.server(Shooter)
  return `${shooter?.hits ?? 0} of ${shooter?.shots ?? 0}`
}

function drawScreen(pen: Pen, sim: Simulation<typeof input>): void {
  for (const target of sim.client(0, Target)) pen.dot(target.at.x, target.at.y, RADIUS, 'other')
  for (const shooter of sim.client(0, Shooter)) {
    pen.square(shooter.at.x, shooter.at.y, 16, 'you')
    for (const target of sim.client(0, Target)) pen.path([[shooter.at.x, shooter.at.y], [target.at.x, target.at.y]], 'you', 'dashed')
  }
}

function drawServer(pen: Pen, sim: Simulation<typeof input>): void {
  for (const { at: { x, y }, aim, shots, isHit } of sim.server(Shooter)) {
    pen.square(x, y, 16, 'you')
    if (shots > 0) pen.path([[x, y], [x + 170 * math.cos(aim), y + 170 * math.sin(aim)]], isHit ? 'good' : 'bad')
  }
  for (const target of sim.client(0, Target)) pen.dot(target.at.x, target.at.y, RADIUS, 'you', 'ghost')
  for (const target of sim.server(Target)) pen.dot(target.at.x, target.at.y, RADIUS, 'server')
}
