/**
 * What an item will be, as far as both sides can tell before it is said: from the baseline, the row before it where there is
 * one, the age, and the items already said.
 *
 * - what has a rate is carried by it: halfway between the baseline's rate and the new one, tick by tick (semi-implicit
 *   Euler: the new rate moves first). In a vector, a second component follows the first: if that came off by so much for its
 *   change of rate, this one will for its own, since both changed at the same moment;
 * - what has none goes on as it went from the older row to the baseline, by a weight from 0 to 1 (in parts of 32) and with a
 *   bend (what falls, falls faster), both depending on how fast that was: below a few steps it is noise of rounding;
 * - everything else stays.
 *
 * Beside the value this finds how sure it is: a class of 0..7, and the sign the residual is likely to have.
 *
 * Whole numbers throughout, and doubles that hold whole numbers below 2^53: the same on every engine.
 */

import { orderFloat } from './float-order.ts'
import type { RowPair } from './row-coder.ts'
import * as plans from './row-plan.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const {
  shift: SHIFT, kind: KIND, lane: LANE, max: MAX, rate: RATE, before: BEFORE, bounds: BOUNDS, turn: TURN, wrap: WRAP, rateLane: RATE_LANE,
  isLed: IS_LED, leadLane: LEAD_LANE, leadRateLane: LEAD_RATE_LANE,
} = plans.SLOT
const { float: FLOAT } = plans.ITEM

/** Ticks beyond which nothing is carried further: a guess that old is no guess. */
export const CARRY_TICKS_MAX = 32
/** Steps beyond which nothing goes on: that is a jump, not a motion. */
export const MOTION_STEPS_MAX: number = 1 << 18
/** The largest class of motion. */
export const MOTION_MAX = 6
/** The class of an item when there is no older row to ask. */
export const CLASS_UNKNOWN = 7

/** How items move in a game: what training finds. */
export interface Habits {
  /** By item and class of motion: how much of the motion goes on, in parts of 32; of a carried item, the first: whether it follows. */
  readonly weights: Int8Array
  /** By item, class of motion and sign: how a motion bends, in sixteenths of a step per tick and tick. */
  readonly bends: Int16Array
}

/** What is found for the items of one row. */
export class Guesses {
  /** By item: how sure the guess is. */
  readonly classes: Uint8Array
  /** By item: 1 or -1. */
  readonly signs: Int8Array
  /** By carried item: the value before it followed another. */
  readonly plain: Int32Array

  constructor(count: number) {
    this.classes = new Uint8Array(count)
    this.signs = new Int8Array(count).fill(1)
    this.plain = new Int32Array(count)
  }
}

/** Ticks to carry on by. */
export function carryTicks(age: number): number {
  return age < CARRY_TICKS_MAX ? age : CARRY_TICKS_MAX
}

/** Which items of a chunk differ between two rows, first item lowest. @hot */
export function changedItems(plan: plans.RowPlan, chunk: number, rows: Int32Array, at: number, otherRows: Int32Array, otherAt: number): number {
  const { lanes, laneBits, chunkLanes } = plan
  const end = chunkLanes[chunk + 1]
  let changed = 0
  for (let index = chunkLanes[chunk]; index < end; index++) {
    const lane = lanes[index]
    if (rows[at + lane] !== otherRows[otherAt + lane]) changed |= laneBits[index]
  }
  return changed
}

/** Guesses a number that nothing carries. @hot */
export function guessFree(slots: Int32Array, item: number, habits: Habits, pair: RowPair, guesses: Guesses): number {
  const slot = item << SHIFT
  const lane = slots[slot + LANE]
  const base = pair.baseRows[pair.baseAt + lane]
  if (pair.olderAt < 0) {
    guesses.classes[item] = CLASS_UNKNOWN
    // Else it would be that of whoever was guessed before, which is another one on the other side.
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

/** Guesses a number that a rate carries, once the rate is said. @hot */
export function guessCarried({ slots, gains, rests }: plans.RowPlan, item: number, habits: Habits, pair: RowPair, guesses: Guesses): number {
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
    if (slots[slot + IS_LED] !== 0 && habits.weights[item << 3] !== 0) value = (value + followed(slots, slot, change, pair, guesses)) | 0
  }
  return settled(slots, slot, value)
}

/** A value within its bounds, or gone round. */
function settled(slots: Int32Array, slot: number, value: number): number {
  if (slots[slot + BOUNDS] === 0) return value & slots[slot + WRAP]
  const max = slots[slot + MAX]
  return value < 0 ? 0 : value > max ? max : value
}

/** What the component before came off by, in proportion to the changes of both rates. */
function followed(slots: Int32Array, slot: number, change: number, pair: RowPair, guesses: Guesses): number {
  const off = (pair.rows[pair.at + slots[slot + LEAD_LANE]] - guesses.plain[slots[slot + BEFORE]]) | 0
  const rate = slots[slot + LEAD_RATE_LANE]
  const itsChange = pair.rows[pair.at + rate] - pair.baseRows[pair.baseAt + rate]
  // Of a small change, or a miss by one, nothing follows but noise.
  if (off > -2 && off < 2) return 0
  if (itsChange > -4 && itsChange < 4) return 0
  const share = Math.floor((off * change) / itsChange + 0.5)
  return share > MOTION_STEPS_MAX || share < -MOTION_STEPS_MAX ? 0 : share | 0
}

/** Guesses a float, by its place among floats. @hot */
export function guessFloat(slots: Int32Array, item: number, habits: Habits, pair: RowPair, guesses: Guesses): number {
  const lane = slots[(item << SHIFT) + LANE]
  const base = orderFloat(pair.baseRows[pair.baseAt + lane])
  guesses.classes[item] = CLASS_UNKNOWN
  guesses.signs[item] = 1
  if (pair.olderAt < 0) return base
  const step = (base - orderFloat(pair.olderRows[pair.olderAt + lane])) | 0
  // Floats step in large numbers: four bits of a step are one class.
  const motion = (classOf(step, 24) + 3) >> 2
  guesses.classes[item] = motion
  guesses.signs[item] = step < 0 ? -1 : 1
  const weight = habits.weights[(item << 3) + motion]
  if (weight === 0 || step > MOTION_STEPS_MAX || step < -MOTION_STEPS_MAX) return base
  const age = pair.age < CARRY_TICKS_MAX ? pair.age : CARRY_TICKS_MAX
  return (base + gone(age * weight * step, pair.olderTicks)) | 0
}

/** How far a motion goes on that was seen over so many ticks: in parts of 32, to the nearest. */
function gone(parts: number, olderTicks: number): number {
  return olderTicks === 1 ? (parts + 16) >> 5 : Math.floor((parts + 16 * olderTicks) / (32 * olderTicks))
}

/** Guesses a number of whatever sort; of a float, its place. */
export function guessItem(plan: plans.RowPlan, item: number, habits: Habits, pair: RowPair, guesses: Guesses): number {
  const slot = item << SHIFT
  if (plan.slots[slot + KIND] === FLOAT) return guessFloat(plan.slots, item, habits, pair, guesses)
  if (plan.slots[slot + RATE] >= 0) return guessCarried(plan, item, habits, pair, guesses)
  return guessFree(plan.slots, item, habits, pair, guesses)
}

/** Bits of a number's size, at most `most`. */
export function classOf(value: number, most: number): number {
  const bits = 32 - Math.clz32(value < 0 ? -value : value)
  return bits < most ? bits : most
}
