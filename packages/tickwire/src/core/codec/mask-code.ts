/**
 * The code of a chunk's masks: frequent masks have a symbol, the others are written bit by bit after an escape.
 */

import { bitsFor } from '../schema/leaf.ts'
import type { CodeBank } from './code-bank.ts'
import type { MaskCode } from './row-tables.ts'

/** The most masks with a symbol: a table has 256 symbols, two of which are not masks. */
export const MASKS_MAX = 254

/** A mask that occurs less than once in this many times has no symbol: no code is that long. */
export const MASK_RARE = 8192

/**
 * The code of masks with these frequencies, indexed by mask. The first chunk has one more symbol: no mask follows at
 * all. The order is that of the masks, so that a list of masks and frequencies defines the code.
 */
export function makeMaskCode(
  bank: CodeBank,
  frequencies: ArrayLike<number>,
  isFirst: boolean,
  masksMax: number,
): MaskCode {
  let sum = 0
  for (let mask = 0; mask < frequencies.length; mask++) sum += frequencies[mask]
  const frequent: number[] = []
  for (let mask = 0; mask < frequencies.length; mask++) if (frequencies[mask] * MASK_RARE > sum) frequent.push(mask)
  const masks = frequent
    .sort((a, b) => frequencies[b] - frequencies[a] || a - b)
    .slice(0, masksMax)
    .sort((a, b) => a - b)
  const listed = masks.map((mask) => frequencies[mask])
  const rest = Math.max(sum - listed.reduce((total, each) => total + each, 0), sum / 4096)
  return maskCodeOf(bank, masks, [...listed, rest], isFirst, bitsFor(frequencies.length - 1))
}

/** The code of listed masks, from the frequency of each and, last, of all others. */
export function maskCodeOf(
  bank: CodeBank,
  masks: readonly number[],
  frequencies: readonly number[],
  isFirst: boolean,
  width: number,
): MaskCode {
  const sum = frequencies.reduce((total, each) => total + each, 0)
  const table = bank.add(isFirst ? [...frequencies, sum / 4096] : frequencies)
  const symbols = new Uint16Array(1 << width).fill(masks.length)
  masks.forEach((mask, symbol) => { symbols[mask] = symbol })
  return { table, masks: Uint16Array.from(masks), symbols }
}
