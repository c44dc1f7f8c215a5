/**
 * The worlds of the last ticks, so that a difference that is noticed later can be looked at.
 *
 * A tick costs one copy of memory: 0.05 ms for 2,000 objects. `open` puts a kept world into a world of its own, which
 * shares texts and lists with the live one; the live world is not touched.
 */

import { HISTORY_ROOTS, HISTORY_TICKS } from '../../base/limits.ts'
import type { Tick } from '../../base/time.ts'
import { copyWorld } from '../../world/copy-world.ts'
import { SaveSlots } from '../../world/save-slots.ts'
import { World } from '../../world/world.ts'
import type { LockstepGame } from '../define-lockstep.ts'
import { Roster } from '../roster.ts'

/** A past world, and the players of its tick. */
export interface KeptWorld {
  /** The world after its tick. */
  readonly world: World
  /** The players after its tick. */
  readonly roster: Roster
}

/** The last ticks of one runner. */
export class History {
  readonly #game: LockstepGame
  /** The world of the match. */
  readonly live: World
  readonly #slots: SaveSlots
  readonly #rosters: readonly Roster[]
  /** Indexed by tick modulo the length: tick, low and high half of the hash. */
  readonly #rootTicks = new Float64Array(HISTORY_ROOTS).fill(-1)
  readonly #roots = new Uint32Array(2 * HISTORY_ROOTS)

  constructor(game: LockstepGame, live: World, ticks: number = HISTORY_TICKS) {
    this.#game = game
    this.live = live
    this.#slots = new SaveSlots(live, ticks)
    this.#rosters = Array.from({ length: ticks }, () => new Roster())
  }

  /** Keeps the live world as of its tick. */
  save(roster: Roster, low: number, high: number): void {
    const { tick } = this.live
    const slot = tick % this.#slots.count
    this.#slots.save(slot)
    this.#rosters[slot].restore(roster)
    const at = tick % HISTORY_ROOTS
    this.#rootTicks[at] = tick
    this.#roots[2 * at] = low
    this.#roots[2 * at + 1] = high
  }

  /** The oldest tick whose world is kept; 0: none. */
  get oldest(): Tick {
    let oldest = Infinity
    for (let slot = 0; slot < this.#slots.count; slot++) {
      const tick = this.#slots.tickOf(slot)
      if (tick >= 0 && tick < oldest) oldest = tick
    }
    return oldest === Infinity ? 0 : oldest
  }

  /** The hash of a tick. Undefined: not kept. */
  rootOf(tick: Tick): { low: number; high: number } | undefined {
    const at = tick % HISTORY_ROOTS
    return this.#rootTicks[at] === tick ? { low: this.#roots[2 * at], high: this.#roots[2 * at + 1] } : undefined
  }

  /** Whether the world of a tick is kept. */
  has(tick: Tick): boolean {
    return tick >= 0 && this.#slots.tickOf(tick % this.#slots.count) === tick
  }

  /** The words of the generator after a tick. Undefined: not kept. */
  generatorOf(tick: Tick): readonly number[] | undefined {
    return this.has(tick) ? [...this.#slots.generatorOf(tick % this.#slots.count)] : undefined
  }

  /** The world of a tick, in a world of its own. `discard` it when done. Undefined: not kept. */
  open(tick: Tick, make: () => World = () => this.make()): KeptWorld | undefined {
    if (!this.has(tick)) return undefined
    const slot = tick % this.#slots.count
    const world = make()
    try {
      this.borrow(() => this.#slots.loadInto(slot, world))
    } catch (error) {
      this.discard(world)
      throw error
    }
    return { world, roster: this.#rosters[slot].copy() }
  }

  /** An empty world of the same game and seed that shares texts and lists with the live one. */
  make(): World {
    const external = this.#game.external?.()
    return new World(this.#game.entities, { seed: this.live.seed, sharing: this.live, ...(external && { external }) })
  }

  /** Releases a world that `make` or `open` made. */
  discard(world: World): void {
    for (const store of world.stores) this.live.dropValuesOf(store)
  }

  /** Makes the live world equal to `world`. Objects keep their handles. */
  replaceBy(world: World): void {
    copyWorld(world, this.live)
  }

  /** Runs code on another world. External state may be in variables that all worlds share: it is put back. */
  borrow<T>(code: () => T): T {
    const { external } = this.live
    const saved = external.save()
    try {
      return code()
    } finally {
      external.load(saved)
    }
  }
}
