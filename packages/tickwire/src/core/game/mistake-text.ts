/**
 * A misprediction in words and values: the first field that was not as predicted, both values, how far apart, and what the
 * player held. Rows move, so it is told in values.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import { dequantizeRow } from '../schema/cells.ts'
import type { Shape } from '../schema/field.ts'
import { firstDifference } from '../schema/row-equality.ts'
import type { Schema } from '../schema/schema.ts'
import { loadValues, type ValueStore } from '../schema/values.ts'
import type { ClientHost } from './client-host.ts'

/** One misprediction. */
export interface Mistake {
  readonly tick: Tick
  readonly entity: string
  readonly id: ObjectId
  /** The first field that differs, by its path: `Player.x`. Of what was not predicted at all: ''. */
  readonly field: string
  /** Values of that field; undefined where there was no such object. */
  readonly predicted: unknown
  readonly told: unknown
  /** How far apart, of numbers and vectors; NaN of others. */
  readonly distance: number
  /** What our player held in that tick. */
  readonly input: unknown
  /** Inputs of ours that the server said came late, up to now: when this grew, it played with an older one. */
  readonly lateInputs: number
}

/** How two rows of an entity differ first. */
export type RowDifference = Pick<Mistake, 'field' | 'predicted' | 'told' | 'distance'>

const NOTHING_PREDICTED: RowDifference = { field: '', predicted: undefined, told: undefined, distance: NaN }

/** Describes what a client was told otherwise (`MistakeListener`); undefined when it predicts nothing. */
export function describeMistake(
  host: ClientHost<Shape>, tick: Tick, type: number, id: ObjectId,
  predictedRows: Int32Array, predictedAt: number, toldRows: Int32Array, toldAt: number,
): Mistake | undefined {
  const predictor = host.predictor
  if (predictor === undefined) return undefined
  const { schema } = predictor.world.stores[type]
  const { inputs, table, lateInputs } = host.insides.play
  const inputTick = inputs.ring.latest(tick)
  const input = inputTick < 0 ? undefined : valuesOf(host.game.inputSchema, inputs.ring.rows, inputs.ring.at(inputTick), table.heap)
  const compared = predictedAt < 0 ? NOTHING_PREDICTED
    : compareRows(schema, predictedRows, predictedAt, toldRows, toldAt, predictor.world.heap)
  return { tick, entity: schema.name, id, ...compared, input, lateInputs }
}

/** The first field by which a predicted and a told row differ. */
export function compareRows(
  schema: Schema, predictedRows: Int32Array, predictedAt: number, toldRows: Int32Array, toldAt: number, heap: ValueStore,
): RowDifference {
  const leaf = firstDifference(schema, predictedRows, predictedAt, toldRows, toldAt)
  const member = leaf && schema.members.find(({ lane, laneCount }) => leaf.lane >= lane && leaf.lane < lane + laneCount)
  if (member === undefined) return { field: '', predicted: undefined, told: undefined, distance: 0 }
  const predicted = valuesOf(schema, predictedRows, predictedAt, heap)[member.name]
  const told = valuesOf(schema, toldRows, toldAt, heap)[member.name]
  return { field: member.path, predicted, told, distance: distanceOf(predicted, told) }
}

/** A row as the values of its fields. */
export function valuesOf(schema: Schema, rows: Int32Array, at: number, heap: ValueStore): Record<string, unknown> {
  const cells = new Float64Array(schema.cellCount)
  dequantizeRow(schema, rows, at, cells, 0)
  return loadValues(schema, cells, 0, heap)
}

function distanceOf(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a - b)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return NaN
  const others = new Map(Object.entries(b))
  return Math.sqrt(Object.entries(a).reduce((sum, [name, value]) => {
    const apart = Number(value) - Number(others.get(name))
    return sum + apart * apart
  }, 0))
}

/** A value as people read it, short. */
export function valueText(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toFixed(2)
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
    const parts = Object.values(value).map(valueText)
    return `(${parts.join(', ')})`
  }
  return value === undefined ? 'nothing' : String(value)
}
