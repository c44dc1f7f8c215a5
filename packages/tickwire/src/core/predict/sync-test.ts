/**
 * Finds what makes `step` say different things to the same question: a variable outside the world, a clock, real dice.
 *
 * Every tick the world is taken back some ticks and stepped again with the same inputs. Whatever is not what it was the
 * first time is reported with object, field and tick. For development: it multiplies the work by the depth.
 */

import { InvariantError } from '../base/assert.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import { SaveSlots } from '../world/save-slots.ts'
import type { World } from '../world/world.ts'

/** The first thing that was different. */
export interface SyncFault {
  readonly tick: Tick
  /** How many ticks were stepped again. */
  readonly depth: number
  readonly entity: string
  readonly id: ObjectId
  /** The path of the field; 'existence' when the object was there in one run only. */
  readonly field: string
}

/** What a fault says, to a person. */
export function describeFault({ tick, depth, entity, id, field }: SyncFault): string {
  return `tick ${tick}, stepped again from ${depth} ticks before, is not what it was: ${entity} ${id}, field ${field}. ` +
    'step must be a function of world and inputs: keep what it needs in fields, in external state, or in world.random.'
}

/** All rows of a world at one moment, to compare with those of another. */
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

  /** The first difference to how a world is now, ascending by id. */
  compare(world: World, depth: number): SyncFault | undefined {
    const { objects, stores, tick } = world
    const ids = new Set(this.#rows.keys())
    for (const store of stores) for (const { id } of store.living()) ids.add(id)
    for (const id of [...ids].sort((a, b) => a - b)) {
      const row = this.#rows.get(id)
      const isAlive = objects.isAlive(id)
      const store = stores[isAlive ? objects.typeAt(indexOf(id)) : 0]
      if (row === undefined || !isAlive) return { tick, depth, entity: isAlive ? store.schema.name : 'object', id, field: 'existence' }
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

/** Throws, unless somebody wants to be told instead. */
export function reportFault(fault: SyncFault, listener: ((fault: SyncFault) => void) | undefined): void {
  if (listener === undefined) throw new InvariantError(describeFault(fault))
  listener(fault)
}

/** The test for who steps forward only: an authority. */
export class SyncTest {
  readonly #world: World
  readonly #depth: number
  readonly #slots: SaveSlots
  readonly #step: () => void
  readonly #listener: ((fault: SyncFault) => void) | undefined
  /** Ticks in a row that nothing but `step` has changed. */
  #run = 0

  /** `step` steps the tick that the world is in again, with the inputs it had. */
  constructor(world: World, depth: number, step: () => void, listener: ((fault: SyncFault) => void) | undefined) {
    this.#world = world
    this.#depth = depth
    this.#slots = new SaveSlots(world, depth + 1)
    this.#step = step
    this.#listener = listener
  }

  /** The tick has begun and `step` comes next; whether anything else has changed the world in it. */
  begin(isChanged: boolean): void {
    this.#run = isChanged ? 1 : Math.min(this.#run + 1, this.#depth)
    this.#slots.save(this.#world.tick % this.#depth)
  }

  /** The tick has ended. */
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
