/** Blocks: 32 object indexes in one word. Bit `index & 31` of word `index >>> BLOCK_SHIFT` stands for an object. */

/** The number of indexes in a block, as a shift. */
export const BLOCK_SHIFT = 5

/** How many bits of a word are set. @hot */
export function countBits(word: number): number {
  let count = word - (word >>> 1 & 0x5555_5555)
  count = (count & 0x3333_3333) + (count >>> 2 & 0x3333_3333)
  return Math.imul(count + (count >>> 4) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
