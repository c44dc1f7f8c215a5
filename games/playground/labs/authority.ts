/** Lab 6. Which peer simulates an object: the server, or the player that holds it (`authority: 'shared'`). */

import {
  bool, defineGame, entity, math, u16, u32, vec2, type Game, type ObjectAuthority, type ObjectView,
} from 'tickwire'
import { simulate } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import { figure, pixels, screen } from '../lab-parts.ts'
import type { Pen } from '../pen.ts'
import { jitter, latency, loss, weatherOf } from '../weather-dials.ts'

const at = vec2(0, 320, 0.1).position()
const Player = entity({ at })
const ballOf = (authority: ObjectAuthority) => entity({ at }, { authority })
type Ball = ReturnType<typeof ballOf>
/** Has no owner, so only the server steps it. It decides which player holds the ball. */
const Referee = entity({ holder: u32, passes: u16, passedAt: u32 })

const HANDS = 20
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
      const [referee] = world.seen(Referee)
      const holder = ball.owner || referee?.holder
      for (const { owner, at } of world.seen(Player)) {
        if (owner === holder) ball.at = { x: at.x, y: at.y - HANDS }
      }
    }
    for (const referee of world.each(Referee)) {
      const [one, two] = world.each(Player)
      if (one === undefined || two === undefined || world.tick < referee.passedAt + PASS_TICKS) continue
      if (math.hypot(one.at.x - two.at.x, one.at.y - two.at.y) > REACH) continue
      referee.holder = referee.holder === one.owner ? two.owner : one.owner
      referee.passedAt = world.tick
      referee.passes++
      if (Ball.isShared) for (const ball of world.seen(Ball)) world.setOwner(ball, referee.holder)
    }
  },
})

/** One participant's view of a match. */
interface Sight {
  readonly players: readonly ObjectView<typeof Player>[]
  readonly balls: readonly ObjectView<Ball>[]
  readonly referees: readonly ObjectView<typeof Referee>[]
}

export const authority: Lab = defineLab({
  name: 'authority',
  title: 'Authority transfer',
  idea: 'The holder of the ball simulates it. A pass also transfers the authority.',
  words: `Two players pass a ball whenever they meet. If the server simulates the ball, it follows its
    holder with a delay: on the holder's own screen it is a round trip behind. If the holder owns
    the ball, the holder's page simulates it and sends it to the others; it stays in the hands. With
    every pass the right to write the ball changes, at the same tick for all.`,
  guide: 'authority.md',
  hint: 'Walk with the arrow keys; the ball is passed when you meet',
  dials: {
    shared: { label: 'The holder simulates the ball', value: true },
    latency: latency(100), jitter: jitter(10), loss: loss(2),
  },

  open({ shared, ...weather }, hands) {
    const Ball = ballOf(shared ? 'shared' : 'server')
    const sim = simulate(passing(Ball), { clients: 2, link: weatherOf(weather) })
    const [you, them] = sim.players.map(({ host }) => host)
    const sightOf = (client: number): Sight =>
      ({ players: sim.client(client, Player), balls: sim.client(client, Ball), referees: sim.client(client, Referee) })
    const serverSight = (): Sight =>
      ({ players: sim.server(Player), balls: [...sim.host.world.seen(Ball)], referees: sim.server(Referee) })

    // Bots meet in the middle and part again.
    const walk = (client: number, tick: number): { left: boolean; right: boolean } => {
      const me = sim.client(client, Player).find(({ owner }) => owner === sim.players[client]?.host.peer)
      const x = me?.at.x ?? 0
      const [home, middle] = x < 160 ? [50, 145] : [270, 175]
      const goal = tick % 180 < 90 ? middle : home
      return { left: x > goal + 1, right: x < goal - 1 }
    }
    sim.script(0, (tick) => hands.keys ?? walk(0, tick))
    sim.script(1, (tick) => walk(1, tick))

    // Distance of the ball from its holder, on the holder's own screen, once the holder knows that it has the ball.
    let trail = NaN
    const measure = (peer: number | undefined, { players, balls: [ball] }: Sight): void => {
      const [referee] = sim.server(Referee)
      const isKnown = referee !== undefined && sim.host.world.tick >= referee.passedAt + PASS_TICKS
      const me = players.find(({ owner }) => owner === peer)
      if (!isKnown || referee.holder !== peer || me === undefined || ball === undefined) return
      const away = math.hypot(ball.at.x - me.at.x, ball.at.y - me.at.y + HANDS)
      trail = Number.isNaN(trail) ? away : trail + (away - trail) / 60
    }
    sim.draw(0, 60, () => measure(you?.peer, sightOf(0)))
    sim.draw(1, 60, () => measure(them?.peer, sightOf(1)))

    const holder = ({ referees: [referee] }: Sight): 'you' | 'them' => referee?.holder === you?.peer ? 'you' : 'them'
    const draw = (pen: Pen, sight: Sight): void => {
      const simulator = !shared ? 'server' : holder(sight) === 'you' ? 'you' : 'other'
      for (const { owner, at } of sight.players) pen.square(at.x, at.y, 20, owner === you?.peer ? 'you' : 'other')
      for (const { at } of sight.balls) pen.dot(at.x, at.y, 8, simulator)
    }
    return {
      sims: [sim],
      screens: [
        screen('Server', 'server', 'its colour: the simulating side', (pen) => draw(pen, serverSight())),
        screen('Your screen', 'you', 'what you see', (pen) => draw(pen, sightOf(0))),
        screen('Their screen', 'other', 'what the other player sees', (pen) => draw(pen, sightOf(1))),
      ],
      figures: () => [
        figure('Passes', sim.server(Referee)[0]?.passes ?? 0, 'server'),
        figure('Held by, says the server', holder(serverSight()), 'server'),
        figure('Held by, on your screen', holder(sightOf(0)), 'you'),
        figure('Held by, on their screen', holder(sightOf(1)), 'other'),
        figure("Behind its holder's hands", pixels(trail)),
      ],
      claim: () => ({
        text: shared ? 'The ball stays in the hands that hold it, whatever the latency.'
          : 'A ball that the server simulates trails behind the hands that hold it.',
        isHeld: Number.isNaN(trail) ? undefined : shared === trail < 3,
      }),
      forget: () => { trail = NaN },
    }
  },
})
