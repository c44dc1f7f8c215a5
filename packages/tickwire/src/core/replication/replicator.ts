/**
 * What all clients of one world share: the marks of what changed, and this tick's deltas.
 *
 * It reads rows from a dense Timeline, whoever samples that: the server, or a client that is the authority over some of
 * its objects. One Replicator a Timeline; one `SnapshotSource` a receiver. Where tables change while a match runs there is one more
 * for each version that somebody holds (`retrained`): they share the marks, and each has bits of its own.
 *
 *   delta   [ owner varint, token, if another ] [ 1 bit: the row before the baseline is used, if the coder asks and it did not rest ] row
 *   full    generation 16 | type | field set 2 | owner varint, token | 1 bit: birth [ age varint | ordinal varint ] | row
 *   token   of shared entities only: how many ticks before the next one its owner has been the writer, varint
 *
 * The birth of an object is told to its owner alone: it is how he finds what he spawned himself ahead of time.
 */

import { assert } from '../base/assert.ts'
import type { Tick } from '../base/time.ts'
import { bitsForCount } from '../bits/ranged-int.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import { PackedCoder } from '../codec/packed-coder.ts'
import { RowPair, type FieldSet, type RowCoder } from '../codec/row-coder.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { BaselineGrid } from './baseline-grid.ts'
import { ChangeMarks } from './change-marks.ts'
import { DELTA, DeltaCache, NO_BASE, NO_DELTA } from './delta-cache.ts'
import { FrameCache } from './frame-cache.ts'
import type { Tokens } from './authority/token.ts'
import type { Adder, Probe } from './probe.ts'
import { FIELD_SET } from './relevance.ts'
import { RowFinder } from './row-finder.ts'
import { StateGraph } from './state-graph.ts'
import { StripCache, type DeltaMaker } from './strip-cache.ts'

/** When and as which of its tick an object was born; a tick of -1 when nobody knows. */
export interface Births {
  birthTickAt(index: number): Tick
  birthOrdinalAt(index: number): number
}

export interface ReplicatorOptions {
  /** By type; the same kind on both sides. Default: packed coders. */
  readonly coders?: readonly RowCoder[]
  readonly births?: Births
  /** Since when owners write what is shared. Default: since ever. */
  readonly tokens?: Tokens
  /** Ticks from one telling to the next; the same on both sides. Rows before baselines are so much older. Default: 1. */
  readonly strideTicks?: number
}

/** In a key of the cache, beside the field set: the row before the baseline is used. */
const KEY_OLDER = 4

const SET_BITS = 2
const GENERATION_BITS = 16

/** Packed coders for all entities of a world, by type. */
export function packedCoders(world: World): readonly RowCoder[] {
  return world.stores.map(({ schema }) => new PackedCoder(schema))
}

/** Bits of an entity's number. */
export function typeBits(world: World): number {
  return bitsForCount(world.stores.length)
}

export class Replicator implements DeltaMaker {
  readonly timeline: Timeline
  readonly marks: ChangeMarks
  readonly cache: DeltaCache = new DeltaCache()
  readonly strips: StripCache
  readonly frames: FrameCache = new FrameCache()
  readonly states: StateGraph = new StateGraph()
  readonly grid: BaselineGrid
  /** By type. */
  readonly coders: readonly RowCoder[]
  readonly strideTicks: number
  #probe: Probe | undefined = undefined
  /** The probe, if it only adds up. */
  #adder: Adder | undefined = undefined
  readonly #options: ReplicatorOptions
  /** All that share the marks, this one too. */
  readonly #kin: Replicator[]
  readonly #world: World
  readonly #births: Births | undefined
  readonly #tokens: Tokens | undefined
  readonly #typeBits: number
  /** Rows of the ticks that were last asked for: deltas of one strip are from the same. */
  readonly #baseRows: RowFinder
  readonly #olderRows: RowFinder
  /** What is prepared: the rows, of which object, for which field set, and whether the owner is another. */
  readonly #pair = new RowPair()
  #index = 0
  #set: FieldSet = 0
  #isOwned = false

  /** `like`: whose marks it shares. */
  constructor(world: World, timeline: Timeline, options: ReplicatorOptions = {}, like?: Replicator) {
    this.timeline = timeline
    this.#options = options
    this.#kin = like === undefined ? [] : like.#kin
    this.#kin.push(this)
    this.marks = like === undefined ? new ChangeMarks(timeline, world.stores.map(({ schema }) => schema)) : like.marks
    this.strideTicks = options.strideTicks ?? 1
    this.grid = like === undefined ? new BaselineGrid(this.strideTicks) : like.grid
    this.strips = new StripCache(this.marks, this.cache, this, this.strideTicks)
    this.coders = options.coders ?? packedCoders(world)
    this.#baseRows = new RowFinder(this.marks, timeline)
    this.#olderRows = new RowFinder(this.marks, timeline)
    this.#world = world
    this.#births = options.births
    this.#tokens = options.tokens
    this.#typeBits = typeBits(world)
    this.#setProbe(like?.probe)
    this.#clear()
  }

  /** Told of every entry that is sent, to anybody. */
  get probe(): Probe | undefined {
    return this.#probe
  }

  set probe(probe: Probe | undefined) {
    this.settle()
    for (const each of this.#kin) each.#setProbe(probe)
  }

  /** Whether it must be told of each entry as it is written. */
  get isProbedOneByOne(): boolean {
    return this.#probe !== undefined && this.#adder === undefined
  }

  /** Tells the probe what it was not told yet: copies are counted, and told when their tick is over. */
  settle(): void {
    const adder = this.#adder
    if (adder === undefined) return
    for (let at = 0; at < this.#kin.length; at++) {
      this.#kin[at].strips.tell(adder)
      this.#kin[at].frames.tally.tell(adder, this.marks.types)
    }
  }

  /** One that speaks by other tables, over the same marks: what one of them told is a baseline for the other. */
  retrained(coders: readonly RowCoder[]): Replicator {
    return new Replicator(this.#world, this.timeline, { ...this.#options, coders }, this)
  }

  /** Nobody is told by it any more. */
  retire(): void {
    this.settle()
    const at = this.#kin.indexOf(this)
    if (at >= 0) this.#kin.splice(at, 1)
  }

  /** Looks at what the Timeline has sampled since. Whoever comes first in a tick pays for all. @hot */
  update(): void {
    const { marks, timeline } = this
    if (marks.tick === timeline.newest) return
    // Types are those of the tick that was told.
    this.settle()
    marks.update()
    let deltas = 0
    for (let at = 0; at < this.#kin.length; at++) {
      deltas += this.#kin[at].cache.count
      this.#kin[at].#clear()
    }
    this.grid.observe(deltas)
  }

  #setProbe(probe: Probe | undefined): void {
    this.#probe = probe
    this.#adder = probe?.onEntries === undefined ? undefined : probe as Probe & Adder
    this.strips.adder = this.#adder
    // Nobody noted what is in these.
    this.frames.clear()
  }

  #clear(): void {
    const { length } = this.marks.ids
    this.#baseRows.clear()
    this.#olderRows.clear()
    this.cache.clear(length)
    this.strips.clear(length)
    this.frames.clear()
    this.states.clear()
  }

  /**
   * The delta for who holds an object's row at `base`, and, if `isPaired`, the one a stride before it; `NO_DELTA` when nobody knows that
   * row any more. `NO_BASE`: for who holds nothing. @hot
   */
  deltaFor(index: number, set: number, base: Tick, isPaired: boolean): number {
    const { cache } = this
    const key = base === NO_BASE ? set : this.keyFor(index, set, base, isPaired)
    const delta = key === NO_DELTA ? NO_DELTA : cache.find(index, base, key)
    if (delta !== NO_DELTA || key === NO_DELTA) return delta
    if (base === NO_BASE) return this.#encodeFull(index, key)
    const flags = this.prepare(index, base, key)
    return cache.keep(index, base, key, this.write(cache.begin()) ? flags : flags & DELTA.rested | DELTA.same)
  }

  /** @hot */
  keyFor(index: number, set: number, base: Tick, isPaired: boolean): number {
    const { marks, timeline } = this
    const age = marks.tick - base
    // Who holds a baseline for longer than the window was told nothing since: any entry after it would have been of a change.
    if (age >= timeline.windowTicks && marks.rowAtOf(index, set, base) < 0) return NO_DELTA
    if (!isPaired || age + this.strideTicks >= timeline.windowTicks || this.coders[marks.types[index]].usesOlder !== true) return set
    // Whoever rested after it does not go on as before.
    return marks.hasChanged(index, set, base, base + this.strideTicks) ? set | KEY_OLDER : set
  }

  /** @hot */
  prepare(index: number, base: Tick, key: number): number {
    const { marks, timeline } = this
    const set = fieldSet(key)
    const type = marks.types[index]
    const pool = timeline.pools[type]
    const { rows, laneCount } = pool
    const baseRow = this.#baseRows.find(index, set, base)
    assert(baseRow >= 0, 'a delta has a baseline that is still known')
    const baseAt = baseRow * laneCount
    // What came back to an owner since is his anew.
    this.#isOwned = pool.owners[baseRow] !== marks.owners[index] || this.#tokenTick(index, type) > base + 1
    const isRested = marks.isRested(index, set, base)
    const flags = (isRested ? DELTA.rested : 0) | (this.#isOwned ? DELTA.owned : 0)
    const pair = this.#fill(index, type)
    this.#index = index
    this.#set = set
    pair.baseRows = rows
    pair.baseAt = baseAt
    pair.olderRows = rows
    pair.age = marks.tick - base
    if (isRested && pair.age > 1) {
      // Both know that the baseline's row held in the last two ticks: no motion is to go on over a rest.
      pair.age = 1
      pair.olderAt = baseAt
      pair.olderTicks = 1
      return flags
    }
    pair.olderTicks = this.strideTicks
    pair.olderAt = -1
    if ((key & KEY_OLDER) === 0) return flags
    const olderRow = this.#olderRows.find(index, set, base - this.strideTicks)
    if (olderRow < 0) return flags
    pair.olderAt = olderRow * laneCount
    return flags | DELTA.older
  }

  /** @hot */
  write(out: BitWriter): boolean {
    const type = this.marks.types[this.#index]
    if (this.#isOwned) this.#writeOwner(out, this.#index, type)
    return this.coders[type].write(out, this.#set, this.#pair, this.#world.heap) || this.#isOwned
  }

  #encodeFull(index: number, key: number): number {
    const { marks, cache } = this
    const set = fieldSet(key)
    const type = marks.types[index]
    const out = cache.begin()
    out.writeBits(marks.ids[index] & 0xffff, GENERATION_BITS)
    out.writeBits(type, this.#typeBits)
    out.writeBits(set, SET_BITS)
    this.#writeOwner(out, index, type)
    const births = set === FIELD_SET.owner ? this.#births : undefined
    const birthTick = births === undefined ? -1 : births.birthTickAt(index)
    out.writeBits(birthTick < 0 ? 0 : 1, 1)
    if (births !== undefined && birthTick >= 0) {
      writeVarint(out, marks.tick - birthTick)
      writeVarint(out, births.birthOrdinalAt(index))
    }
    const pair = this.#fill(index, type)
    pair.baseRows = this.#world.stores[type].schema.initialRow
    pair.baseAt = 0
    pair.age = 0
    pair.olderAt = -1
    this.coders[type].write(out, set, pair, this.#world.heap)
    return cache.keep(index, NO_BASE, key, 0)
  }

  #writeOwner(out: BitWriter, index: number, type: number): void {
    const { marks } = this
    writeVarint(out, marks.owners[index])
    if (this.#world.stores[type].isShared) writeVarint(out, marks.tick + 1 - this.#tokenTick(index, type))
  }

  /** The first tick that the owner of a shared object writes, as of the tick that is told: transfers since are of another. */
  #tokenTick(index: number, type: number): Tick {
    const tokens = this.#tokens
    if (tokens === undefined || !this.#world.stores[type].isShared) return 0
    const { ids, tick } = this.marks
    return tokens.authorityTickAfter === undefined ? tokens.authorityTickAt(index) : tokens.authorityTickAfter(ids[index], tick)
  }

  #fill(index: number, type: number): RowPair {
    const pair = this.#pair
    pair.rows = this.timeline.pools[type].rows
    pair.at = this.marks.rowAts[index]
    return pair
  }
}

function fieldSet(key: number): FieldSet {
  const set = key & 3
  return set === 0 ? 0 : set === 1 ? 1 : 2
}
