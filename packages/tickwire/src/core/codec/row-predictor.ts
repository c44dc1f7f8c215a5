/**
 * Predicts an item from what both sides know before it is encoded: the baseline, the row before it if there is one, the
 * age, and the items already encoded.
 *
 * - A field with a rate is integrated: halfway between the baseline's rate and the new one, tick by tick (semi-implicit
 *   Euler: the new rate moves first). In a vector, a second component follows the first: the residual of the first,
 *   relative to its change of rate, predicts that of the second, since both rates changed at the same moment.
 * - A field without a rate continues as it moved from the older row to the baseline, with a weight from 0 to 1 (parts
 *   of 32) and a bend (a falling object falls faster). Both depend on the speed: below a few steps it is rounding
 *   noise.
 * - All other fields stay the same.
 *
 * Beside the value this finds how certain it is: a class of 0..7, and the likely sign of the residual.
 *
 * Whole numbers throughout, and doubles that are whole numbers below 2^53: the same on every engine.
 */

import { orderFloat } from './float-order.ts'
import type { RowPair } from './row-coder.ts'
import * as plans from './row-plan.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const {
  shift: SHIFT,
  kind: KIND,
  lane: LANE,
  max: MAX,
  rate: RATE,
  before: BEFORE,
  bounds: BOUNDS,
  turn: TURN,
  wrap: WRAP,
  rateLane: RATE_LANE,
  isLed: IS_LED,
  leadLane: LEAD_LANE,
  leadRateLane: LEAD_RATE_LANE,
} = plans.SLOT
const { float: FLOAT } = plans.ITEM

/** Ticks beyond which nothing is extrapolated further: such an old prediction is useless. */
export const CARRY_TICKS_MAX = 32
/** Steps beyond which a motion is not continued: it is a jump. */
export const MOTION_STEPS_MAX: number = 1 << 18
/** The largest motion class. */
export const MOTION_MAX = 6
/** The class of an item without an older row. */
export const CLASS_UNKNOWN = 7

/** How items move in a game: the result of training. */
export interface Habits {
  /**
   * Indexed by item << 3 | motion class: how much of the motion continues, in parts of 32. For an item with a rate, the
   * first entry: whether it follows the component before.
   */
  readonly weights: Int8Array
  /** Indexed by item << 4 | motion class << 1 | sign: how a motion bends, in sixteenths of a step per tick and tick. */
  readonly bends: Int16Array
}

/** Results for the items of one row. */
export class Guesses {
  /** Indexed by item: how certain the guess is. */
  readonly classes: Uint8Array
  /** Indexed by item: 1 or -1. */
  readonly signs: Int8Array
  /** Indexed by item, for items with a rate: the value before the correction by the component before it. */
  readonly plain: Int32Array

  constructor(count: number) {
    this.classes = new Uint8Array(count)
    this.signs = new Int8Array(count).fill(1)
    this.plain = new Int32Array(count)
  }
}

/** The ticks to extrapolate. */
export function carryTicks(age: number): number {
  return age < CARRY_TICKS_MAX ? age : CARRY_TICKS_MAX
}

/** The items of a chunk that differ between two rows, as bits, first item lowest. @hot */
export function changedItems(
  plan: plans.RowPlan,
  chunk: number,
  rows: Int32Array,
  at: number,
  otherRows: Int32Array,
  otherAt: number,
): number {
  const { lanes, laneBits, chunkLanes } = plan
  const end = chunkLanes[chunk + 1]
  let changed = 0
  for (let index = chunkLanes[chunk]; index < end; index++) {
    const lane = lanes[index]
    if (rows[at + lane] !== otherRows[otherAt + lane]) changed |= laneBits[index]
  }
  return changed
}

/** Predicts a number without a rate. @hot */
export function guessFree(slots: Int32Array, item: number, habits: Habits, pair: RowPair, guesses: Guesses): number {
  const slot = item << SHIFT
  const lane = slots[slot + LANE]
  const base = pair.baseRows[pair.baseAt + lane]
  if (pair.olderAt < 0) {
    guesses.classes[item] = CLASS_UNKNOWN
    // Otherwise it would be the sign of an earlier prediction, which may differ on the other side.
    guesses.signs[item] = 1
    return base
  }
  const turn = slots[slot + TURN]
  const step = ((base - pair.olderRows[pair.olderAt + lane]) << turn) >> turn
  if (step === 0) {
    guesses.classes[item] = 0
    guesses.signs[item] = 1
    return base
  }
  const bits = 32 - Math.clz32(step < 0 ? -step : step)
  const motion = bits < MOTION_MAX ? bits : MOTION_MAX
  guesses.classes[item] = motion
  guesses.signs[item] = step < 0 ? -1 : 1
  if (step > MOTION_STEPS_MAX || step < -MOTION_STEPS_MAX) return base
  const weight = habits.weights[(item << 3) + motion]
  const bend = habits.bends[(item << 4) + (motion << 1) + (step < 0 ? 1 : 0)]
  const age = pair.age < CARRY_TICKS_MAX ? pair.age : CARRY_TICKS_MAX
  return settled(slots, slot, base + gone(age * weight * step, pair.olderTicks) + ((age * (age + 1) * bend + 16) >> 5))
}

/** Predicts a number with a rate, once the rate is known. @hot */
export function guessCarried(
  { slots, gains, rests }: plans.RowPlan,
  item: number,
  habits: Habits,
  pair: RowPair,
  guesses: Guesses,
): number {
  const { rows, at, baseRows, baseAt } = pair
  const slot = item << SHIFT
  const rate = slots[slot + RATE_LANE]
  const before = baseRows[baseAt + rate]
  const now = rows[at + rate]
  if (now === before && now === rests[item]) {
    const base = baseRows[baseAt + slots[slot + LANE]]
    guesses.plain[item] = base
    guesses.signs[item] = 1
    guesses.classes[item] = 0
    return base
  }
  const age = pair.age < CARRY_TICKS_MAX ? pair.age : CARRY_TICKS_MAX
  const change = now - before
  const parts = gains[item << 1] * ((age - 1) * before + (age + 1) * now) + gains[(item << 1) + 1] * age
  const isFar = age === 0 || parts > MOTION_STEPS_MAX || parts < -MOTION_STEPS_MAX
  const whole = isFar ? 0 : Math.floor(parts + 0.5) | 0
  let value = (baseRows[baseAt + slots[slot + LANE]] + whole) | 0
  guesses.plain[item] = value
  if (change === 0) {
    guesses.signs[item] = parts < whole ? -1 : 1
    guesses.classes[item] = 0
  } else {
    guesses.signs[item] = change < 0 ? -1 : 1
    const bits = 32 - Math.clz32(change < 0 ? -change : change)
    guesses.classes[item] = bits < MOTION_MAX ? bits : MOTION_MAX
    if (slots[slot + IS_LED] !== 0 && habits.weights[item << 3] !== 0)
      value = (value + followed(slots, slot, change, pair, guesses)) | 0
  }
  return settled(slots, slot, value)
}

/** A value clamped to its bounds, or wrapped. */
function settled(slots: Int32Array, slot: number, value: number): number {
  if (slots[slot + BOUNDS] === 0) return value & slots[slot + WRAP]
  const max = slots[slot + MAX]
  return value < 0 ? 0 : value > max ? max : value
}

/** The residual of the component before, in proportion to the changes of both rates. */
function followed(slots: Int32Array, slot: number, change: number, pair: RowPair, guesses: Guesses): number {
  const off = (pair.rows[pair.at + slots[slot + LEAD_LANE]] - guesses.plain[slots[slot + BEFORE]]) | 0
  const rate = slots[slot + LEAD_RATE_LANE]
  const itsChange = pair.rows[pair.at + rate] - pair.baseRows[pair.baseAt + rate]
  // After a small change of rate, or a residual of one, this would be only noise.
  if (off > -2 && off < 2) return 0
  if (itsChange > -4 && itsChange < 4) return 0
  const share = Math.floor((off * change) / itsChange + 0.5)
  return share > MOTION_STEPS_MAX || share < -MOTION_STEPS_MAX ? 0 : share | 0
}

/** Predicts a float, as its rank among floats. @hot */
export function guessFloat(slots: Int32Array, item: number, habits: Habits, pair: RowPair, guesses: Guesses): number {
  const lane = slots[(item << SHIFT) + LANE]
  const base = orderFloat(pair.baseRows[pair.baseAt + lane])
  guesses.classes[item] = CLASS_UNKNOWN
  guesses.signs[item] = 1
  if (pair.olderAt < 0) return base
  const step = (base - orderFloat(pair.olderRows[pair.olderAt + lane])) | 0
  // Floats step in large numbers: a class covers four bits of step.
  const motion = (classOf(step, 24) + 3) >> 2
  guesses.classes[item] = motion
  guesses.signs[item] = step < 0 ? -1 : 1
  const weight = habits.weights[(item << 3) + motion]
  if (weight === 0 || step > MOTION_STEPS_MAX || step < -MOTION_STEPS_MAX) return base
  const age = pair.age < CARRY_TICKS_MAX ? pair.age : CARRY_TICKS_MAX
  return (base + gone(age * weight * step, pair.olderTicks)) | 0
}

/** How far a motion continues that was observed over `olderTicks` ticks: from parts of 32, rounded to the nearest. */
function gone(parts: number, olderTicks: number): number {
  return olderTicks === 1 ? (parts + 16) >> 5 : Math.floor((parts + 16 * olderTicks) / (32 * olderTicks))
}

/** Predicts a number of any kind; for a float, its rank. */
export function guessItem(plan: plans.RowPlan, item: number, habits: Habits, pair: RowPair, guesses: Guesses): number {
  const slot = item << SHIFT
  if (plan.slots[slot + KIND] === FLOAT) return guessFloat(plan.slots, item, habits, pair, guesses)
  if (plan.slots[slot + RATE] >= 0) return guessCarried(plan, item, habits, pair, guesses)
  return guessFree(plan.slots, item, habits, pair, guesses)
}

/** The number of bits of a magnitude, at most `most`. */
export function classOf(value: number, most: number): number {
  const bits = 32 - Math.clz32(value < 0 ? -value : value)
  return bits < most ? bits : most
}
