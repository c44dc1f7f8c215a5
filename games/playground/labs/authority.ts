/** Lab 6. Who simulates a thing: the server, or whoever holds it (`authority: 'shared'`). */

import { bool, defineGame, entity, math, u16, u32, vec2, type Game, type ObjectAuthority, type ObjectView } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import type { Pen } from '../pen.ts'
import { jitter, latency, loss, weatherOf } from '../weather-dials.ts'

const at = vec2(0, 320, 0.1).position()
const Player = entity({ at }, { name: 'Player' })
const ballOf = (authority: ObjectAuthority) => entity({ at }, { name: 'Ball', authority })
type Ball = ReturnType<typeof ballOf>
/** Nobody's, so the server alone steps it: it says who holds the ball. */
const Referee = entity({ holder: u32, passes: u16, passedAt: u32 }, { name: 'Referee' })

const REACH = 40
const PASS_TICKS = 60
const input = { left: bool, right: bool, up: bool, down: bool }

const passing = (Ball: Ball): Game<typeof input> => defineGame({
  tickRate: 60,
  input,
  entities: [Player, Ball, Referee],
  onJoin(world, peer) {
    const isFirst = world.count(Player) === 0
    world.spawn(Player, { at: { x: isFirst ? 50 : 270, y: 110 } }, peer)
    if (!isFirst) return
    world.spawn(Referee, { holder: peer.id })
    world.spawn(Ball, { at: { x: 50, y: 90 } }, Ball.isShared ? peer : 0)
  },
  step(world, inputs) {
    for (const player of world.each(Player)) {
      const { left, right, up, down } = inputs.of(player.owner)
      player.at.x += (+right - +left) * 1.3
      player.at.y += (+down - +up) * 1.3
    }
    // `each(Ball)` has the ball where it is simulated: with its owner, or on the server if it has none.
    for (const ball of world.each(Ball)) {
      for (const referee of world.seen(Referee)) {
        for (const { owner, at } of world.seen(Player)) if (owner === (ball.owner || referee.holder)) ball.at = { x: at.x, y: at.y - 20 }
      }
    }
    for (const referee of world.each(Referee)) {
      if (world.tick < referee.passedAt + PASS_TICKS) continue
      const [one, two] = world.each(Player)
      if (one === undefined || two === undefined || math.hypot(one.at.x - two.at.x, one.at.y - two.at.y) > REACH) continue
      referee.holder = referee.holder === one.owner ? two.owner : one.owner
      referee.passedAt = world.tick
      referee.passes++
      if (Ball.isShared) for (const ball of world.seen(Ball)) world.setOwner(ball, referee.holder)
    }
  },
})

export const authority: Lab = defineLab({
  name: 'authority',
  title: 'Authority transfer',
  idea: 'Who holds the ball simulates it, and passes that on with it.',
  words: `Two players pass a ball whenever they meet. Where the server simulates it, the ball follows its holder like a dog: on his
    own screen it is a round trip behind him. Where it belongs to whoever holds it, his machine simulates it and tells the
    others; it sticks to his hands. With every pass the right to write it goes over, at one tick, for everybody.`,
  guide: 'authority.md',
  hint: 'Walk with the arrow keys; the ball is passed when you meet',
  dials: {
    shared: { label: 'The ball is simulated by who holds it', value: true },
    latency: latency(100), jitter: jitter(10), loss: loss(2),
  },

  open(settings, hands) {
    const Ball = ballOf(settings.shared ? 'shared' : 'server')
    const sim = simulate(passing(Ball), { clients: 2, link: weatherOf(settings) })
    const [first, second] = sim.players.map(({ host }) => host)
    // Bots meet in the middle and part again.
    const walk = (client: number, tick: number): { left: boolean; right: boolean } => {
      const x = sim.client(client, Player).find(({ owner }) => owner === sim.players[client]?.host.peer)?.at.x ?? 0
      const [home, middle] = x < 160 ? [50, 145] : [270, 175]
      const goal = tick % 180 < 90 ? middle : home
      return { left: x > goal + 1, right: x < goal - 1 }
    }
    sim.script(0, (tick) => hands.keys ?? walk(0, tick))
    sim.script(1, (tick) => walk(1, tick))

    // How far the ball is from the hands of who holds it, on his own screen.
    let trail = NaN
    for (const [client, host] of [first, second].entries()) {
      sim.draw(client, 60, (view) => {
        const [[ball], [referee]] = [[...view.each(Ball)], [...view.each(Referee)]]
        for (const { owner, at } of view.each(Player)) {
          if (ball === undefined || owner !== host?.peer || owner !== referee?.holder) continue
          const away = math.hypot(ball.at.x - at.x, ball.at.y - at.y + 20)
          trail = Number.isNaN(trail) ? away : trail + (away - trail) / 60
        }
      })
    }

    const holder = (referees: readonly ObjectView<typeof Referee>[]): string => referees[0]?.holder === first?.peer ? 'you' : 'them'
    const draw = (pen: Pen, players: readonly ObjectView<typeof Player>[], balls: readonly ObjectView<Ball>[], referees: readonly ObjectView<typeof Referee>[]): void => {
      for (const { owner, at } of players) pen.square(at.x, at.y, 20, owner === first?.peer ? 'you' : 'other')
      for (const { at } of balls) pen.dot(at.x, at.y, 8, settings.shared ? holder(referees) === 'you' ? 'you' : 'other' : 'server')
    }
    return {
      sims: [sim],
      screens: [
        { title: 'Server', role: 'server', note: 'its colour: who simulates it', draw: (pen) => draw(pen, sim.server(Player), [...sim.host.world.seen(Ball)], sim.server(Referee)) },
        { title: 'Your screen', role: 'you', note: 'what you see', draw: (pen) => draw(pen, sim.client(0, Player), sim.client(0, Ball), sim.client(0, Referee)) },
        { title: 'Their screen', role: 'other', note: 'what the other player sees', draw: (pen) => draw(pen, sim.client(1, Player), sim.client(1, Ball), sim.client(1, Referee)) },
      ],
      figures: () => [
        { name: 'Passes', value: `${sim.server(Referee)[0]?.passes ?? 0}`, role: 'server' },
        { name: 'Held by, says the server', value: holder(sim.server(Referee)), role: 'server' },
        { name: 'Your screen', value: holder(sim.client(0, Referee)), role: 'you' },
        { name: 'Their screen', value: holder(sim.client(1, Referee)), role: 'other' },
        { name: "Behind its holder's hands", value: Number.isNaN(trail) ? '–' : `${trail.toFixed(1)} px` },
      ],
      claim: () => ({
        text: settings.shared ? 'The ball sticks to the hands that hold it, however far the server is.' : 'A ball that the server simulates trails behind the hands that hold it.',
        isHeld: Number.isNaN(trail) ? undefined : settings.shared === trail < 3,
      }),
      forget: () => { trail = NaN },
    }
  },
})
