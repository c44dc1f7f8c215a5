/** Lab 1. A player waits for the server, even to see its own moves: `predict: 'none'`. */

import { bool, defineGame, entity, fixed, type ObjectView } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import { figure, milliseconds, screen } from '../lab-parts.ts'
import type { Pen } from '../pen.ts'
import { Reaction } from '../reaction.ts'
import { Scope } from '../scope.ts'
import { jitter, latency, loss, weatherOf } from '../weather-dials.ts'

const Walker = entity({ x: fixed(0, 320, 0.1).position(), y: fixed(0, 180, 0.1) })

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
  idea: 'A key press goes to the server, and its effect comes back. Until then, nothing moves.',
  words: `Only the server moves players here. Your key press needs the one-way latency to get there, and
    its effect needs it again to come back. Then it waits a little longer, so that movement is smooth.
    Press the keys and turn around: this is a game without prediction.`,
  guide: 'prediction.md',
  hint: 'Walk with ← and →',
  dials: { latency: latency(100), jitter: jitter(0), loss: loss(0) },

  open(settings, hands) {
    const sim = simulate(game, { clients: 2, link: weatherOf(settings) })

    const [onServer, onScreen] = [new Reaction(), new Reaction()]

    // You, or the bot that plays for you; and another player.
    sim.script(0, (tick) => {
      const { left, right } = hands.keys ?? walkAbout(tick, 120)
      for (const reaction of [onServer, onScreen]) reaction.press(sim.clock.now, +right - +left)
      return { left, right }
    })
    sim.script(1, (tick) => walkAbout(tick, 150))

    const scope = new Scope('Where you are', [20, 300], {
      'your keys': 'ink', server: 'server', 'your screen': 'you',
    })
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
        screen('Server', 'server', 'the true state', (pen) => drawAll(pen, sim.server(Walker))),
        screen('Your screen', 'you', 'what you see', (pen) => drawAll(pen, sim.client(0, Walker))),
        screen('Their screen', 'other', 'what the other player sees', (pen) => drawAll(pen, sim.client(1, Walker))),
      ],
      figures: () => [
        figure('Round trip', milliseconds(roundTripMs())),
        figure('Key to server', milliseconds(onServer.ms), 'server'),
        figure('Key to your screen', milliseconds(onScreen.ms), 'you'),
      ],
      claim: () => ({
        text: 'You see the effect of a key no sooner than a round trip later.',
        isHeld: Number.isNaN(onScreen.ms) ? undefined : onScreen.ms >= roundTripMs(),
      }),
      forget: () => { for (const reaction of [onServer, onScreen]) reaction.forget() },
    }
  },
})

/** Back and forth, in a period of `ticks`. */
function walkAbout(tick: number, ticks: number): { left: boolean; right: boolean } {
  const isRight = tick % ticks < ticks / 2
  return { left: !isRight, right: isRight }
}

function drawAll(pen: Pen, walkers: readonly ObjectView<typeof Walker>[]): void {
  walkers.forEach(({ x, y }, index) => pen.square(x, y, 20, index === 0 ? 'you' : 'other'))
}
