/**
 * The leaves of a layout, packed for the loops that run for every object in every tick.
 *
 *   codes     kind  cell  lane  width  max  -  -  -      eight int32 per leaf, at index * 8
 *   numbers   min   step  most  scale                    four doubles per leaf, at index * 4
 *
 * A lane is round((value - min) / step), 0..most; an angle's is round(radians * scale), wrapped. Leaves of other kinds
 * have their kind, cell and lane here, and the loops look up the rest in the `Leaf` itself.
 *
 * Loops copy the constants they use into constants of their own module: V8 folds those into the code, but loads an
 * imported one, or a property of a constant object, again at every use, which cost up to 1.8 times the time.
 *
 * Fast and ugly: quantising and packing are three to five times as fast as loops over `Leaf` objects, which have as
 * many hidden classes as there are kinds (docs/adr/0007-codecs-as-tables.md; bench/schema.bench.ts). The readable
 * version is test/reference/schema-reference.ts, and schema-reference.test.ts checks that both agree.
 */

import { LEAF, type Leaf } from './leaf.ts'

/** The number of int32 slots of one leaf in `codes`, as a shift, and their positions. */
export const CODE_SHIFT = 3
export const CODE_CELL = 1
export const CODE_LANE = 2
export const CODE_WIDTH = 3
export const CODE_MAX = 4

/** The number of doubles of one leaf in `numbers`, as a shift, and their positions. */
export const NUMBER_SHIFT = 2
export const NUMBER_STEP = 1
export const NUMBER_MOST = 2
export const NUMBER_SCALE = 3

export interface LeafTable {
  readonly count: number
  readonly codes: Int32Array
  readonly numbers: Float64Array
}

const TURN = 2 * Math.PI

/** Packs leaves. */
export function makeLeafTable(leaves: readonly Leaf[]): LeafTable {
  const codes = new Int32Array(leaves.length << CODE_SHIFT)
  const numbers = new Float64Array(leaves.length << NUMBER_SHIFT)
  leaves.forEach((leaf, index) => {
    codes.set([leaf.kind, leaf.cell, leaf.lane, leaf.width, leaf.max], index << CODE_SHIFT)
    numbers.set(numbersOf(leaf), index << NUMBER_SHIFT)
  })
  return { count: leaves.length, codes, numbers }
}

function numbersOf({ kind, min, max, quant }: Leaf): readonly number[] {
  switch (kind) {
    case LEAF.bits: return [min, 1, max, 1]
    case LEAF.fixed: return [quant.min, quant.precision, quant.stepsMax, 0]
    case LEAF.angle: return [0, TURN / (max + 1), max, (max + 1) / TURN]
    default: return [0, 0, 0, 0]
  }
}
