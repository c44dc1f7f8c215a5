/**
 * The first pass of training: which weights give the shortest residuals, and which changes occur most.
 */

import { log2 } from '../base/math.ts'
import type { Schema } from '../schema/schema.ts'
import { orderFloat } from './float-order.ts'
import type { MakeGrid } from './rotation.ts'
import { RotationPredictor } from './rotation-predictor.ts'
import type { RowPair } from './row-coder.ts'
import { ITEM, ROLE, SLOT, type RowPlan } from './row-plan.ts'
import { changedItems, Guesses, guessItem, type Habits } from './row-predictor.ts'
import * as tables from './row-tables.ts'

/**
 * The weights tried, in parts of 32. Weights just below 32 differ little per tick, but that adds up over several ticks.
 */
const TRIED: readonly number[] = [0, 4, 8, 12, 16, 20, 24, 27, 29, 30, 31, 32]
const WEIGHTS: number = TRIED.length

export class WeightSearch {
  /** Indexed by age class: rows seen. */
  readonly rows: number[] = new Array<number>(tables.AGE_CLASSES).fill(0)
  readonly #plan: RowPlan
  readonly #rotations: RotationPredictor
  /** Indexed by age class, item, motion class, weight: the bits of the residuals. */
  readonly #costs: Float64Array
  /** Indexed by age class, then by chunk: how often which items changed from the older row to the baseline. */
  readonly #changes: readonly (readonly Map<number, number>[])[]
  readonly #uniform: readonly Habits[]
  readonly #guesses: Guesses

  constructor(schema: Schema, plan: RowPlan, makeGrid: MakeGrid) {
    this.#plan = plan
    this.#rotations = new RotationPredictor(schema, plan, makeGrid)
    this.#costs = new Float64Array(((tables.AGE_CLASSES * plan.count) << tables.WEIGHTS_SHIFT) * WEIGHTS)
    this.#changes = Array.from({ length: tables.AGE_CLASSES }, () =>
      Array.from({ length: plan.chunks.length - 1 }, () => new Map<number, number>()),
    )
    const bends = new Int16Array(plan.count << tables.BENDS_SHIFT)
    this.#uniform = TRIED.map((weight) => ({
      weights: new Int8Array(plan.count << tables.WEIGHTS_SHIFT).fill(weight),
      bends,
    }))
    this.#guesses = new Guesses(plan.count)
  }

  see(pair: RowPair): void {
    const age = tables.ageClass(pair.age)
    this.rows[age]++
    if (pair.olderAt >= 0) this.#seeChanges(age, pair)
    for (let weight = 0; weight < WEIGHTS; weight++) {
      for (let item = 0; item < this.#plan.count; item++) this.#seeItem(age, item, weight, pair)
    }
  }

  /**
   * The best weights of an age class. Of equal ones the smaller: an item that was never seen is predicted unchanged.
   */
  weights(age: number): Int8Array {
    const count = this.#plan.count << tables.WEIGHTS_SHIFT
    return Int8Array.from({ length: count }, (_, place) => {
      const at = (age * count + place) * WEIGHTS
      let best = 0
      for (let weight = 1; weight < WEIGHTS; weight++)
        if (this.#costs[at + weight] < this.#costs[at + best]) best = weight
      return TRIED[best]
    })
  }

  /** Indexed by chunk: the most frequent changes, except "none": that is activity 0, as are all rare ones. */
  activities(age: number): number[][] {
    return this.#changes[age].map((changes) =>
      [...changes].filter(([changed]) => changed !== 0).sort((a, b) => b[1] - a[1] || a[0] - b[0])
        .slice(0, tables.ACTIVITIES_MAX - 1).map(([changed]) => changed))
  }

  #seeItem(age: number, item: number, weight: number, pair: RowPair): void {
    const { slots } = this.#plan
    const slot = item << SLOT.shift
    const kind = slots[slot + SLOT.kind]
    const guesses = this.#guesses
    const habits = this.#uniform[weight]
    const group = slots[slot + SLOT.group]
    if (
      kind === ITEM.flag
      || kind === ITEM.value
      || kind === ITEM.code
      || (group >= 0 && pair.rows[pair.at + group] === 0)
    )
      return
    const lane = pair.at + slots[slot + SLOT.lane]
    let bits = 0
    let motion = 0
    if (kind === ITEM.dropped) {
      this.#rotations.predict(item, habits.weights, pair)
      motion = this.#rotations.class
      if (this.#rotations.lanes[0] !== pair.rows[lane]) this.#rotations.rebase(item, pair.rows[lane], pair)
      for (let code = 1; code < 4; code++) bits += residualBits(pair.rows[lane + code], this.#rotations.lanes[code], 0)
    } else {
      const guess = guessItem(this.#plan, item, habits, pair, guesses)
      motion = slots[slot + SLOT.role] === ROLE.carried ? 0 : guesses.classes[item]
      bits = residualBits(
        kind === ITEM.number ? pair.rows[lane] : orderFloat(pair.rows[lane]),
        guess,
        slots[slot + SLOT.turn],
      )
    }
    // A rotation is predicted once, for its first item.
    this.#costs[(((age * this.#plan.count + item) << tables.WEIGHTS_SHIFT) + motion) * WEIGHTS + weight] += bits
  }

  #seeChanges(age: number, pair: RowPair): void {
    const { chunks } = this.#plan
    for (let chunk = 0; chunk < chunks.length - 1; chunk++) {
      const changed = changedItems(this.#plan, chunk, pair.baseRows, pair.baseAt, pair.olderRows, pair.olderAt)
      const counts = this.#changes[age][chunk]
      counts.set(changed, (counts.get(changed) ?? 0) + 1)
    }
  }
}

function residualBits(value: number, guess: number, turn: number): number {
  const residual = ((value - guess) << turn) >> turn
  return residual === 0 ? 0 : log2(1 + Math.abs(residual))
}
