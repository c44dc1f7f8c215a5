/**
 * How it feels at 200 ms and 10 % loss, in ticks and metres: the figures that `npm run bench -- feel` has for a game of
 * runners.
 */

import { expect, test, vi } from 'vitest'
import { form } from '../../test/form.ts'
import type { ObjectOf } from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'
import { BODY_HALF } from './collision.ts'
import { Fighter, Hurt, input, RAIL, Shot, STICK } from './definitions.ts'
import { game, TICK_RATE } from './game.ts'

// Whole matches, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 })

type Arena = Simulation<typeof input>

const WEATHER = { latencyMs: 95, jitterMs: 10, loss: 0.1 }
const DRAW_HZ = 60
/** The smallest visible error: an eighth of a body's width, from one draw to the next. */
const VISIBLE_M = BODY_HALF * 2 / 8

function bodyOf(sim: Arena, client: number): ObjectOf<typeof Fighter> {
  return sim.server(Fighter).find(({ owner }) => owner === sim.players[client]!.host.peer)!
}

test('[ARENA13] at 200 ms and 10 % loss: own steps are drawn at once, and only late inputs cause corrections', () => {
  const sim = simulate(game, { seed: 4, clients: 1, link: WEATHER })
  sim.run(3000)
  const { host } = sim.players[0]!
  Object.assign(bodyOf(sim, 0), { at: { x: 0, y: 0, z: 17 }, speed: { x: 0, y: 0, z: 0 } })
  sim.run(1000)
  const place = (): number => [...host.draw(sim.clock.now).each(Fighter)][0]!.at.x
  const [from, rollbacks, late] = [place(), host.predictor!.rollbacks, host.clock.lateInputs]
  sim.hold(0, { side: STICK, yaw: 0 })
  sim.run(2 * 1000 / TICK_RATE)
  expect(place()).toBeGreaterThan(from)
  // A place without items: a client cannot predict what the server gives.
  sim.script(0, (tick) => ({ side: tick % 128 < 64 ? STICK : -STICK, jump: tick % 90 < 4, yaw: 0.02 * (tick % 8) }))
  sim.run(8000)
  // Each input is in three packets or more: one of a thousand arrives too late.
  const lateNow = host.clock.lateInputs - late
  expect(lateNow).toBeLessThan(5)
  expect(host.predictor!.rollbacks - rollbacks).toBeLessThanOrEqual(lateNow)
})

test('[ARENA13] at 200 ms and 10 % loss: a runner is hit where it is drawn, and is drawn without a jump', () => {
  const sim = simulate(game, { seed: 8, clients: 2, link: WEATHER })
  sim.run(2000)
  const [shooter, runner] = [bodyOf(sim, 0), bodyOf(sim, 1)]
  const { host } = sim.players[0]!
  Object.assign(shooter, { at: { x: 0, y: 0, z: 19 }, speed: { x: 0, y: 0, z: 0 } })
  Object.assign(runner, { at: { x: 0, y: 0, z: 15.5 }, speed: { x: 0, y: 0, z: 0 } })
  sim.run(1000)
  const truth = new Map<number, number>()
  const counts = { shots: 0, hits: 0, jumps: 0, draws: 0 }
  sim.host.onEvent(Shot, () => { counts.shots++ })
  sim.host.onEvent(Hurt, () => { counts.hits++ })
  let course = 1
  sim.script(1, (tick) => {
    truth.set(sim.host.world.tick, runner.at.x)
    if (tick % 70 === 0) course = -course
    if (Math.abs(runner.at.x) > 6) course = -Math.sign(runner.at.x)
    return { side: course * STICK, yaw: 0 }
  })
  let aim: { yaw: number; pitch: number } | undefined
  let last: number | undefined
  sim.draw(0, DRAW_HZ, (view) => {
    Object.assign(shooter, { slugs: 20 })
    // A slug moves the fighter that it hits. Here the runner is put back, so that it stays in the open.
    Object.assign(runner, { health: 200 })
    Object.assign(runner.at, { z: 15.5 })
    Object.assign(runner.speed, { z: 0 })
    const [own, target] = [view.get(Fighter, shooter.id), view.get(Fighter, runner.id)]
    if (own === null || target === null) return
    const [x, z] = [own.at.x - target.at.x, own.at.z - target.at.z]
    aim = { yaw: Math.atan2(x, z), pitch: Math.atan2(target.at.y - own.at.y - 0.6, Math.hypot(x, z)) }
    const [before, after] = [truth.get(Math.floor(host.viewTick)), truth.get(Math.floor(host.viewTick) + 1)]
    if (before === undefined || after === undefined) return
    const error = target.at.x - before - (after - before) * (host.viewTick % 1)
    counts.draws++
    if (last !== undefined && Math.abs(error - last) > VISIBLE_M) counts.jumps++
    last = error
  })
  sim.script(0, () => ({ ...aim, weapon: RAIL, fire: aim !== undefined }))
  sim.run(form(12_000, 25_000))
  expect(counts.draws).toBeGreaterThan(form(9, 20) * DRAW_HZ)
  expect(counts.jumps).toBe(0)
  expect(counts.shots).toBeGreaterThan(form(6, 15))
  expect(counts.hits).toBe(counts.shots)
})
