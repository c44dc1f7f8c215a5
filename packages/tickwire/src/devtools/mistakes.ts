/**
 * Mispredictions, each with what it was about: the first field that was not as predicted, both values, and how far apart.
 *
 * It is told of rows (`MistakeListener`) before they are put right, and keeps the last of them as plain values: rows move.
 */

import type { ObjectId, Tick } from '../core/base/time.ts'
import type { ClientHost } from '../core/game/client-host.ts'
import { dequantizeRow } from '../core/schema/cells.ts'
import type { Shape } from '../core/schema/field.ts'
import type { Schema } from '../core/schema/schema.ts'
import { firstDifference } from '../core/schema/row-equality.ts'
import { loadValues, type ValueStore } from '../core/schema/values.ts'

/** One misprediction. */
export interface Mistake {
  readonly tick: Tick
  readonly entity: string
  readonly id: ObjectId
  /** The first field that differs, by its path: `Player.x`. Of what was not predicted at all, or is not ours: ''. */
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

const KEPT = 64

export class Mistakes {
  /** Ever. */
  count = 0
  /** The newest last. */
  readonly recent: Mistake[] = []
  /** Told of each. */
  onMistake: ((mistake: Mistake) => void) | undefined = undefined
  readonly #host: ClientHost<Shape>

  constructor(host: ClientHost<Shape>) {
    this.#host = host
  }

  handleMistake(
    tick: Tick, type: number, id: ObjectId, predictedRows: Int32Array, predictedAt: number, toldRows: Int32Array, toldAt: number,
  ): void {
    const predictor = this.#host.predictor
    // The same row is judged again with every word of it until it is put right.
    if (predictor === undefined || this.recent.some((known) => known.tick === tick && known.id === id)) return
    const { schema } = predictor.world.stores[type]
    const { heap } = predictor.world
    const { play } = this.#host.insides
    const { name: entity } = schema
    const inputTick = play.inputs.ring.latest(tick)
    const input = inputTick < 0 ? undefined : valuesOf(this.#host.game.inputSchema, play.inputs.ring.rows, play.inputs.ring.at(inputTick), play.table.heap)
    const compared = predictedAt < 0 ? NOTHING_PREDICTED : compareRows(schema, predictedRows, predictedAt, toldRows, toldAt, heap)
    const mistake: Mistake = { tick, entity, id, ...compared, input, lateInputs: play.lateInputs }
    this.count++
    this.recent.push(mistake)
    if (this.recent.length > KEPT) this.recent.shift()
    this.onMistake?.(mistake)
  }
}

/** How two rows of an entity differ first. */
export interface RowDifference {
  readonly field: string
  readonly predicted: unknown
  readonly told: unknown
  readonly distance: number
}

const NOTHING_PREDICTED: RowDifference = { field: '', predicted: undefined, told: undefined, distance: NaN }

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
  return Math.sqrt(Object.entries(a).reduce((sum, [name, value]) => sum + (Number(value) - Number(others.get(name))) ** 2, 0))
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
