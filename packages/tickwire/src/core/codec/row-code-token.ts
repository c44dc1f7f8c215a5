/** Text for `row-code-text.ts`: what is said of an item that came off its prediction, and in which context. The same as in `row-model.ts`. */

import { ITEM, SLOT, type RowPlan } from './row-plan.ts'
import { TOKEN_CONTEXTS_SHIFT } from './row-tables.ts'

/** Sizes of residuals that are spelt by a table; larger ones are rare. */
export const SPELT_SIZES = 256

/** Gathers `width` bits: at most 22. */
export const PUT = 'if (used + width > 32) { out.writeBits(acc, used); acc = bits; used = width } else { acc = acc << width | bits; used += width }'
/** Writes out what was gathered. */
const FLUSH = 'if (used !== 0) out.writeBits(acc, used)\n  acc = used = 0'

/** Says an item, if it came off. */
export function itemText(plan: RowPlan, item: number): string {
  const { slots, chunks, parts } = plan
  const kind = slots[(item << SLOT.shift) + SLOT.kind]
  if (kind === ITEM.flag) return ''
  const chunk = chunks.findLastIndex((first) => first <= item)
  if (kind === ITEM.value) return `if (k${chunk} & ${1 << (item - chunks[chunk])}) {\n  ${FLUSH}\n  parts.write(${chunk}, ${item}, age, pair, heap)\n}`
  if (kind === ITEM.dropped) return `if (r${item} !== 0) {\n  entry = entries[age.dropped[${item}] << 8 | r${item} - 1]\n  width = entry & 15\n  bits = entry >>> 4\n  ${PUT}\n}`
  const context = kind === ITEM.code ? codeContext(plan, item) : tokenContext(plan, item)
  return `if (r${item} !== 0) {
  const table = tokens[${item << TOKEN_CONTEXTS_SHIFT} + (c${item} << 5) + ${parts[item] === 0 ? 'g' : 'f'}${chunk} + ${context}]
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

/** How fast the vector moved, or how far the item before came off; of a third component, the further of both. */
function tokenContext(plan: RowPlan, item: number): string {
  const { slots } = plan
  const slot = item << SLOT.shift
  const isThird = item > 0 && slots[slot + SLOT.before] >= 0 && slots[slot - (1 << SLOT.shift) + SLOT.before] >= 0
  const before = item === 0 ? '0' : classText(isThird ? `${sizeOf(`r${item - 1}`)} | ${sizeOf(`r${item - 2}`)}` : sizeOf(`r${item - 1}`))
  const laneCount = slots[slot + SLOT.leadRateLane]
  if (laneCount === 0 || slots[slot + SLOT.rate] >= 0) return before
  return `(hasOlder ? ${vectorText(plan, slot, item, laneCount)} : ${before})`
}

function vectorText({ slots }: RowPlan, slot: number, item: number, laneCount: number): string {
  // Lanes that go round at 2^32 differ by more than an int32: that is for the model.
  if (slots[slot + SLOT.bounds] === 0) return `parts.vectorClass(${item}, pair)`
  const first = slots[slot + SLOT.leadLane]
  return classText(Array.from({ length: laneCount }, (_, index) => sizeOf(`s${first + index}`)).join(' | '))
}

/** How far codes before it came off, or, for the first, the items before the rotation. */
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

/** Bits of a size, at most 7. */
function classText(size: string): string {
  return `((size = 32 - Math.clz32(${size})) < 7 ? size : 7)`
}
