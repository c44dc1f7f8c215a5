/** Spectators in whole matches: seats of their own, somebody else's eyes, nothing to say, and a past that stays the past. */

import { describe, expect, test, vi } from 'vitest'
import { bool, createServerHost, defineGame, entity, fixed, message, near, owner, rpc, u8, type Entity, type PeerId, type ServerHost, type ServerHostOptions } from 'tickwire'
import { Dice, SimClock, StubCrypto, type Weather } from 'tickwire/testing'
import { SimPlayer, SimServer } from '../../packages/tickwire/src/testing/simulate-actors.ts'

// No time in it is real, but a busy machine takes its own.
vi.setConfig({ testTimeout: 240_000 })

const Runner = entity({ x: fixed(0, 10_000, 0.1).position(), ammo: u8.owner(), plan: u8.team() }, { name: 'Runner', interest: near(300) })
const Bag = entity({ gold: u8 }, { name: 'Bag', interest: owner })
const Sun = entity({ height: u8 }, { name: 'Sun' })
const Shout = message({ n: u8 }, 'Shout')
const Pay = rpc({ n: u8 }, { to: 'server', reply: { n: u8 }, name: 'Pay' })
const INPUT = { right: bool }

/** Runners stand 1,000 apart, in the order in which they came; each has a bag that is his alone. */
const game = defineGame({
  tickRate: 60, input: INPUT, entities: [Runner, Bag, Sun] as readonly Entity[], messages: [Shout], rpcs: [Pay], net: { snapshotRate: 30 },
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
  readonly host: ServerHost<typeof INPUT>
  readonly players: readonly Player[]
  readonly spectators: readonly Player[]
  /** Why each that came asked in vain. */
  readonly closed: string[]
}

function stage(players: number, spectators: number, options: Partial<ServerHostOptions> = {}, link: Weather = { latencyMs: 40 }): Scene {
  const security = { provider: new StubCrypto() }
  const clock = new SimClock()
  const closed: string[] = []
  const host = createServerHost(game, { entropy: new Dice(5), seed: 1, security, limits: {}, ...options })
  const make = (number: number, role: 'player' | 'spectator'): Player =>
    new SimPlayer(game, 100 + number * 17, link, { security, role, onClosed: ({ code }) => closed.push(`${role} ${code}`) })
  const all = Array.from({ length: players + spectators }, (_, number) => make(number, number < players ? 'player' : 'spectator'))
  clock.add(new SimServer(host, all))
  all.forEach((each, number) => {
    clock.add(each)
    each.host.connect(clock.now, 'server')
    // Players are numbered as they come.
    if (number < players) clock.driveUntil(() => each.host.peer !== 0 || closed.length > 0, 5000)
  })
  clock.drive(1500)
  return { clock, host, players: all.slice(0, players), spectators: all.slice(players), closed }
}

const runnersSeen = ({ clock }: Scene, { host }: Player): PeerId[] => [...host.draw(clock.now).each(Runner)].map((runner) => runner.owner)

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
    expect(looking.every(({ host: { predictor, clock: { inputs } } }) => predictor === undefined && inputs.newest < 0)).toBe(true)
    for (const { host: player } of scene.players) player.sampleInput = () => ({ right: true })
    // Each follows a player of his own.
    looking.forEach(({ host: { peer } }, number) => host.follow({ id: peer }, host.peers[number]!))
    clock.drive(3000)
    looking.forEach((spectator, number) => {
      const followed = host.peers[number]!.id
      const truth = new Map([...host.world.each(Runner)].map((runner) => [runner.owner, runner.x]))
      const seen = [...spectator.host.draw(clock.now).each(Runner)]
      expect(seen.map((runner) => runner.owner)).toContain(followed)
      // Whom the followed one cannot see is not there.
      for (const runner of seen) expect(Math.abs(truth.get(runner.owner)! - truth.get(followed)!)).toBeLessThan(400)
      expect(seen.length).toBeLessThan(5)
      // He sees them move, a little later than they do.
      for (const runner of seen) expect(truth.get(runner.owner)! - runner.x).toBeLessThan(15)
    })
  })

  test('[SPEC2] a spectator owns nothing and is no player; his inputs, messages and calls reach no step', async () => {
    const scene = stage(1, 1)
    const { host, clock, players, spectators } = scene
    const [spectator] = spectators
    const heard: number[] = []
    host.handle(Pay, ({ n }) => ({ n }))
    host.on(Shout, ({ n }) => heard.push(n))
    expect(host.peers.map(({ id }) => id)).toEqual([players[0]!.host.peer])
    spectator!.host.send(Shout, { n: 99 })
    expect(await settled(scene, spectator!.host.request(clock.now, Pay, { n: 1 }))).toEqual({ isOk: false, reason: 'refused' })
    expect(await settled(scene, players[0]!.host.request(clock.now, Pay, { n: 1 }))).toEqual({ isOk: true, values: { n: 1 } })
    // Who listens hears him; the game does not.
    expect([heard, [...host.world.each(Sun)][0]!.height]).toEqual([[99], 1])
    expect(host.spectators.refusals(spectator!.host.peer)).toEqual({ inputs: 0 })
  })

  test('[SPEC2] inputs of a spectator are refused and counted, and he stays', () => {
    const scene = stage(1, 1)
    const { host, clock, spectators } = scene
    const [{ host: spectator }] = spectators as [Player]
    const [connection] = spectator.endpoint.connections
    // A page that was changed: the source of inputs, in spite of the role.
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

  test('[SPEC3] he follows the first, then whom he asks for, and another when that one leaves', async () => {
    const scene = stage(3, 1)
    const { host, clock, spectators, players } = scene
    const [spectator] = spectators as [Player]
    const [a, b, c] = host.peers.map(({ id }) => id) as [PeerId, PeerId, PeerId]
    const { peer } = spectator.host
    expect([host.spectators.followed(peer), runnersSeen(scene, spectator)]).toEqual([a, [a]])
    expect(await settled(scene, spectator.host.spectate(clock.now, 'next'))).toBe(b)
    expect(runnersSeen(scene, spectator)).toEqual([b])
    expect(await settled(scene, spectator.host.spectate(clock.now, c))).toBe(c)
    expect(await settled(scene, spectator.host.spectate(clock.now, 'next'))).toBe(a)
    expect(await settled(scene, spectator.host.spectate(clock.now, 'previous'))).toBe(c)
    expect(await settled(scene, spectator.host.spectate(clock.now, 12_345))).toBe(c)
    expect(await settled(scene, players[0]!.host.spectate(clock.now, b))).toBe(0)
    const leaving = players.find(({ host: player }) => player.peer === c)!
    leaving.host.close(clock.now)
    clock.drive(1000)
    // Who left is drawn once more, where he was last.
    spectator.host.draw(clock.now)
    clock.drive(100)
    expect([host.spectators.followed(peer), runnersSeen(scene, spectator)]).toEqual([a, [a]])
  })

  test('[SPEC4] he is told what is for everybody, unless the host lets him know what the one knows whom he follows', () => {
    const plain = stage(2, 1)
    const [spectator] = plain.spectators as [Player]
    const seen = [...spectator.host.draw(plain.clock.now).each(Runner)][0]!
    expect([seen.ammo, seen.plan, [...spectator.host.view.each(Bag)].length, [...spectator.host.view.each(Sun)].length]).toEqual([0, 0, 0, 1])
    const privy = stage(2, 1, { spectators: { fields: 'followed' } })
    const [insider] = privy.spectators as [Player]
    const known = [...insider.host.draw(privy.clock.now).each(Runner)][0]!
    expect([known.ammo, known.plan, [...insider.host.view.each(Bag)].map(({ gold }) => gold)]).toEqual([7, 3, [9]])
  })

  test('[SPEC5] with a delay he sees, and hears, the match as it was then', () => {
    const scene = stage(2, 1, { spectators: { delayMs: 2000 } })
    const { host, clock, players, spectators } = scene
    const [spectator] = spectators as [Player]
    const heard: number[] = []
    spectator.host.onEvent(Shout, (_values, tick) => heard.push(host.world.tick - tick))
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
    const told = confirmed.read(Runner, first!.id, confirmed.newest, 'x')
    expect(told).toBeCloseTo(truth.get(confirmed.newest)!, 3)
    expect(runnersSeen(scene, spectator)).toEqual([first!.owner])
    // In their turn, and none of what has not happened there yet.
    expect(heard.length).toBeGreaterThan(50)
    expect(Math.min(...heard)).toBeGreaterThanOrEqual(120)
    // Who leaves now is followed until he leaves there.
    const leaving = first!.owner
    players.find(({ host: player }) => player.peer === leaving)!.host.close(clock.now)
    clock.drive(1000)
    expect([host.peers.length, host.spectators.followed(spectator.host.peer)]).toEqual([1, leaving])
    clock.drive(2000)
    expect(host.spectators.followed(spectator.host.peer)).toBe(host.peers[0]!.id)
    expect(() => stage(1, 0, { spectators: { delayMs: 100 } })).toThrow('spectators.delayMs: 100 ms. Give 500 or more')
  })

  test('[SPEC6] the host has a say in who comes as what', () => {
    const scene = stage(1, 1, { admit: (_request, role) => role === 'spectator' ? 'locked' : undefined })
    expect([scene.host.peers.length, scene.closed]).toEqual([1, ['spectator locked']])
  })
})
