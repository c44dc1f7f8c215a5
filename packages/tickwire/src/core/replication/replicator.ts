/**
 * What all clients of one world share: the marks of what changed, and this tick's deltas.
 *
 * It reads rows from a dense Timeline: the server's, or that of a client that is the authority over some of its
 * objects. There is one Replicator for each Timeline and one `SnapshotSource` for each client. Where tables change
 * while a match runs, there is one more Replicator for each version that a client has (`retrained`): they share the
 * marks, and each has its own bits.
 *
 *   delta   [ owner varint, claim, if the owner changed ] [ 1 bit: the row before the baseline is used ] row
 *   full    generation 16 | type | field set 2 | owner varint, claim
 *           | 1 bit: birth [ age varint | ordinal varint ] | row
 *   claim   of shared entities only: ticks from the first tick that the owner writes to the next tick, varint
 *
 * The bit about the row before the baseline is present only if the coder uses that row and the object did not rest. The
 * birth of an object is sent only to its owner, which uses it to find the object that it spawned ahead of time.
 */

import type { Tick } from '../base/time.ts'
import { bitsForCount } from '../bits/ranged-int.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import { PackedCoder } from '../codec/packed-coder.ts'
import type { RowCoder } from '../codec/row-coder.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import type { Claims } from './authority/claim.ts'
import { BlockDeltas, type DeltaMaker } from './bulk/block-deltas.ts'
import { createBulkSchedule, type BulkSchedule } from './bulk/bulk-schedule.ts'
import { ChangeMarks } from './changes/change-marks.ts'
import { DELTA, DeltaCache, NO_BASE, NO_DELTA } from './encode/delta-cache.ts'
import { DeltaRows, KEY_OLDER } from './encode/delta-rows.ts'
import type { Adder, Probe } from './probe.ts'
import { FIELD_SET } from './relevance.ts'

/** The tick of an object's birth and its ordinal within that tick; a tick of -1 when it is not known. */
export interface Births {
  birthTickAt(index: number): Tick
  birthOrdinalAt(index: number): number
}

export interface ReplicatorOptions {
  /** Indexed by type; the same kind on both sides. Default: packed coders. */
  readonly coders?: readonly RowCoder[]
  readonly births?: Births
  /** The first ticks that owners of shared objects write. Default: the first tick of all. */
  readonly claims?: Claims
  /**
   * Ticks from one snapshot to the next; the same on both sides. The row before a baseline is this much older. Default:
   * 1.
   */
  readonly strideTicks?: number
}

const SET_BITS = 2
const GENERATION_BITS = 16

/** Packed coders for all entities of a world, indexed by type. */
export function packedCoders(world: World): readonly RowCoder[] {
  return world.stores.map(({ schema }) => new PackedCoder(schema))
}

/** The number of bits of an entity type. */
export function typeBits(world: World): number {
  return bitsForCount(world.stores.length)
}

export class Replicator implements DeltaMaker {
  readonly timeline: Timeline
  readonly marks: ChangeMarks
  readonly cache: DeltaCache = new DeltaCache()
  readonly blockDeltas: BlockDeltas
  /** When whole blocks are sent in bulk; shared with the replicators of other tables. */
  readonly schedule: BulkSchedule
  readonly rows: DeltaRows
  /** Indexed by type. */
  readonly coders: readonly RowCoder[]
  /** Ticks from one snapshot to the next. */
  readonly strideTicks: number
  #probe: Probe | undefined = undefined
  /** The probe, if it accepts totals. */
  #adder: Adder | undefined = undefined
  readonly #options: ReplicatorOptions
  /** All replicators that share the marks, including this one. */
  readonly #kin: Replicator[]
  readonly #world: World
  readonly #births: Births | undefined
  readonly #typeBits: number

  /** `like`: the replicator whose marks it shares. */
  constructor(world: World, timeline: Timeline, options: ReplicatorOptions = {}, like?: Replicator) {
    this.timeline = timeline
    this.#options = options
    this.#kin = like === undefined ? [] : like.#kin
    this.#kin.push(this)
    this.marks = like === undefined ? new ChangeMarks(timeline, world.stores.map(({ schema }) => schema)) : like.marks
    this.strideTicks = options.strideTicks ?? 1
    this.schedule = like === undefined ? createBulkSchedule(this.strideTicks) : like.schedule
    this.coders = options.coders ?? packedCoders(world)
    this.rows = new DeltaRows(world, timeline, this.marks, this.coders, options.claims, this.strideTicks)
    this.blockDeltas = new BlockDeltas(this.marks, this.cache, this, this.schedule)
    this.#world = world
    this.#births = options.births
    this.#typeBits = typeBits(world)
    this.#setProbe(like?.probe)
    this.#clear()
  }

  /** Notified of every entry that is sent, to any client. */
  get probe(): Probe | undefined {
    return this.#probe
  }

  set probe(probe: Probe | undefined) {
    this.settle()
    for (const each of this.#kin) each.#setProbe(probe)
  }

  /** Whether the probe must be notified of each entry as it is written: then nothing is sent in bulk. */
  get isProbedOneByOne(): boolean {
    return this.#probe !== undefined && this.#adder === undefined
  }

  /** Reports the entries that were copied in bulk: copies are counted, and reported when their tick is over. */
  settle(): void {
    if (this.#adder === undefined) return
    for (const each of this.#kin) each.blockDeltas.report(this.#adder)
  }

  /** A replicator with other tables, over the same marks: the rows that either sends are baselines for both. */
  retrained(coders: readonly RowCoder[]): Replicator {
    return new Replicator(this.#world, this.timeline, { ...this.#options, coders }, this)
  }

  /** No client uses it any more. */
  retire(): void {
    this.settle()
    const at = this.#kin.indexOf(this)
    if (at >= 0) this.#kin.splice(at, 1)
  }

  /** Processes the ticks that the Timeline has sampled since. The first client in a tick does it for all. @hot */
  update(): void {
    const { marks, timeline } = this
    if (marks.tick === timeline.newest) return
    // Entity types are those of the tick that was sent.
    this.settle()
    marks.update()
    this.schedule.observe()
    for (let at = 0; at < this.#kin.length; at++) this.#kin[at].#clear()
  }

  #setProbe(probe: Probe | undefined): void {
    this.#probe = probe
    this.#adder = probe?.onEntries === undefined ? undefined : probe as Probe & Adder
  }

  #clear(): void {
    this.rows.clear()
    this.cache.clear(this.marks.ids.length)
    this.blockDeltas.clear()
  }

  /**
   * The delta for clients that hold an object's row of `base` and, if `isPaired`, the row of one stride before it.
   * `NO_DELTA` when that row is no longer in the Timeline. `NO_BASE`: for clients that hold nothing. @hot
   */
  deltaFor(index: number, set: number, base: Tick, isPaired: boolean): number {
    const asked = isPaired ? set | KEY_OLDER : set
    const delta = this.cache.find(index, base, asked)
    return delta === NO_DELTA ? this.#make(index, set, base, asked) : delta
  }

  /** The delta for a key that the cache does not have. It may have it under the key without the row before. */
  #make(index: number, set: number, base: Tick, asked: number): number {
    const { cache } = this
    if (base === NO_BASE) return this.#encodeFull(index, set)
    const key = this.rows.keyFor(index, set, base, asked !== set)
    if (key === NO_DELTA) return NO_DELTA
    const known = key === asked ? NO_DELTA : cache.find(index, base, key)
    const delta = known === NO_DELTA ? this.#encode(index, base, key) : known
    return key === asked ? delta : cache.keepAlso(index, asked, delta)
  }

  #encode(index: number, base: Tick, key: number): number {
    const { cache } = this
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
    const bornAt = births === undefined ? -1 : births.birthTickAt(index)
    // The world may be ahead of the tick that is sent. A later birth is that of another object at the same index.
    const birthTick = bornAt > marks.tick ? -1 : bornAt
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
    if (this.#world.stores[type].isShared) writeVarint(out, marks.tick + 1 - this.rows.claimTick(index, type))
  }
}
