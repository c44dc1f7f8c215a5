/**
 * Tables for a game without training: what its schema alone allows to assume.
 *
 * Rates change in bursts, fields with a rate differ from their prediction by a rounding, angles wander, health is
 * mostly constant. The numbers below were found on the two scenes of bench/ and rounded so that they fit neither in
 * particular. Training replaces all of it.
 */

import { pow } from '../base/math.ts'
import { bitsFor } from '../schema/leaf.ts'
import { tokenFrequencies } from './built-in-shapes.ts'
import { CodeBank } from './code-bank.ts'
import { makeMaskCode, MASKS_MAX } from './mask-code.ts'
import { ITEM, ROLE, SLOT, type RowPlan } from './row-plan.ts'
import * as tables from './row-tables.ts'

/** Frequencies of the dropped component when it is not the predicted one, counted from that one. */
const DROPPED: readonly number[] = [1, 1, 1]

/** Indexed by age class: the ticks that it stands for. */
const TICKS = [0, 1, 2.5, 5.5, 9.5, 13.5, 24] as const

export class BuiltInTables implements tables.RowTables {
  readonly version: number = 0
  readonly bank: CodeBank = new CodeBank()
  readonly #plan: RowPlan
  readonly #ages: (tables.AgeTables | undefined)[] = new Array<undefined>(tables.AGE_CLASSES).fill(undefined)

  constructor(plan: RowPlan) {
    this.#plan = plan
  }

  at(age: number): tables.AgeTables {
    return (this.#ages[age] ??= builtInAge(this.#plan, this.bank, age))
  }
}

/** The built-in tables of one age class. */
export function builtInAge(plan: RowPlan, bank: CodeBank, age: number): tables.AgeTables {
  const chunkCount = plan.chunks.length - 1
  return {
    weights: builtInWeights(plan, age).map((eighths) => eighths * 4),
    bends: new Int16Array(plan.count << tables.BENDS_SHIFT),
    tokens: builtInTokens(plan, bank, age),
    dropped: new Uint16Array(plan.count).fill(bank.add(DROPPED)),
    activities: Array.from({ length: chunkCount }, (_, chunk) => builtInActivities(plan, chunk)),
    masks: Array.from({ length: chunkCount }, (_, chunk) => builtInMasks(plan, bank, chunk, age)).flat(),
  }
}

/** The codes of one chunk, by context. Built-in activities are 0..7; the others never occur. */
function builtInMasks(plan: RowPlan, bank: CodeBank, chunk: number, age: number): tables.MaskCode[] {
  const roles = new Set<number>()
  for (let item = plan.chunks[chunk]; item < plan.chunks[chunk + 1]; item++) roles.add(slotOf(plan, item, SLOT.role))
  const hasMotion = roles.size > 1 || !roles.has(ROLE.other)
  const made = new Map<number, tables.MaskCode>()
  const codeOf = (context: number): tables.MaskCode => {
    // For a new object, and where nothing moves, all contexts are the same.
    const key = age === 0 ? 0 : hasMotion ? context : context >= tables.MASK_AT_REST ? 0 : context & 4
    let code = made.get(key)
    if (code === undefined) made.set(key, (code = builtInMask(plan, bank, chunk, key, age)))
    return code
  }
  return Array.from({ length: 1 << tables.MASK_CONTEXTS_SHIFT }, (_, context) =>
    codeOf(context >= tables.MASK_AT_REST ? context : context & 7),
  )
}

function slotOf({ slots }: RowPlan, item: number, slot: number): number {
  return slots[(item << SLOT.shift) + slot]
}

/** How much of a motion continues, in eighths. */
export function builtInWeights(plan: RowPlan, age: number): Int8Array {
  const weights = new Int8Array(plan.count << tables.WEIGHTS_SHIFT)
  for (let item = 0; item < plan.count; item++) {
    const role = slotOf(plan, item, SLOT.role)
    const first = item << tables.WEIGHTS_SHIFT
    // The second component of a vector follows the first; the third, often height, is independent.
    const before = slotOf(plan, item, SLOT.before)
    const follows = role === ROLE.carried && before >= 0 && slotOf(plan, before, SLOT.before) < 0
    if (role === ROLE.carried) weights[first] = follows ? 8 : 0
    else if (role === ROLE.rate)
      weights.set(age <= 1 ? [0, 0, 6, 8, 8, 8, 8] : age <= 3 ? [0, 0, 0, 4, 6, 7, 7] : [0, 0, 0, 0, 0, 2, 2], first)
    else if (role === ROLE.mover) {
      // A body keeps its direction; a head turns back and forth.
      const isHead = slotOf(plan, item, SLOT.turn) !== 0
      const far = isHead ? [0, 0, 0, 2, 3, 4, 4] : age <= 5 ? [0, 0, 1, 6, 7, 8, 8] : [0, 0, 0, 3, 5, 6, 7]
      weights.set(age <= 1 ? [0, 0, 5, 7, 7, 7, 7] : age <= 2 && isHead ? [0, 0, 1, 3, 5, 6, 6] : far, first)
    }
  }
  return weights
}

/** The mean residual of a float when nothing is known of its motion. */
const FLOAT_START = 16_384

/** Built-in tables distinguish these sizes of the residual before: 4 stands for all above. */
const NEAR_MAX = 4

function builtInTokens(plan: RowPlan, bank: CodeBank, age: number): Uint16Array {
  const tokens = new Uint16Array(plan.count << tables.TOKEN_CONTEXTS_SHIFT)
  for (let item = 0; item < plan.count; item++) {
    const found: number[] = []
    for (let context = 0; context < 1 << tables.TOKEN_CONTEXTS_SHIFT; context++) {
      const motion = context >> 5
      const near = Math.min(context & 7, NEAR_MAX)
      const key = motion * (NEAR_MAX + 1) + near
      tokens[(item << tables.TOKEN_CONTEXTS_SHIFT) + context] = found[key] ??= bank.add(
        builtInToken(plan, item, age, motion, near),
      )
    }
  }
  return tokens
}

/** The frequency of each token of an item in a context. */
export function builtInToken(
  plan: RowPlan,
  item: number,
  age: number,
  motion: number,
  before: number,
): readonly number[] {
  const role = slotOf(plan, item, SLOT.role)
  const max = slotOf(plan, item, SLOT.max) >>> 0
  const width = bitsFor(max)
  const ticks = TICKS[age]
  // A new object can be anywhere.
  if (age === 0) return tokenFrequencies(pow(2, Math.max(0, Math.min(width, 20) - 2)), 0)
  const step = motion === 0 ? 0 : 0.75 * pow(2, motion)
  const unknown = pow(2, Math.min(width, 24) / 3 - 1)
  const near = before === 0 ? 1 : before === 1 ? 0.6 : before === 2 ? 0.8 : before === 3 ? 1 : 1.5
  if (role === ROLE.carried) {
    const gain = 2 * Math.abs(plan.gains[item << 1])
    return tokenFrequencies(0.05 + 0.02 * ticks + step * gain * ticks * 0.12, motion === 0 ? 1 : 0)
  }
  if (slotOf(plan, item, SLOT.kind) === ITEM.float) return floatToken(ticks, motion, near)
  if (motion === 7) return tokenFrequencies(unknown * pow(ticks, 0.6), 0)
  if (motion === 0) {
    const start =
      role === ROLE.rate
        ? unknown * pow(ticks, 0.5) * near
        : role === ROLE.mover
          ? pow(ticks, 0.7) * near
          : unknown * 0.6
    return tokenFrequencies(start, 0)
  }
  const left = role === ROLE.other ? 0.3 : 0.22
  return tokenFrequencies((0.4 + step * left) * pow(ticks, 0.6) * near, 0)
}

/**
 * Floats step in thousands, and a class covers four bits of step: the mean residual is the least step of the class.
 * Above 2^20 the residual is noise, and the escape encodes all 32 bits in 33.
 */
function floatToken(ticks: number, motion: number, near: number): readonly number[] {
  const size = motion === 0 || motion === 7 ? FLOAT_START : pow(2, 4 * motion - 4)
  return tokenFrequencies(size * pow(ticks, 0.6) * near, 0)
}

/** Activities without training: which roles of item changed. */
function builtInActivities(plan: RowPlan, chunk: number): Uint8Array {
  const first = plan.chunks[chunk]
  const count = plan.chunks[chunk + 1] - first
  return Uint8Array.from({ length: 1 << count }, (_, changed) => {
    let activity = 0
    for (let item = 0; item < count; item++) {
      if ((changed >> item & 1) === 0) continue
      const role = slotOf(plan, first + item, SLOT.role)
      activity |= role === ROLE.rate ? 1 : role === ROLE.other ? 4 : 2
    }
    return activity
  })
}

function builtInMask(plan: RowPlan, bank: CodeBank, chunk: number, context: number, age: number): tables.MaskCode {
  const first = plan.chunks[chunk]
  const count = plan.chunks[chunk + 1] - first
  const frequencies = new Float64Array(1 << count)
  frequencies[0] = 1
  for (let item = 0; item < count; item++) {
    const odds = oddsOf(plan, first + item, context, age)
    for (let mask = 0, half = 1 << item; mask < half; mask++) {
      frequencies[half + mask] = frequencies[mask] * odds
      frequencies[mask] *= 1 - odds
    }
  }
  return makeMaskCode(bank, frequencies, chunk === 0, MASKS_MAX)
}

/** Indexed by role: the probability of a residual in a tick when it is only known that something moves. */
const UNKNOWN_ODDS = [0.08, 0.3, 0, 0.8] as const

/** The probability that an item's bit in the mask is set. */
export function oddsOf(plan: RowPlan, item: number, context: number, age: number): number {
  if (age === 0) return 0.5
  const role = slotOf(plan, item, SLOT.role)
  const isUnknown = context >= tables.MASK_AT_REST
  const isMoving = context === tables.MASK_MOVING
  const rates = isUnknown ? isMoving : (context & 1) !== 0
  const movers = isUnknown ? isMoving : (context & 3) !== 0
  const others = !isUnknown && (context & 4) !== 0
  const isFlag = slotOf(plan, item, SLOT.kind) === ITEM.flag
  if (slotOf(plan, item, SLOT.kind) === ITEM.dropped) return movers ? 0.05 : 0.01
  if (isUnknown && role !== ROLE.carried)
    return 1 - pow(1 - UNKNOWN_ODDS[role] * (isMoving ? 1 : 0.2), pow(TICKS[age], 0.8))
  // The bits of lasting items are inverted: these are the probabilities of starting and stopping, not of moving.
  const once = role === ROLE.rate ? (rates ? 0.3 : movers ? 0.06 : 0.03)
    : role === ROLE.carried ? (rates ? 0.4 : movers ? 0.28 : 0.03)
    : role === ROLE.mover ? (movers ? 0.08 : 0.05)
    : (others ? 0.06 : 0.02) * (isFlag ? 0.5 : 1)
  // More happens over more ticks. Residuals of items with a rate are mostly roundings, which do not add up.
  const times = role === ROLE.carried ? pow(TICKS[age], 0.35) : pow(TICKS[age], 0.55)
  return 1 - pow(1 - once, times)
}
