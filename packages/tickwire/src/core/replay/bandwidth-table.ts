/**
 * What a recorded match costs on the wire, per entity and per field, for one client that sees everything.
 *
 * The recording is played, and every tick with a snapshot is encoded as snapshots are: an object that changed is sent
 * as a delta against the row that the client has acknowledged by then, `ageTicks` before. A younger object is sent
 * against the initial row. Loss, interest and budgets are not modelled: `BitAccount` counts a live match with them.
 *
 * Trials answer "what if": the same match, with one field declared differently.
 */

import { ConfigError } from '../base/assert.ts'
import { TIMELINE_TICKS_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import { PackedCoder } from '../codec/packed-coder.ts'
import { RowPair, type FieldSet, type MakeRowCoder } from '../codec/row-coder.ts'
import { FieldMeter } from '../bandwidth/bit-account-fields.ts'
import { diffMask } from '../schema/mask.ts'
import { Timeline } from '../world/timeline.ts'
import { kindName } from '../schema/explain.ts'
import { TRIAL_TICKS, trialsFor, trialTicks, type Trial } from './bandwidth-trials.ts'
import { FieldRanges } from './field-ranges.ts'
import { Playback, type RecordedGame } from './playback.ts'
import type { ChunkList } from './recording.ts'
import { isSnapshotTick, strideOf, SnapshotRow } from './snapshot-row.ts'

/** What `measureBandwidth` assumes about the client. */
export interface BandwidthOptions {
  /**
   * The age of the row that the client has acknowledged: its round trip, in ticks. With snapshots every few ticks it is
   * rounded up to a tick with a snapshot.
   */
  readonly ageTicks: number
  /** The field set: 0 everyone's, 1 the team's, 2 the owner's. Default: 0. */
  readonly set?: FieldSet
  /** The coder of deltas. Default: the plain codec. */
  readonly makeCoder?: MakeRowCoder
  /** Other codecs, for comparison. Default: none. */
  readonly others?: readonly MakeRowCoder[]
  /** Whether to try alternative declarations. Default: false. */
  readonly hasAdvice?: boolean
}

export interface FieldCost {
  readonly path: string
  /** The function that declares such a field: `fixed`, `vec3`. */
  readonly kind: string
  readonly changes: number
  readonly bits: number
  /** Bits with each of the other codecs. */
  readonly otherBits: readonly number[]
}

export interface EntityCost {
  readonly name: string
  readonly entries: number
  readonly births: number
  readonly bits: number
  readonly otherBits: readonly number[]
  /** Masks, and other bits that belong to no field. */
  readonly sharedBits: number
  readonly otherSharedBits: readonly number[]
  readonly fields: readonly FieldCost[]
}

/** One alternative declaration, and what it would have saved. */
export interface Advice {
  readonly path: string
  readonly say: string
  readonly savedBits: number
}

/** The cost of a recorded match for one client that sees everything. */
export interface BandwidthTable {
  /** Ticks that were measured. */
  readonly ticks: number
  /** Ticks per second. */
  readonly tickRate: number
  /** Ticks from one snapshot to the next, and the number of snapshots. */
  readonly snapshotTicks: number
  /** The number of snapshots. */
  readonly snapshots: number
  /** The age of baselines. */
  readonly ageTicks: number
  /** Bits of all entries. */
  readonly bits: number
  /** The cost of each entity. */
  readonly entities: readonly EntityCost[]
  /** Cheaper declarations. Empty unless `hasAdvice`. */
  readonly advice: readonly Advice[]
}

/** The largest window of a Timeline, less the ticks that trials look back and the row before the baseline. */
const AGE_TICKS_MAX: number = TIMELINE_TICKS_MAX - TRIAL_TICKS - 2

const makePacked: MakeRowCoder = (schema) => new PackedCoder(schema)

/** Measures a recording. */
export function measureBandwidth(list: ChunkList, game: RecordedGame, options: BandwidthOptions): BandwidthTable {
  const { set = 0, hasAdvice = false } = options
  const snapshotTicks = strideOf(game)
  const ageTicks = ageOf(options.ageTicks, snapshotTicks)
  const ranges = new FieldRanges(game.entities)
  // Trials need the range of each field: that takes a playback of its own.
  if (hasAdvice) {
    const first = new Playback(list, game)
    playAll(first, () => ranges.add(first.world))
  }
  const playback = new Playback(list, game)
  const windowTicks = Math.min(TIMELINE_TICKS_MAX, ageTicks + snapshotTicks + trialTicks(snapshotTicks) + 1)
  let timeline = new Timeline(playback.world, windowTicks)
  const { tickRate } = list.head
  const meters = playback.world.stores.map(
    (store, type) =>
      new EntityMeter(
        new SnapshotRow(store, snapshotTicks, set),
        ageTicks,
        options,
        tickRate,
        hasAdvice ? trialsFor(ranges, type, { tickRate, snapshotTicks }, set) : [],
      ),
  )
  let snapshots = 0
  const ticks = playAll(playback, (isGap) => {
    if (isGap) {
      playback.world.dropValuesOf(timeline)
      timeline = new Timeline(playback.world, windowTicks)
    }
    timeline.sample()
    if (!isSnapshotTick(playback.tick, snapshotTicks)) return
    snapshots++
    for (const meter of meters) meter.addTick(timeline, playback.tick)
  })
  const entities = meters.map((meter) => meter.cost())
  const bits = entities.reduce((sum, entity) => sum + entity.bits, 0)
  const advice = meters
    .flatMap((meter) => meter.advice())
    .filter(({ savedBits }) => savedBits > 0)
    .sort((a, b) => b.savedBits - a.savedBits)
  return {
    ticks,
    tickRate,
    snapshotTicks,
    snapshots,
    ageTicks,
    bits,
    entities: entities.sort((a, b) => b.bits - a.bits),
    advice,
  }
}

/** The age of baselines on such a path: a baseline is always a tick with a snapshot. */
function ageOf(pathTicks: number, snapshotTicks: number): number {
  const most = AGE_TICKS_MAX - (AGE_TICKS_MAX % snapshotTicks)
  if (!Number.isInteger(pathTicks) || pathTicks < 1 || pathTicks > most)
    throw new ConfigError(
      'ageTicks',
      `invalid age (expected 1 to ${most} ticks, got ${pathTicks})`,
      `give 1 to ${most}.`,
    )
  return Math.ceil(pathTicks / snapshotTicks) * snapshotTicks
}

/** Plays all that can be played. `onTick` receives whether ticks are missing before this one. */
export function playAll(playback: Playback, onTick: (isGap: boolean) => void): number {
  let count = 0
  for (let at = playback.first; at !== -1; at = playback.keyAfter(at)) {
    let isGap = count > 0
    for (let played = playback.seek(at); played === 'ok'; played = playback.step()) {
      at = playback.tick
      count++
      onTick(isGap)
      isGap = false
    }
  }
  return count
}

/** Measures the objects of one entity. */
class EntityMeter {
  readonly #row: SnapshotRow
  readonly #age: number
  readonly #meter: FieldMeter
  readonly #others: readonly FieldMeter[]
  readonly #trials: readonly { readonly trial: Trial; readonly meter: FieldMeter; readonly pair: RowPair }[]
  #births = 0

  constructor(
    row: SnapshotRow,
    ageTicks: number,
    options: BandwidthOptions,
    tickRate: number,
    trials: readonly Trial[],
  ) {
    const { store: { schema, heap }, set } = row
    const { makeCoder = makePacked, others = [] } = options
    this.#row = row
    this.#age = ageTicks
    this.#meter = new FieldMeter(schema, makeCoder(schema, tickRate), set, heap)
    this.#others = others.map((make) => new FieldMeter(schema, make(schema, tickRate), set, heap))
    this.#trials = trials.map((trial) => {
      const pair = new RowPair()
      pair.rows = new Int32Array(trial.schema.laneCount)
      pair.baseRows = new Int32Array(trial.schema.laneCount)
      pair.olderRows = new Int32Array(trial.schema.laneCount)
      return { trial, pair, meter: new FieldMeter(trial.schema, makeCoder(trial.schema, tickRate), set, heap) }
    })
  }

  /** Counts a tick with a snapshot. */
  addTick(timeline: Timeline, tick: Tick): void {
    const row = this.#row
    const { store, set, pair } = row
    const mask = store.schema.masks[set]
    for (const { id } of store.living()) {
      row.turn(timeline, tick, id)
      const { before } = row
      if (before < 0) this.#births++
      const isDue = before < 0 || (before !== pair.at && diffMask(mask, pair.rows, pair.at, pair.rows, before))
      row.base(timeline, this.#age)
      if (isDue) {
        this.#meter.add(pair)
        for (const other of this.#others) other.add(pair)
      }
      for (const { trial, meter, pair: tried } of this.#trials)
        if (trial.convert(row, timeline, tried)) meter.add(tried)
    }
  }

  cost(): EntityCost {
    const meter = this.#meter
    const fields = meter.members.map((member, index): FieldCost => ({
      path: member.path, kind: kindName(member.field.spec), changes: meter.changes[index], bits: meter.bits[index],
      otherBits: this.#others.map(({ bits }) => bits[index]),
    }))
    return {
      name: this.#row.store.schema.name,
      entries: meter.count,
      births: this.#births,
      bits: meter.totalBits,
      otherBits: this.#others.map(({ totalBits }) => totalBits),
      sharedBits: meter.sharedBits,
      otherSharedBits: this.#others.map(({ sharedBits }) => sharedBits),
      fields,
    }
  }

  advice(): Advice[] {
    return this.#trials.map(({ trial, meter }) => ({
      path: trial.path,
      say: trial.say,
      savedBits: this.#meter.totalBits - meter.totalBits,
    }))
  }
}
