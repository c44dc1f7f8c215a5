/**
 * Spectators in whole matches: they have separate seats, the view of a player, no inputs, and an exact delay.
 */

import { describe, expect, test, vi } from 'vitest'
import {
  bool, defineGame, entity, fixed, message, near, owner, rpc, u8, type Entity, type Match, type PeerId,
} from 'tickwire'
import { createMatchHost, type MatchHostOptions } from 'tickwire/engine'
import { Dice, SimClock, StubCrypto, type Weather } from 'tickwire/testing'
import { SimPlayer, SimServer } from '../../packages/tickwire/src/testing/simulate-actors.ts'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 240_000 })

const Runner = entity(
  { x: fixed(0, 10_000, 0.1).position(), ammo: u8.owner(), plan: u8.team() },
  { name: 'Runner', interest: near(300) },
)
const Bag = entity({ gold: u8 }, { name: 'Bag', interest: owner })
const Sun = entity({ height: u8 }, { name: 'Sun' })
const Shout = message({ n: u8 }, 'Shout')
const Pay = rpc({ n: u8 }, { to: 'server', reply: { n: u8 }, name: 'Pay' })
const INPUT = { right: bool }

/** Runners stand 1,000 apart, in the order in which they joined; each has a bag that only its owner sees. */
const game = defineGame({
  tickRate: 60,
  input: INPUT,
  entities: [Runner, Bag, Sun] as readonly Entity[],
  messages: [Shout],
  rpcs: [Pay],
  net: { snapshotRate: 30 },
  onJoin(world, peer) {
    if (world.count(Sun) === 0) world.spawn(Sun, { height: 1 })
    world.spawn(Runner, { x: 1000 * (world.count(Runner) % 10) + 5, ammo: 7, plan: 3 }, peer)
    world.spawn(Bag, { gold: 9 }, peer)
  },
  step(world, inputs) {
    for (const runner of world.each(Runner)) {
      if (!inputs.of(runner.owner).right) continue
      runner.x += 0.5
      world.emit(runner, Shout, { n: world.tick % 200 })
    }
    for (const { values } of inputs.messages(Shout)) for (const sun of world.each(Sun)) sun.height = values.n
  },
})

type Player = SimPlayer<typeof INPUT>

interface Scene {
  readonly clock: SimClock
  readonly host: Match<typeof INPUT>
  readonly players: readonly Player[]
  readonly spectators: readonly Player[]
  /** Why each refused client was refused. */
  readonly closed: string[]
}

function stage(
  players: number,
  spectators: number,
  options: Partial<MatchHostOptions> = {},
  link: Weather = { latencyMs: 40 },
): Scene {
  const security = { provider: new StubCrypto() }
  const clock = new SimClock()
  const closed: string[] = []
  const { rooms, host } = createMatchHost(game, { entropy: new Dice(5), seed: 1, security, limits: {}, ...options })
  const make = (number: number, role: 'player' | 'spectator'): Player =>
    new SimPlayer(game, 100 + number * 17, link, {
      security,
      role,
      onClosed: ({ code }) => closed.push(`${role} ${code}`),
    })
  const all = Array.from({ length: players + spectators }, (_, number) =>
    make(number, number < players ? 'player' : 'spectator'),
  )
  clock.add(new SimServer(rooms, all))
  all.forEach((each, number) => {
    clock.add(each)
    each.host.connect(clock.now, 'server')
    // Players are numbered as they join.
    if (number < players) clock.driveUntil(() => each.host.peer !== 0 || closed.length > 0, 5000)
  })
  clock.drive(1500)
  return { clock, host, players: all.slice(0, players), spectators: all.slice(players), closed }
}

const runnersSeen = ({ clock }: Scene, { host }: Player): PeerId[] =>
  [...host.draw(clock.now).each(Runner)].map((runner) => runner.owner)

async function settled<T>({ clock }: Scene, promise: Promise<T>): Promise<T> {
  clock.drive(400)
  return promise
}

describe('spectators', () => {
  test('[SPEC1] 24 players and 8 spectators in one match; seats of one kind are not taken by the other', () => {
    const scene = stage(25, 9, { maxPlayers: 24, maxSpectators: 8 }, { latencyMs: 40, jitterMs: 10, loss: 0.02 })
    const { host, clock, spectators } = scene
    expect(host.peers).toHaveLength(24)
    expect(host.endpoint.connections).toHaveLength(32)
    expect(scene.closed).toEqual(['player full', 'spectator full'])
    const looking = spectators.filter(({ host: { endpoint } }) => endpoint.connections.length > 0)
    expect(looking).toHaveLength(8)
    expect(
      looking.every(
        ({
          host: {
            predictor,
            clock: { inputs },
          },
        }) => predictor === undefined && inputs.newest < 0,
      ),
    ).toBe(true)
    for (const { host: player } of scene.players) player.sampleInput = () => ({ right: true })
    // Each follows another player.
    looking.forEach(({ host: { peer } }, number) => host.follow({ id: peer }, host.peers[number]!))
    clock.drive(3000)
    looking.forEach((spectator, number) => {
      const followed = host.peers[number]!.id
      const truth = new Map([...host.world.each(Runner)].map((runner) => [runner.owner, runner.x]))
      const seen = [...spectator.host.draw(clock.now).each(Runner)]
      expect(seen.map((runner) => runner.owner)).toContain(followed)
      // A runner that the followed player cannot see is not in the view.
      for (const runner of seen) expect(Math.abs(truth.get(runner.owner)! - truth.get(followed)!)).toBeLessThan(400)
      expect(seen.length).toBeLessThan(5)
      // The spectator sees them move, a little later than they do.
      for (const runner of seen) expect(truth.get(runner.owner)! - runner.x).toBeLessThan(15)
    })
  })

  test('[SPEC2] a spectator has no object and is not a player; its inputs and calls reach no step', async () => {
    const scene = stage(1, 1)
    const { host, players, spectators } = scene
    const [spectator] = spectators
    const received: number[] = []
    host.handle(Pay, ({ n }) => ({ n }))
    host.on(Shout, ({ n }) => received.push(n))
    expect(host.peers.map(({ id }) => id)).toEqual([players[0]!.host.peer])
    spectator!.host.send(Shout, { n: 99 })
    expect(await settled(scene, spectator!.host.request(Pay, { n: 1 }))).toEqual({
      isOk: false,
      reason: 'refused',
    })
    expect(await settled(scene, players[0]!.host.request(Pay, { n: 1 }))).toEqual({
      isOk: true,
      values: { n: 1 },
    })
    // A listener of the host receives the message; the game does not.
    expect([received, [...host.world.each(Sun)][0]!.height]).toEqual([[99], 1])
    expect(host.spectators.refusals(spectator!.host.peer)).toEqual({ inputs: 0 })
  })

  test('[SPEC2] inputs of a spectator are refused and counted, and it stays', () => {
    const scene = stage(1, 1)
    const { host, clock, spectators } = scene
    const [{ host: spectator }] = spectators as [Player]
    const [connection] = spectator.endpoint.connections
    // A modified page: the source of inputs, in spite of the role.
    const { inputs } = spectator.clock
    connection!.addSource(4, inputs)
    for (let tick = 0; tick < 10; tick++) {
      inputs.push(host.world.tick + 5 + tick, 1)
      clock.drive(17)
    }
    clock.drive(200)
    expect(host.spectators.refusals(spectator.peer)!.inputs).toBeGreaterThan(3)
    expect(host.peers).toHaveLength(1)
    expect(host.endpoint.connections).toHaveLength(2)
  })

  test('[SPEC3] a spectator follows the first player, then the one it asks for, then another', async () => {
    const scene = stage(3, 1)
    const { host, clock, spectators, players } = scene
    const [spectator] = spectators as [Player]
    const [a, b, c] = host.peers.map(({ id }) => id) as [PeerId, PeerId, PeerId]
    const { peer } = spectator.host
    expect([host.spectators.followed(peer), runnersSeen(scene, spectator)]).toEqual([a, [a]])
    expect(await settled(scene, spectator.host.spectate('next'))).toBe(b)
    expect(runnersSeen(scene, spectator)).toEqual([b])
    expect(await settled(scene, spectator.host.spectate(c))).toBe(c)
    expect(await settled(scene, spectator.host.spectate('next'))).toBe(a)
    expect(await settled(scene, spectator.host.spectate('previous'))).toBe(c)
    expect(await settled(scene, spectator.host.spectate(12_345))).toBe(c)
    expect(await settled(scene, players[0]!.host.spectate(b))).toBe(0)
    const leaving = players.find(({ host: player }) => player.peer === c)!
    leaving.host.close(clock.now)
    clock.drive(1000)
    // The player that left is drawn once more, at its last place.
    spectator.host.draw(clock.now)
    clock.drive(100)
    expect([host.spectators.followed(peer), runnersSeen(scene, spectator)]).toEqual([a, [a]])
  })

  test("[SPEC4] a spectator gets public fields only, unless the host grants the followed player's", () => {
    const plain = stage(2, 1)
    const [spectator] = plain.spectators as [Player]
    const seen = [...spectator.host.draw(plain.clock.now).each(Runner)][0]!
    expect([
      seen.ammo,
      seen.plan,
      [...spectator.host.view.each(Bag)].length,
      [...spectator.host.view.each(Sun)].length,
    ]).toEqual([0, 0, 0, 1])
    const privy = stage(2, 1, { spectators: { fields: 'followed' } })
    const [insider] = privy.spectators as [Player]
    const known = [...insider.host.draw(privy.clock.now).each(Runner)][0]!
    expect([known.ammo, known.plan, [...insider.host.view.each(Bag)].map(({ gold }) => gold)]).toEqual([7, 3, [9]])
  })

  test('[SPEC5] with a delay a spectator sees the match, and its events, as they were then', () => {
    const scene = stage(2, 1, { spectators: { delayMs: 2000 } })
    const { host, clock, players, spectators } = scene
    const [spectator] = spectators as [Player]
    const received: number[] = []
    spectator.host.onEvent(Shout, (_values, tick) => received.push(host.world.tick - tick))
    const truth = new Map<number, number>()
    for (const { host: player } of players) player.sampleInput = () => ({ right: true })
    for (let round = 0; round < 300; round++) {
      clock.drive(1000 / 60)
      const [runner] = [...host.world.each(Runner)]
      truth.set(host.world.tick, runner!.x)
      expect(spectator.host.confirmed.newest).toBeLessThanOrEqual(Math.max(host.world.tick - 120, -1))
    }
    const { confirmed } = spectator.host
    expect(confirmed.newest).toBeGreaterThan(host.world.tick - 140)
    const [first] = [...host.world.each(Runner)]
    const confirmedX = confirmed.read(Runner, first!.id, confirmed.newest, 'x')
    expect(confirmedX).toBeCloseTo(truth.get(confirmed.newest)!, 3)
    expect(runnersSeen(scene, spectator)).toEqual([first!.owner])
    // Messages arrive in order, and none of a tick that the spectator has not reached.
    expect(received.length).toBeGreaterThan(50)
    expect(Math.min(...received)).toBeGreaterThanOrEqual(120)
    // A player that leaves now is followed until the delayed view reaches that tick.
    const leaving = first!.owner
    players.find(({ host: player }) => player.peer === leaving)!.host.close(clock.now)
    clock.drive(1000)
    expect([host.peers.length, host.spectators.followed(spectator.host.peer)]).toEqual([1, leaving])
    clock.drive(2000)
    expect(host.spectators.followed(spectator.host.peer)).toBe(host.peers[0]!.id)
    expect(() => stage(1, 0, { spectators: { delayMs: 100 } })).toThrow(
      'spectators.delayMs: too short (expected at least 500 ms, got 100)',
    )
  })

  test('[SPEC6] the host decides which clients join as players and which as spectators', () => {
    const scene = stage(1, 1, { admit: ({ join: { role } }) => role === 'spectator' ? 'locked' : undefined })
    expect([scene.host.peers.length, scene.closed]).toEqual([1, ['spectator locked']])
  })
})
