/**
 * Alternative declarations of fields, which a profiler tries on a recorded match before it gives advice.
 *
 * A trial converts the recorded rows into the rows of the alternative declaration. The saving is not estimated: it is
 * counted by encoding the whole match again.
 */

import { ConfigError } from '../base/assert.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import type { FieldSet, RowPair } from '../codec/row-coder.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import { Field, type FieldSpec, type Shape } from '../schema/field.ts'
import type { Member } from '../schema/layout.ts'
import { diffMask } from '../schema/mask.ts'
import { compileSchema, type Schema } from '../schema/schema.ts'
import { indexOf } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import type { FieldRanges } from './field-ranges.ts'
import type { SnapshotRow } from './snapshot-row.ts'

/** One alternative declaration. */
export interface Trial {
  /** The path of the field, or the name of the entity. */
  readonly path: string
  /** What to write instead. */
  readonly say: string
  readonly schema: Schema
  /**
   * Fills `tried` with the row that would have been sent, and its baseline. Returns whether the object would have been
   * sent in this tick.
   */
  convert(row: SnapshotRow, timeline: Timeline, tried: RowPair): boolean
}

/** How often a game steps and sends snapshots. */
export interface Rates {
  readonly tickRate: number
  readonly snapshotTicks: number
}

/** How many ticks back a trial may look, in a game that sends a snapshot every tick. */
export const TRIAL_TICKS = 64
const COARSER = 10
const STEPS_MIN = 8
const THIRD = 3
const RATE_MIN = 5
const FLOAT_STEP = 0.01

/** How many ticks back a trial may look. */
export function trialTicks(snapshotTicks: number): number {
  return Math.max(TRIAL_TICKS, THIRD * snapshotTicks)
}

/** The trials for each field of an entity. */
export function trialsFor(ranges: FieldRanges, type: number, rates: Rates, set: FieldSet): Trial[] {
  const { schema } = ranges.entities[type]
  const declarations = schema.masks[set].members.flatMap((member) => {
    const other = otherSpec(member, schema, ranges, type)
    return other === undefined ? [] : declared(schema, member, other, set)
  })
  const trials = [...declarations, ...roleTrials(schema, set)]
  const hz = rates.tickRate / (THIRD * rates.snapshotTicks)
  return hz < RATE_MIN ? trials : [...trials, rateTrial(schema, type, Math.round(hz), rates.snapshotTicks, set)]
}

/** Two vectors of the same length, neither of which has a role: perhaps one is the velocity of the other. */
function roleTrials(schema: Schema, set: FieldSet): Trial[] {
  const free = schema.masks[set].members.filter(
    ({ field }) => field.spec.kind === 'vector' && field.options.role === undefined && field.options.audience === 'all',
  )
  if (schema.members.some(({ field }) => field.options.role !== undefined)) return []
  return free.flatMap((place) =>
    free.flatMap((speed) => {
      if (place === speed || place.laneCount !== speed.laneCount) return []
      const shape = {
        ...schema.shape,
        [place.name]: place.field.position(),
        [speed.name]: speed.field.velocity(place.name),
      }
      const say = `.position(), and .velocity() of ${speed.name},`
      return redeclared(schema, shape, place.path, say, set)
    }),
  )
}

interface OtherSpec {
  readonly spec: FieldSpec
  readonly say: string
}

function otherSpec(member: Member, schema: Schema, ranges: FieldRanges, type: number): OtherSpec | undefined {
  const { spec } = member.field
  const { cell } = schema.leaves[member.firstLeaf]
  const [min, max] = [ranges.min[type][cell], ranges.max[type][cell]]
  switch (spec.kind) {
    case 'fixed': {
      const precision = coarser(spec.precision)
      const isWorth = (spec.max - spec.min) / precision >= STEPS_MIN
      return isWorth
        ? { spec: { ...spec, precision }, say: `coarser steps, ${spec.precision} -> ${precision}` }
        : undefined
    }
    case 'vector': {
      const components = spec.components.map((one) => ({ ...one, precision: coarser(one.precision) }))
      if (!components.every((one) => (one.max - one.min) / one.precision >= STEPS_MIN)) return undefined
      const names = Object.keys(spec.shape)
      const shape = Object.fromEntries(
        components.map((one, axis) => [names[axis], new Field<unknown>({ kind: 'fixed', ...one })]),
      )
      return {
        spec: { ...spec, components, shape },
        say: `coarser steps, ${spec.components[0].precision} -> ${components[0].precision}`,
      }
    }
    case 'angle':
      return spec.bits > 8
        ? { spec: { ...spec, bits: spec.bits - 3 }, say: `angle(${spec.bits - 3}) instead of angle(${spec.bits})` }
        : undefined
    case 'quat':
      return spec.bits > 8
        ? { spec: { ...spec, bits: spec.bits - 2 }, say: `quat(${spec.bits - 2}) instead of quat(${spec.bits})` }
        : undefined
    case 'float':
    case 'double': {
      const [low, high] = [Math.floor(min), Math.ceil(max) + (Math.ceil(max) === Math.floor(min) ? 1 : 0)]
      return Number.isFinite(high - low)
        ? {
            spec: { kind: 'fixed', min: low, max: high, precision: FLOAT_STEP },
            say: `fixed(${low}, ${high}, ${FLOAT_STEP}): it never left that`,
          }
        : undefined
    }
    case 'word':
    case 'varint':
      return max > min ? { spec: { kind: 'int', min, max }, say: `int(${min}, ${max}): it never left that` } : undefined
    default:
      return undefined
  }
}

/** Ten times the step, as a person would write it. */
function coarser(precision: number): number {
  return Number((precision * COARSER).toPrecision(12))
}

/** A field with a different kind or bounds; empty if that is not a valid definition. */
function declared(schema: Schema, member: Member, { spec, say }: OtherSpec, set: FieldSet): Trial[] {
  return redeclared(
    schema,
    { ...schema.shape, [member.name]: new Field<unknown>(spec, { ...member.field.options, blend: undefined }) },
    member.path,
    say,
    set,
  )
}

function redeclared(schema: Schema, shape: Shape, path: string, say: string, set: FieldSet): Trial[] {
  let other: Schema
  try {
    other = compileSchema(schema.name, shape)
  } catch (error) {
    if (error instanceof ConfigError) return []
    throw error
  }
  if (other.cellCount !== schema.cellCount) return []
  const cells = new Float64Array(schema.cellCount)
  const former = new Int32Array(other.laneCount)
  const turn = (rows: Int32Array, at: number, to: Int32Array): void => {
    dequantizeRow(schema, rows, at, cells, 0)
    quantizeCells(other, cells, 0, to, 0)
  }
  return [{
    path, say, schema: other,
    convert({ pair, before }, _timeline, tried) {
      // An object at rest is at rest in coarser steps too. An object that would be at rest only in coarser steps is
      // encoded as moving, and looks more expensive than it is.
      tried.age = pair.age
      tried.olderTicks = pair.olderTicks
      turn(pair.rows, pair.at, tried.rows)
      turn(pair.baseRows, pair.baseAt, tried.baseRows)
      tried.olderAt = pair.olderAt < 0 ? -1 : 0
      if (pair.olderAt >= 0) turn(pair.olderRows, pair.olderAt, tried.olderRows)
      if (before < 0) return true
      turn(pair.rows, before, former)
      return diffMask(other.masks[set], tried.rows, 0, former, 0)
    },
  }]
}

/** All fields sent only in every third snapshot: one field alone saves little while the others are sent anyway. */
function rateTrial(schema: Schema, type: number, hz: number, snapshotTicks: number, set: FieldSet): Trial {
  const former = new Int32Array(schema.laneCount)
  const period = THIRD * snapshotTicks
  // Objects take turns, as in `rate-latch.ts`. An object whose turn falls between two snapshots is in the next snapshot
  // with the row of its turn.
  const dueTick = (tick: Tick, id: ObjectId): Tick => tick - ((tick + indexOf(id)) % period)
  /** Copies the row as of the last due tick. */
  const latch = (row: SnapshotRow, at: number, tick: Tick, timeline: Timeline, to: Int32Array): void => {
    const held = timeline.find(type, row.id, dueTick(tick, row.id))
    const first = held < 0 ? at : held
    for (let lane = 0; lane < schema.laneCount; lane++) to[lane] = row.pair.rows[first + lane]
  }
  /** Whether the baseline would have been valid until the tick before. */
  const isRested = ({ id, tick, baseTick }: SnapshotRow, timeline: Timeline, base: Int32Array): boolean => {
    for (let due = dueTick(tick - 1, id); due > baseTick; due -= period) {
      const at = timeline.find(type, id, due)
      if (at >= 0 && diffMask(schema.masks[set], timeline.pools[type].rows, at, base, 0)) return false
    }
    return true
  }
  return {
    path: schema.name,
    say: `{ rate: ${hz} }, so that it is sent every third ${snapshotTicks === 1 ? 'tick' : 'snapshot'},`,
    schema,
    convert(row, timeline, tried) {
      const { id, pair, tick, before, baseTick } = row
      latch(row, pair.at, tick, timeline, tried.rows)
      tried.age = pair.age
      tried.olderAt = -1
      if (pair.age === 0) tried.baseRows.set(schema.initialRow)
      else {
        latch(row, pair.baseAt, baseTick, timeline, tried.baseRows)
        const rested = isRested(row, timeline, tried.baseRows)
        const older = pair.olderAt < 0 ? -1 : timeline.find(type, id, baseTick - snapshotTicks)
        tried.age = rested ? 1 : tick - baseTick
        tried.olderTicks = rested ? 1 : snapshotTicks
        tried.olderAt = rested || older >= 0 ? 0 : -1
        if (rested) tried.olderRows.set(tried.baseRows)
        else if (older >= 0) latch(row, older, baseTick - snapshotTicks, timeline, tried.olderRows)
      }
      if (before < 0) return true
      latch(row, before, tick - snapshotTicks, timeline, former)
      return diffMask(schema.masks[set], tried.rows, 0, former, 0)
    },
  }
}
