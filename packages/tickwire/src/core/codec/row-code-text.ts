/**
 * Source text of functions that encode and decode the rows of one entity: `RowModel` with the plan as literals, as
 * straight-line code. It takes a third of the time (docs/adr/0029). The model is the readable version;
 * node/compile-rows.test.ts checks that both produce the same bits.
 *
 * ```
 * n3, b3, s3   lane 3: now, in the baseline, and the step from the older row to the baseline
 * r5, c5       item 5: its residual, with the sign relative to the likely one, and its class
 * p5           the guess of item 5 before the correction by the component before it
 * m0, d0, k0   chunk 0: items in motion, items that differ from the baseline, items with a residual
 * f0, g0       chunk 0: the number of items with a residual, and in motion, as contexts
 * acc, used    bits not yet written, and their number: at most 32
 * ```
 *
 * Rotations, floats and values go through the model, item by item. Only numbers of the plan become part of the text.
 */

import type { FieldSet } from './row-coder.ts'
import { HALF_REST, RAW_MASK } from './row-contexts.ts'
import { ITEM, SLOT, type RowPlan } from './row-plan.ts'
import { CARRY_TICKS_MAX } from './row-predictor.ts'
import { MASK_AT_REST, MASK_CONTEXTS_SHIFT, MASK_MOVING } from './row-tables.ts'
import { carriedGuess, freeGuess, shortWay } from './row-code-guess.ts'
import { readResidualText, PUT, tokenText } from './row-code-token.ts'

/** The names of the arguments of `WriteRow` and `ReadRow` in the text. */
export const WRITE_PARAMETERS = ['out', 'pair', 'age', 'entries', 'parts', 'heap'] as const
export const READ_PARAMETERS = ['reader', 'pair', 'age', 'parts', 'heap'] as const

const HEAD = [
  '"use strict"',
  'const { rows, at, baseRows, baseAt, olderRows, olderAt, olderTicks } = pair',
  'const { weights, bends, tokens, activities, masks } = age',
  'const { spelling, spreads, residuals, classes } = parts',
  'const hasOlder = olderAt >= 0',
  `const ticks = pair.age < ${CARRY_TICKS_MAX} ? pair.age : ${CARRY_TICKS_MAX}`,
  'let acc = 0, used = 0, entry = 0, size = 0, guess = 0, off = 0, sign = 0, width = 0, bits = 0',
].join('\n')

const upTo = (count: number): number[] => Array.from({ length: count }, (_, each) => each)

/** The body of the function that encodes the items of a field set. */
export function writeText(plan: RowPlan, set: FieldSet): string {
  const chunks = upTo(plan.chunkCounts[set])
  return [
    HEAD,
    ...lanesOf(plan, chunks.length).map(
      (lane) => `const n${lane} = rows[at + ${lane}], b${lane} = baseRows[baseAt + ${lane}]`,
    ),
    motionText(plan, chunks.length),
    ...chunks.map((chunk) => `let d${chunk} = 0`),
    ...eachLane(plan, chunks.length, (lane, chunk, bit) => `if (n${lane} !== b${lane}) d${chunk} |= ${bit}`),
    ...chunks.map((chunk) => writeChunk(plan, chunk)),
    ...upTo(plan.chunks[chunks.length]).map((item) => tokenText(plan, item)),
    'if (used !== 0) out.writeBits(acc, used)',
    `return ${chunks.map((chunk) => `d${chunk}`).join(' | ') || '0'} ? true : false`,
  ].join('\n')
}

/**
 * The body of the function that decodes the items of a field set, for rows of `laneCount` lanes. It returns false where
 * a packed delta follows.
 */
export function readText(plan: RowPlan, set: FieldSet, laneCount: number): string {
  const chunks = upTo(plan.chunkCounts[set])
  const items = upTo(plan.chunks[chunks.length])
  return [
    HEAD,
    ...upTo(laneCount).map(
      (lane) => `const b${lane} = baseRows[baseAt + ${lane}]\nlet n${lane} = rows[at + ${lane}] = b${lane}`,
    ),
    motionText(plan, chunks.length),
    ...chunks.map((chunk) => readChunk(plan, chunk)),
    ...chunks.flatMap((chunk) =>
      upTo(plan.chunks[chunk + 1])
        .slice(plan.chunks[chunk])
        .map((item) => readItem(plan, item, chunk)),
    ),
    ...items.map((item) => `residuals[${item}] = 0`),
    'return true',
  ].join('\n')
}

/** The lanes of the first `chunkCount` chunks. */
function lanesOf({ lanes, chunkLanes }: RowPlan, chunkCount: number): number[] {
  return [...lanes.subarray(0, chunkLanes[chunkCount])]
}

function eachLane(
  { lanes, laneBits, chunkLanes }: RowPlan,
  chunkCount: number,
  text: (lane: number, chunk: number, bit: number) => string,
): string[] {
  return upTo(chunkCount).flatMap((chunk) =>
    upTo(chunkLanes[chunk + 1])
      .slice(chunkLanes[chunk])
      .map((index) => text(lanes[index], chunk, laneBits[index])),
  )
}

/** Finds which items were in motion. */
function motionText(plan: RowPlan, chunkCount: number): string {
  const lanes = lanesOf(plan, chunkCount)
  return [
    ...lanes.map((lane) => `let s${lane} = 0`),
    ...upTo(chunkCount).map((chunk) => `let m${chunk} = 0, k${chunk} = 0`),
    'if (hasOlder) {',
    ...lanes.map((lane) => `s${lane} = (b${lane} - olderRows[olderAt + ${lane}]) | 0`),
    ...eachLane(plan, chunkCount, (lane, chunk, bit) => `if (s${lane} !== 0) m${chunk} |= ${bit}`),
    '}',
  ].join('\n')
}

/** Selects the code of a chunk's mask. */
function maskCodeText(plan: RowPlan, chunk: number): string {
  const moving = movingText(plan, plan.chunks[chunk], plan.chunks[chunk + 1])
  const context = `hasOlder ? activities[${chunk}][m${chunk}] : ${moving} ? ${MASK_MOVING} : ${MASK_AT_REST}`
  return `const code${chunk} = masks[${chunk << MASK_CONTEXTS_SHIFT} + (${context})]`
}

/** Predicts the items of a chunk, and encodes which have a residual. */
function writeChunk(plan: RowPlan, chunk: number): string {
  const { chunks, sorts } = plan
  const [first, end] = [chunks[chunk], chunks[chunk + 1]]
  return [
    ...upTo(end).slice(first).map((item) => compareItem(plan, chunk, item, 1 << (item - first))),
    maskCodeText(plan, chunk),
    `const turned${chunk} = k${chunk} ^ (m${chunk} & ${sorts[chunk].lasting})`,
    `const symbol${chunk} = code${chunk}.symbols[turned${chunk}]`,
    `entry = entries[code${chunk}.table << 8 | symbol${chunk}]`,
    'width = entry & 15',
    'bits = entry >>> 4',
    `if (symbol${chunk} >= code${chunk}.masks.length) { `
      + `bits = bits << ${end - first} | turned${chunk}; width += ${end - first} }`,
    PUT,
    `const f${chunk} = spreads[k${chunk}], g${chunk} = spreads[m${chunk}]`,
  ].join('\n')
}

/** Computes the residual of an item, and its bit of the mask. */
function compareItem(plan: RowPlan, chunk: number, item: number, bit: number): string {
  const { slots } = plan
  const slot = item << SLOT.shift
  const kind = slots[slot + SLOT.kind]
  const group = slots[slot + SLOT.group]
  const lane = slots[slot + SLOT.lane]
  const compared = `off = ${shortWay(plan, slot, `(n${lane} - guess)`)}\n`
    + `if (off !== 0) { k${chunk} |= ${bit}; r${item} = ((off ^ sign) - sign) | 0 }`
  const asked = `if (parts.compare(${item}, age, pair)) k${chunk} |= ${bit}\n`
    + `r${item} = residuals[${item}]\nc${item} = classes[${item}]\nresiduals[${item}] = 0`
  const ifMoved = (text: string): string => `if ((m${chunk} | d${chunk}) & ${bit}) {\n${text}\n}`
  const text =
    kind === ITEM.flag || kind === ITEM.value
      ? `k${chunk} |= d${chunk} & ${bit}`
      : kind === ITEM.float
        ? ifMoved(asked)
        : kind !== ITEM.number
          ? asked
          : slots[slot + SLOT.rate] < 0
            ? ifMoved(`${freeGuess(plan, item)}\n${compared}`)
            : `${carriedGuess(plan, item)}\n${compared}`
  return `${itemNames(plan, item)}\n${group < 0 ? text : `if (n${group} !== 0) {\n${text}\n}`}`
}

/** Reads which items of a chunk have a residual. */
function readChunk(plan: RowPlan, chunk: number): string {
  const width = plan.chunks[chunk + 1] - plan.chunks[chunk]
  return `${maskCodeText(plan, chunk)}
k${chunk} = parts.readMask(code${chunk}, ${width})
if (k${chunk} === ${RAW_MASK}) return false
k${chunk} ^= m${chunk} & ${plan.sorts[chunk].lasting}
parts.share(${chunk}, k${chunk}, m${chunk})
const f${chunk} = spreads[k${chunk}], g${chunk} = spreads[m${chunk}]`
}

/** Predicts an item, and reads its residual. */
function readItem(plan: RowPlan, item: number, chunk: number): string {
  const { slots, chunks } = plan
  const slot = item << SLOT.shift
  const bit = 1 << (item - chunks[chunk])
  const kind = slots[slot + SLOT.kind]
  const group = slots[slot + SLOT.group]
  const lane = slots[slot + SLOT.lane]
  const asked = `parts.readOther(${chunk}, ${item}, (k${chunk} & ${bit}) !== 0, age, pair, heap)\n`
    + `r${item} = residuals[${item}]`
  const ifMoved = (text: string): string => `if ((m${chunk} | k${chunk}) & ${bit}) {\n${text}\n}`
  const text =
    kind === ITEM.flag
      ? `if (k${chunk} & ${bit}) n${lane} = rows[at + ${lane}] = b${lane} ^ 1`
      : kind === ITEM.value
        ? `if (k${chunk} & ${bit}) parts.readOther(${chunk}, ${item}, true, age, pair, heap)`
        : kind === ITEM.float
          ? ifMoved(asked)
          : kind !== ITEM.number
            ? asked
            : slots[slot + SLOT.rate] < 0
              ? ifMoved(`${freeGuess(plan, item)}\n${readResidualText(plan, item, chunk, bit)}`)
              : `${carriedGuess(plan, item)}\n${readResidualText(plan, item, chunk, bit)}`
  if (group < 0) return `${itemNames(plan, item)}\n${text}`
  return `${itemNames(plan, item)}\nif (n${group} === 0) {\nif (k${chunk} & ${bit}) reader.fail()\n`
    + `parts.leave(${item}, pair)\n} else {\n${text}\n}`
}

function itemNames({ slots }: RowPlan, item: number): string {
  return `let r${item} = 0, c${item} = 0${slots[(item << SLOT.shift) + SLOT.rate] < 0 ? '' : `, p${item} = 0`}`
}

/** Whether the baseline alone shows that something moves, as in `RowModel`. */
function movingText({ slots, gains }: RowPlan, first: number, end: number): string {
  const ways: string[] = []
  for (let item = first; item < end; item++) {
    const slot = item << SLOT.shift
    if (slots[slot + SLOT.rate] < 0 || slots[slot + SLOT.kind] !== ITEM.number) continue
    ways.push(
      `Math.abs(${gains[item << 1]} * b${slots[slot + SLOT.rateLane]} + ${gains[(item << 1) + 1] / 2}) > ${HALF_REST}`,
    )
  }
  return ways.length === 0 ? 'false' : `(${ways.join(' || ')})`
}
