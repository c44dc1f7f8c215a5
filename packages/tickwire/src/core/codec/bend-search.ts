/**
 * The second pass of training: how motions bend, as the median of the residuals that the best weights leave.
 */

import { ITEM, SLOT, type RowPlan } from './row-plan.ts'
import type { RowPair } from './row-coder.ts'
import { carryTicks, Guesses, guessItem, type Habits } from './row-predictor.ts'
import * as tables from './row-tables.ts'

/** With fewer observations a bend is chance. */
const SIGHTS_MIN = 50

export class BendSearch {
  readonly #plan: RowPlan
  readonly #habits: readonly Habits[]
  readonly #guesses: Guesses
  /** By age class, item, motion class and sign: how often which bend, in sixteenths. */
  readonly #sights = new Map<number, Map<number, number>>()

  /** `habits` are those of each age class, without bends. */
  constructor(plan: RowPlan, habits: readonly Habits[]) {
    this.#plan = plan
    this.#habits = habits
    this.#guesses = new Guesses(plan.count)
  }

  see(pair: RowPair): void {
    const { slots, count } = this.#plan
    const age = tables.ageClass(pair.age)
    if (pair.olderAt < 0 || age === 0) return
    const ticks = carryTicks(pair.age)
    for (let item = 0; item < count; item++) {
      const slot = item << SLOT.shift
      if (slots[slot + SLOT.kind] !== ITEM.number || slots[slot + SLOT.rate] >= 0) continue
      const guess = guessItem(this.#plan, item, this.#habits[age], pair, this.#guesses)
      const motion = this.#guesses.classes[item]
      const turn = slots[slot + SLOT.turn]
      const residual = ((pair.rows[pair.at + slots[slot + SLOT.lane]] - guess) << turn) >> turn
      const bend = Math.round((residual * 32) / (ticks * (ticks + 1)))
      const place = (((age * count + item) << 3) + motion) * 2 + (this.#guesses.signs[item] < 0 ? 1 : 0)
      let sights = this.#sights.get(place)
      if (sights === undefined) this.#sights.set(place, (sights = new Map()))
      sights.set(bend, (sights.get(bend) ?? 0) + 1)
    }
  }

  /** The bends of an age class: medians. */
  bends(age: number): Int16Array {
    const places = this.#plan.count << tables.BENDS_SHIFT
    return Int16Array.from({ length: places }, (_, place) => {
      const sights = this.#sights.get(age * places + place)
      return sights === undefined ? 0 : Math.max(-tables.BEND_MAX, Math.min(tables.BEND_MAX, medianOf(sights)))
    })
  }
}

function medianOf(sights: ReadonlyMap<number, number>): number {
  const inOrder = [...sights].sort(([a], [b]) => a - b)
  const sum = inOrder.reduce((total, [, count]) => total + count, 0)
  if (sum < SIGHTS_MIN) return 0
  let below = 0
  for (const [bend, count] of inOrder) {
    below += count
    // Where most motions are straight, the bend is 0.
    if (below * 2 >= sum) return count > (sights.get(0) ?? 0) ? bend : 0
  }
  return 0
}
