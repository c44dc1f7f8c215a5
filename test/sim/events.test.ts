/** Which events a client receives, the cap on what is sent to it, and what is stepped again in a game with calls. */

import { describe, expect, test, vi } from 'vitest'
import { always, bool, defineGame, entity, fixed, message, near, rpc, u16, u32, type Entity, type Game } from 'tickwire'
import { createMatchHost } from 'tickwire/engine'
import { Dice, simulate } from 'tickwire/testing'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 120_000 })

const Walker = entity({ x: fixed(0, 1000, 0.1).position(), steps: u32 }, { name: 'Walker', interest: near(60) })
const Rocket = entity({ x: fixed(0, 1000, 0.1).position(), diesAt: u32 }, { name: 'Rocket', interest: near(60) })
const Bell = entity({ rings: u16 }, { name: 'Bell', interest: always })
/** The kind of sound, by number: 1 walks, 2 launches, 3 explodes, 4 rings. */
const Sound = message({ what: u16, by: u32 }, 'Sound', { delivery: 'unordered' })
const Poke = rpc({ by: u16 }, { to: 'server', by: 'owner', name: 'Poke' })

/**
 * Walkers 400 apart except for the first two, with rockets that live for three ticks, and a bell that is spawned every
 * second.
 */
function makeNoise(options: { isImpure?: boolean } = {}): Game<{ fire: typeof bool }> {
  let calls = 0
  return defineGame({
    tickRate: 30,
    input: { fire: bool },
    entities: [Walker, Rocket, Bell] as readonly Entity[],
    messages: [Sound],
    rpcs: [Poke],
    predict: 'none',
    onJoin: (world, peer) => world.spawn(Walker, { x: [100, 130, 900][world.count(Walker)]! }, peer),
    step(world, inputs) {
      for (const walker of world.each(Walker)) {
        walker.steps++
        if (options.isImpure === true) walker.steps += calls++ % 2
        if (world.every(10, walker.id)) world.emit(walker, Sound, { what: 1, by: walker.owner })
        if (!inputs.of(walker.owner).fire || !world.every(15)) continue
        const rocket = world.spawn(Rocket, { x: walker.x, diesAt: world.tick + 3 }, walker.owner)
        world.emit(rocket, Sound, { what: 2, by: walker.owner })
      }
      for (const rocket of world.each(Rocket)) {
        if (world.tick < rocket.diesAt) continue
        world.emit(rocket, Sound, { what: 3, by: rocket.owner })
        world.despawn(rocket)
      }
      if (!world.every(30)) return
      for (const bell of world.each(Bell)) world.despawn(bell)
      world.emit(world.spawn(Bell, {}), Sound, { what: 4, by: 0 })
    },
  })
}

describe('which clients receive an event', () => {
  test('[PRED15] clients that see an event receive it once, also of objects that spawn or die in that tick', () => {
    const sim = simulate(makeNoise(), { seed: 3, clients: 3, link: { latencyMs: 30, jitterMs: 10, loss: 0.05 } })
    const peers = sim.players.map(({ host }) => host.peer)
    const place = (peer: number): number => sim.server(Walker).find(({ owner }) => owner === peer)!.x
    const received = sim.players.map(() => [] as string[])
    const emitted = new Map<string, number>()
    const nameOf = (what: number, by: number, tick: number): string => `${what} of ${by} at ${tick}`
    sim.host.onEvent(Sound, ({ what, by }, tick) => { emitted.set(nameOf(what, by, tick), by) })
    sim.run(500)
    const first = sim.host.world.tick
    sim.players.forEach(({ host }, client) =>
      host.onEvent(Sound, ({ what, by }, tick) => {
        if (tick > first) received[client]!.push(nameOf(what, by, tick))
      }),
    )
    peers.forEach((_peer, client) => sim.hold(client, { fire: true }))
    sim.run(5000)
    const last = sim.host.world.tick
    sim.run(2000)
    for (const [client, peer] of peers.entries()) {
      const isNear = (by: number): boolean => by === 0 || Math.abs(place(by) - place(peer)) <= 60
      const tickOf = (event: string): number => Number(event.split(' ')[4])
      const expected = [...emitted]
        .filter(([event, by]) => tickOf(event) > first && tickOf(event) <= last && isNear(by))
        .map(([event]) => event)
      expect(received[client]!.filter((event) => tickOf(event) <= last).sort()).toEqual(expected.sort())
    }
    for (const what of ['1', '2', '3', '4'])
      expect([...emitted.keys()].filter((event) => event.startsWith(what)).length).toBeGreaterThan(4)
  })
})

describe('a cap on snapshots', () => {
  test('[GAME9] the cap is for all players or for one; urgent rows go first, and all are sent in the end', () => {
    const Dot = entity({ x: u16, y: u16, z: u16 }, { name: 'Dot' })
    const game = defineGame({
      tickRate: 60,
      input: { idle: bool },
      entities: [Dot] as readonly Entity[],
      predict: 'none',
      net: { snapshotRate: 20 },
      step(world) {
        while (world.count(Dot) < 150) world.spawn(Dot, {})
        if (world.tick < 500)
          for (const dot of world.each(Dot))
            Object.assign(dot, {
              x: world.random.int(dot, 0, 65_535),
              y: world.random.int(dot, 0, 65_535),
              z: world.random.int(dot, 0, 65_535),
            })
      },
    })
    const rates: number[] = []
    let first = 0
    const sim = simulate(game, {
      seed: 5,
      clients: 2,
      server: { bytesPerSecond: ({ id }) => (first === 0 || id === first ? ((first = id), 6000) : Infinity) },
    })
    sim.run(1000)
    sim.host.watch.resetBandwidth()
    sim.run(5000)
    for (const { peer, entryBits } of sim.host.bandwidth().clients) rates[peer === first ? 0 : 1] = entryBits / 8 / 5
    expect(rates[0]).toBeGreaterThan(4500)
    expect(rates[0]).toBeLessThan(6300)
    expect(rates[1]).toBeGreaterThan(15_000)
    sim.run(3000)
    expect(sim.difference()).toBeUndefined()
  })

  test.each([0, -1, NaN])('[GAME9] a cap of %d is refused, with the path and the fix', (bytesPerSecond) => {
    expect(() => createMatchHost(makeNoise(), { entropy: new Dice(1), bytesPerSecond })).toThrow(
      `bytesPerSecond: invalid rate (expected above 0, got ${bytesPerSecond}). Fix: give a rate above 0`,
    )
  })
})

describe('a server that steps every tick again', () => {
  test('[PRED8] a server in sync test steps ticks of a game with calls again, except the ticks of the calls', () => {
    const depths: number[] = []
    const impure = simulate(makeNoise({ isImpure: true }), {
      seed: 3,
      server: { syncTest: 6, onSyncFault: ({ depth }) => depths.push(depth) },
    })
    impure.run(500)
    expect(depths.length).toBeGreaterThan(5)
    const faults: unknown[] = []
    const sim = simulate(makeNoise(), {
      seed: 3,
      link: { latencyMs: 30 },
      server: { syncTest: 6, onSyncFault: (fault) => faults.push(fault) },
    })
    let pokes = 0
    sim.host.handle(Poke, ({ by }, { object }) => {
      pokes++
      const walker = sim.host.world.get(Walker, object)
      if (walker !== null) walker.steps += by
    })
    expect(sim.runUntil(() => sim.client(0, Walker).length > 0, 5000)).toBe(true)
    for (let turn = 0; turn < 20; turn++) {
      sim.run(70)
      sim.players[0]!.host.call(Poke, { by: 1000 }, { about: sim.client(0, Walker)[0]! })
    }
    sim.run(500)
    expect([pokes, faults]).toEqual([20, []])
  })
})
