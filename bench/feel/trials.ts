/** Trials of feel other than duels: the player's own input, a player that is alone, a crowd, an outage, a sleep. */

import type { Weather } from '../../packages/tickwire/src/testing/memory-link.ts'
import { simulate, type Simulation } from '../../packages/tickwire/src/testing/simulate.ts'
import { makeCourse, Runner, TICK_MS, WIDTH, type Input } from './course.ts'
import { motionOf, restless } from './plays.ts'
import { DRAW_HZ, idOf, JumpWatch } from './shots.ts'

const SETTLE_MS = 3000
const MINUTE_MS = 60_000
const NEAR_M = WIDTH / 2
const PRESS_TICKS = 40

/**
 * Ticks from the input that starts a run to the draw that first shows it: the maximum of `presses`. Draws right after
 * every tick.
 */
export function ownInputTicks(seed: number, weather: Weather, presses: number): number {
  const sim = simulate(makeCourse().game, { seed, clients: 1, link: weather })
  const { host } = sim.players[0]!
  const id = idOf(sim, 0)
  let pressedAt = Infinity
  let worst = 0
  let rest = { x: 0, z: 0 }
  sim.run(SETTLE_MS)
  sim.script(0, (tick) => {
    const isRunning = tick % PRESS_TICKS < PRESS_TICKS / 2
    if (isRunning && tick % PRESS_TICKS === 0) pressedAt = tick
    return { isRunning, course: tick % (2 * PRESS_TICKS) < PRESS_TICKS ? 0 : Math.PI }
  })
  let seen = 0
  sim.draw(0, 1000, (view) => {
    const me = view.get(Runner, id)!
    const tick = host.clock.inputs.newest
    if (tick < pressedAt) {
      rest = { x: me.at.x, z: me.at.z }
    } else if (Math.hypot(me.at.x - rest.x, me.at.z - rest.z) > 1e-6) {
      worst = Math.max(worst, tick - pressedAt)
      pressedAt = Infinity
      seen++
    } else if (pressedAt < Infinity) {
      // Not in this draw: if the tick ends before the input shows, the input was late.
      worst = Math.max(worst, tick - pressedAt)
    }
  })
  if (!sim.runUntil(() => seen >= presses, presses * PRESS_TICKS * TICK_MS * 3)) return Infinity
  return worst
}

export interface Rollbacks {
  readonly rollbacksPerMinute: number
  /**
   * The distance between the predicted and the true position, in metres: the mean over all mispredicted ticks, and the
   * maximum.
   */
  readonly mistakenTicks: number
  readonly meanM: number
  readonly worstM: number
  readonly lateInputs: number
}

/** The first player plays for a minute, alone or among others; counts its mispredictions. */
export function rollbacks(seed: number, weather: Weather, players: number): Rollbacks {
  const course = makeCourse({ isCrowded: players > 1 })
  const sim = simulate(course.game, { seed, clients: players, link: weather })
  const { host } = sim.players[0]!
  const id = idOf(sim, 0)
  for (let client = 0; client < players; client++) {
    // In a crowd all players run around one place.
    const play = players > 1 ? inward(sim, client, seed) : restless(seed + client)
    sim.script(client, play)
  }
  sim.run(SETTLE_MS)
  const before = host.predictor!.rollbacks
  const late = host.clock.lateInputs
  const predicted = new Map<number, { x: number; z: number }>()
  const until = sim.clock.now + MINUTE_MS
  sim.runUntil(() => {
    const { tick, world } = host.predictor!
    const me = world.get(Runner, id)
    if (me !== null && !predicted.has(tick)) predicted.set(tick, { x: me.at.x, z: me.at.z })
    return sim.clock.now >= until
  }, MINUTE_MS)
  const errors = [...predicted].flatMap(([tick, { x, z }]) => {
    const truth = course.truth(tick, id)
    return truth === undefined ? [] : [Math.hypot(truth.x - x, truth.z - z)]
  }).filter((error) => error > 1 / 64)
  return {
    rollbacksPerMinute: host.predictor!.rollbacks - before,
    mistakenTicks: errors.length,
    lateInputs: host.clock.lateInputs - late,
    meanM: errors.length === 0 ? 0 : errors.reduce((sum, error) => sum + error, 0) / errors.length,
    worstM: Math.max(0, ...errors),
  }
}

/** Runs to the middle and beyond, and back. */
function inward(
  sim: Simulation<Input>,
  client: number,
  seed: number,
): (tick: number) => { isRunning: boolean; course: number } {
  const id = idOf(sim, client)
  const play = restless(seed * 31 + client)
  return (tick) => {
    const me = sim.players[client]!.host.predictor?.world.get(Runner, id)
    if (me === null || me === undefined) return { isRunning: false, course: 0 }
    const isFar = Math.hypot(me.at.x - 3, me.at.z - 3) > 4
    return isFar ? { isRunning: true, course: Math.atan2(3 - me.at.z, 3 - me.at.x) } : play(tick)
  }
}

export interface Return {
  /**
   * From the first received packet until the other player is drawn within half a width of its position, and own ticks
   * run.
   */
  readonly backMs: number
  /** How far the other player had to be moved, the longest step that one draw showed, and its share of the way. */
  readonly gapM: number
  readonly stepM: number
  readonly stepShare: number
}

/** An outage: no packet arrives for some time; then all do. */
export function outage(seed: number, weather: Weather, lastsMs: number): Return {
  const course = makeCourse({ net: { timeoutMs: 60_000 } })
  const sim = simulate(course.game, { seed, clients: 2, link: weather })
  return comeBack(sim, course, () => {
    sim.weather({ loss: 1 }, 0)
    sim.run(lastsMs)
    sim.weather(weather, 0)
  })
}

/** A machine sleeps: it runs nothing, and packets that arrive meanwhile wait or are lost. */
export function sleep(seed: number, weather: Weather, lastsMs: number): Return {
  const course = makeCourse({ net: { timeoutMs: 60_000 } })
  const sim = simulate(course.game, { seed, clients: 2, link: weather })
  const [sleeper] = sim.players
  return comeBack(sim, course, () => {
    sim.clock.remove(sleeper!)
    sim.run(lastsMs)
    sim.clock.add(sleeper!)
  })
}

function comeBack(sim: Simulation<Input>, course: ReturnType<typeof makeCourse>, isAway: () => void): Return {
  const { host } = sim.players[0]!
  const id = idOf(sim, 1)
  sim.script(0, restless(5))
  sim.script(1, motionOf('straight'))
  const watch = new JumpWatch(course, id)
  let last: { x: number; z: number } | undefined
  let [step, isWatching] = [0, false]
  const draw = (): void => {
    const other = host.draw(sim.clock.now).get(Runner, id)
    if (other === null) return
    const [x, z] = [other.at.x, other.at.z]
    watch.see(host.viewTick, { x, z })
    if (isWatching && last !== undefined) step = Math.max(step, Math.hypot(x - last.x, z - last.z))
    last = { x, z }
  }
  for (let at = 0; at < SETTLE_MS; at += 1000 / DRAW_HZ) {
    sim.run(1000 / DRAW_HZ)
    draw()
  }
  isAway()
  const tickBefore = host.serverTick
  sim.runUntil(() => host.serverTick > tickBefore, 2000)
  const from = sim.clock.now
  isWatching = true
  const gapM = whereIs(sim, id, last!)
  const isBack = (): boolean =>
    watch.errorM <= NEAR_M
    && !host.predictor!.isStalled
    && host.predictor!.tick > sim.host.world.tick
    && host.viewTick > sim.host.world.tick - 60
  let backMs = Infinity
  for (let at = 0; at < 3000; at += 1000 / DRAW_HZ) {
    draw()
    if (isBack() && backMs === Infinity) backMs = sim.clock.now - from
    sim.run(1000 / DRAW_HZ)
  }
  return { backMs, gapM, stepM: step, stepShare: step / Math.max(gapM, WIDTH) }
}

/** The distance of the authority's object from a position. */
function whereIs(sim: Simulation<Input>, id: number, place: { readonly x: number; readonly z: number }): number {
  const object = sim.server(Runner).find((one) => one.id === id)!
  return Math.hypot(object.at.x - place.x, object.at.z - place.z)
}
