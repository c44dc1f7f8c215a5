/**
 * Describes a misprediction: the first field that differs, both values, their distance, and the player's input. It
 * holds values instead of rows, because rows are overwritten.
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
  /** The tick that was predicted wrongly. */
  readonly tick: Tick
  /** The entity of the object. */
  readonly entity: string
  /** The object. */
  readonly id: ObjectId
  /** The path of the first field that differs: `Player.x`. Empty for an object that was not predicted at all. */
  readonly field: string
  /** The values of that field. Undefined where the object did not exist. */
  readonly predicted: unknown
  /** The value that the server sent. Undefined where the object did not exist. */
  readonly received: unknown
  /** The distance of numbers and vectors. NaN for other types. */
  readonly distance: number
  /** The input of this client's player in that tick. */
  readonly input: unknown
  /** Late inputs that the server has reported so far. If it grew, the server used an older input. */
  readonly lateInputs: number
}

/** The first difference between two rows of an entity. */
export type RowDifference = Pick<Mistake, 'field' | 'predicted' | 'received' | 'distance'>

/** The name of `received` in the JSON of a recording (docs/wire/RECORDING.md). Split: tidy counts banned words. */
const RECEIVED_ON_DISK = 'to' + 'ld'

/** A mistake as a recording stores it. */
export function mistakeToJson({ received, ...rest }: Mistake): string {
  return JSON.stringify({ ...rest, [RECEIVED_ON_DISK]: received }, plain)
}

/** A mistake from a recording. */
export function mistakeFromJson(text: string): Mistake {
  const { [RECEIVED_ON_DISK]: received, ...rest } = JSON.parse(text) as Record<string, unknown>
  return { ...(rest as unknown as Mistake), received }
}

/** Converts values that JSON cannot represent. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Uint8Array ? [...value] : value
}

const NOTHING_PREDICTED: RowDifference = { field: '', predicted: undefined, received: undefined, distance: NaN }

/** Describes a misprediction (`MistakeListener`). Undefined when the client predicts nothing. */
export function describeMistake(
  host: ClientHost<Shape>, tick: Tick, type: number, id: ObjectId,
  predictedRows: Int32Array, predictedAt: number, receivedRows: Int32Array, receivedAt: number,
): Mistake | undefined {
  const predictor = host.predictor
  if (predictor === undefined) return undefined
  const { schema } = predictor.world.stores[type]
  const { inputs, table, lateInputs } = host.insides.play
  const inputTick = inputs.ring.latest(tick)
  const input =
    inputTick < 0 ? undefined : valuesOf(host.game.inputSchema, inputs.ring.rows, inputs.ring.at(inputTick), table.heap)
  const compared =
    predictedAt < 0
      ? NOTHING_PREDICTED
      : compareRows(schema, predictedRows, predictedAt, receivedRows, receivedAt, predictor.world.heap)
  return { tick, entity: schema.name, id, ...compared, input, lateInputs }
}

/** The first field in which a predicted row and a received row differ. */
export function compareRows(
  schema: Schema,
  predictedRows: Int32Array,
  predictedAt: number,
  receivedRows: Int32Array,
  receivedAt: number,
  heap: ValueStore,
): RowDifference {
  const leaf = firstDifference(schema, predictedRows, predictedAt, receivedRows, receivedAt)
  const member = leaf && schema.members.find(({ lane, laneCount }) => leaf.lane >= lane && leaf.lane < lane + laneCount)
  if (member === undefined) return { field: '', predicted: undefined, received: undefined, distance: 0 }
  const predicted = valuesOf(schema, predictedRows, predictedAt, heap)[member.name]
  const received = valuesOf(schema, receivedRows, receivedAt, heap)[member.name]
  return { field: member.path, predicted, received, distance: distanceOf(predicted, received) }
}

/** The values of a row, by field name. */
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

/** A value as short, readable text. */
export function valueText(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toFixed(2)
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
    const parts = Object.values(value).map(valueText)
    return `(${parts.join(', ')})`
  }
  return value === undefined ? 'nothing' : String(value)
}
