/**
 * The text of a function that says the rows of one entity: `RowModel.encode` (row-model.ts) with the plan written into it,
 * straight from top to bottom, numbers where the model has tables of them. It takes two fifths of the time (docs/adr/0029); the model is the
 * clear twin, held equal bit by bit by node/compile-rows.test.ts.
 *
 * ```
 * n3, b3, s3   lane 3: now, in the baseline, and how far it went from the older row to the baseline
 * r5, c5       item 5: its residual with the likely sign, and its class
 * p5           what item 5 was guessed to be before it followed another
 * m0, d0, k0   chunk 0: what was in motion, what differs from the baseline, what came off its prediction
 * f0, g0       chunk 0: how many items came off, how many were in motion, as contexts
 * acc, used    bits that are not yet written, and how many: at most 32
 * ```
 *
 * Rotations, floats and values go through the model, item by item. Nothing but numbers of the plan goes into the text.
 */

import type { FieldSet } from './row-coder.ts'
import { HALF_REST } from './row-contexts.ts'
import { ITEM, SLOT, type RowPlan } from './row-plan.ts'
import { CARRY_TICKS_MAX } from './row-predictor.ts'
import { MASK_AT_REST, MASK_CONTEXTS_SHIFT, MASK_MOVING } from './row-tables.ts'
import { carriedItem, freeItem, otherItem } from './row-code-guess.ts'
import { itemText, PUT } from './row-code-token.ts'

/** The names under which the text knows the arguments of `EncodeRow`. */
export const ROW_CODE_PARAMETERS = ['out', 'pair', 'age', 'entries', 'parts', 'heap'] as const

/** The body of the function for the items of a field set. */
export function rowCode(plan: RowPlan, set: FieldSet): string {
  const chunkCount = plan.chunkCounts[set]
  const items = Array.from({ length: plan.chunks[chunkCount] }, (_, item) => item)
  const chunks = Array.from({ length: chunkCount }, (_, chunk) => chunk)
  return [
    '"use strict"',
    'const { rows, at, baseRows, baseAt, olderRows, olderAt, olderTicks } = pair',
    'const { weights, bends, tokens, activities, masks } = age',
    'const { spelling, spreads, residuals, classes } = parts',
    'const hasOlder = olderAt >= 0',
    `const ticks = pair.age < ${CARRY_TICKS_MAX} ? pair.age : ${CARRY_TICKS_MAX}`,
    'let acc = 0, used = 0, entry = 0, size = 0, guess = 0, off = 0, sign = 0, width = 0, bits = 0',
    laneText(plan, chunkCount),
    ...chunks.map((chunk) => chunkText(plan, chunk)),
    ...items.map((item) => itemText(plan, item)),
    'if (used !== 0) out.writeBits(acc, used)',
    `return ${chunks.map((chunk) => `d${chunk}`).join(' | ') || '0'} ? true : false`,
  ].join('\n')
}

/** Loads every lane once, and sees which items moved. */
function laneText({ lanes, laneBits, chunkLanes }: RowPlan, chunkCount: number): string {
  const used = lanes.subarray(0, chunkLanes[chunkCount])
  const moved: string[] = []
  const differs: string[] = []
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    for (let index = chunkLanes[chunk]; index < chunkLanes[chunk + 1]; index++) {
      moved.push(`if (s${lanes[index]} !== 0) m${chunk} |= ${laneBits[index]}`)
      differs.push(`if (n${lanes[index]} !== b${lanes[index]}) d${chunk} |= ${laneBits[index]}`)
    }
  }
  const lines: string[] = []
  for (const lane of used) lines.push(`const n${lane} = rows[at + ${lane}], b${lane} = baseRows[baseAt + ${lane}]\nlet s${lane} = 0`)
  for (let chunk = 0; chunk < chunkCount; chunk++) lines.push(`let m${chunk} = 0, d${chunk} = 0, k${chunk} = 0`)
  lines.push('if (hasOlder) {')
  for (const lane of used) lines.push(`s${lane} = (b${lane} - olderRows[olderAt + ${lane}]) | 0`)
  return [...lines, ...moved, '}', ...differs].join('\n')
}

/** Guesses the items of a chunk, and says which came off. */
function chunkText(plan: RowPlan, chunk: number): string {
  const { chunks, sorts } = plan
  const [first, end] = [chunks[chunk], chunks[chunk + 1]]
  const lines: string[] = []
  for (let item = first; item < end; item++) lines.push(guessText(plan, chunk, item, 1 << (item - first)))
  lines.push(
    `const code${chunk} = masks[${chunk << MASK_CONTEXTS_SHIFT} + (hasOlder ? activities[${chunk}][m${chunk}] : ${movingText(plan, first, end)} ? ${MASK_MOVING} : ${MASK_AT_REST})]`,
    `const turned${chunk} = k${chunk} ^ (m${chunk} & ${sorts[chunk].lasting})`,
    `const symbol${chunk} = code${chunk}.symbols[turned${chunk}]`,
    `entry = entries[code${chunk}.table << 8 | symbol${chunk}]`,
    'width = entry & 15',
    'bits = entry >>> 4',
    `if (symbol${chunk} >= code${chunk}.masks.length) { bits = bits << ${end - first} | turned${chunk}; width += ${end - first} }`,
    PUT,
    `const f${chunk} = spreads[k${chunk}], g${chunk} = spreads[m${chunk}]`,
  )
  return lines.join('\n')
}

function guessText(plan: RowPlan, chunk: number, item: number, bit: number): string {
  const { slots } = plan
  const slot = item << SLOT.shift
  const kind = slots[slot + SLOT.kind]
  const group = slots[slot + SLOT.group]
  const text = kind === ITEM.flag || kind === ITEM.value ? `k${chunk} |= d${chunk} & ${bit}`
    : kind !== ITEM.number ? otherItem(item, chunk, bit, kind === ITEM.float)
    : slots[slot + SLOT.rate] < 0 ? freeItem(plan, item, chunk, bit) : carriedItem(plan, item, chunk, bit)
  const guarded = group < 0 ? text : `if (n${group} !== 0) {\n${text}\n}`
  return `let r${item} = 0, c${item} = 0${slots[slot + SLOT.rate] < 0 ? '' : `, p${item} = 0`}\n${guarded}`
}

/** Whether the baseline alone says that something moves: as `RowModel` has it. */
function movingText({ slots, gains }: RowPlan, first: number, end: number): string {
  const ways: string[] = []
  for (let item = first; item < end; item++) {
    const slot = item << SLOT.shift
    if (slots[slot + SLOT.rate] < 0 || slots[slot + SLOT.kind] !== ITEM.number) continue
    ways.push(`Math.abs(${gains[item << 1]} * b${slots[slot + SLOT.rateLane]} + ${gains[(item << 1) + 1] / 2}) > ${HALF_REST}`)
  }
  return ways.length === 0 ? 'false' : `(${ways.join(' || ')})`
}
