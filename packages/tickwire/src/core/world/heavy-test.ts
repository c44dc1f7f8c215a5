/**
 * Finds state that `step` uses and an image does not have: a cache, a variable outside the world, a forgotten field of
 * external state. A player that joins a running lockstep match starts from such an image.
 *
 * Every tick the world is encoded, decoded into a new world, and both worlds are stepped with the same inputs. The
 * first difference is named. For development: a tick costs several times as much.
 */

import { InvariantError } from '../base/assert.ts'
import type { Tick } from '../base/time.ts'
import { locateDifference, valueText, type Difference } from './locate-difference.ts'
import { StateHash } from './state-hash.ts'
import { encodeWorld, restoreWorld } from './world-image.ts'
import type { World } from './world.ts'

/** The test of one world. */
export class HeavyTest {
  readonly #world: World
  readonly #hash: StateHash
  readonly #makeWorld: () => World
  readonly #step: (copy: World) => void
  #image: Uint8Array | undefined

  /**
   * `makeWorld` makes a new, empty world of the same entities, seed and external state. `step` steps that world with
   * the inputs of the current tick.
   */
  constructor(world: World, makeWorld: () => World, step: (copy: World) => void) {
    this.#world = world
    this.#hash = new StateHash(world)
    this.#makeWorld = makeWorld
    this.#step = step
  }

  /** Call between two ticks, before `beginTick`. */
  begin(): void {
    this.#image = encodeWorld(this.#world)
  }

  /** Call when the tick has ended, if nothing but `step` has changed the world in it. Throws on a difference. */
  check(): void {
    const world = this.#world
    if (this.#image === undefined)
      throw new InvariantError(heavyText(world.tick, 'the image is larger than 64 MiB'))
    const [low, high] = this.#hash.update()
    const externalHash = world.external.hash()
    // External state may be stored in variables of a module. Then both worlds share them, and the copy overwrites them.
    const external = world.external.save()
    const copy = this.#makeWorld()
    const verdict = restoreWorld(copy, this.#image)
    if (verdict !== 'restored') throw new InvariantError(heavyText(world.tick, `the image is refused: ${verdict}`))
    copy.beginTick()
    this.#step(copy)
    copy.endTick()
    const copyHash = new StateHash(copy)
    const [copyLow, copyHigh] = copyHash.update()
    const isExternal = copy.external.hash() !== externalHash
    world.external.load(external)
    if (low === copyLow && high === copyHigh) return
    const { difference } = locateDifference({ world, hash: this.#hash }, { world: copy, hash: copyHash })
    throw new InvariantError(heavyText(world.tick, differenceText(isExternal ? { in: 'external' } : difference)))
  }
}

function heavyText(tick: Tick, what: string): string {
  return (
    `step: a world restored from an image continues differently (tick ${tick}, ${what}). `
    + 'Fix: keep all state of step in fields, in external state with encode and decode, or in world.random.'
  )
}

/** Where two worlds differ, as text. */
export function differenceText(difference: Difference | undefined): string {
  if (difference === undefined) return 'no difference is found'
  switch (difference.in) {
    case 'existence': return `${difference.entity} ${difference.id} exists in one world only`
    case 'field': {
      const [a, b] = difference.values.map(valueText)
      return `${difference.entity} ${difference.id}, field ${difference.field}, ${a} against ${b}`
    }
    default: return difference.in
  }
}
