/**
 * A compiled definition: its layout, the row and cells of a new object, and its canonical text.
 *
 * The rest of the engine works with schemas; `entity`, `message` and a game's `input` are schemas with a role. A schema
 * is compiled once and never changes.
 */

import { ConfigError } from '../base/assert.ts'
import { dequantizeRow, quantizeLeaves } from './cells.ts'
import { Field, type Shape } from './field.ts'
import { describeShape } from './fingerprint.ts'
import { makeLayout, type Layout } from './layout.ts'
import { ValueHeap } from './value-heap.ts'
import { storeInitial } from './values.ts'

/** A compiled shape. */
export interface Schema<S extends Shape = Shape> extends Layout {
  /** The fields that it was compiled from. */
  readonly shape: S
  /** Quantised lanes of a new object: the baseline for a peer that never had the object. */
  readonly initialRow: Int32Array
  /** Live cells of a new object, rounded to the values of the row. */
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

/** A row needs at least one field. One bit costs less than a case for no fields in every codec. */
const NOTHING: Shape = { nothing: new Field({ kind: 'bool' }) }

/** The shape of what is sent once: inputs, messages, calls and orders may have no fields. */
export function orNothing<S extends Shape>(shape: S): S {
  const isEmpty = typeof shape === 'object' && shape !== null && Object.getPrototypeOf(shape) === Object.prototype
    && Object.keys(shape).length === 0
  return isEmpty ? NOTHING as S : shape
}

/** Encodes initial values of variable size once, so that no heap meets an invalid one in the middle of a packet. */
function checkInitialValues({ heapLeaves }: Layout): void {
  const heap = new ValueHeap()
  for (const leaf of heapLeaves) {
    if (leaf.item !== undefined) checkInitialValues(leaf.item)
    try {
      heap.get(leaf, 0)
    } catch (cause) {
      throw new ConfigError(
        leaf.path,
        `its initial value does not fit: ${cause instanceof Error ? cause.message : String(cause)}`,
        'give initially() a value that the field can hold.',
      )
    }
  }
}
