/** Predicts the rotations of a row: `row-predictor.ts` for quaternions. */

import type { Schema } from '../schema/schema.ts'
import { applyTurn, CELLS, gridsOf, repeatTurn, type MakeGrid, type RotationGrid } from './rotation.ts'
import type { RowPair } from './row-coder.ts'
import { SLOT, type RowPlan } from './row-plan.ts'
import { carryTicks, classOf, CLASS_UNKNOWN } from './row-predictor.ts'
import { WEIGHT_MAX } from './row-tables.ts'

export class RotationPredictor {
  /** The predicted lanes: the component dropped, and three codes. */
  readonly lanes: Int32Array = new Int32Array(4)
  /** The motion class: how fast it turned before. */
  class: number = CLASS_UNKNOWN
  /** Indexed by code: the direction of its last step, 1 or -1. */
  readonly signs: Int8Array = new Int8Array(3).fill(1)
  /** Indexed by code: how fast it moved before. */
  readonly classes: Uint8Array = new Uint8Array(3).fill(CLASS_UNKNOWN)
  readonly #plan: RowPlan
  /** Indexed by leaf. */
  readonly #grids: readonly (RotationGrid | undefined)[]
  readonly #cells = new Float64Array(CELLS.size)
  /** Whether the prediction is in `#cells`, and not only the baseline's lanes. */
  #isTurned = false

  constructor(schema: Schema, plan: RowPlan, makeGrid: MakeGrid) {
    this.#plan = plan
    this.#grids = gridsOf(schema, makeGrid)
  }

  /** Predicts a rotation. @hot */
  predict(item: number, weights: Int8Array, pair: RowPair): void {
    const { slots } = this.#plan
    const slot = item << SLOT.shift
    const lane = slots[slot + SLOT.lane]
    const base = pair.baseAt + lane
    const lanes = this.lanes
    for (let code = 0; code < 4; code++) lanes[code] = pair.baseRows[base + code]
    this.#isTurned = false
    this.class = CLASS_UNKNOWN
    this.signs.fill(1)
    this.classes.fill(CLASS_UNKNOWN)
    const age = carryTicks(pair.age)
    if (slots[slot + SLOT.rate] >= 0) {
      this.#turnByRate(item, age, pair)
      return
    }
    if (pair.olderAt < 0) return
    const older = pair.olderAt + lane
    this.class = motionClass(pair.baseRows, base, pair.olderRows, older)
    for (let code = 0; code < 3; code++) {
      const step = pair.baseRows[base + 1 + code] - pair.olderRows[older + 1 + code]
      this.signs[code] = step < 0 ? -1 : 1
      this.classes[code] = pair.baseRows[base] === pair.olderRows[older] ? classOf(step, 6) : 6
    }
    const weight = weights[(item << 3) + this.class]
    if (this.class === 0 || weight === 0) return
    const grid = this.#grid(item)
    grid.toUnit(pair.baseRows, base, this.#cells, CELLS.base)
    grid.toUnit(pair.olderRows, older, this.#cells, CELLS.older)
    repeatTurn(this.#cells, (age * weight) / (WEIGHT_MAX * pair.olderTicks))
    this.#settle(grid)
  }

  /** Predicts the codes again for a different dropped component. @hot */
  rebase(item: number, dropped: number, pair: RowPair): void {
    const grid = this.#grid(item)
    const cells = this.#cells
    if (!this.#isTurned)
      grid.toUnit(
        pair.baseRows,
        pair.baseAt + this.#plan.slots[(item << SLOT.shift) + SLOT.lane],
        cells,
        CELLS.predicted,
      )
    this.#isTurned = true
    this.lanes[0] = dropped
    this.signs.fill(1)
    this.classes.fill(this.class)
    grid.toCodes(cells, CELLS.predicted, dropped, this.lanes, 1)
  }

  /** Whether lanes are a valid rotation. */
  isRow(item: number, lanes: Int32Array, at: number): boolean {
    return this.#grid(item).isRow(lanes, at)
  }

  #turnByRate(item: number, age: number, pair: RowPair): void {
    const { slots, gains } = this.#plan
    const cells = this.#cells
    const grid = this.#grid(item)
    const lane = slots[(item << SLOT.shift) + SLOT.lane]
    const rate = slots[(item << SLOT.shift) + SLOT.rate]
    let change = 0
    for (let axis = 0; axis < 3; axis++) {
      const rateLane = slots[((rate + axis) << SLOT.shift) + SLOT.lane]
      const before = pair.baseRows[pair.baseAt + rateLane]
      const now = pair.rows[pair.at + rateLane]
      change += now < before ? before - now : now - before
      cells[CELLS.rotor + axis] =
        gains[item << 1] * ((age - 1) * before + (age + 1) * now) + gains[(item << 1) + 1] * age
    }
    this.class = classOf(change, 6)
    this.classes.fill(this.class)
    grid.toUnit(pair.baseRows, pair.baseAt + lane, cells, CELLS.base)
    this.#settle(grid)
  }

  #settle(grid: RotationGrid): void {
    const dropped = applyTurn(this.#cells)
    this.#isTurned = true
    this.lanes[0] = dropped
    grid.toCodes(this.#cells, CELLS.predicted, dropped, this.lanes, 1)
  }

  #grid(item: number): RotationGrid {
    const grid = this.#grids[this.#plan.slots[(item << SLOT.shift) + SLOT.leaf]]
    if (grid === undefined) throw new RangeError('not a rotation')
    return grid
  }
}

/** The bits of the largest step of a code; the largest class if a different component is dropped. */
function motionClass(rows: Int32Array, at: number, olderRows: Int32Array, olderAt: number): number {
  if (rows[at] !== olderRows[olderAt]) return 6
  let most = 0
  for (let code = 1; code < 4; code++) most |= Math.abs(rows[at + code] - olderRows[olderAt + code])
  return classOf(most, 6)
}
