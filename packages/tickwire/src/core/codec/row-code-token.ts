/**
 * Source text for `row-code-text.ts`: writes and reads the residual of an item, in its context. The same as in
 * `row-model.ts`.
 */

import { ITEM, SLOT, type RowPlan } from './row-plan.ts'
import { TOKEN_CONTEXTS_SHIFT } from './row-tables.ts'

/** Residual sizes that a table encodes; larger ones are rare. */
export const SPELT_SIZES = 256

/** Appends `width` bits to the accumulator: at most 22. */
export const PUT: string =
  'if (used + width > 32) { out.writeBits(acc, used); acc = bits; used = width } '
  + 'else { acc = acc << width | bits; used += width }'
/** Writes the accumulated bits. */
const FLUSH = 'if (used !== 0) out.writeBits(acc, used)\n  acc = used = 0'

/** Encodes an item, if it has a residual. */
export function tokenText(plan: RowPlan, item: number): string {
  const { slots, chunks } = plan
  const kind = slots[(item << SLOT.shift) + SLOT.kind]
  if (kind === ITEM.flag) return ''
  const chunk = chunks.findLastIndex((first) => first <= item)
  if (kind === ITEM.value)
    return `if (k${chunk} & ${1 << (item - chunks[chunk])}) {\n  ${FLUSH}\n`
      + `  parts.write(${chunk}, ${item}, age, pair, heap)\n}`
  if (kind === ITEM.dropped)
    return `if (r${item} !== 0) {\n  entry = entries[age.dropped[${item}] << 8 | r${item} - 1]\n`
      + `  width = entry & 15\n  bits = entry >>> 4\n  ${PUT}\n}`
  return `if (r${item} !== 0) {
  const table = tokens[${contextText(plan, item, chunk)}]
  sign = r${item} >> 31
  size = (r${item} ^ sign) - sign - 1
  if (size < ${SPELT_SIZES}) {
    const spelt = spelling[size]
    entry = entries[table << 8 | (spelt >>> 4) - sign]
    width = spelt & 15
    bits = (entry >>> 4) << width | size & ((1 << width) - 1)
    width += entry & 15
    ${PUT}
  } else {
  ${FLUSH}
    parts.token(table, r${item})
  }
}`
}

/** Decodes a number that was predicted, and puts it into the row. */
export function readResidualText(plan: RowPlan, item: number, chunk: number, bit: number): string {
  const slot = item << SLOT.shift
  const [lane, max, shift, turn, wrap] = [SLOT.lane, SLOT.max, SLOT.sign, SLOT.turn, SLOT.wrap].map(
    (place) => plan.slots[slot + place],
  )
  return `if (k${chunk} & ${bit}) {
  r${item} = residuals[${item}] = parts.readToken(tokens[${contextText(plan, item, chunk)}])
  off = ((r${item} ^ sign) - sign) | 0
  ${turn === 0 ? '' : `if ((off << ${turn}) >> ${turn} !== off) reader.fail()`}
  guess += off
}
guess &= ${wrap}
${max === -1 ? '' : `if (guess >>> 0 > ${max >>> 0}) reader.fail()`}
n${lane} = rows[at + ${lane}] = ${shift === 0 ? 'guess' : `(guess << ${shift}) >> ${shift}`}`
}

/** The context of an item's token. */
function contextText(plan: RowPlan, item: number, chunk: number): string {
  const near =
    plan.slots[(item << SLOT.shift) + SLOT.kind] === ITEM.code ? codeContext(plan, item) : tokenContext(plan, item)
  return `${item << TOKEN_CONTEXTS_SHIFT} + (c${item} << 5) + ${plan.parts[item] === 0 ? 'g' : 'f'}${chunk} + ${near}`
}

/** How fast the vector moved, or the size of the residual before; for a third component, the larger of both. */
function tokenContext(plan: RowPlan, item: number): string {
  const { slots } = plan
  const slot = item << SLOT.shift
  const isThird = item > 0 && slots[slot + SLOT.before] >= 0 && slots[slot - (1 << SLOT.shift) + SLOT.before] >= 0
  const before =
    item === 0
      ? '0'
      : classText(isThird ? `${sizeOf(`r${item - 1}`)} | ${sizeOf(`r${item - 2}`)}` : sizeOf(`r${item - 1}`))
  const laneCount = slots[slot + SLOT.leadRateLane]
  if (laneCount === 0 || slots[slot + SLOT.rate] >= 0) return before
  return `(hasOlder ? ${vectorText(plan, slot, item, laneCount)} : ${before})`
}

function vectorText({ slots }: RowPlan, slot: number, item: number, laneCount: number): string {
  // Lanes that wrap at 2^32 may differ by more than an int32: the model handles those.
  if (slots[slot + SLOT.bounds] === 0) return `parts.vectorClass(${item}, pair)`
  const first = slots[slot + SLOT.leadLane]
  return classText(Array.from({ length: laneCount }, (_, index) => sizeOf(`s${first + index}`)).join(' | '))
}

/** The residuals of the codes before it, or, for the first, of the items before the rotation. */
function codeContext({ slots }: RowPlan, item: number): string {
  let dropped = item - 1
  while (slots[(dropped << SLOT.shift) + SLOT.kind] !== ITEM.dropped) dropped--
  const code = item - dropped - 1
  const first = code === 0 ? Math.max(0, item - 4) : dropped + 1
  const end = code === 0 ? dropped : item
  const sizes = Array.from({ length: end - first }, (_, index) => sizeOf(`r${first + index}`))
  return sizes.length === 0 ? '0' : classText(sizes.join(' | '))
}

function sizeOf(residual: string): string {
  return `((${residual} ^ (${residual} >> 31)) - (${residual} >> 31))`
}

/** The number of bits of a size, at most 7. */
function classText(size: string): string {
  return `((size = 32 - Math.clz32(${size})) < 7 ? size : 7)`
}
