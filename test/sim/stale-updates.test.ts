/**
 * Stale updates, where the engine drops them: sequenced channels, inputs by tick, and rows by object, in whole matches
 * on bad links.
 */

import { describe, expect, test, vi } from 'vitest'
import { bool, defineGame, entity, fixed, message, u16, type Game, type Message } from 'tickwire'
import { simulate } from 'tickwire/testing'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 120_000 })

const Walker = entity({ x: fixed(0, 4000, 0.1) }, { name: 'Walker' })
const Aim = message({ tick: u16 }, 'Aim', { delivery: 'latest' })
const Pose = message({ tick: u16 }, 'Pose', { delivery: 'latest' })
const Shot = message({ tick: u16 }, 'Shot')
const Smoke = message({ tick: u16 }, 'Smoke', { delivery: 'unreliable' })
const INPUT = { walk: bool, number: u16 }

const BAD_LINE = { latencyMs: 40, jitterMs: 60, loss: 0.1, reordering: 0.3, duplication: 0.3 }
const isRising = (numbers: readonly number[]): boolean =>
  numbers.every((number, at) => at === 0 || number > numbers[at - 1]!)

/** Walkers that walk right; `held` is called with the input of each player in each tick. */
function walkers(held: (owner: number, number: number, isHeld: boolean) => void = () => {}): Game<typeof INPUT> {
  return defineGame({
    tickRate: 60, input: INPUT, entities: [Walker], messages: [Aim, Pose, Shot, Smoke], net: { snapshotRate: 60 },
    onJoin: (world, peer) => world.spawn(Walker, {}, peer),
    step(world, inputs) {
      for (const walker of world.each(Walker)) {
        const { walk, number } = inputs.of(walker.owner)
        if (walk) walker.x += 1
        held(walker.owner, number, inputs.isHeld(walker.owner))
      }
    },
  })
}

describe('stale updates', () => {
  test('[SYNC4] an older `latest` message is dropped, and one kind does not make another stale', () => {
    const sim = simulate(walkers(), { seed: 11, link: BAD_LINE })
    const received: { kind: string; tick: number }[] = []
    const { host } = sim.players[0]!
    for (const [kind, each] of [
      ['Aim', Aim],
      ['Pose', Pose],
    ] as const)
      host.on(each as Message<{ tick: typeof u16 }>, ({ tick }) => {
        received.push({ kind, tick })
      })
    for (let tick = 1; tick <= 900; tick++) {
      sim.host.broadcast(Aim, { tick })
      sim.host.broadcast(Pose, { tick: 1000 + tick })
      sim.run(10)
    }
    const of = (kind: string): number[] => received.filter((each) => each.kind === kind).map(({ tick }) => tick)
    const { reordered, duplicated } = sim.players[0]!.link.stats
    expect(Math.min(reordered, duplicated)).toBeGreaterThan(100)
    // Some are lost and some are stale; each that is delivered is newer than all of its kind before it.
    for (const kind of ['Aim', 'Pose']) {
      expect(of(kind).length).toBeGreaterThan(100)
      expect(of(kind).length).toBeLessThan(900)
      expect(isRising(of(kind)), kind).toBe(true)
    }
  })

  test('[SYNC4] a message overtaken by its own kind is dropped; overtaken by another kind it arrives', () => {
    const overtaken = (first: Message<{ tick: typeof u16 }>, second: Message<{ tick: typeof u16 }>): number[] => {
      const sim = simulate(walkers(), { seed: 15, link: { latencyMs: 20 } })
      const received: number[] = []
      for (const each of [Aim, Pose]) sim.players[0]!.host.on(each, ({ tick }) => { received.push(tick) })
      sim.weather({ latencyMs: 150 })
      sim.host.broadcast(first, { tick: 1 })
      sim.run(40)
      sim.weather({ latencyMs: 20 })
      sim.host.broadcast(second, { tick: 2 })
      sim.run(500)
      return received
    }
    expect(overtaken(Aim, Aim)).toEqual([2])
    expect(overtaken(Aim, Pose)).toEqual([2, 1])
  })

  test('[SYNC4] an older input has no effect, a repeated one counts once, and players are independent', () => {
    const held = new Map<number, number[]>()
    const game = walkers((owner, number, isHeld) => {
      if (isHeld || number === 0) return
      held.set(owner, [...held.get(owner) ?? [], number])
    })
    const sim = simulate({ ...game, predict: 'none' }, { seed: 12, clients: 2, link: BAD_LINE })
    sim.script(0, (tick) => ({ number: 1000 + tick }))
    sim.script(1, (tick) => ({ number: 10_000 + tick }))
    sim.run(10_000)
    expect(held.size).toBe(2)
    for (const numbers of held.values()) {
      expect(numbers.length).toBeGreaterThan(300)
      expect(isRising(numbers), 'each input counts in its own tick, once').toBe(true)
    }
    expect(sim.players.every(({ link }) => Math.min(link.stats.reordered, link.stats.duplicated) > 100)).toBe(true)
  })

  test('[SYNC5] older state never moves back what a client draws', () => {
    const sim = simulate(walkers(), { seed: 13, clients: 2, link: BAD_LINE })
    sim.hold(1, { walk: true })
    sim.run(500)
    const drawn: number[] = []
    const walker = sim.server(Walker).find(({ owner }) => owner === sim.players[1]!.host.peer)!
    sim.draw(0, 120, (view) => {
      const seen = [...view.each(Walker)].find(({ id }) => id === walker.id)
      if (seen !== undefined) drawn.push(seen.x)
    })
    sim.run(10_000)
    expect(sim.players[0]!.link.stats.reordered).toBeGreaterThan(200)
    expect(drawn.length).toBeGreaterThan(1000)
    const back = drawn.filter((x, at) => at > 0 && x < drawn[at - 1]! - 1e-9)
    expect(back, 'visible movement never goes back').toEqual([])
  })

  test('[CHAN3] unreliable messages that were overtaken still arrive, and none arrives twice', () => {
    const sim = simulate(walkers(), { seed: 16, link: { latencyMs: 20 } })
    const received: number[] = []
    sim.players[0]!.host.on(Smoke, ({ tick }) => { received.push(tick) })
    sim.weather({ latencyMs: 150, duplication: 1 })
    sim.host.broadcast(Smoke, { tick: 1 })
    sim.run(40)
    sim.weather({ latencyMs: 20, duplication: 1 })
    sim.host.broadcast(Smoke, { tick: 2 })
    sim.run(500)
    expect(received).toEqual([2, 1])
    expect(sim.players[0]!.link.stats.duplicated).toBeGreaterThan(10)
  })

  test('[SYNC6] reliable messages are never stale, whatever tick they carry', () => {
    const sim = simulate(walkers(), { seed: 14, link: BAD_LINE })
    const received: number[] = []
    sim.host.on(Shot, ({ tick }) => { received.push(tick) })
    const said: number[] = []
    for (let round = 0; round < 200; round++) {
      // The `latest` stream of the same player is far ahead of the ticks in its shots.
      sim.players[0]!.host.send(Aim, { tick: 5000 + round })
      const tick = [5, 5, 3, 1000][round % 4]!
      if (sim.players[0]!.host.send(Shot, { tick }) === 'queued') said.push(tick)
      sim.run(30)
    }
    sim.run(3000)
    expect(said).toHaveLength(200)
    expect(received).toEqual(said)
  })
})
