/**
 * `simulate` covers live events: players join late, leave, reload, watch and lose the network; the server ends and
 * starts again; there are rooms.
 */

import { describe, expect, test } from 'vitest'
import { collect } from '../../bench/harness.ts'
import { bool, defineGame, entity, fixed, message, text } from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'

const Walker = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Walker' })
const Chat = message({ text: text(32) })
const INPUT = { right: bool }
const game = defineGame({
  tickRate: 30,
  input: INPUT,
  entities: [Walker],
  messages: [Chat],
  onJoin: (world, peer) => world.spawn(Walker, { x: 100 }, peer),
  step(world, inputs) {
    for (const walker of world.each(Walker)) if (inputs.of(walker.owner).right) walker.x += 2
  },
})
const LINK = { latencyMs: 60, jitterMs: 15, loss: 0.03 }

/** The players of a match, as its authority knows them. */
const peersOf = ({ host }: Simulation<typeof INPUT>): number[] => host.peers.map(({ id }) => id)

describe('players that come and go', () => {
  test('[SIM14, SIM17] a player joins late, and sees what the others did before', () => {
    const sim = simulate(game, { seed: 3, clients: 2, link: LINK })
    sim.hold(0, { right: true })
    sim.run(2000)
    sim.hold(0, {})
    const late = sim.join()
    expect(late).toBe(2)
    expect(sim.own(0, Walker).x).toBeGreaterThan(200)
    expect(sim.difference()).toBeUndefined()
    expect(sim.own(0, Walker, late).x).toBe(sim.own(0, Walker).x)
    expect(sim.client(0, Walker)).toHaveLength(3)
  })

  test('[SIM14, SIM17] a player leaves for good: its objects are gone, and its number stays its own', () => {
    const sim = simulate(game, { seed: 4, clients: 3, link: LINK })
    const { peer } = sim.players[1]!.host
    sim.leave(1)
    expect(sim.players[1]!.closed).toEqual({ by: 'local', code: 'left' })
    expect(sim.difference()).toBeUndefined()
    expect(peersOf(sim)).not.toContain(peer)
    expect(sim.client(2, Walker)).toHaveLength(2)
    expect(() => sim.own(1, Walker)).toThrow('player 1: no Walker on the server')
    sim.rejoin(1)
    expect(sim.players[1]!.host.peer).not.toBe(peer)
    expect(sim.own(1, Walker, 0).x).toBe(100)
  })

  test('[SIM14] a player that reloads has its seat, its object and its input again', () => {
    const sim = simulate(game, { seed: 5, clients: 2, link: LINK })
    sim.hold(0, { right: true })
    sim.run(1000)
    const { host } = sim.players[0]!
    const { x, id } = sim.own(0, Walker)
    sim.rejoin(0)
    sim.run(1000)
    expect(sim.players[0]!.host).not.toBe(host)
    expect(sim.players[0]!.host.peer).toBe(host.peer)
    expect(sim.players[0]!.host.seat!.isBack).toBe(true)
    expect(sim.own(0, Walker).id).toBe(id)
    expect(sim.own(0, Walker).x).toBeGreaterThan(x + 40)
    sim.hold(0, {})
    expect(sim.difference()).toBeUndefined()
  })

  test('[SIM14] a spectator sees the match and has no object', () => {
    const sim = simulate(game, { seed: 6, clients: 1, link: LINK })
    const spectator = sim.join({ role: 'spectator' })
    sim.hold(0, { right: true })
    sim.run(1500)
    sim.hold(0, {})
    expect(sim.difference()).toBeUndefined()
    expect(sim.own(0, Walker, spectator).x).toBeGreaterThan(150)
    expect(sim.server(Walker)).toHaveLength(1)
    expect(peersOf(sim)).toHaveLength(1)
  })

  test('[SIM14] a client that is refused says why', () => {
    const sim = simulate(game, { seed: 7, clients: 2, server: { maxPlayers: 2 } })
    expect(() => sim.join()).toThrow('player 2 is not in the match (protocol: full)')
    expect(() => sim.own(5, Walker)).toThrow('player 5: there are 3')
  })

  test('[SIM14] after an outage a player resumes its seat automatically', () => {
    const sim = simulate(game, { seed: 8, clients: 2, link: LINK, server: { resumeMs: 30_000 } })
    const { host } = sim.players[0]!
    sim.weather({ loss: 1 }, 0)
    sim.run(20_000)
    expect(sim.players[0]!.isIn).toBe(false)
    sim.weather(LINK, 0)
    expect(sim.runUntil(() => sim.players[0]!.isIn, 20_000)).toBe(true)
    expect(sim.players[0]!.host.peer).toBe(host.peer)
    expect(sim.difference()).toBeUndefined()
  })

  test('[SIM14] handlers are registered on every host, and on every match', () => {
    const received: string[] = []
    const sim = simulate(game, {
      seed: 9,
      clients: 2,
      onMatch: (match) => match.on(Chat, ({ text }, { id }) => match.broadcast(Chat, { text: `${id}: ${text}` })),
      onClient: (host, client) => host.on(Chat, ({ text }) => received.push(`${client} gets ${text}`)),
    })
    sim.rejoin(0)
    sim.restart()
    const [first] = sim.players
    first!.host.send(Chat, { text: 'hi' })
    sim.run(500)
    const { peer } = first!.host
    expect(received.toSorted()).toEqual([`0 gets ${peer}: hi`, `1 gets ${peer}: hi`])
  })
})

describe('a server that ends and starts again', () => {
  test('[SIM15] with keepRooms the players are in their seats again, and the world goes on', () => {
    const sim = simulate(game, { seed: 10, clients: 2, link: LINK, keepRooms: true })
    sim.hold(0, { right: true })
    sim.run(1000)
    sim.hold(0, {})
    sim.run(300)
    const { x } = sim.own(0, Walker)
    const peers = peersOf(sim)
    const { tick } = sim.host.world
    sim.kill()
    sim.run(2000)
    expect(sim.host.world.tick).toBe(tick)
    sim.restart()
    expect(peersOf(sim)).toEqual(peers)
    expect(sim.own(0, Walker).x).toBe(x)
    expect(sim.host.isRestored).toBe(true)
    expect(sim.difference()).toBeUndefined()
  })

  test('[SIM15] without keepRooms they are in a new match', () => {
    const sim = simulate(game, { seed: 11, clients: 2, link: LINK })
    sim.hold(0, { right: true })
    sim.run(1000)
    const { seed } = sim.host
    sim.hold(0, {})
    sim.restart()
    expect(sim.host.seed).not.toBe(seed)
    expect(sim.own(0, Walker).x).toBe(100)
    expect(sim.difference()).toBeUndefined()
  })
})

describe('rooms', () => {
  const rooms = { duel: { capacity: 2 }, hall: { capacity: 8, spectators: 2 } }

  test('[SIM16] players fill rooms, create them and ask for one', () => {
    const sim = simulate(game, { seed: 12, clients: 4, link: LINK, rooms })
    expect(sim.rooms.rooms.map(({ typeName, peers }) => `${typeName} ${peers.length}`)).toEqual(['duel 2', 'duel 2'])
    const host = sim.join({ create: 'hall', isPrivate: true })
    const { code } = sim.room(host)
    const friend = sim.join({ code })
    const watcher = sim.join({ code, role: 'spectator' })
    expect(sim.room(friend)).toBe(sim.room(host))
    sim.hold(friend, { right: true })
    sim.run(1000)
    sim.hold(friend, {})
    expect(sim.difference()).toBeUndefined()
    expect(sim.own(friend, Walker, watcher).x).toBeGreaterThan(120)
    expect(sim.server(Walker, sim.room(host))).toHaveLength(2)
    expect(() => sim.join({ room: sim.room(0).id })).toThrow('(protocol: full)')
    expect(() => sim.join({ code: 'NOSUCH' })).toThrow('(protocol: no-room)')
  })

  test('[SIM16] rooms are kept over a restart of the server', () => {
    const sim = simulate(game, { seed: 13, clients: 4, rooms, keepRooms: true })
    const ids = sim.players.map((_, client) => sim.room(client).id)
    sim.restart()
    expect(sim.players.map((_, client) => sim.room(client).id)).toEqual(ids)
  })
})

test('[SIM23] players join with the data of their number, also after they lost their seat', () => {
  const Named = entity({ name: text(16) }, { name: 'Named' })
  const club = defineGame({
    tickRate: 30, input: {}, join: { name: text(16), pass: text(16) }, entities: [Named],
    onJoin: (world, peer, { name }) => world.spawn(Named, { name }, peer),
    step() {},
  })
  const onAuth = ({ data }: { data: unknown }): boolean => (data as { pass: string }).pass === 'sesame'
  const sim = simulate(club, {
    seed: 6, clients: 2, link: LINK, rooms: { club: { capacity: 4, onAuth } },
    data: (client) => ({ name: ['Ada', 'Grace'][client] ?? 'Mallory', pass: client < 2 ? 'sesame' : 'guess' }),
  })
  const names = (): string[] => [0, 1].map((client) => sim.own(client, Named, 1 - client).name)
  expect(names()).toEqual(['Ada', 'Grace'])
  expect(() => sim.join()).toThrow('(protocol: refused)')
  sim.rejoin(0)
  expect(names()).toEqual(['Ada', 'Grace'])
  sim.leave(1)
  sim.rejoin(1)
  expect(names()).toEqual(['Ada', 'Grace'])
  expect(simulate(club, { data: { name: 'Ann' } }).server(Named).map(({ name }) => name)).toEqual(['Ann'])
})

test('[KIT2] difference says when objects of the server do not rest', () => {
  const sim = simulate(game, { seed: 4, clients: 2, link: LINK })
  sim.hold(0, { right: true })
  sim.run(500)
  expect(sim.difference()).toMatch(/^player 0 sees Walker .*still change\. Fix: make them rest/)
  sim.hold(0, {})
  expect(sim.difference()).toBeUndefined()
})

test('[SIM14, SIM15] the same seed gives the same match, with players that come and go', () => {
  const play = (seed: number): string => {
    const sim = simulate(game, { seed, clients: 2, link: LINK, keepRooms: true })
    const times: string[] = []
    sim.script(0, (tick) => ({ right: tick % 20 < 10 }))
    sim.stall('server', 120)
    const late = sim.join()
    times.push(`joined ${sim.clock.now}`)
    sim.rejoin(late)
    times.push(`back ${sim.clock.now}`)
    sim.leave(1)
    times.push(`left ${sim.clock.now}`)
    sim.restart()
    times.push(`restarted ${sim.clock.now} ${sim.own(0, Walker).x}`)
    return times.join()
  }
  expect(play(3)).toBe(play(3))
  expect(play(3)).not.toBe(play(4))
})

describe('matches that are over', () => {
  test('[GAME15] of sixty matches that the program has let go, hosts and worlds are collected', async () => {
    const parts: WeakRef<object>[] = []
    for (let seed = 1; seed <= 60; seed++) {
      const sim = simulate(game, { seed, clients: 2, link: LINK })
      sim.run(200)
      parts.push(new WeakRef(sim.host), new WeakRef(sim.host.world), new WeakRef(sim.players[0]!.host))
    }
    // A weak reference holds its target until the current job ends.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    // Those of the last match may still be in registers or on the stack.
    expect(parts.filter((each) => each.deref() !== undefined).length).toBeLessThan(10)
  })
})
