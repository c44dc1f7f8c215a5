/** Lab 7. Packets are delayed, lost, duplicated and reordered; reliable messages arrive all the same. */

import { bool, defineGame, entity, message, u32, vec2 } from 'tickwire'
import { simulate, type LinkFlight } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import { figure, milliseconds, percent, screen } from '../lab-parts.ts'
import type { Pen } from '../pen.ts'
import { duplication, jitter, latency, loss, reordering, weatherOf } from '../weather-dials.ts'

const Walker = entity({ at: vec2(0, 320, 0.1).position() })
/** Both are sent twenty times a second. A letter arrives exactly once and in order; a postcard may be lost. */
const Letter = message({ number: u32 }, 'Letter', { delivery: 'reliable' })
const Postcard = message({ number: u32 }, 'Postcard', { delivery: 'unreliable' })

const game = defineGame({
  tickRate: 60,
  input: { left: bool, right: bool, up: bool, down: bool },
  entities: [Walker],
  messages: [Letter, Postcard],
  onJoin: (world, peer) => world.spawn(Walker, { at: { x: 160, y: 90 } }, peer),
  step(world, inputs) {
    for (const walker of world.each(Walker)) {
      const { left, right, up, down } = inputs.of(walker.owner)
      walker.at.x += (+right - +left) * 2
      walker.at.y += (+down - +up) * 2
    }
  },
})

export const weather: Lab = defineLab({
  name: 'weather',
  title: 'Network weather',
  idea: 'Loss, jitter, duplicates, reordering: what they do to packets, and what the game notices.',
  words: `Every dot is a packet between you and the server; red ones are lost. The engine numbers its
    packets, learns which arrived, and sends again only what still matters: inputs are in several
    packets, state is sent again, and letters are kept until they are acknowledged. Make the network as
    bad as you like, and walk.`,
  guide: 'testing.md',
  hint: 'Walk with the arrow keys',
  dials: {
    latency: latency(120), jitter: jitter(30), loss: loss(15),
    duplication: duplication(5), reordering: reordering(10),
  },

  open(settings, hands) {
    const sim = simulate(game, { link: weatherOf(settings) })
    const { host, link } = sim.players[0]!
    sim.script(0, (tick) => hands.keys ?? goRound(tick))

    const flights: Flight[] = []
    link.onFlight = ({ side, sentAt, arrivesAt }) => {
      flights.push({ side, sentAt, arrivesAt })
      if (flights.length > FLIGHTS_SHOWN) flights.shift()
    }

    let [written, letters, postcards, isInOrder] = [0, 0, 0, true]
    host.on(Letter, ({ number }) => { isInOrder &&= number === ++letters })
    host.on(Postcard, () => { postcards++ })
    sim.draw(0, 20, () => {
      written++
      sim.host.broadcast(Letter, { number: written })
      sim.host.broadcast(Postcard, { number: written })
    })

    const roundTripMs = (): number => sim.host.connectionOf({ id: host.peer })?.rtt.smoothedMs ?? NaN
    return {
      sims: [sim],
      screens: [
        screen('Your screen', 'you', "outlined: the server's state", (pen) => {
          for (const { at } of sim.server(Walker)) pen.square(at.x, at.y, 20, 'server', 'ghost')
          for (const { at } of sim.client(0, Walker)) pen.square(at.x, at.y, 20, 'you')
        }),
        screen('The connection', 'ink', 'above: to the server, below: to you', (pen) => {
          for (const y of [65, 115]) pen.path([[10, y], [310, y]], 'faint')
          for (const flight of flights) drawFlight(pen, flight, sim.clock.now, link.weather.latencyMs ?? 0)
        }),
        screen('Server', 'server', 'the true state', (pen) => {
          for (const { at } of sim.server(Walker)) pen.square(at.x, at.y, 20, 'you')
        }),
      ],
      figures: () => [
        figure('Packets sent', link.stats.sent),
        figure('Lost', link.stats.lost, 'bad'),
        figure('Measured round trip', milliseconds(roundTripMs())),
        figure('Postcards that arrived', percent(postcards / written), 'server'),
        figure('Letters that arrived', `${letters} of ${written}`, 'you'),
      ],
      claim: () => ({
        text: 'Every letter arrives, once, and in order, on any network.',
        isHeld: written < 20 ? undefined : isInOrder && letters > 0,
      }),
    }
  },
})

type Flight = Pick<LinkFlight, 'side' | 'sentAt' | 'arrivesAt'>
const FLIGHTS_SHOWN = 100

/** A square, again and again. */
function goRound(tick: number): { left: boolean; right: boolean; up: boolean; down: boolean } {
  const side = Math.floor(tick / 30) % 4
  return { right: side === 0, down: side === 1, left: side === 2, up: side === 3 }
}

/** You are at the left end, the server is at the right. Lost packets fall off half way. */
function drawFlight(pen: Pen, { side, sentAt, arrivesAt }: Flight, now: number, latencyMs: number): void {
  const isLost = arrivesAt === Infinity
  const way = (now - sentAt) / Math.max(isLost ? latencyMs : arrivesAt - sentAt, 1)
  if (way < 0 || way > 1) return
  const [x, y] = side === 1 ? [10 + 300 * way, 65] : [310 - 300 * way, 115]
  if (isLost && way > 0.5) pen.dot(x, y + (way - 0.5) * 80, 4, 'bad', 'ghost')
  else pen.dot(x, y, 4, isLost ? 'bad' : side === 1 ? 'you' : 'server')
}
