/**
 * Hosts that stop for a while, as a busy main thread or a garbage collection does: the packets that their peers
 * receive, and the picture of a player.
 */

import { describe, expect, test } from 'vitest'
import { form } from '../form.ts'
import { bool, defineGame, entity, fixed, u16, u8, type Game } from 'tickwire'
import { simulate } from '../../packages/tickwire/src/testing/simulate.ts'

const TICK_RATE = 60
const CARTS = 40

const Cart = entity({ x: fixed(0, 1000, 0.1), y: fixed(0, 1000, 0.1), load: u8 }, { name: 'Cart' })

/** Carts that roll and rest by turns: their deltas use the row before the baseline, or do not. */
function carts(strideTicks: number): Game<{ go: typeof bool }> {
  return defineGame({
    tickRate: TICK_RATE,
    input: { go: bool },
    entities: [Cart],
    predict: 'none',
    net: { snapshotRate: TICK_RATE / strideTicks },
    step(world) {
      for (let count = world.count(Cart); count < CARTS; count++) world.spawn(Cart, { x: count })
      for (const cart of world.each(Cart)) {
        const number = cart.id >>> 16
        if (((world.tick * 7 + number * 13) >>> 5) % 3 !== 0) cart.x = (cart.x + 0.3) % 1000
        if ((world.tick + number * 5) % 11 === 0) cart.load = (cart.load + 1) % 256
      }
    },
  })
}

describe('a server that stalls', () => {
  for (const strideTicks of [1, 2, 3, 4, 6]) {
    test(
      `[REPL9] stalls of 20 to 200 ms leave every snapshot readable: every ${strideTicks} ticks`,
      { timeout: 120_000 },
      () => {
        const sim = simulate(carts(strideTicks), {
          seed: strideTicks,
          clients: 2,
          link: (client) => ({ latencyMs: 20 + 30 * client }),
        })
        for (let stall = 0; stall < form(60, 120); stall++) {
          sim.run(90 + ((stall * 37) % 70))
          sim.stall('server', 20 + ((stall * 61) % 181))
        }
        sim.run(1000)
        for (const { host } of sim.players) {
          const { snapshots } = host.insides
          expect(snapshots.tick).toBeGreaterThan(400)
          expect(snapshots.undecodableCount).toBe(0)
        }
      },
    )
  }

  test('[SIM13] a stalled server runs the ticks that were due when it goes on; a stalled client is not drawn', () => {
    const sim = simulate(carts(1), { seed: 1 })
    const before = sim.host.world.tick
    const drawnAt: number[] = []
    sim.draw(0, 60, (_view, now) => {
      drawnAt.push(now)
    })
    sim.stall('server', 100)
    sim.run(99)
    expect(sim.host.world.tick).toBe(before)
    sim.run(2)
    expect(sim.host.world.tick - before).toBe(6)
    drawnAt.length = 0
    const { now } = sim.clock
    sim.stall(0, 200)
    sim.run(250)
    expect(drawnAt[0]).toBe(now + 200)
    expect(drawnAt.length).toBeLessThan(6)
  })

  test('[SIM13] stalls follow from the seed', () => {
    const play = (seed: number): string => {
      const sim = simulate(carts(2), {
        seed,
        link: { latencyMs: 30 },
        stalls: { server: { everyMs: 100, lastsMs: 80 }, clients: { everyMs: 100, lastsMs: 80 } },
      })
      const times: number[] = []
      sim.draw(0, 60, (_view, now) => {
        times.push(now)
      })
      sim.run(2000)
      return times.join()
    }
    expect(play(3)).toBe(play(3))
    expect(play(3)).not.toBe(play(4))
  })
})

const Thrower = entity({ throws: u16.owner(), wait: u8 }, { name: 'Thrower' })
const Stone = entity({ x: fixed(0, 1000, 0.1), born: u16, lives: u16 }, { name: 'Stone' })

/** A player that throws a stone every `everyTicks`; it is gone after `lives` ticks. */
function throwers(lives: number, everyTicks: number, snapshotRate: number): Game<{ throw: typeof bool }> {
  return defineGame({
    tickRate: TICK_RATE,
    input: { throw: bool },
    entities: [Thrower, Stone],
    net: { snapshotRate },
    onJoin: (world, peer) => world.spawn(Thrower, {}, peer),
    step(world, inputs) {
      for (const thrower of world.each(Thrower)) {
        thrower.wait = Math.max(0, thrower.wait - 1)
        if (!inputs.of(thrower.owner).throw || thrower.wait > 0) continue
        thrower.wait = everyTicks
        thrower.throws++
        world.spawn(Stone, { x: 1, born: world.tick, lives }, thrower.owner)
      }
      for (const stone of world.each(Stone)) {
        stone.x += 1
        if (world.tick - stone.born >= stone.lives) world.despawn(stone)
      }
    },
  })
}

interface Seen {
  readonly throws: number
  readonly spawns: number
  readonly despawns: number
  /** Throws that had more than one spawn event. */
  readonly twice: number
  /** Frames in which a stone was drawn twice. */
  readonly doubled: number
  readonly refuted: number
  /** How often prediction restarted. */
  readonly restarts: number
}

/** Throws for some seconds, and returns what the player saw of it. */
function watchThrows(game: Game<{ throw: typeof bool }>, seed: number, latencyMs: number, stallMs: number): Seen {
  const sim = simulate(game, {
    seed,
    link: { latencyMs },
    ...(stallMs > 0 && { stalls: { clients: { everyMs: 90, lastsMs: stallMs } } }),
  })
  const { host } = sim.players[0]!
  const { restarts } = host.predictor!
  const spawnsOf = new Map<number, number>()
  let despawns = 0
  let doubled = 0
  host.view.on('spawn', Stone, ({ born }) => {
    spawnsOf.set(born, (spawnsOf.get(born) ?? 0) + 1)
  })
  host.view.on('despawn', Stone, () => {
    despawns++
  })
  sim.draw(0, 60, (view) => {
    const born = [...view.each(Stone)].map((stone) => stone.born)
    if (new Set(born).size < born.length) doubled++
  })
  sim.hold(0, { throw: true })
  sim.run(10_000)
  sim.hold(0, {})
  sim.run(2500)
  const counts = [...spawnsOf.values()]
  return {
    throws: sim.server(Thrower)[0]!.throws,
    spawns: counts.reduce((sum, count) => sum + count, 0),
    despawns,
    twice: counts.filter((count) => count > 1).length,
    doubled,
    refuted: host.predictor!.spawnsRefuted,
    restarts: host.predictor!.restarts - restarts,
  }
}

describe('a client that stalls', () => {
  test(
    '[PRED5] a predicted spawn has one spawn and one despawn event: random stalls of up to 60 ms',
    { timeout: 240_000 },
    () => {
      for (const latencyMs of [0, 1, 60]) {
        for (const snapshotRate of [60, 30, 20]) {
          const { throws, ...seen } = watchThrows(throwers(60, 6, snapshotRate), 1, latencyMs, 60)
          expect(throws).toBeGreaterThan(90)
          expect(seen, `${latencyMs} ms, ${snapshotRate} snapshots a second`).toEqual({
            spawns: throws,
            despawns: throws,
            twice: 0,
            doubled: 0,
            refuted: 0,
            restarts: 0,
          })
        }
      }
    },
  )

  test('[PRED5] a spawn that ends before it is confirmed is not shown again', { timeout: 240_000 }, () => {
    for (const stallMs of [0, 60, 200]) {
      for (const latencyMs of form([5, 120], [5, 60, 120])) {
        for (const lives of form([2, 12], [2, 5, 12])) {
          const { throws, spawns, despawns, twice, doubled } = watchThrows(
            throwers(lives, 15, 30),
            5,
            latencyMs,
            stallMs,
          )
          expect([twice, doubled, spawns - despawns], `${stallMs} ms stalls, ${latencyMs} ms, ${lives} ticks`).toEqual([
            0, 0, 0,
          ])
          // A stone that lives for less than a stall may come and go between two frames.
          if (stallMs === 0) expect(spawns).toBe(throws)
        }
      }
    }
  })

  test(
    '[PRED7] a stalled client catches up tick by tick, and does not restart prediction',
    { timeout: 120_000 },
    () => {
      for (const seed of [1, 2, 3]) {
        const { throws, spawns, twice, refuted, restarts } = watchThrows(throwers(30, 20, 10), seed, 0, 100)
        expect(restarts, `seed ${seed}`).toBe(0)
        expect(throws).toBeGreaterThan(25)
        expect([twice, spawns - refuted], `seed ${seed}`).toEqual([0, throws])
      }
    },
  )

  test(
    '[PRED5] of many unconfirmed spawns each keeps its identity when the one before is confirmed',
    { timeout: 120_000 },
    () => {
      for (const stallMs of [0, 200]) {
        const { throws, spawns, despawns, twice, doubled } = watchThrows(throwers(40, 4, 30), 5, 80, stallMs)
        expect(throws).toBeGreaterThan(100)
        expect([spawns, despawns, twice, doubled], `${stallMs} ms stalls`).toEqual([throws, throws, 0, 0])
      }
    },
  )
})
