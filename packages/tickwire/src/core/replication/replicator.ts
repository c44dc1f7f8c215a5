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

import type { Tick } from '../base/time.ts'
import { bitsForCount } from '../bits/ranged-int.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import { PackedCoder } from '../codec/packed-coder.ts'
import type { RowCoder } from '../codec/row-coder.ts'
import { needsOlder } from '../codec/row-plan.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { BaselineGrid } from './baseline-grid.ts'
import { ChangeMarks } from './change-marks.ts'
import { DELTA, DeltaCache, NO_BASE, NO_DELTA } from './delta-cache.ts'
import { DeltaRows } from './delta-rows.ts'
import { FrameCache } from './frame-cache.ts'
import type { Tokens } from './authority/token.ts'
import type { Adder, Probe } from './probe.ts'
import { FIELD_SET } from './relevance.ts'
import { SheetCache } from './sheet-cache.ts'
import { SheetFrames } from './sheet-frames.ts'
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
  readonly sheets: SheetCache
  readonly sheetFrames: SheetFrames = new SheetFrames()
  readonly frames: FrameCache = new FrameCache()
  readonly states: StateGraph = new StateGraph()
  readonly grid: BaselineGrid
  readonly rows: DeltaRows
  /** By type. */
  readonly coders: readonly RowCoder[]
  readonly strideTicks: number
  /** Whether the row before a baseline is worth waiting for also where it is dear to wait (sheet-blocks.ts). */
  readonly needsOlder: boolean
  #probe: Probe | undefined = undefined
  /** The probe, if it only adds up. */
  #adder: Adder | undefined = undefined
  readonly #options: ReplicatorOptions
  /** All that share the marks, this one too. */
  readonly #kin: Replicator[]
  readonly #world: World
  readonly #births: Births | undefined
  readonly #typeBits: number

  /** `like`: whose marks it shares. */
  constructor(world: World, timeline: Timeline, options: ReplicatorOptions = {}, like?: Replicator) {
    this.timeline = timeline
    this.#options = options
    this.#kin = like === undefined ? [] : like.#kin
    this.#kin.push(this)
    this.marks = like === undefined ? new ChangeMarks(timeline, world.stores.map(({ schema }) => schema)) : like.marks
    this.strideTicks = options.strideTicks ?? 1
    this.grid = like === undefined ? new BaselineGrid(this.strideTicks) : like.grid
    this.coders = options.coders ?? packedCoders(world)
    this.needsOlder = this.coders.some(({ model }) => model !== undefined && needsOlder(model.plan))
    this.rows = new DeltaRows(world, timeline, this.marks, this.coders, options.tokens, this.strideTicks)
    this.strips = new StripCache(this.marks, this.cache, this, this.strideTicks)
    this.sheets = new SheetCache(this.marks, this.cache, this, this.grid, this.needsOlder)
    this.#world = world
    this.#births = options.births
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
      this.#kin[at].sheetFrames.tell(this.#kin[at].sheets)
      this.#kin[at].sheets.tell(adder)
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
    for (let at = 0; at < this.#kin.length; at++) deltas += this.#kin[at].cache.count + this.#kin[at].sheets.deltaCount
    this.grid.observe(deltas)
    for (let at = 0; at < this.#kin.length; at++) this.#kin[at].#clear()
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
    this.rows.clear()
    this.cache.clear(length)
    this.strips.clear(length)
    this.sheets.clear()
    this.sheetFrames.clear()
    this.frames.clear()
    this.states.clear()
  }

  /**
   * The delta for who holds an object's row at `base`, and, if `isPaired`, the one a stride before it; `NO_DELTA` when nobody knows that
   * row any more. `NO_BASE`: for who holds nothing. @hot
   */
  deltaFor(index: number, set: number, base: Tick, isPaired: boolean): number {
    const { cache } = this
    const key = base === NO_BASE ? set : this.rows.keyFor(index, set, base, isPaired)
    const delta = key === NO_DELTA ? NO_DELTA : cache.find(index, base, key)
    if (delta !== NO_DELTA || key === NO_DELTA) return delta
    if (base === NO_BASE) return this.#encodeFull(index, key)
    const flags = this.rows.prepare(index, base, key)
    return cache.keep(index, base, key, this.write(cache.begin()) ? flags : flags & DELTA.rested | DELTA.same)
  }

  /** @hot */
  write(out: BitWriter): boolean {
    const { index, set, pair, isOwned } = this.rows
    const type = this.marks.types[index]
    if (isOwned) this.#writeOwner(out, index, type)
    return this.coders[type].write(out, set, pair, this.#world.heap) || isOwned
  }

  #encodeFull(index: number, key: number): number {
    const { marks, cache, rows } = this
    rows.prepareFull(index, key)
    const { set } = rows
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
    this.coders[type].write(out, set, rows.pair, this.#world.heap)
    return cache.keep(index, NO_BASE, key, 0)
  }

  #writeOwner(out: BitWriter, index: number, type: number): void {
    const { marks } = this
    writeVarint(out, marks.owners[index])
    if (this.#world.stores[type].isShared) writeVarint(out, marks.tick + 1 - this.rows.tokenTick(index, type))
  }
}
