/**
 * A second world, made at the start, that is stepped with the same ticks: after every tick both must be equal. It finds
 * a `step` that depends on something outside of the world: random numbers, clocks, variables of a module. For
 * development.
 */

import { InvariantError } from '../../base/assert.ts'
import type { Tick } from '../../base/time.ts'
import { differenceText } from '../../world/heavy-test.ts'
import { locateDifference } from '../../world/locate-difference.ts'
import { StateHash } from '../../world/state-hash.ts'
import { World } from '../../world/world.ts'
import { copyWorld } from '../../world/copy-world.ts'
import type { LockstepRunner, RunnerWatch } from '../lockstep-runner.ts'
import { Roster } from '../roster.ts'

/** The second world of a runner. */
export class DualTest implements RunnerWatch {
  readonly #runner: LockstepRunner
  readonly #before: RunnerWatch | undefined
  readonly #shadow: World
  readonly #hash: StateHash
  readonly #roster = new Roster()
  /** Whether the second world is not a copy of the first: it becomes one with the next tick. */
  #isStale = true

  /** Call before the first tick. */
  constructor(runner: LockstepRunner) {
    this.#runner = runner
    this.#before = runner.watch
    const external = runner.game.external?.()
    const { world } = runner
    this.#shadow = new World(runner.game.entities, { seed: world.seed, sharing: world, ...(external && { external }) })
    this.#hash = new StateHash(this.#shadow)
    if (runner.hasBegun) this.#copy()
    runner.watch = this
  }

  handleReplaced(tick: Tick): void {
    this.#before?.handleReplaced?.(tick)
    this.#isStale = true
  }

  handleDesync(level: number): void {
    this.#before?.handleDesync?.(level)
  }

  handleStepped(tick: Tick, low: number, high: number): void {
    this.#before?.handleStepped(tick, low, high)
    const { world, hash, hasBegun } = this.#runner
    // Before the players agree on the seed, both worlds step ticks without code of the game.
    if (this.#isStale && hasBegun) return this.#copy()
    const saved = world.external.save()
    this.#runner.replay(this.#shadow, this.#roster, tick)
    const isEqual = this.#hash.update().every((half, at) => half === hash.update()[at])
    world.external.load(saved)
    if (isEqual) return
    const { difference } = locateDifference({ world, hash }, { world: this.#shadow, hash: this.#hash })
    throw new InvariantError(
      `step: two worlds with the same ticks differ (tick ${tick}, ${differenceText(difference)}). `
        + 'Fix: keep all state of step in the world, and take chance from world.random.',
    )
  }

  #copy(): void {
    copyWorld(this.#runner.world, this.#shadow)
    this.#roster.restore(this.#runner.roster)
    this.#isStale = false
  }
}
