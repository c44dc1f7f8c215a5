import { describe, expect, test, vi } from 'vitest'
import { defineGame, entity, fixed, bool, message, profiles, u16, u8, type Game, type NetSettings } from 'tickwire'
import { createMatchHost, flatHash, hashHex, ROLES } from 'tickwire/engine'
import { Dice, SimClock, simulate, StubCrypto } from 'tickwire/testing'
import { makeRunners, Runner, Stone, type RunnerInput } from './prediction-game.ts'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 120_000 })

const play = (tick: number): { right: boolean; left: boolean; throw: boolean } =>
  ({ right: tick % 50 < 25, left: tick % 50 >= 25, throw: tick % 40 === 0 })

function hashOf(host: { readonly world: ReturnType<typeof createMatchHost<RunnerInput>>['host']['world'] }): string {
  const hash = new Uint32Array(2)
  flatHash(host.world, hash)
  return hashHex(hash, 0)
}

describe('roles', () => {
  test('[ROLE1] one game in every role: equal inputs give equal worlds, to the bit', () => {
    const hashes = (['dedicated', 'listen', 'local'] as const).map((role) => {
      const { rooms, host } = createMatchHost(makeRunners(), { entropy: new Dice(1), seed: 77, role })
      host.addBot((world) => play(world.tick))
      if (role === 'dedicated') host.addBot((world) => play(world.tick + 13))
      else host.join(() => play(host.world.tick + 13))
      for (let now = 0; now < 5000; now += 5) rooms.tick(now)
      if (role !== 'dedicated') expect([...host.draw().each(Runner)]).toHaveLength(2)
      expect(host.world.tick).toBeGreaterThan(290)
      return hashOf(host)
    })
    expect(new Set(hashes).size).toBe(1)
    // A client steps its own part of the world, and a digest of the objects that it owns confirms it tick by tick.
    const sim = simulate(makeRunners(), { seed: 2, link: { latencyMs: 80 } })
    sim.script(0, play)
    sim.run(4000)
    const { predictor } = sim.players[0]!.host
    expect([predictor!.rollbacks, predictor!.confirmed > 200]).toEqual([0, true])
  })

  test('[ROLE2] roles are a table, and the game never sees its role', () => {
    expect(
      Object.values(ROLES).map(({ name, isAuthority, hasLocalView, relaysForPeers, predicts }) => [
        name,
        isAuthority,
        hasLocalView,
        relaysForPeers,
        predicts,
      ]),
    ).toEqual([
      ['dedicated', true, false, false, false],
      ['listen', true, true, true, false],
      ['local', true, true, false, false],
      ['client', false, true, false, true],
    ])
    const { host: dedicated } = createMatchHost(makeRunners(), { entropy: new Dice(1) })
    expect(() => dedicated.join(() => ({}))).toThrow(
      "role: a dedicated host has no player of its own. Fix: create it with role: 'listen' or 'local'.",
    )
    expect(() => dedicated.draw()).toThrow('role: a dedicated host has no view')
  })

  test('[ROLE3] a listen host plays and accepts others; when it leaves, all clients are disconnected', () => {
    const sim = simulate(makeRunners(), { seed: 4, clients: 2, link: { latencyMs: 40 }, server: { role: 'listen' } })
    const me = sim.host.join(() => ({ right: true }))
    sim.run(1000)
    const mine = [...sim.host.draw().each(Runner)].find(({ owner }) => owner === me.id)
    expect(mine!.x).toBeGreaterThan(560)
    expect(sim.client(1, Runner)).toHaveLength(3)
    expect(sim.client(1, Runner).find(({ owner }) => owner === me.id)!.x).toBeGreaterThan(540)
    sim.rooms.close(sim.clock.now)
    sim.run(1000)
    expect(sim.players.map(({ host }) => host.endpoint.connections.length)).toEqual([0, 0])
    expect(sim.host.endpoint.connections).toHaveLength(0)
  })

  test('[ROLE4] a local view lies between the last two ticks, reports spawns and despawns, and is read-only', () => {
    const { rooms, host } = createMatchHost(makeRunners(), { entropy: new Dice(1), role: 'local' })
    host.join(() => ({ right: true, throw: true }))
    const seen: string[] = []
    host.draw().on('spawn', Stone, ({ owner }) => seen.push(`spawn ${owner > 0}`))
    host.draw().on('despawn', Stone, () => seen.push('despawn'))
    for (let now = 0; now <= 2000; now += 5) {
      rooms.tick(now)
      host.draw()
    }
    expect(seen.slice(0, 2)).toEqual(['spawn true', 'spawn true'])
    expect(seen).toContain('despawn')
    const clock = new SimClock(2000)
    const before = host.world.tick
    while (host.world.tick === before) {
      clock.drive(1)
      rooms.tick(clock.now)
    }
    const [now] = [...host.world.each(Runner)]
    rooms.tick(clock.now + 8)
    const [half] = [...host.draw().each(Runner)]
    expect(half!.x).toBeGreaterThan(now!.x - 2)
    expect(half!.x).toBeLessThan(now!.x)
    expect(() => { (half as { x: number }).x = 3 }).toThrow(TypeError)
  })
})

describe('bots', () => {
  test('[BOT1] bots play like other players: they join, hold inputs, are seen, and leave', () => {
    const joined: number[] = []
    const left: string[] = []
    const sim = simulate(makeRunners(), {
      seed: 4,
      server: { onJoined: ({ id }) => joined.push(id), onLeft: (_peer, { code }) => left.push(code) },
    })
    const bot = sim.host.addBot((world, me) => ({
      left: [...world.each(Runner)].some(({ owner, x }) => owner === me.id && x > 450),
    }))
    sim.run(3000)
    expect(joined).toContain(bot.id)
    expect(sim.client(0, Runner).find(({ owner }) => owner === bot.id)!.x).toBe(450)
    sim.host.kick(bot)
    sim.run(1000)
    expect([left, sim.client(0, Runner).length, sim.host.peers.length]).toEqual([['left'], 1, 1])
  })
})

describe('games', () => {
  const Dot = entity({ x: fixed(0, 100, 1), n: u8 }, { name: 'Dot' })
  const Paint = message({ n: u8 })
  const input = { go: bool }

  test('[GAME4] messages reach step as input, ascending by player, in the tick after they arrived', () => {
    const received: string[] = []
    const game = defineGame({
      tickRate: 60, input, entities: [Dot], messages: [Paint],
      step(world, inputs) {
        for (const { from, values } of inputs.messages(Paint)) {
          received.push(`${from}: ${values.n}`)
          world.spawn(Dot, { n: values.n }, from)
        }
      },
    })
    const sim = simulate(game, { seed: 1, clients: 2, link: { latencyMs: 30 } })
    const [first, second] = [...sim.players].sort((a, b) => a.host.peer - b.host.peer)
    for (const n of [1, 2]) second!.host.send(Paint, { n })
    first!.host.send(Paint, { n: 3 })
    sim.run(1000)
    expect(received).toEqual(['1: 3', '2: 1', '2: 2'])
    expect(sim.server(Dot).map(({ n }) => n)).toEqual([3, 1, 2])
    expect(sim.difference()).toBeUndefined()
  })

  test('[GAME5] settings that contradict each other are refused, with the path and the fix', () => {
    const make = (net: Partial<NetSettings>, tickRate = 60): Game<typeof input> =>
      defineGame({ tickRate, input, entities: [Dot], net, step: () => {} })
    const wrong: readonly [Partial<NetSettings>, string][] = [
      [{ snapshotRate: 61 }, 'net.snapshotRate: invalid rate (got 61). Fix: give 1 to 60 a second.'],
      [{ nudge: 0.5 }, 'net.nudge: too large (got 0.5).'],
      [
        { predictionMs: 3000 },
        'net.predictionMs: more than 128 ticks (got 3000). Fix: give at most 2133 at this tick rate.',
      ],
      [{ predictionMs: 20 }, 'net.predictionMs: shorter than the lead (got 20).'],
      [{ interpolationMs: 300 }, 'net.interpolationMs: outside of 0 to 250 (got 300).'],
      [{ rewindMs: 2000 }, 'net.rewindMs: longer than the history of 1000 (got 2000).'],
      [{ heartbeatMs: 9000 }, 'net.heartbeatMs: too long for a timeout of 10000 (got 9000).'],
      [{ heartbeatMs: 0 }, 'net.heartbeatMs: invalid time (got 0). Fix: give milliseconds above 0.'],
      [{ goodbyeMs: 0 }, 'net.goodbyeMs: invalid time (got 0). Fix: give milliseconds above 0.'],
      [{ connectRetryMs: 3000, connectMs: 2000 }, 'net.connectRetryMs: longer than connectMs, 2000 (got 3000).'],
      [{ rtoMsMin: 2000 }, 'net.rtoMsMin: above rtoMsMax, 1000 (got 2000). Fix: swap them.'],
      [{ datagramBytesMax: 1199 }, 'net.datagramBytesMax: invalid size (got 1199). Fix: give 1200 to 1500.'],
      [{ datagramBytesMax: 1501 }, 'net.datagramBytesMax: invalid size (got 1501). Fix: give 1200 to 1500.'],
      [{ inputRedundancy: 40 }, 'net.inputRedundancy: invalid number (got 40). Fix: give 1 to 32.'],
      [{ replayTicksMax: 0 }, 'net.replayTicksMax: invalid number (got 0). Fix: give an integer, 1 or more.'],
      [{ leadTicks: -1 }, 'net.leadTicks: invalid number (expected 0 or more, got -1). Fix: give 0 or more.'],
    ]
    for (const [net, text] of wrong) expect(() => make(net), text).toThrow(text)
    expect(make({ rewindMs: 2000, historyMs: 2500 }).net.rewindMs).toBe(2000)
  })

  test('[GAME6] profiles are plain numbers, each of which can be overridden', () => {
    const { fusion, arena, shmup } = profiles
    expect(
      [fusion, arena, shmup].map(({ tickRate, predict, net: { snapshotRate, interpolationMs } }) => [
        tickRate,
        predict,
        snapshotRate,
        interpolationMs,
      ]),
    ).toEqual([
      [60, 'owned', 30, 100],
      [128, 'owned', 128, 20],
      [60, 'owned', 20, 120],
    ])
    expect(fusion.net).toMatchObject({
      extrapolationMs: 250,
      heartbeatMs: 1000,
      timeoutMs: 10_000,
      rewindMs: 250,
      historyMs: 1000,
    })
    expect(arena.net).toMatchObject({
      inputRedundancy: 3,
      interpolationMsMin: 1000 / 128,
      interpolationMsMax: 100,
      timeoutMs: 30_000,
    })
    for (const profile of [fusion, arena, shmup]) {
      const game = defineGame({
        ...profile,
        net: { ...profile.net, timeoutMs: 12_345 },
        input,
        entities: [Dot],
        step: () => {},
      })
      expect([game.tickRate, game.predict, game.net.timeoutMs]).toEqual([profile.tickRate, profile.predict, 12_345])
    }
  })

  test('[GAME10] a game may have no input at all: players join, and the world steps', () => {
    const Clock = entity({ seconds: u16 })
    const game = defineGame({
      tickRate: 30, input: {}, entities: [Clock],
      onJoin: (world, peer) => world.spawn(Clock, {}, peer),
      step(world, inputs) {
        for (const clock of world.each(Clock)) {
          expect(inputs.of(clock.owner)).toBeDefined()
          if (world.every(30)) clock.seconds++
        }
      },
    })
    const sim = simulate(game, { seed: 4, clients: 2, link: { latencyMs: 60, loss: 0.05 } })
    sim.hold(0, {})
    sim.run(5000)
    expect(sim.server(Clock)).toHaveLength(2)
    expect(sim.server(Clock)[0]!.seconds).toBeGreaterThan(2)
    expect(sim.difference()).toBeUndefined()
    expect(sim.players[0]!.host.predictor!.rollbacks).toBe(0)
  })

  test('[GAME7] with nothing predicted a player sees its own object as the authority sends it', () => {
    const game = defineGame({
      tickRate: 60, predict: 'none', input, entities: [Dot], net: { interpolationMs: 20, interpolationMsMin: 20 },
      onJoin: (world, peer) => world.spawn(Dot, {}, peer),
      step(world, inputs) { for (const dot of world.each(Dot)) dot.x += +inputs.of(dot.owner).go },
    })
    const sim = simulate(game, { seed: 1, link: { latencyMs: 100 } })
    expect(sim.players[0]!.host.predictor).toBeUndefined()
    sim.hold(0, { go: true })
    sim.run(200)
    expect(sim.client(0, Dot)[0]!.x).toBe(0)
    sim.run(3000)
    sim.hold(0, {})
    expect(sim.difference()).toBeUndefined()
    expect(sim.client(0, Dot)[0]!.x).toBe(100)
  })

  test('[GAME8] `world.every` counts ticks from an offset, the same wherever a tick is stepped', () => {
    const Bell = entity({ rings: u16 }, { name: 'Bell' })
    const game = defineGame({
      tickRate: 60, input, entities: [Bell],
      onJoin: (world, peer) => world.spawn(Bell, {}, peer),
      step(world) { for (const bell of world.each(Bell)) if (world.every(20, bell.id)) bell.rings++ },
    })
    const sim = simulate(game, { seed: 1, link: { latencyMs: 70 } })
    sim.run(5000)
    expect(sim.server(Bell)[0]!.rings).toBeGreaterThan(14)
    expect(sim.players[0]!.host.predictor!.rollbacks).toBe(0)
  })
})

test('[KIT1] weather can change by player and by moment, and the same seed gives the same match', () => {
  const runs = [1, 1, 2].map((seed) => {
    const sim = simulate(makeRunners(), {
      seed,
      clients: 2,
      security: { provider: new StubCrypto() },
      link: { latencyMs: 20, loss: 0.1 },
    })
    sim.script(0, play)
    sim.run(500)
    sim.weather({ latencyMs: 200, jitterMs: 50, loss: 0.3 }, 1)
    sim.run(1500)
    const draws: string[] = []
    const stop = sim.draw(1, 30, (view) => draws.push([...view.each(Runner)].map(({ x }) => x).join()))
    // The 31st draw would be due at the end of the second.
    sim.run(990)
    stop()
    sim.run(1000)
    expect(draws).toHaveLength(30)
    expect(sim.players[0]!.host.clock.clock.rttMs).toBeLessThan(60)
    expect(sim.players[1]!.host.clock.clock.rttMs).toBeGreaterThan(300)
    return `${hashOf(sim.host)} ${draws.join(' ')}`
  })
  expect(runs[0]).toBe(runs[1])
  expect(runs[0]).not.toBe(runs[2])
})
