/**
 * The rows of the authority, tick by tick, recorded without a Timeline: rows are copied out of the world after every
 * step, rates are applied by the rule itself, values are compared by content.
 *
 * It also records which peer had the view of which other peer, and the teams. `crowd-sight.ts` answers from it.
 */

import type { ObjectId, PeerId, Tick } from '../../packages/tickwire/src/core/base/time.ts'
import type { Leaf } from '../../packages/tickwire/src/core/schema/leaf.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import type { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { NO_TYPE } from '../../packages/tickwire/src/core/world/object-table.ts'
import type { World } from '../../packages/tickwire/src/core/world/world.ts'
import type { SightRule } from './crowd-sight.ts'

/** An object in a tick. */
export interface TrueRow {
  readonly id: ObjectId
  readonly type: number
  readonly owner: PeerId
  /** As it may be sent; lanes of values are numbers of their contents. */
  readonly row: Int32Array
  /** The row of the world, without rates applied. */
  readonly raw: Int32Array
  /** The row as stored in the world: lanes of values are handles. */
  readonly source: Int32Array
  /** NaN when it has no place. */
  readonly x: number
  readonly y: number
  /** The first tick with this row. */
  readonly since: Tick
}

/** The state of a tick, for all peers. */
export interface TrueTick {
  /** By object index. */
  readonly rows: readonly (TrueRow | undefined)[]
  /** By peer: the peer whose view it has, where that is not its own; and teams, where they are not 0. */
  eyes: CrowdEyes
  /** Positions of the objects of an owner: x, y, x, y. */
  readonly places: ReadonlyMap<PeerId, readonly number[]>
}

/** The views and teams of peers. */
export interface CrowdEyes {
  readonly viewers: ReadonlyMap<PeerId, PeerId>
  readonly teams: ReadonlyMap<PeerId, number>
}

const NOBODY_LOOKS: CrowdEyes = { viewers: new Map(), teams: new Map() }

/** What is sent of an entity at a lower rate: its lanes, and the interval in ticks. */
interface Span {
  readonly lane: number
  readonly end: number
  readonly period: number
}

export class CrowdTruth {
  /** The newest recorded tick. */
  newest: Tick = -1
  /** Whether a peer with the view of another peer also receives the fields for that peer and its team only. */
  readonly isPrivy: boolean
  /** The peers that may know objects of an entity, by its place in the game. */
  readonly rules: readonly SightRule[]
  readonly #world: World
  readonly #ticks: (TrueTick | undefined)[] = []
  readonly #contents = new Map<string, number>()
  /** Contents of values. A heap reuses its handles, but a value is immutable. */
  readonly #numbers = new WeakMap<object, number>()
  readonly #spans: readonly (readonly Span[])[]
  readonly #placeCells: readonly number[]
  #looked: Tick = -1

  constructor(world: World, tickRate: number, isPrivy: boolean, rules: readonly SightRule[]) {
    this.#world = world
    this.isPrivy = isPrivy
    this.rules = rules
    this.#spans = world.stores.map(({ schema }) => spansOf(schema, tickRate))
    this.#placeCells = world.stores.map(({ schema }) => {
      const place = schema.members.find(({ field }) => field.options.role === 'position')
      return place === undefined ? -1 : schema.leaves[place.firstLeaf]!.cell
    })
  }

  at(tick: Tick): TrueTick | undefined {
    return this.#ticks[tick]
  }

  /** The object that lived at an index in a tick. */
  row(tick: Tick, index: number): TrueRow | undefined {
    return this.#ticks[tick]?.rows[index]
  }

  /** The number of a content; a new number for a new content. */
  contentOf(leaf: Leaf, handle: number, heap: ValueHeap): number {
    const value = heap.get(leaf, handle)
    const isObject = typeof value === 'object' && value !== null
    const known = isObject ? this.#numbers.get(value) : undefined
    if (known !== undefined) return known
    const key =
      typeof value === 'string' ? value : value instanceof Uint8Array ? value.join() : JSON.stringify(value, plainly)
    let number = this.#contents.get(key)
    if (number === undefined) this.#contents.set(key, number = this.#contents.size)
    if (isObject) this.#numbers.set(value, number)
    return number
  }

  /** Records the tick that was just stepped. */
  note(): void {
    const { objects, tick } = this.#world
    const before = this.#ticks[tick - 1]
    const rows: (TrueRow | undefined)[] = []
    const places = new Map<PeerId, number[]>()
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      const row = type === NO_TYPE ? undefined : this.#rowOf(tick, index, type, before?.rows[index])
      rows.push(row)
      if (row === undefined || row.owner === 0 || Number.isNaN(row.x)) continue
      const own = places.get(row.owner)
      if (own === undefined) places.set(row.owner, [row.x, row.y])
      else own.push(row.x, row.y)
    }
    this.#ticks[tick] = { rows, eyes: NOBODY_LOOKS, places }
    this.newest = tick
  }

  /**
   * Records the view of each peer, for the ticks that were stepped since the last call, and for peers that joined
   * since, because they are sent rows at once.
   */
  look(viewers: ReadonlyMap<PeerId, PeerId>, teams: ReadonlyMap<PeerId, number>): void {
    const before = this.#ticks[this.newest]?.eyes
    const isNew = this.#looked < this.newest
    const eyes = isNew || before === undefined ? { viewers: new Map(viewers), teams: new Map(teams) } : {
      viewers: new Map([...viewers, ...before.viewers]), teams: new Map([...teams, ...before.teams]),
    }
    for (let tick = isNew ? this.#looked + 1 : this.newest; tick <= this.newest; tick++) {
      const moment = this.#ticks[tick]
      if (moment !== undefined) moment.eyes = eyes
    }
    this.#looked = this.newest
  }

  #rowOf(tick: Tick, index: number, type: number, known: TrueRow | undefined): TrueRow {
    const { objects, stores, heap } = this.#world
    const { schema, rows, cells } = stores[type]!
    const id = objects.idAt(index)
    const owner = objects.ownerAt(index)
    const slot = objects.slotAt(index)
    const before = known?.id === id && known.type === type ? known : undefined
    const from = slot * schema.laneCount
    // A handle that an object keeps from tick to tick stands for the same value.
    const isStill = before !== undefined && before.owner === owner && areLanes(before.source, rows, from)
    if (isStill && before.row === before.raw) return before
    const source = isStill ? before.source : rows.slice(from, from + schema.laneCount)
    const raw = isStill ? before.raw : this.#withContents(schema, source, heap)
    const spans = this.#spans[type]!
    let row = raw
    if (before !== undefined && spans.length > 0) {
      row = raw.slice()
      for (const { lane, end, period } of spans)
        if ((tick + index) % period !== 0) row.set(before.row.subarray(lane, end), lane)
    }
    const cell = this.#placeCells[type]!
    const at = slot * schema.cellCount + cell
    const [x, y] = cell < 0 ? [NaN, NaN] : [cells[at]!, cells[at + 1]!]
    const isSame =
      before !== undefined && before.owner === owner && areEqual(before.row, row) && areEqual(before.raw, raw)
    return isSame ? before : { id, type, owner, row, raw, source, x, y, since: tick }
  }

  #withContents({ heapLeaves }: Schema, source: Int32Array, heap: ValueHeap): Int32Array {
    const raw = source.slice()
    for (const leaf of heapLeaves) raw[leaf.lane] = this.contentOf(leaf, raw[leaf.lane]!, heap)
    return raw
  }
}

function spansOf({ members }: Schema, tickRate: number): readonly Span[] {
  return members.flatMap(({ field, lane, laneCount }) => {
    const { rateHz } = field.options
    const period = rateHz === undefined ? 1 : Math.max(1, Math.round(tickRate / rateHz))
    return period === 1 ? [] : [{ lane, end: lane + laneCount, period }]
  })
}

/** Numbers that JSON cannot write. */
function plainly(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  return typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))
    ? `${Object.is(value, -0) ? '-' : ''}${value}`
    : value
}

function areLanes(row: Int32Array, rows: Int32Array, at: number): boolean {
  for (let lane = 0; lane < row.length; lane++) if (row[lane] !== rows[at + lane]) return false
  return true
}

function areEqual(a: Int32Array, b: Int32Array): boolean {
  for (let lane = 0; lane < a.length; lane++) if (a[lane] !== b[lane]) return false
  return true
}
