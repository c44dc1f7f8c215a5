/** Lab 2. Your machine runs `step` for your own square at once; the server's result is final. */

import { bool, defineGame, entity, u16, vec2, type Game, type Predict } from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import { figure, milliseconds, pixels, screen } from '../lab-parts.ts'
import type { Pen } from '../pen.ts'
import { Reaction } from '../reaction.ts'
import { Scope } from '../scope.ts'
import { jitter, latency, loss, weatherOf } from '../weather-dials.ts'

const Walker = entity({ at: vec2(0, 320, 0.1).position() })
const Fan = entity({ gusts: u16 })

const GUST_TICKS = 150
const GUST = 60
const input = { left: bool, right: bool }

const windy = (predict: Predict, smoothingMs: number): Game<typeof input> => defineGame({
  tickRate: 60,
  predict,
  net: { smoothingMs },
  input,
  entities: [Walker, Fan],
  onJoin(world, peer) {
    world.spawn(Walker, { at: { x: 160, y: 120 } }, peer)
    world.spawn(Fan, {})
  },
  step(world, inputs) {
    for (const walker of world.each(Walker)) {
      const { left, right } = inputs.of(walker.owner)
      walker.at.x += (+right - +left) * 2
    }
    // The fan has no owner, so only the server simulates it: on a client `each(Fan)` is empty, and gusts are not
    // predicted.
    for (const fan of world.each(Fan)) {
      if (!world.every(GUST_TICKS)) continue
      for (const walker of world.each(Walker)) walker.at.y += fan.gusts % 2 === 0 ? -GUST : GUST
      fan.gusts++
    }
  },
})

export const predictAndReconcile: Lab = defineLab({
  name: 'predict-and-reconcile',
  title: 'Predict and reconcile',
  idea: 'Your own square moves at once. Unforeseeable events are corrected, hardly visibly.',
  words: `Your page runs the same step as the server, for your square and with your keys, and does not
    wait. The square on your screen is therefore ahead of the outline, which is the server's state.
    Now and then there is a gust of wind that only the server knows: your page goes back to that tick,
    takes the server's state, and steps again to the present.`,
  guide: 'prediction.md',
  hint: 'Walk with ← and →',
  dials: {
    smoothing: { label: 'Smooth corrections', value: true },
    latency: latency(100), jitter: jitter(0), loss: loss(0),
  },

  open(settings, hands) {
    const link = weatherOf(settings)
    const smoothingMs = settings.smoothing ? 80 : 0
    const sim = simulate(windy('owned', smoothingMs), { link })
    const slow = simulate(windy('none', smoothingMs), { link })

    const [atOnce, waiting] = [new Reaction(), new Reaction()]
    for (const [match, reaction] of [[sim, atOnce], [slow, waiting]] as const) {
      match.script(0, (tick) => {
        const { left, right } = hands.keys ?? { left: tick % 120 >= 60, right: tick % 120 < 60 }
        reaction.press(match.clock.now, +right - +left)
        return { left, right }
      })
      match.draw(0, 120, (view, now) => {
        for (const { at } of view.each(Walker)) reaction.see(now, at.x)
      })
    }

    const scope = new Scope('How high you are', [30, 150], { server: 'server', 'your screen': 'you' })
    let [height, leapMax] = [NaN, 0]
    sim.draw(0, 120, (view, now) => {
      const [truth] = sim.server(Walker)
      const [seen] = view.each(Walker)
      if (truth === undefined || seen === undefined) return
      scope.add(now, 180 - truth.at.y, 180 - seen.at.y)
      leapMax = Math.max(leapMax, Math.abs(seen.at.y - height) || 0)
      height = seen.at.y
    })

    return {
      sims: [sim, slow],
      scope,
      screens: [
        screen('Server', 'server', 'the true state', (pen) => drawServer(pen, sim)),
        screen('Your screen', 'you', "outlined: the server's state", (pen) => drawScreen(pen, sim)),
        screen('Without prediction', 'bad', 'the same keys', (pen) => drawScreen(pen, slow)),
      ],
      figures: () => [
        figure('Key to your screen', milliseconds(atOnce.ms), 'you'),
        figure('Without prediction', milliseconds(waiting.ms), 'bad'),
        figure('Unforeseen gusts', sim.server(Fan)[0]?.gusts ?? 0, 'server'),
        figure('Corrections', sim.players[0]?.host.predictor?.rollbacks ?? 0, 'you'),
        figure('Largest jump in one draw', pixels(leapMax), 'you'),
      ],
      claim: () => ({
        text: 'You see the effect of a key in the next draw, whatever the latency.',
        isHeld: Number.isNaN(atOnce.ms) ? undefined : atOnce.ms <= 1000 / 60,
      }),
      forget: () => { for (const reaction of [atOnce, waiting]) reaction.forget() },
    }
  },
})

function drawServer(pen: Pen, sim: Simulation<typeof input>): void {
  for (const { at } of sim.server(Walker)) pen.square(at.x, at.y, 20, 'you')
}

function drawScreen(pen: Pen, sim: Simulation<typeof input>): void {
  for (const { at } of sim.server(Walker)) pen.square(at.x, at.y, 20, 'server', 'ghost')
  for (const { at } of sim.client(0, Walker)) pen.square(at.x, at.y, 20, 'you')
}
