import { describe, expect, test, vi } from 'vitest'
import { simulate } from 'tickwire/testing'
import { makeRunners, Runner, Stone, Thud, Wall } from './prediction-game.ts'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 120_000 })

const FAR = { latencyMs: 115, jitterMs: 20, loss: 0.05 }

/** Keys that change every few ticks, the same for every caller. */
function restless(tick: number): { right: boolean; left: boolean } {
  const beat = Math.floor(tick / 7)
  return { right: beat * 7919 % 3 === 0, left: beat * 7919 % 3 === 1 }
}

describe('a predicted player', () => {
  test('[PRED1] a player sees the effect of an input in the same tick, whatever the round trip', () => {
    const sim = simulate(makeRunners(), { seed: 3, link: { latencyMs: 200 } })
    const { host } = sim.players[0]!
    sim.run(500)
    const pressed = host.predictor!.tick + 30
    sim.script(0, (tick) => ({ right: tick >= pressed }))
    for (;;) {
      sim.run(1)
      const { predictor } = host
      if (predictor!.tick < pressed) {
        expect(sim.client(0, Runner)[0]!.x).toBe(500)
        continue
      }
      expect(sim.client(0, Runner)[0]!.x).toBeGreaterThanOrEqual(502)
      expect(sim.host.world.tick).toBeLessThan(pressed - 12)
      break
    }
  })

  test('[PRED2] a minute of input at 250 ms, 20 ms jitter and 5 % loss needs no correction', () => {
    for (const seed of [1, 2, 3]) {
      const sim = simulate(makeRunners(), { seed, link: FAR })
      const { host } = sim.players[0]!
      sim.script(0, restless)
      sim.run(60_000)
      const { rollbacks, restarts, confirmed } = host.predictor!
      expect({ seed, rollbacks, restarts }).toEqual({ seed, rollbacks: 0, restarts: 1 })
      expect(host.predictor!.tick - confirmed).toBeLessThan(60)
      expect(sim.players[0]!.link.stats.lost).toBeGreaterThan(100)
      sim.hold(0, {})
      expect(sim.difference()).toBeUndefined()
    }
  })

  test("[PRED3] a wrong prediction is rewound to the authority's tick and stepped again, and then agrees", () => {
    const sim = simulate(makeRunners(), { seed: 5, link: { latencyMs: 100 } })
    const { host } = sim.players[0]!
    sim.host.world.spawn(Wall, { x: 520 })
    sim.script(0, (tick) => ({ right: tick % 200 < 100, left: tick % 200 >= 100 }))
    sim.run(4000)
    expect(host.predictor!.rollbacks).toBeGreaterThan(0)
    expect(host.predictor!.resteppedTicks / host.predictor!.rollbacks).toBeLessThan(40)
    sim.hold(0, {})
    expect(sim.difference()).toBeUndefined()
  })

  test('[PRED4] a digest corrects a player whom the authority keeps in place without sending a row', () => {
    const sim = simulate(makeRunners(), { seed: 5, link: { latencyMs: 100, loss: 0.1 } })
    const { host } = sim.players[0]!
    sim.run(500)
    sim.host.world.spawn(Wall, { x: 500 })
    sim.run(500)
    sim.hold(0, { right: true })
    sim.run(2000)
    expect(sim.server(Runner)[0]!.x).toBe(500)
    // The player runs on in every tick that was not answered yet, and is back when the input ends.
    expect(host.predictor!.rollbacks).toBeGreaterThan(0)
    sim.hold(0, {})
    expect(sim.difference()).toBeUndefined()
    expect(sim.client(0, Runner)[0]!.x).toBe(500)
  })

  test('[PRED5] a predicted spawn is there at once, and stays the same object when it is confirmed', () => {
    const sim = simulate(makeRunners(), { seed: 6, link: { latencyMs: 100, jitterMs: 10, loss: 0.05 } })
    const { host } = sim.players[0]!
    const seen: string[] = []
    host.view.on('spawn', Stone, () => seen.push('spawn'))
    host.view.on('despawn', Stone, () => seen.push('despawn'))
    const stop = sim.draw(0, 60, () => {})
    const thrown = host.predictor!.tick + 60
    sim.script(0, (tick) => ({ throw: tick === thrown }))
    sim.runUntil(() => sim.client(0, Stone).length === 1, 5000)
    const [stone] = sim.client(0, Stone)
    const provisional = stone!.id
    expect(sim.server(Stone)).toHaveLength(0)
    expect(host.predictor!.isProvisional(provisional)).toBe(true)
    sim.run(700)
    const [real] = sim.server(Stone)
    expect(sim.client(0, Stone)[0]).toBe(stone)
    expect([stone!.id, stone!.isAlive]).toEqual([real!.id, true])
    expect(sim.client(0, Runner)[0]!.last).toBe(real!.id)
    expect(host.predictor!.spawnsMatched).toBe(1)
    expect(host.predictor!.rollbacks).toBe(0)
    sim.run(3000)
    stop()
    expect(seen).toEqual(['spawn', 'despawn'])
    expect(stone!.isAlive).toBe(false)
  })

  test('[PRED5] a predicted spawn that the authority refuses is removed', () => {
    const sim = simulate(makeRunners(), { seed: 6, link: { latencyMs: 100 } })
    const { host } = sim.players[0]!
    // The authority refuses it by a field that the client does not receive.
    for (const runner of sim.server(Runner)) runner.cool = 255
    sim.run(300)
    const thrown = host.predictor!.tick + 30
    sim.script(0, (tick) => ({ throw: tick === thrown }))
    expect(sim.runUntil(() => sim.client(0, Stone).length === 1, 3000)).toBe(true)
    sim.run(800)
    expect(sim.client(0, Stone)).toHaveLength(0)
    expect([host.predictor!.spawnsRefuted, host.predictor!.spawnsMatched]).toEqual([1, 0])
    expect(sim.difference()).toBeUndefined()
  })

  test("[PRED5] provisional ids make space when the authority's ids come near", () => {
    const sim = simulate(makeRunners(), { seed: 6, link: { latencyMs: 60, jitterMs: 10 } })
    const { host } = sim.players[0]!
    sim.draw(0, 60, () => {})
    sim.script(0, (tick) => ({ throw: tick % 25 === 0, right: tick % 3 === 0 }))
    for (let wave = 0; wave < 6; wave++) {
      sim.run(400)
      for (let count = 0; count < 150; count++) sim.host.world.spawn(Wall, { x: 990 })
    }
    sim.run(500)
    expect(sim.client(0, Wall)).toHaveLength(900)
    expect(host.predictor!.spawnsMatched).toBeGreaterThan(3)
    sim.hold(0, {})
    sim.run(1500)
    expect(sim.client(0, Stone)).toHaveLength(0)
    expect(sim.difference()).toBeUndefined()
  })

  test('[PRED6] each client gets an event once: the predicting client at once, others when it arrives', () => {
    const sim = simulate(makeRunners(), { seed: 8, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.1 } })
    const received: number[][] = [[], [], []]
    sim.host.onEvent(Thud, ({ number }) => received[2]!.push(number))
    sim.players.forEach(({ host }, client) => host.onEvent(Thud, ({ number }) => received[client]!.push(number)))
    sim.host.world.spawn(Wall, { x: 510 })
    sim.script(0, (tick) => ({ throw: tick % 30 === 0, right: tick % 60 < 40, left: tick % 60 >= 40 }))
    sim.run(10_000)
    sim.hold(0, {})
    sim.run(2000)
    expect(sim.players[0]!.host.predictor!.rollbacks).toBeGreaterThan(0)
    const all = received[2]!
    expect(all.length).toBeGreaterThan(15)
    expect(received[1]!.toSorted((a, b) => a - b)).toEqual(all)
    expect(received[0]).toEqual(all)
  })

  test("[PRED7] prediction stops when its window is full, and goes on from the authority's state", () => {
    const sim = simulate(makeRunners({ net: { predictionMs: 500 } }), { seed: 9, link: { latencyMs: 50 } })
    const { host } = sim.players[0]!
    sim.script(0, restless)
    sim.run(1000)
    const received = host.predictor!.receivedTick
    sim.weather({ latencyMs: 50, loss: 1 })
    sim.run(3000)
    expect(host.predictor!.isStalled).toBe(true)
    expect(host.predictor!.tick - host.predictor!.receivedTick).toBe(29)
    expect(host.predictor!.receivedTick).toBeLessThan(received + 10)
    sim.weather({ latencyMs: 50 })
    sim.run(1000)
    expect(host.predictor!.isStalled).toBe(false)
    expect(host.predictor!.tick).toBeGreaterThan(sim.host.world.tick)
    sim.hold(0, {})
    expect(sim.difference()).toBeUndefined()
  })

  test('[PRED7, CLOCK8, CLOCK9] resumes within 300 ms after a 2 s outage, and within 1 s after 30 s of sleep', () => {
    const sim = simulate(makeRunners({ net: { timeoutMs: 60_000 } }), {
      seed: 9,
      link: { latencyMs: 100, jitterMs: 20 },
    })
    const [player] = sim.players
    const { host } = player!
    const isBack = (): boolean =>
      !host.predictor!.isStalled
      && host.predictor!.tick > sim.host.world.tick
      && host.predictor!.confirmed > sim.host.world.tick - 30
    sim.script(0, restless)
    sim.run(2000)
    expect(isBack()).toBe(true)
    sim.weather({ loss: 1 })
    sim.run(2000)
    expect(isBack()).toBe(false)
    sim.weather({ latencyMs: 100, jitterMs: 20 })
    const received = host.predictor!.receivedTick
    sim.runUntil(() => host.predictor!.receivedTick > received, 1000)
    expect(sim.runUntil(isBack, 300)).toBe(true)
    sim.clock.remove(player!)
    sim.run(30_000)
    sim.clock.add(player!)
    expect(sim.runUntil(isBack, 1000)).toBe(true)
    // Half a minute of delayed packets arrived at once. They do not count as jitter, so the lead is no larger than
    // before.
    expect(host.predictor!.tick - sim.host.world.tick).toBeLessThan(14)
    sim.run(1000)
    expect(host.predictor!.tick - sim.host.world.tick).toBeLessThan(14)
    sim.hold(0, {})
    expect(sim.difference()).toBeUndefined()
  })

  test('[PRED8] stepping again gives the same result, or the fault is named by object, field and tick', () => {
    const clean = simulate(makeRunners(), { seed: 4, link: FAR, client: { syncTest: 8 }, server: { syncTest: 8 } })
    clean.script(0, (tick) => ({ ...restless(tick), throw: tick % 25 === 0 }))
    clean.run(3000)
    expect(clean.players[0]!.host.predictor!.spawnsMatched).toBeGreaterThan(3)
    for (const side of ['client', 'server'] as const) {
      const faults: string[] = []
      const onSyncFault = ({ entity, field, tick }: { entity: string; field: string; tick: number }): unknown =>
        faults.push(`${entity} ${field} ${tick > 0}`)
      const impure = simulate(makeRunners({ isImpure: true }), { seed: 4, [side]: { syncTest: 4, onSyncFault } })
      impure.hold(0, { right: true })
      impure.run(500)
      expect(faults).toContain('Runner Runner.y true')
    }
    const loud = simulate(makeRunners({ isImpure: true }), { seed: 4, server: { syncTest: 4 } })
    loud.hold(0, { right: true })
    expect(() => loud.run(500)).toThrow(
      /tick \d+, stepped again from \d+ ticks before, has another result: Runner 1, field Runner.y/,
    )
  })

  test('[PRED9] one call steps no more ticks than allowed: the rest follows in the next call', () => {
    const sim = simulate(makeRunners({ net: { replayTicksMax: 5 } }), { seed: 5, link: { latencyMs: 150 } })
    const { host } = sim.players[0]!
    sim.script(0, (tick) => ({ right: tick % 100 < 50, left: tick % 100 >= 50 }))
    let most = 0
    const advance = host.predictor!.advance.bind(host.predictor)
    host.predictor!.advance = (target, stepsMax) => {
      const steps = advance(target, stepsMax)
      most = Math.max(most, steps)
      return steps
    }
    sim.run(3000)
    // The client does not know the wall until it has run into it.
    const [runner] = sim.server(Runner)
    sim.runUntil(() => runner!.x > 510 && sim.host.world.tick % 100 < 25, 5000)
    sim.host.world.spawn(Wall, { x: runner!.x + 10 })
    sim.run(3000)
    expect(host.predictor!.rollbacks).toBeGreaterThan(0)
    expect(most).toBe(5)
    sim.hold(0, {})
    expect(sim.difference()).toBeUndefined()
  })

  test('[PRED10] a client simulates its own objects: others that `step` spawns do not outlive the tick', () => {
    const sim = simulate(makeRunners({ seesWalls: true }), {
      seed: 11,
      clients: 2,
      link: { latencyMs: 80, jitterMs: 10 },
    })
    const { host } = sim.players[0]!
    sim.host.world.spawn(Wall, { x: 530 })
    sim.run(1000)
    expect([...host.predictor!.world.each(Runner)].map(({ owner }) => owner)).toEqual([host.peer])
    expect([...host.predictor!.world.seen(Runner)]).toHaveLength(2)
    expect([...host.predictor!.world.seen(Wall)]).toHaveLength(1)
    // The player sees the wall, and so stops where the authority does.
    sim.hold(0, { right: true })
    sim.run(2000)
    expect([host.predictor!.rollbacks, sim.client(0, Runner).find(({ owner }) => owner === host.peer)!.x]).toEqual([
      0, 530,
    ])
  })

  test('[PRED11] inputs that the authority has used are dropped, and exactly the later ones are stepped again', () => {
    const sim = simulate(makeRunners(), { seed: 5, link: { latencyMs: 100 } })
    const { host } = sim.players[0]!
    sim.script(0, restless)
    sim.run(1000)
    const { inputs } = host.clock
    expect(inputs.pendingCount).toBe(inputs.newest - host.serverTick)
  })

  test('[PRED12] with all players predicted, others are drawn ahead, as if they kept their inputs', () => {
    const sim = simulate(makeRunners({ predict: 'all' }), {
      seed: 12,
      clients: 2,
      link: { latencyMs: 90, jitterMs: 10, loss: 0.05 },
    })
    const { host } = sim.players[0]!
    const other = sim.players[1]!.host.peer
    sim.host.world.spawn(Wall, { x: 700 })
    sim.run(1000)
    sim.hold(1, { right: true })
    sim.run(1000)
    expect([...host.predictor!.world.each(Runner)]).toHaveLength(2)
    expect([...host.predictor!.world.each(Wall)]).toHaveLength(1)
    const { tick } = host.predictor!
    const predicted = [...host.predictor!.world.each(Runner)].find(({ owner }) => owner === other)!
    const { id, x } = predicted
    const before = host.predictor!.rollbacks
    expect(sim.runUntil(() => sim.host.world.tick === tick, 2000)).toBe(true)
    expect(sim.host.world.get(Runner, id)!.x).toBe(x)
    // The other player stops at the wall, which is simulated here too.
    sim.run(2000)
    expect(sim.host.world.get(Runner, id)!.x).toBe(700)
    expect(host.predictor!.rollbacks).toBe(before)
    // A turn of the other player is a surprise, and is corrected.
    sim.script(1, (at) => ({ left: at % 40 < 20, throw: at % 60 === 0 }))
    sim.script(0, (at) => ({ ...restless(at), throw: at % 45 === 0 }))
    sim.run(5000)
    expect(host.predictor!.rollbacks).toBeGreaterThan(before)
    sim.hold(0, {})
    sim.hold(1, {})
    expect(sim.difference()).toBeUndefined()
  })

  test('[PRED13] own objects are drawn on the way to the next tick: smoothly, and not a tick late', () => {
    for (const drawAhead of [true, false]) {
      const sim = simulate(makeRunners({ tickRate: 30, drawAhead }), {
        seed: 13,
        link: { latencyMs: 80, jitterMs: 10, loss: 0.02 },
      })
      const { host } = sim.players[0]!
      sim.hold(0, { right: true })
      sim.run(1000)
      const steps: number[] = []
      let before = NaN
      const stop = sim.draw(0, 240, (view) => {
        const { x } = [...view.each(Runner)][0]!
        // Two units a tick, from the last predicted tick on.
        expect(x).toBeGreaterThanOrEqual([...host.predictor!.world.each(Runner)][0]!.x)
        if (before === before) steps.push(x - before)
        before = x
      })
      sim.run(2000)
      stop()
      // A 240th of a second is an eighth of a tick.
      expect(Math.max(...steps) < 0.3 && Math.min(...steps) > 0.2).toBe(drawAhead)
      expect(host.predictor!.rollbacks).toBe(0)
    }
  })
})
