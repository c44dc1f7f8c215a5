/**
 * Fields declared otherwise: what a profiler tries on a recorded match before it says that something would be cheaper.
 *
 * A trial turns rows as they were into rows as they would have been. Nothing is guessed: what it would have saved is
 * counted by coding the whole match again.
 */

import { ConfigError } from '../base/assert.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import type { FieldSet, RowPair } from '../codec/row-coder.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import { Field, type FieldSpec, type Shape } from '../schema/field.ts'
import type { Member } from '../schema/layout.ts'
import { diffMask } from '../schema/mask.ts'
import { compileSchema, type Schema } from '../schema/schema.ts'
import type { Timeline } from '../world/timeline.ts'
import type { FieldRanges } from './field-ranges.ts'

/** One field declared otherwise. */
export interface Trial {
  /** Of the field, or the entity. */
  readonly path: string
  /** What to write instead. */
  readonly say: string
  readonly schema: Schema
  /**
   * Fills row and baseline of `tried`; whether the object would have been told of in this tick. `before` is where its row of
   * the tick before lies among `pair.rows`, -1 when it was not there.
   */
  convert(pair: RowPair, before: number, tick: Tick, timeline: Timeline, id: ObjectId, tried: RowPair): boolean
}

/** How many ticks back a trial may look. */
export const TRIAL_TICKS = 64
const COARSER = 10
const STEPS_MIN = 8
const THIRD = 3
const RATE_MIN = 5
const FLOAT_STEP = 0.01

/** What to try for each field of an entity. */
export function trialsFor(ranges: FieldRanges, type: number, tickRate: number, set: FieldSet): Trial[] {
  const { schema } = ranges.entities[type]
  const declarations = schema.masks[set].members.flatMap((member) => {
    const other = otherSpec(member, schema, ranges, type)
    return other === undefined ? [] : declared(schema, member, other, set)
  })
  const trials = [...declarations, ...roleTrials(schema, set)]
  return tickRate / THIRD < RATE_MIN ? trials : [...trials, rateTrial(schema, type, Math.round(tickRate / THIRD), set)]
}

/** Two vectors of one length, neither of which is said to move: perhaps one is the other's velocity. */
function roleTrials(schema: Schema, set: FieldSet): Trial[] {
  const free = schema.masks[set].members.filter(({ field }) => field.spec.kind === 'vector' && field.options.role === undefined && field.options.audience === 'all')
  if (schema.members.some(({ field }) => field.options.role !== undefined)) return []
  return free.flatMap((place) => free.flatMap((speed) => {
    if (place === speed || place.laneCount !== speed.laneCount) return []
    const shape = { ...schema.shape, [place.name]: place.field.position(), [speed.name]: speed.field.velocity(place.name) }
    const say = `.position(), and .velocity() of ${speed.name},`
    return redeclared(schema, shape, place.path, say, set)
  }))
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
      return isWorth ? { spec: { ...spec, precision }, say: `coarser steps, ${spec.precision} -> ${precision}` } : undefined
    }
    case 'vector': {
      const components = spec.components.map((one) => ({ ...one, precision: coarser(one.precision) }))
      if (!components.every((one) => (one.max - one.min) / one.precision >= STEPS_MIN)) return undefined
      const names = Object.keys(spec.shape)
      const shape = Object.fromEntries(components.map((one, axis) => [names[axis], new Field<unknown>({ kind: 'fixed', ...one })]))
      return { spec: { ...spec, components, shape }, say: `coarser steps, ${spec.components[0].precision} -> ${components[0].precision}` }
    }
    case 'angle': return spec.bits > 8 ? { spec: { ...spec, bits: spec.bits - 3 }, say: `angle(${spec.bits - 3}) instead of angle(${spec.bits})` } : undefined
    case 'quat': return spec.bits > 8 ? { spec: { ...spec, bits: spec.bits - 2 }, say: `quat(${spec.bits - 2}) instead of quat(${spec.bits})` } : undefined
    case 'float': case 'double': {
      const [low, high] = [Math.floor(min), Math.ceil(max) + (Math.ceil(max) === Math.floor(min) ? 1 : 0)]
      return Number.isFinite(high - low) ? { spec: { kind: 'fixed', min: low, max: high, precision: FLOAT_STEP }, say: `fixed(${low}, ${high}, ${FLOAT_STEP}): it never left that` } : undefined
    }
    case 'word': case 'varint': return max > min ? { spec: { kind: 'int', min, max }, say: `int(${min}, ${max}): it never left that` } : undefined
    default: return undefined
  }
}

/** Ten times the step, as people would write it. */
function coarser(precision: number): number {
  return Number((precision * COARSER).toPrecision(12))
}

/** A field of another kind or with other bounds; none if that is no definition. */
function declared(schema: Schema, member: Member, { spec, say }: OtherSpec, set: FieldSet): Trial[] {
  return redeclared(schema, { ...schema.shape, [member.name]: new Field<unknown>(spec, { ...member.field.options, blend: undefined }) }, member.path, say, set)
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
    convert(pair, before, _tick, _timeline, _id, tried) {
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

/** All fields told of only every third tick: one of them alone saves little while the others are told anyway. */
function rateTrial(schema: Schema, type: number, hz: number, set: FieldSet): Trial {
  const former = new Int32Array(schema.laneCount)
  /** The row as of the last tick that was due. */
  const latch = (rows: Int32Array, at: number, tick: Tick, timeline: Timeline, id: ObjectId, to: Int32Array): void => {
    const held = timeline.find(type, id, tick - (tick % THIRD))
    const [from, first] = held < 0 ? [rows, at] : [timeline.pools[type].rows, held]
    for (let lane = 0; lane < schema.laneCount; lane++) to[lane] = from[first + lane]
  }
  return {
    path: schema.name, say: `{ rate: ${hz} }, so that it is told every third tick,`, schema,
    convert(pair, before, tick, timeline, id, tried) {
      latch(pair.rows, pair.at, tick, timeline, id, tried.rows)
      if (pair.age > 0) latch(pair.baseRows, pair.baseAt, tick - pair.age, timeline, id, tried.baseRows)
      else tried.baseRows.set(schema.initialRow)
      tried.olderAt = pair.olderAt < 0 ? -1 : 0
      if (pair.olderAt >= 0) latch(pair.olderRows, pair.olderAt, tick - pair.age - 1, timeline, id, tried.olderRows)
      if (before < 0) return true
      latch(pair.rows, before, tick - 1, timeline, id, former)
      return diffMask(schema.masks[set], tried.rows, 0, former, 0)
    },
  }
}
