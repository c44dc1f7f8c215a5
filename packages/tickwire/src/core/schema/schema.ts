/**
 * A definition compiled: its layout, the row and cells of a fresh object, and its canonical text.
 *
 * This is what the rest of the engine holds in its hands; `entity`, `message` and a game's `input` are schemas with
 * a role. Compiled once, never changed.
 */

import { ConfigError } from '../base/assert.ts'
import { dequantizeRow, quantizeLeaves } from './cells.ts'
import type { Shape } from './field.ts'
import { describeShape } from './fingerprint.ts'
import { makeLayout, type Layout } from './layout.ts'
import { ValueHeap } from './value-heap.ts'
import { storeInitial } from './values.ts'

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
  const layout = makeLayout(name, shape)
  checkInitialValues(layout)
  const initialCells = new Float64Array(layout.cellCount)
  const initialRow = new Int32Array(layout.laneCount)
  for (const { firstLeaf, field } of layout.members) storeInitial(layout.leaves, firstLeaf, field, initialCells, 0)
  quantizeLeaves(layout, initialCells, 0, initialRow, 0)
  dequantizeRow(layout, initialRow, 0, initialCells, 0)
  return { ...layout, shape, initialRow, initialCells, text: describeShape(shape) }
}

/** Initial values of variable size are encoded once here, so that no heap meets a wrong one in the middle of a packet. */
function checkInitialValues({ heapLeaves }: Layout): void {
  const heap = new ValueHeap()
  for (const leaf of heapLeaves) {
    if (leaf.item !== undefined) checkInitialValues(leaf.item)
    try {
      heap.get(leaf, 0)
    } catch (cause) {
      throw new ConfigError(leaf.path, `its initial value does not fit: ${cause instanceof Error ? cause.message : String(cause)}`, 'Give initially() a value that the field can hold.')
    }
  }
}
