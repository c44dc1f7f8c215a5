/** Lab 7. Packets are late, lost, doubled and overtaken; what was promised arrives all the same. */

import { bool, defineGame, entity, message, u32, vec2 } from 'tickwire'
import { simulate, type LinkFlight } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import type { Pen } from '../pen.ts'
import { milliseconds } from '../reaction.ts'
import { duplication, jitter, latency, loss, reordering, weatherOf } from '../weather-dials.ts'

const Walker = entity({ at: vec2(0, 320, 0.1).position() }, { name: 'Walker' })
/** Both are said twenty times a second. A letter must arrive, once and in its turn; a postcard may. */
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

type Flight = Pick<LinkFlight, 'side' | 'sentAt' | 'arrivesAt'>

export const weather: Lab = defineLab({
  name: 'weather',
  title: 'Network weather',
  idea: 'Loss, jitter, doubles, overtaking: what they do to packets, and what is left of them above.',
  words: `Every dot is a packet between you and the server; red ones get lost. The engine numbers what it sends, hears what arrived,
    and says again only what still matters: inputs ride in several packets, the state is told anew, letters are kept until
    they are known to have come. Make it as bad as you like, and walk.`,
  guide: 'testing.md',
  hint: 'Walk with the arrow keys',
  dials: { latency: latency(120), jitter: jitter(30), loss: loss(15), duplication: duplication(5), reordering: reordering(10) },

  open(settings, hands) {
    const sim = simulate(game, { link: weatherOf(settings) })
    const { host, link } = sim.players[0]!
    sim.script(0, (tick) => hands.keys ?? goRound(tick))

    let flights: Flight[] = []
    link.onFlight = ({ side, sentAt, arrivesAt }) => { flights = [...flights.filter((flight) => flight.sentAt > sentAt - 1000), { side, sentAt, arrivesAt }] }

    let [written, letters, postcards, isInOrder] = [0, 0, 0, true]
    host.on(Letter, ({ number }) => { isInOrder &&= number === ++letters })
    host.on(Postcard, () => { postcards++ })
    sim.draw(0, 20, () => {
      written++
      sim.host.broadcast(Letter, { number: written })
      sim.host.broadcast(Postcard, { number: written })
    })

    const percent = (part: number): string => written === 0 ? '–' : `${Math.round(100 * part / written)} %`
    return {
      sims: [sim],
      screens: [
        { title: 'Your screen', role: 'you', note: 'outlined: where the server has you', draw(pen) {
          for (const { at } of sim.server(Walker)) pen.square(at.x, at.y, 20, 'server', 'ghost')
          for (const { at } of sim.client(0, Walker)) pen.square(at.x, at.y, 20, 'you')
        } },
        { title: 'The cable', role: 'ink', note: 'yours above, the answers below', draw: (pen) => drawCable(pen, flights, sim.clock.now, settings.latency) },
        { title: 'Server', role: 'server', note: 'what is true', draw: (pen) => { for (const { at } of sim.server(Walker)) pen.square(at.x, at.y, 20, 'you') } },
      ],
      figures: () => [
        { name: 'Packets sent', value: `${link.stats.sent}` },
        { name: 'Lost', value: `${link.stats.lost}`, role: 'bad' },
        { name: 'Round trip, as felt', value: milliseconds(sim.host.connectionOf({ id: host.peer })?.rtt.smoothedMs ?? NaN) },
        { name: 'Postcards that came', value: percent(postcards), role: 'server' },
        { name: 'Letters: came of written', value: `${letters} of ${written}`, role: 'you' },
      ],
      claim: () => ({
        text: 'Whatever the weather: every letter comes, once, and in its turn.',
        isHeld: written < 20 ? undefined : isInOrder && letters > 0,
      }),
    }
  },
})

/** Four corners, over and over. */
function goRound(tick: number): { left: boolean; right: boolean; up: boolean; down: boolean } {
  const side = Math.floor(tick / 30) % 4
  return { right: side === 0, down: side === 1, left: side === 2, up: side === 3 }
}

/** You are at the left end, the server is at the right. What is lost falls off half way. */
function drawCable(pen: Pen, flights: readonly Flight[], now: number, latencyMs: number): void {
  for (const y of [65, 115]) pen.path([[10, y], [310, y]], 'faint')
  for (const { side, sentAt, arrivesAt } of flights) {
    const isLost = arrivesAt === Infinity
    const way = (now - sentAt) / (isLost ? Math.max(latencyMs, 1) : Math.max(arrivesAt - sentAt, 1))
    if (way < 0 || way > 1) continue
    const [x, y] = side === 1 ? [10 + 300 * way, 65] : [310 - 300 * way, 115]
    if (isLost && way > 0.5) pen.dot(x, y + (way - 0.5) * 80, 4, 'bad', 'ghost')
    else pen.dot(x, y, 4, isLost ? 'bad' : side === 1 ? 'you' : 'server')
  }
}
