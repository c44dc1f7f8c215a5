/** Lab 1. A player waits for the server, even to see himself: `predict: 'none'`. */

import { bool, defineGame, entity, fixed, type ObjectView } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import type { Pen } from '../pen.ts'
import { milliseconds, Reaction } from '../reaction.ts'
import { Scope } from '../scope.ts'
import { jitter, latency, loss, weatherOf } from '../weather-dials.ts'

const Walker = entity({ x: fixed(0, 320, 0.1).position(), y: fixed(0, 180, 0.1) }, { name: 'Walker' })

const game = defineGame({
  tickRate: 60,
  predict: 'none',
  input: { left: bool, right: bool },
  entities: [Walker],
  onJoin: (world, peer) => world.spawn(Walker, { x: 160, y: peer.id * 60 }, peer),
  step(world, inputs) {
    for (const walker of world.each(Walker)) {
      const { left, right } = inputs.of(walker.owner)
      walker.x += (+right - +left) * 2
    }
  },
})

export const feelTheLag: Lab = defineLab({
  name: 'feel-the-lag',
  title: 'Feel the lag',
  idea: 'A key travels to the server and what it did travels back. Until then, nothing.',
  words: `Only the server moves anybody here. Your key takes one way to get there and its effect one way back; then it waits a
    little longer, so that pictures follow each other smoothly. Take the keys, turn about, and feel it: this is a game
    without prediction.`,
  guide: 'prediction.md',
  hint: 'Walk with ← and →',
  dials: { latency: latency(100), jitter: jitter(0), loss: loss(0) },

  open(settings, hands) {
    const sim = simulate(game, { clients: 2, link: weatherOf(settings) })
    const scope = new Scope('Where you are', [20, 300], { 'your keys': 'ink', server: 'server', 'your screen': 'you' })
    const onServer = new Reaction()
    const onScreen = new Reaction()

    // You, or who plays for you; and somebody else.
    sim.script(0, (tick) => {
      const { left, right } = hands.keys ?? walkAbout(tick, 120)
      onServer.press(sim.clock.now, +right - +left)
      onScreen.press(sim.clock.now, +right - +left)
      return { left, right }
    })
    sim.script(1, (tick) => walkAbout(tick, 150))

    sim.draw(0, 120, (view, now) => {
      const [truth] = sim.server(Walker)
      const [seen] = view.each(Walker)
      if (truth === undefined || seen === undefined) return
      scope.add(now, 160 + 100 * onScreen.direction, truth.x, seen.x)
      onServer.see(now, truth.x)
      if (onScreen.see(now, seen.x)) scope.mark(onScreen.turnedAt, now, seen.x, 'you')
    })

    const roundTripMs = (): number => 2 * (sim.players[0]?.link.weather.latencyMs ?? 0)
    return {
      sims: [sim],
      scope,
      screens: [
        { title: 'Server', role: 'server', note: 'what is true', draw: (pen) => drawWalkers(pen, sim.server(Walker)) },
        { title: 'Your screen', role: 'you', note: 'what you see', draw: (pen) => drawWalkers(pen, sim.client(0, Walker)) },
        { title: 'Their screen', role: 'other', note: 'what the other player sees', draw: (pen) => drawWalkers(pen, sim.client(1, Walker)) },
      ],
      figures: () => [
        { name: 'Round trip', value: milliseconds(roundTripMs()) },
        { name: 'Key to server', value: milliseconds(onServer.ms), role: 'server' },
        { name: 'Key to your screen', value: milliseconds(onScreen.ms), role: 'you' },
      ],
      claim: () => ({
        text: 'You see what you did no sooner than a round trip later.',
        isHeld: Number.isNaN(onScreen.ms) ? undefined : onScreen.ms >= roundTripMs(),
      }),
      forget: () => { for (const reaction of [onServer, onScreen]) reaction.forget() },
    }
  },
})

/** To and fro, so many ticks in all. */
function walkAbout(tick: number, ticks: number): { left: boolean; right: boolean } {
  const isRight = tick % ticks < ticks / 2
  return { left: !isRight, right: isRight }
}

function drawWalkers(pen: Pen, walkers: readonly ObjectView<typeof Walker>[]): void {
  walkers.forEach(({ x, y }, index) => pen.square(x, y, 20, index === 0 ? 'you' : 'other'))
}
