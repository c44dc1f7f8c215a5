/**
 * A duel: the shooter aims at what its screen shows, 60 times a second, and the target runs. It also measures the
 * picture.
 *
 * A jump is a movement in the picture that did not happen in the world. The error of a draw is the drawn position minus
 * the server's position at the drawn moment. A change of the error by more than an eighth of a body's width from one
 * draw to the next is visible. An eighth of 0.8 m is 0.1 m: less than a runner's own step in a draw (0.13 m), and five
 * pixels of a screen 1,920 wide at twenty metres. The runner's own motion hides smaller changes. A slow correction
 * after a jump is not a jump, because it takes many draws.
 */

import type { Weather } from '../../packages/tickwire/src/testing/memory-link.ts'
import { simulate, type Simulation } from '../../packages/tickwire/src/testing/simulate.ts'
import { makeCourse, Runner, TICK_RATE, WIDTH, type Course, type Input } from './course.ts'
import { motionOf, type Motion } from './plays.ts'

export const VISIBLE_M: number = WIDTH / 8
export const DRAW_HZ = 60
const SETTLE_MS = 3000

export interface Duel {
  readonly shots: number
  readonly hits: number
  /** Mean distance between the drawn and the real position of the target at the shots, in metres. */
  readonly awayM: number
  readonly jumpsPerMinute: number
  /** The largest change of the error in one draw, in metres. */
  readonly worstM: number
}

export interface DuelOptions {
  readonly seed: number
  readonly weather: Weather
  readonly motion: Motion
  readonly shots: number
  readonly rewindMs: number
}

export function duel({ seed, weather, motion, shots, rewindMs }: DuelOptions): Duel {
  const course = makeCourse({ net: { rewindMs, historyMs: 1200 } })
  const sim = simulate(course.game, { seed, clients: 2, link: weather })
  const [shooterId, targetId] = [idOf(sim, 0), idOf(sim, 1)]
  sim.script(1, motionOf(motion))
  let drawn: { aim: number } | undefined
  let [fired, away] = [0, 0]
  let next = Infinity
  const watch = new JumpWatch(course, targetId)
  sim.draw(0, DRAW_HZ, (view) => {
    const [me, target] = [view.get(Runner, shooterId), view.get(Runner, targetId)]
    if (me === null || target === null) return
    drawn = { aim: Math.atan2(target.at.z - me.at.z, target.at.x - me.at.x) }
    watch.see(renderTickOf(sim, 0), target.at)
  })
  sim.script(0, (tick) => {
    const isFiring = drawn !== undefined && tick >= next && fired < shots
    if (!isFiring) return { isRunning: false, course: 0, fire: false }
    fired++
    // Not synchronised with the target.
    next = tick + 21 + fired % 7
    const [target] = sim.server(Runner).filter(({ id }) => id === targetId)
    away += Math.hypot(target!.at.x - watch.at.x, target!.at.z - watch.at.z)
    return { isRunning: false, course: 0, aim: drawn!.aim, fire: true }
  })
  sim.run(SETTLE_MS)
  next = 0
  watch.begin()
  sim.runUntil(() => fired >= shots, shots * 1000)
  sim.run(1500)
  const hits = sim.server(Runner).find(({ id }) => id === shooterId)!.hits
  return {
    shots: fired,
    hits,
    awayM: away / fired,
    jumpsPerMinute: (watch.jumps / watch.draws) * DRAW_HZ * 60,
    worstM: watch.worst,
  }
}

/** The object of a player. */
export function idOf(sim: Simulation<Input>, client: number): number {
  const { peer } = sim.players[client]!.host
  return sim.server(Runner).find(({ owner }) => owner === peer)!.id
}

/** The moment that a player's screen shows. The next input carries it. */
export function renderTickOf(sim: Simulation<Input>, client: number): number {
  return sim.players[client]!.host.viewTick
}

/** Follows one drawn object, and counts movements that did not happen in the world. */
export class JumpWatch {
  jumps = 0
  draws = 0
  worst = 0
  /** The last drawn position, and its distance from the true position of that moment. */
  at = { x: 0, z: 0 }
  errorM = NaN
  readonly #course: Course
  readonly #id: number
  #error: { x: number; z: number } | undefined = undefined

  constructor(course: Course, id: number) {
    this.#course = course
    this.#id = id
  }

  begin(): void {
    this.jumps = this.draws = this.worst = 0
  }

  see(moment: number, { x, z }: { readonly x: number; readonly z: number }): void {
    const [before, after] = [
      this.#course.truth(Math.floor(moment), this.#id),
      this.#course.truth(Math.floor(moment) + 1, this.#id),
    ]
    this.at = { x, z }
    if (before === undefined || after === undefined) return
    const share = moment - Math.floor(moment)
    const error = { x: x - before.x - (after.x - before.x) * share, z: z - before.z - (after.z - before.z) * share }
    this.errorM = Math.hypot(error.x, error.z)
    if (this.#error !== undefined) {
      const changed = Math.hypot(error.x - this.#error.x, error.z - this.#error.z)
      this.draws++
      this.worst = Math.max(this.worst, changed)
      if (changed > VISIBLE_M) this.jumps++
    }
    this.#error = error
  }
}

/** Converts a time to ticks. */
export function ticksOf(ms: number): number {
  return ms * TICK_RATE / 1000
}
