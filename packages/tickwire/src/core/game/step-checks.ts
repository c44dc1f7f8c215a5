/**
 * The checks of development mode: mistakes in `step` that a match survives silently.
 *
 *   nan             a number that is NaN at the end of `step`: it is stored as 0
 *   clamped         a number outside the bounds of its field, or a text or list that is too long: it is cut
 *   unknown-field   a field that the entity does not have, in an assignment or in `spawn`: it is ignored
 *   outside-step    a field of an object that clients predict was written between two ticks
 *   impure          chance, clocks, inexact `Math`, locales and boolean comparators in `step` (base/step-traps.ts)
 *   secret          what some clients do not know, in a game in which every client steps everything
 *   nondeterministic   a second run of the same tick had another result (predict/sync-test.ts)
 *
 * Each mistake is reported once per kind and field. The checks cost time in every tick, so they are off in production
 * (docs/adr/0042).
 */

import { StepTraps } from '../base/step-traps.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { describeFault, type SyncFault } from '../predict/sync-test.ts'
import type { Entity } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import { LEAF, type Leaf } from '../schema/leaf.ts'
import type { EntityStore } from '../world/entity-store.ts'
import type { Handle, Place } from '../world/handle.ts'
import type { World } from '../world/world.ts'
import type { Predict } from './settings.ts'

/** A mistake that development mode has found. */
export interface StepWarning {
  /** What kind of mistake it is. */
  readonly kind:
    | 'nan' | 'clamped' | 'unknown-field' | 'outside-step' | 'impure' | 'secret' | 'nondeterministic'
  /** The entity of the object. Empty when there is none. */
  readonly entity: string
  /** The object. 0: none, or not spawned yet. */
  readonly id: ObjectId
  /** The path of the field, or the name of the function: `Player.x`, `Math.random`. */
  readonly field: string
  /** The tick in which it was found. */
  readonly tick: Tick
  /** The whole warning, with the fix. */
  readonly message: string
}

/** The cells of a store after a tick, and which object was in which slot. */
interface StoreCopy {
  cells: Float64Array
  ids: Uint32Array
}

/** The properties that every handle has. */
const HANDLE_NAMES: ReadonlySet<string> = new Set(['$cells', '$store', '$parts', 'id', 'isAlive'])
/** An unknown field stays on its handle, so a check in some of the ticks finds it. */
const NAMES_EVERY_TICKS = 8

/** Checks a world of one match, tick by tick. */
export class StepChecks {
  readonly #report: (warning: StepWarning) => void
  readonly #known = new Set<string>()
  readonly #predictsAll: boolean
  readonly #entities: readonly Entity[]
  readonly #copies: StoreCopy[] = []
  readonly #traps = new StepTraps(({ name, message }) =>
    this.#warn('impure', '', 0, name, this.#world?.tick ?? 0, message))
  #loads = -1
  #world: World | undefined

  /**
   * `report` is called once for each kind and field. `predict`: what clients predict. Default 'owned'. `entities` are
   * those of the game, to find secrets.
   */
  constructor(
    report: (warning: StepWarning) => void, predict: Predict = 'owned', entities: readonly Entity[] = [],
  ) {
    this.#report = report
    this.#entities = entities
    this.#predictsAll = predict === 'all'
  }

  /** Before a tick: finds what was written since the last one. Only for a world that is never rolled back. */
  beforeTick(world: World): void {
    if (this.#world !== world) this.#watch(world)
    if (this.#loads !== world.loads) return
    for (const store of world.stores) this.#compare(world, store)
  }

  /** Runs `step`, and checks what it left. */
  step(world: World, run: () => void): void {
    if (this.#world !== world) this.#watch(world)
    this.#traps.run(world.tick, run)
    const areNamesDue = world.tick % NAMES_EVERY_TICKS === 0
    for (const store of world.stores) {
      for (const handle of store.living()) {
        this.#checkValues(world, store, handle)
        if (areNamesDue) this.#checkNames(world, store, handle)
      }
    }
  }

  /** After a tick: remembers what `step` left. */
  afterTick(world: World): void {
    this.#loads = world.loads
    for (const store of world.stores) {
      const copy = (this.#copies[store.type] ??= { cells: new Float64Array(0), ids: new Uint32Array(0) })
      if (copy.cells.length !== store.cells.length) {
        copy.cells = new Float64Array(store.cells.length)
        copy.ids = new Uint32Array(store.cells.length / store.schema.cellCount)
      }
      copy.cells.set(store.cells)
      copy.ids.fill(0)
      for (const handle of store.living()) copy.ids[store.slotOf(handle)] = handle.id
    }
  }

  /** A tick that was stepped twice had two results. */
  handleFault(fault: SyncFault): void {
    this.#warn('nondeterministic', fault.entity, fault.id, fault.field, fault.tick, describeFault(fault))
  }

  /** Finds fields that a spawn or an input names and the shape does not have. */
  checkInit(path: string, shape: Shape, values: object, tick: Tick): void {
    for (const name of Object.keys(values)) if (!Object.hasOwn(shape, name)) this.#unknown(path, 0, name, tick)
  }

  #compare(world: World, store: EntityStore): void {
    const copy = this.#copies[store.type]
    const { cellCount } = store.schema
    if (copy === undefined) return
    for (const handle of store.living()) {
      // No client predicts an object of the server, so a write between two ticks causes no misprediction.
      if (handle.owner === 0 && !this.#predictsAll) continue
      const slot = store.slotOf(handle)
      if (copy.ids[slot] !== handle.id) continue
      for (let cell = 0, at = slot * cellCount; cell < cellCount; cell++, at++) {
        if (!Object.is(copy.cells[at], store.cells[at])) this.#handleOutside(world, store, handle.id, cell)
      }
    }
  }

  #handleOutside(world: World, { schema }: EntityStore, id: ObjectId, cell: number): void {
    const leaf = schema.leaves.find((each) => cell >= each.cell && cell < each.cell + each.cellCount)
    const path = leaf?.path ?? schema.name
    this.#warn(
      'outside-step', schema.name, id, path, world.tick,
      `${path}: written outside of step (object ${id}, after tick ${world.tick}), so clients cannot predict it. `
        + 'Fix: write it in step, onJoin, onLeave or the handler of a call; send a message to step if it has to wait.',
    )
  }

  /** Watches spawns and values of variable length. Both belong to the world, which lasts as long as the checks. */
  #watch(world: World): void {
    this.#world = world
    if (this.#predictsAll) for (const entity of this.#entities) this.#checkSecrets(entity, world.tick)
    const { heap } = world
    const spawn = world.spawn.bind(world)
    world.spawn = (entity, init, owner) => {
      this.checkInit(entity.schema.name, entity.schema.shape, init, world.tick)
      return spawn(entity, init, owner)
    }
    const put = heap.put.bind(heap)
    heap.put = (leaf, value, kept) => {
      const { clipped, refused } = heap.counts
      const handle = put(leaf, value, kept)
      if (heap.counts.clipped + heap.counts.refused > clipped + refused) this.#clamped(world.tick, '', 0, leaf, 'it')
      return handle
    }
  }

  /** A client cannot predict with what it does not receive, and it gets the inputs of all players. */
  #checkSecrets({ schema, interest }: Entity, tick: Tick): void {
    const { name, members } = schema
    for (const { path, audience } of members) {
      if (audience === 'all' || audience === 'local') continue
      this.#warn(
        'secret', name, 0, path, tick,
        `${path}: sent to some clients only, or to none, but with predict: 'all' every client predicts with it. `
          + `Fix: remove ${audience}(), or write predict: 'owned'.`,
      )
    }
    if (interest.kind === 'always') return
    this.#warn(
      'secret', name, 0, `${name}.interest`, tick,
      `${name}.interest: hides objects, but with predict: 'all' every client predicts with all objects. `
        + "Fix: remove the rule, or write predict: 'owned'.",
    )
  }

  #checkValues(world: World, { schema: { name, leaves } }: EntityStore, { id, $cells }: Handle): void {
    for (let at = 0; at < leaves.length; at++) {
      const leaf = leaves[at]
      if (leaf.kind === LEAF.heap) continue
      const value = $cells[leaf.cell]
      if (value !== value) this.#nan(world.tick, name, id, leaf)
      else if (!isWithin(leaf, value)) this.#clamped(world.tick, name, id, leaf, value)
    }
  }

  #checkNames(world: World, { schema }: EntityStore, handle: Handle): void {
    this.#checkPlace(world, schema.name, handle.id, handle)
    for (const part of handle.$parts ?? []) this.#checkPlace(world, schema.name, handle.id, part)
  }

  #checkPlace({ tick }: World, entity: string, id: ObjectId, place: Place): void {
    for (const name of Object.keys(place)) if (!HANDLE_NAMES.has(name)) this.#unknown(entity, id, name, tick)
  }

  #nan(tick: Tick, entity: string, id: ObjectId, { path, isFinite, kind }: Leaf): void {
    if (!isFinite && (kind === LEAF.float || kind === LEAF.double)) return
    this.#warn(
      'nan', entity, id, path, tick,
      `${path}: NaN (object ${id}, tick ${tick}), stored as 0. `
        + 'Fix: look for a division by zero, or for a value that is undefined.',
    )
  }

  #clamped(tick: Tick, entity: string, id: ObjectId, { path }: Leaf, value: unknown): void {
    const place = id === 0 ? `tick ${tick}` : `object ${id}, tick ${tick}`
    this.#warn(
      'clamped', entity, id, path, tick,
      `${path}: ${String(value)} does not fit into the field (${place}), and is cut to it. `
        + 'Fix: keep the value in its bounds, or declare a larger field.',
    )
  }

  #unknown(entity: string, id: ObjectId, name: string, tick: Tick): void {
    const place = id === 0 ? `tick ${tick}` : `object ${id}, tick ${tick}`
    this.#warn(
      'unknown-field', entity, id, `${entity}.${name}`, tick,
      `${entity}.${name}: there is no such field (${place}), and the value is ignored. `
        + 'Fix: correct the name, or declare the field.',
    )
  }

  #warn(kind: StepWarning['kind'], entity: string, id: ObjectId, field: string, tick: Tick, message: string): void {
    const key = `${kind} ${field}`
    // Unknown names are the only ones that the schema does not bound.
    if (this.#known.has(key) || this.#known.size >= WARNINGS_MAX) return
    this.#known.add(key)
    this.#report({ kind, entity, id, field, tick, message })
  }
}

const WARNINGS_MAX = 1000

/** Whether a number is within the bounds of its field, up to rounding. */
function isWithin(leaf: Leaf, value: number): boolean {
  const { kind, min, max, quant, width, isSigned } = leaf
  switch (kind) {
    case LEAF.bits:
      return value > min - 0.5 && value < min + max + 0.5
    case LEAF.fixed: {
      const half = quant.precision / 2
      return value > quant.min - half && value < quant.min + quant.stepsMax * quant.precision + half
    }
    case LEAF.word: {
      const span = width === 16 ? 0x1_0000 : 0x1_0000_0000
      const least = isSigned ? -span / 2 : 0
      return value > least - 0.5 && value < least + span - 0.5
    }
    case LEAF.varint:
      return value > -0x8000_0000 - 0.5 && value < 0x8000_0000 - 0.5
    default:
      return true
  }
}
