/**
 * What a recorded match costs on the wire, entity by entity and field by field, for one client that sees everything.
 *
 * The recording is played, and every tick that the game tells is coded as snapshots are: who changed is told, as a delta against the row
 * that a client at the other end of the path has confirmed by then, `ageTicks` before. Who is younger than that is told against
 * the initial row. It knows no loss, no interest and no budget: those are a match's own, and `BitAccount` counts them live.
 *
 * Trials answer "what if": the same match, with one field declared otherwise.
 */

import { ConfigError } from '../base/assert.ts'
import { TIMELINE_TICKS_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import { PackedCoder } from '../codec/packed-coder.ts'
import { RowPair, type FieldSet, type MakeRowCoder } from '../codec/row-coder.ts'
import { FieldMeter } from '../replication/bit-account-fields.ts'
import { diffMask } from '../schema/mask.ts'
import { Timeline } from '../world/timeline.ts'
import { kindName } from '../schema/explain.ts'
import { TRIAL_TICKS, trialsFor, trialTicks, type Trial } from './bandwidth-trials.ts'
import { FieldRanges } from './field-ranges.ts'
import { Playback, type RecordedGame } from './playback.ts'
import type { ChunkList } from './recording.ts'
import { isTold, strideOf, ToldRow } from './told-row.ts'

export interface BandwidthOptions {
  /** How old the row is that a client has confirmed: his round trip, in ticks. Told less often than every tick, the row told before that. */
  readonly ageTicks: number
  /** Whose fields: 0 everyone's, 1 the team's, 2 the owner's. Default: 0. */
  readonly set?: FieldSet
  /** How deltas are written. Default: the plain codec. */
  readonly makeCoder?: MakeRowCoder
  /** Other codecs, to see beside it. */
  readonly others?: readonly MakeRowCoder[]
  /** Whether to try what would be cheaper. */
  readonly hasAdvice?: boolean
}

export interface FieldCost {
  readonly path: string
  /** What makes such a field: `fixed`, `vec3`. */
  readonly kind: string
  readonly changes: number
  readonly bits: number
  /** By each of the other codecs. */
  readonly otherBits: readonly number[]
}

export interface EntityCost {
  readonly name: string
  readonly entries: number
  readonly births: number
  readonly bits: number
  readonly otherBits: readonly number[]
  /** Masks, and what else belongs to no field. */
  readonly sharedBits: number
  readonly otherSharedBits: readonly number[]
  readonly fields: readonly FieldCost[]
}

/** One field declared otherwise, and what that would have saved. */
export interface Advice {
  readonly path: string
  readonly say: string
  readonly savedBits: number
}

export interface BandwidthTable {
  readonly ticks: number
  readonly tickRate: number
  /** Ticks from one snapshot to the next, and how many snapshots there were. */
  readonly snapshotTicks: number
  readonly snapshots: number
  /** How old baselines were. */
  readonly ageTicks: number
  readonly bits: number
  readonly entities: readonly EntityCost[]
  readonly advice: readonly Advice[]
}

/** What a Timeline can remember, less what trials look back and the row before the baseline. */
const AGE_TICKS_MAX: number = TIMELINE_TICKS_MAX - TRIAL_TICKS - 2

const makePacked: MakeRowCoder = (schema) => new PackedCoder(schema)

/** Measures a recording. */
export function measureBandwidth(list: ChunkList, game: RecordedGame, options: BandwidthOptions): BandwidthTable {
  const { set = 0, hasAdvice = false } = options
  const snapshotTicks = strideOf(game)
  const ageTicks = ageOf(options.ageTicks, snapshotTicks)
  const ranges = new FieldRanges(game.entities)
  // Whoever tries something must know what the fields hold: that is a match of its own.
  if (hasAdvice) {
    const first = new Playback(list, game)
    playAll(first, () => ranges.add(first.world))
  }
  const playback = new Playback(list, game)
  const windowTicks = Math.min(TIMELINE_TICKS_MAX, ageTicks + snapshotTicks + trialTicks(snapshotTicks) + 1)
  let timeline = new Timeline(playback.world, windowTicks)
  const { tickRate } = list.head
  const meters = playback.world.stores.map((store, type) =>
    new EntityMeter(new ToldRow(store, snapshotTicks, set), ageTicks, options, tickRate, hasAdvice ? trialsFor(ranges, type, { tickRate, snapshotTicks }, set) : []))
  let snapshots = 0
  const ticks = playAll(playback, (isGap) => {
    if (isGap) {
      playback.world.dropValuesOf(timeline)
      timeline = new Timeline(playback.world, windowTicks)
    }
    timeline.sample()
    if (!isTold(playback.tick, snapshotTicks)) return
    snapshots++
    for (const meter of meters) meter.addTick(timeline, playback.tick)
  })
  const entities = meters.map((meter) => meter.cost())
  const bits = entities.reduce((sum, entity) => sum + entity.bits, 0)
  const advice = meters.flatMap((meter) => meter.advice()).filter(({ savedBits }) => savedBits > 0).sort((a, b) => b.savedBits - a.savedBits)
  return { ticks, tickRate, snapshotTicks, snapshots, ageTicks, bits, entities: entities.sort((a, b) => b.bits - a.bits), advice }
}

/** The age that baselines have on such a path: all of them are ticks that were told. */
function ageOf(pathTicks: number, snapshotTicks: number): number {
  const most = AGE_TICKS_MAX - (AGE_TICKS_MAX % snapshotTicks)
  if (!Number.isInteger(pathTicks) || pathTicks < 1 || pathTicks > most) throw new ConfigError('ageTicks', `${pathTicks}`, `Give 1 to ${most}.`)
  return Math.ceil(pathTicks / snapshotTicks) * snapshotTicks
}

/** Plays everything that can be played; `onTick` hears whether ticks are missing before this one. */
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

/** Counts the objects of one entity. */
class EntityMeter {
  readonly #told: ToldRow
  readonly #age: number
  readonly #meter: FieldMeter
  readonly #others: readonly FieldMeter[]
  readonly #trials: readonly { readonly trial: Trial; readonly meter: FieldMeter; readonly pair: RowPair }[]
  #births = 0

  constructor(told: ToldRow, ageTicks: number, options: BandwidthOptions, tickRate: number, trials: readonly Trial[]) {
    const { store: { schema, heap }, set } = told
    const { makeCoder = makePacked, others = [] } = options
    this.#told = told
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

  /** Counts a tick that is told. */
  addTick(timeline: Timeline, tick: Tick): void {
    const told = this.#told
    const { store, set, pair } = told
    const mask = store.schema.masks[set]
    for (const { id } of store.living()) {
      told.turn(timeline, tick, id)
      const { before } = told
      if (before < 0) this.#births++
      const isDue = before < 0 || (before !== pair.at && diffMask(mask, pair.rows, pair.at, pair.rows, before))
      told.base(timeline, this.#age)
      if (isDue) {
        this.#meter.add(pair)
        for (const other of this.#others) other.add(pair)
      }
      for (const { trial, meter, pair: tried } of this.#trials) if (trial.convert(told, timeline, tried)) meter.add(tried)
    }
  }

  cost(): EntityCost {
    const meter = this.#meter
    const fields = meter.members.map((member, index): FieldCost => ({
      path: member.path, kind: kindName(member.field.spec), changes: meter.changes[index], bits: meter.bits[index],
      otherBits: this.#others.map(({ bits }) => bits[index]),
    }))
    return {
      name: this.#told.store.schema.name, entries: meter.count, births: this.#births, bits: meter.totalBits,
      otherBits: this.#others.map(({ totalBits }) => totalBits), sharedBits: meter.sharedBits, otherSharedBits: this.#others.map(({ sharedBits }) => sharedBits), fields,
    }
  }

  advice(): Advice[] {
    return this.#trials.map(({ trial, meter }) => ({ path: trial.path, say: trial.say, savedBits: this.#meter.totalBits - meter.totalBits }))
  }
}
