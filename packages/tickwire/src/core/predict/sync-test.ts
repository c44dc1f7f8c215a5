/**
 * Finds nondeterminism in `step`: a variable outside the world, a clock, a real random number generator.
 *
 * Every tick the world is rolled back some ticks and stepped again with the same inputs. The first difference is
 * reported with object, field and tick. For development: it multiplies the work by the depth.
 */

import { InvariantError } from '../base/assert.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import { SaveSlots } from '../world/save-slots.ts'
import type { World } from '../world/world.ts'
import type { PredictedPast } from './predicted-past.ts'

/** The first difference that was found. */
export interface SyncFault {
  /** The tick whose second run had another result. */
  readonly tick: Tick
  /** How many ticks were stepped again. */
  readonly depth: number
  /** The entity of the object that differs. */
  readonly entity: string
  /** The object that differs. */
  readonly id: ObjectId
  /** The path of the field; 'existence' when the object existed in one run only. */
  readonly field: string
}

/** The text of a fault, for people. */
export function describeFault({ tick, depth, entity, id, field }: SyncFault): string {
  return (
    `step: not deterministic (tick ${tick}, stepped again from ${depth} ticks before, has another result: `
    + `${entity} ${id}, field ${field}). `
    + 'Fix: step may depend only on the world and the inputs; keep its state in fields, in external state, or in '
    + 'world.random.'
  )
}

/** A copy of all rows of a world at one moment, for comparison. */
export class RowRecord {
  readonly #rows = new Map<ObjectId, Int32Array>()

  constructor(world: World) {
    const { objects, stores } = world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE) continue
      const { schema: { laneCount }, rows } = stores[type]
      const at = objects.slotAt(index) * laneCount
      this.#rows.set(objects.idAt(index), rows.slice(at, at + laneCount))
    }
  }

  /** The first difference from the world's current state, in ascending order of ids. */
  compare(world: World, depth: number): SyncFault | undefined {
    const { objects, stores, tick } = world
    const ids = new Set(this.#rows.keys())
    for (const store of stores) for (const { id } of store.living()) ids.add(id)
    for (const id of [...ids].sort((a, b) => a - b)) {
      const row = this.#rows.get(id)
      const isAlive = objects.isAlive(id)
      const store = stores[isAlive ? objects.typeAt(indexOf(id)) : 0]
      if (row === undefined || !isAlive)
        return { tick, depth, entity: isAlive ? store.schema.name : 'object', id, field: 'existence' }
      const at = objects.slotAt(indexOf(id)) * store.schema.laneCount
      const leaf = store.schema.leaves.find(({ lane, laneCount }) => {
        for (let each = lane; each < lane + laneCount; each++) if (row[each] !== store.rows[at + each]) return true
        return false
      })
      if (leaf !== undefined) return { tick, depth, entity: store.schema.name, id, field: leaf.path }
    }
    return undefined
  }
}

/**
 * Steps a predicted world again from an earlier tick and compares the results. Restores the world afterwards. A step
 * that read other clients' objects is not compared: those are drawn elsewhere by now.
 */
export function findFault(world: World, past: PredictedPast, from: Tick, play: () => void): SyncFault | undefined {
  const { tick } = world
  const looks = world.sight?.looks
  const first = new RowRecord(world)
  past.load(from)
  while (world.tick < tick) play()
  const fault = world.sight?.looks === looks ? first.compare(world, tick - from) : undefined
  past.load(tick)
  return fault
}

/** Throws if there is no listener. */
export function reportFault(fault: SyncFault, listener: ((fault: SyncFault) => void) | undefined): void {
  if (listener === undefined) throw new InvariantError(describeFault(fault))
  listener(fault)
}

/** The test for a world that only steps forward, such as that of an authority. */
export class SyncTest {
  readonly #world: World
  readonly #depth: number
  readonly #slots: SaveSlots
  readonly #step: () => void
  readonly #listener: ((fault: SyncFault) => void) | undefined
  /** Consecutive ticks that only `step` has changed. */
  #run = 0

  /** `step` repeats the world's current tick with the same inputs. */
  constructor(world: World, depth: number, step: () => void, listener: ((fault: SyncFault) => void) | undefined) {
    this.#world = world
    this.#depth = depth
    this.#slots = new SaveSlots(world, depth + 1)
    this.#step = step
    this.#listener = listener
  }

  /**
   * Call when the tick has begun, before `step`. `isChanged`: something other than `step` has changed the world in it.
   */
  begin(isChanged: boolean): void {
    this.#run = isChanged ? 1 : Math.min(this.#run + 1, this.#depth)
    this.#slots.save(this.#world.tick % this.#depth)
  }

  /** Call when the tick has ended. */
  check(): void {
    const world = this.#world
    const { tick } = world
    const first = new RowRecord(world)
    this.#slots.save(this.#depth)
    this.#slots.load((tick - this.#run + 1) % this.#depth)
    for (;;) {
      this.#step()
      world.endTick()
      if (world.tick === tick) break
      world.beginTick()
    }
    const fault = first.compare(world, this.#run)
    this.#slots.load(this.#depth)
    world.sample()
    if (fault !== undefined) {
      this.#run = 0
      reportFault(fault, this.#listener)
    }
  }
}
