/**
 * Source text for `row-code-text.ts`: the prediction of one item (`guess`), its class and the likely sign (0 or -1).
 * The same as `row-predictor.ts`, with the item's slots as literals; the reasons are there.
 */

import { SLOT, type RowPlan } from './row-plan.ts'
import { CLASS_UNKNOWN, MOTION_MAX, MOTION_STEPS_MAX } from './row-predictor.ts'
import { BENDS_SHIFT, WEIGHTS_SHIFT } from './row-tables.ts'

/** A number without a rate: `guessFree`. */
export function freeGuess(plan: RowPlan, item: number): string {
  const slot = item << SLOT.shift
  const lane = plan.slots[slot + SLOT.lane]
  const bend = `bends[${item << BENDS_SHIFT} + (c${item} << 1) - sign]`
  return `guess = b${lane}
sign = 0
if (hasOlder) {
  const step = ${shortWay(plan, slot, `s${lane}`)}
  if (step !== 0) {
    sign = step >> 31
    ${motionClass(item, 'step')}
    if (step <= ${MOTION_STEPS_MAX} && step >= ${-MOTION_STEPS_MAX}) {
      const way = ticks * weights[${item << WEIGHTS_SHIFT} + c${item}] * step
      guess += olderTicks === 1 ? (way + 16) >> 5 : Math.floor((way + 16 * olderTicks) / (32 * olderTicks))
      guess += (ticks * (ticks + 1) * ${bend} + 16) >> 5
      ${settled(plan, slot)}
    }
  }
} else {
  c${item} = ${CLASS_UNKNOWN}
}`
}

/** A number with a rate: `guessCarried`. */
export function carriedGuess(plan: RowPlan, item: number): string {
  const slot = item << SLOT.shift
  const lane = plan.slots[slot + SLOT.lane]
  const rate = plan.slots[slot + SLOT.rateLane]
  const isLed = plan.slots[slot + SLOT.isLed] !== 0
  return `guess = p${item} = b${lane}
sign = 0
if (n${rate} !== b${rate} || n${rate} !== ${plan.rests[item]}) {
  const change = n${rate} - b${rate}
  const way = ${plan.gains[item << 1]} * ((ticks - 1) * b${rate} + (ticks + 1) * n${rate})
  + ${plan.gains[(item << 1) + 1]} * ticks
  const whole = ticks === 0 || way > ${MOTION_STEPS_MAX} || way < ${-MOTION_STEPS_MAX} ? 0 : Math.floor(way + 0.5) | 0
  guess = p${item} = (b${lane} + whole) | 0
  if (change === 0) {
    sign = way < whole ? -1 : 0
  } else {
    sign = change >> 31
    ${motionClass(item, 'change')}
    ${isLed ? followed(plan, item) : ''}
  }
  ${settled(plan, slot)}
}`
}

/** `followed`: a correction by the residual of the component before. */
function followed({ slots }: RowPlan, item: number): string {
  const slot = item << SLOT.shift
  const leadRate = slots[slot + SLOT.leadRateLane]
  return `if (weights[${item << WEIGHTS_SHIFT}] !== 0) {
      const its = (n${slots[slot + SLOT.leadLane]} - p${slots[slot + SLOT.before]}) | 0
      const itsChange = n${leadRate} - b${leadRate}
      if ((its > 1 || its < -1) && (itsChange > 3 || itsChange < -3)) {
        const share = Math.floor((its * change) / itsChange + 0.5)
        if (share <= ${MOTION_STEPS_MAX} && share >= ${-MOTION_STEPS_MAX}) guess = (guess + share) | 0
      }
    }`
}

function motionClass(item: number, step: string): string {
  return `size = 32 - Math.clz32((${step} ^ sign) - sign)
      c${item} = size < ${MOTION_MAX} ? size : ${MOTION_MAX}`
}

/** A guess clamped to its bounds, or wrapped. */
function settled({ slots }: RowPlan, slot: number): string {
  if (slots[slot + SLOT.bounds] === 0) return `guess &= ${slots[slot + SLOT.wrap]}`
  const max = slots[slot + SLOT.max]
  return `guess = guess < 0 ? 0 : guess > ${max} ? ${max} : guess`
}

/** A difference, the short way round. */
export function shortWay({ slots }: RowPlan, slot: number, difference: string): string {
  const turn = slots[slot + SLOT.turn]
  return turn === 0 ? `${difference} | 0` : `(${difference} << ${turn}) >> ${turn}`
}
