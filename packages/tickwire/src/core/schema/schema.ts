/**
 * A definition compiled: its layout, the row and cells of a fresh object, and its canonical text.
 *
 * This is what the rest of the engine holds in its hands; `entity`, `message` and a game's `input` are schemas with
 * a role. Compiled once, never changed.
 */

import { ConfigError } from '../base/assert.ts'
import { dequantizeRow, quantizeCells } from './cells.ts'
import type { Shape } from './field.ts'
import { describeShape } from './fingerprint.ts'
import { makeLayout, type Layout } from './layout.ts'
import { initialCells } from './values.ts'

export interface Schema<S extends Shape = Shape> extends Layout {
  readonly shape: S
  /** Quantised lanes of a fresh object: the baseline of everything a peer has never held. */
  readonly initialRow: Int32Array
  /** Live cells of a fresh object, snapped to what the row says. */
  readonly initialCells: Float64Array
  /** Canonical text: equal text, equal wire. */
  readonly text: string
}

/** Compiles a shape, or throws a ConfigError that names the path and the fix. */
export function compileSchema<S extends Shape>(name: string, shape: S): Schema<S> {
  if (typeof shape !== 'object' || shape === null) throw new ConfigError(name, 'no shape', 'Give fields by name: { x: fixed(0, 640, 0.1) }.')
  const layout = makeLayout(name, shape)
  const cells = initialCells(layout)
  const row = new Int32Array(layout.laneCount)
  quantizeCells(layout, cells, 0, row, 0)
  dequantizeRow(layout, row, 0, cells, 0)
  return { ...layout, shape, initialRow: row, initialCells: cells, text: describeShape(shape) }
}
