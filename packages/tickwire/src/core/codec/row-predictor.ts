/**
 * What an item will be, as far as both sides can tell before it is said: from the baseline, the row before it where there is
 * one, the age, and the items already said.
 *
 * - what has a rate is carried by it: halfway between the baseline's rate and the new one, tick by tick (semi-implicit
 *   Euler: the new rate moves first). In a vector, a second component follows the first: if that came off by so much for its
 *   change of rate, this one will for its own, since both changed at the same moment;
 * - what has none goes on as it went from the older row to the baseline, by a weight from 0 to 1 (in eighths) that depends on
 *   how fast that was: below a few steps it is noise of rounding;
 * - everything else stays.
 *
 * Beside the value this finds how sure it is: a class of 0..7, and the sign the residual is likely to have.
 *
 * Whole numbers throughout, and doubles that hold whole numbers below 2^53: the same on every engine.
 */

import { foldDifference } from './difference.ts'
import { orderFloat } from './float-order.ts'
import * as plan from './row-plan.ts'
import type { RowPair } from './row-coder.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { size: SIZE, lane: LANE, max: MAX, rate: RATE, before: BEFORE, bounds: BOUNDS } = plan.SLOT
const UNIT = plan.GAIN_UNIT

/** Ticks beyond which nothing is carried further: a guess that old is no guess. */
const CARRY_TICKS_MAX = 32
/** Steps a tick beyond which nothing goes on: that is a jump, not a motion. */
const MOTION_STEPS_MAX: number = 1 << 20
/** The class of an item when there is no older row to ask. */
export const CLASS_UNKNOWN = 7

/** What `predictNumber` leaves: how sure it is, the likely sign of the residual, and the value. */
export const GUESS = { value: 0, class: 1, sign: 2, size: 3 } as const

/** Predicts item `item`, a number, into `guess`; `plain` remembers, by item, what was predicted before following another. @hot */
export function predictNumber(
  { slots, gains }: plan.RowPlan, item: number, weights: Int8Array, pair: RowPair, plain: Int32Array, guess: Int32Array,
): void {
  const slot = item * SIZE
  const lane = slots[slot + LANE]
  const max = slots[slot + MAX]
  const base = pair.baseRows[pair.baseAt + lane]
  const age = pair.age < CARRY_TICKS_MAX ? pair.age : CARRY_TICKS_MAX
  let value = base
  if (slots[slot + RATE] >= 0) {
    const rate = slots[slots[slot + RATE] * SIZE + LANE]
    const before = pair.baseRows[pair.baseAt + rate]
    const now = pair.rows[pair.at + rate]
    const change = now - before
    const way = gains[item << 1] * ((age - 1) * before + (age + 1) * now) + gains[(item << 1) + 1] * 2 * age
    const parts = age === 0 ? 0 : way / (2 * UNIT)
    const whole = Math.floor(parts + 0.5)
    value = base + whole
    plain[item] = value
    guess[2] = change > 0 ? 1 : change < 0 ? -1 : parts < whole ? -1 : 1
    guess[1] = classOf(change, 6)
    if (slots[slot + BEFORE] >= 0 && weights[item << 3] !== 0) value += followed(slots, slot, change, pair, plain)
  } else if (pair.olderAt >= 0) {
    const folded = foldDifference(base, pair.olderRows[pair.olderAt + lane], max)
    const step = (folded >>> 1) ^ -(folded & 1)
    guess[1] = classOf(step, 6)
    guess[2] = step < 0 ? -1 : 1
    const weight = weights[(item << 3) + guess[1]]
    if (weight !== 0 && step < MOTION_STEPS_MAX && step > -MOTION_STEPS_MAX) value = (base + ((age * weight * step + 4) >> 3)) | 0
  } else {
    guess[1] = CLASS_UNKNOWN
    guess[2] = 1
  }
  guess[0] = slots[slot + BOUNDS] !== 0 ? (value < 0 ? 0 : value > max ? max : value) : goneRound(value, max)
}

/** Bits of a number's size, at most `most`. */
export function classOf(value: number, most: number): number {
  const bits = 32 - Math.clz32(value < 0 ? -value : value)
  return bits < most ? bits : most
}

/** What the component before came off by, in proportion to the changes of both rates. */
function followed(slots: Int32Array, slot: number, change: number, pair: RowPair, plain: Int32Array): number {
  const before = slots[slot + BEFORE]
  const rate = slots[before * SIZE + RATE]
  if (rate < 0) return 0
  const lane = slots[before * SIZE + LANE]
  const rateLane = slots[rate * SIZE + LANE]
  const off = pair.rows[pair.at + lane] - plain[before]
  const itsChange = pair.rows[pair.at + rateLane] - pair.baseRows[pair.baseAt + rateLane]
  // Of a small change, or a miss by one, nothing follows but noise.
  if (off > -2 && off < 2) return 0
  if (itsChange > -4 && itsChange < 4) return 0
  const share = Math.round((off * change) / itsChange)
  return share > MOTION_STEPS_MAX ? 0 : share < -MOTION_STEPS_MAX ? 0 : share
}

/** A value of a field that goes round, where it came round to; words keep to int32 and are settled by who stores them. */
function goneRound(value: number, max: number): number {
  if (max <= 0 || max >= 0x4000_0000) return value | 0
  return value - Math.floor(value / (max + 1)) * (max + 1)
}

/** Predicts an item that is a float, by its place among floats. @hot */
export function predictFloat({ slots }: plan.RowPlan, item: number, weights: Int8Array, pair: RowPair, guess: Int32Array): void {
  const lane = slots[item * SIZE + LANE]
  const base = orderFloat(pair.baseRows[pair.baseAt + lane])
  guess[0] = base
  guess[1] = CLASS_UNKNOWN
  guess[2] = 1
  if (pair.olderAt < 0) return
  const step = (base - orderFloat(pair.olderRows[pair.olderAt + lane])) | 0
  // Floats step in large numbers: four bits of a step are one class.
  guess[1] = (classOf(step, 24) + 3) >> 2
  guess[2] = step < 0 ? -1 : 1
  const age = pair.age < CARRY_TICKS_MAX ? pair.age : CARRY_TICKS_MAX
  const weight = weights[(item << 3) + guess[1]]
  if (weight !== 0 && step < MOTION_STEPS_MAX && step > -MOTION_STEPS_MAX) guess[0] = (base + ((age * weight * step + 4) >> 3)) | 0
}
