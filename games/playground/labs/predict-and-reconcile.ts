/** Lab 2. Your machine runs `step` for your own square at once; the server runs it a moment later, and has the last word. */

import { bool, defineGame, entity, u16, vec2, type Game, type ObjectView, type Predict } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import type { Pen } from '../pen.ts'
import { milliseconds, Reaction } from '../reaction.ts'
import { Scope } from '../scope.ts'
import { jitter, latency, loss, weatherOf } from '../weather-dials.ts'

const Walker = entity({ at: vec2(0, 320, 0.1).position() }, { name: 'Walker' })
const Fan = entity({ gusts: u16 }, { name: 'Fan' })

const GUST_TICKS = 150
const GUST = 60
const input = { left: bool, right: bool }

const windy = (predict: Predict, isSmooth: boolean): Game<typeof input> => defineGame({
  tickRate: 60,
  predict,
  net: { smoothingMs: isSmooth ? 80 : 0 },
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
    // The fan is nobody's, so the server alone simulates it: on a client `each(Fan)` is empty, and no gust is foreseen.
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
  idea: 'Your own square moves at once. What nobody could foresee is set right, and you hardly see it.',
  words: `Your machine runs the same step as the server, for your square and with your keys, and does not wait. So the square
    on your screen is ahead of the outline, which is where the server has it. Now and then a gust blows that only the
    server knows of: your machine goes back to that tick, takes the server's word, and steps again up to now.`,
  guide: 'prediction.md',
  hint: 'Walk with ← and →',
  dials: {
    smoothing: { label: 'Smooth corrections', value: true },
    latency: latency(100), jitter: jitter(0), loss: loss(0),
  },

  open(settings, hands) {
    const link = weatherOf(settings)
    const sim = simulate(windy('owned', settings.smoothing), { link })
    const slow = simulate(windy('none', settings.smoothing), { link })
    const scope = new Scope('How high you are', [30, 150], { server: 'server', 'your screen': 'you' })
    const [fast, waiting] = [new Reaction(), new Reaction()]
    let [height, leapMax] = [NaN, 0]

    for (const [match, reaction] of [[sim, fast], [slow, waiting]] as const) {
      match.script(0, (tick) => {
        const { left, right } = hands.keys ?? { left: tick % 120 >= 60, right: tick % 120 < 60 }
        reaction.press(match.clock.now, +right - +left)
        return { left, right }
      })
      match.draw(0, 120, (view, now) => { for (const { at } of view.each(Walker)) reaction.see(now, at.x) })
    }
    sim.draw(0, 120, (view, now) => {
      const [truth] = sim.server(Walker)
      const [seen] = view.each(Walker)
      if (truth === undefined || seen === undefined) return
      scope.add(now, 180 - truth.at.y, 180 - seen.at.y)
      leapMax = Math.max(leapMax, Math.abs(seen.at.y - height) || 0)
      height = seen.at.y
    })

    const draw = (pen: Pen, { at }: ObjectView<typeof Walker>, isSolid = true): void => pen.square(at.x, at.y, 20, isSolid ? 'you' : 'server', isSolid ? 'solid' : 'ghost')
    const drawScreen = (pen: Pen, match: typeof sim): void => {
      for (const walker of match.server(Walker)) draw(pen, walker, false)
      for (const walker of match.client(0, Walker)) draw(pen, walker)
    }
    return {
      sims: [sim, slow],
      scope,
      screens: [
        { title: 'Server', role: 'server', note: 'what is true', draw: (pen) => { for (const walker of sim.server(Walker)) draw(pen, walker) } },
        { title: 'Your screen', role: 'you', note: 'outlined: where the server has you', draw: (pen) => drawScreen(pen, sim) },
        { title: 'Without prediction', role: 'bad', note: 'the same keys', draw: (pen) => drawScreen(pen, slow) },
      ],
      figures: () => [
        { name: 'Key to your screen', value: milliseconds(fast.ms), role: 'you' },
        { name: 'Without prediction', value: milliseconds(waiting.ms), role: 'bad' },
        { name: 'Gusts nobody foresaw', value: `${sim.server(Fan)[0]?.gusts ?? 0}`, role: 'server' },
        { name: 'Times set right', value: `${sim.players[0]?.host.predictor?.rollbacks ?? 0}`, role: 'you' },
        { name: 'Longest leap in one draw', value: `${leapMax.toFixed(1)} px`, role: 'you' },
      ],
      claim: () => ({
        text: 'You see what you did in the next draw, however far the server is.',
        isHeld: Number.isNaN(fast.ms) ? undefined : fast.ms <= 1000 / 60,
      }),
      forget: () => { for (const reaction of [fast, waiting]) reaction.forget() },
    }
  },
})
