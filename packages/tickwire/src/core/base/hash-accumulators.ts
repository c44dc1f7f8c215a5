/**
 * The arithmetic of the content hash: four 32-bit accumulators that take one word each per block and feed each other.
 *
 * Every operation is a bijection of accumulator and word, so two contents that differ in one block only cannot collide
 * before `finish` truncates 128 bits to 64. See hash.ts for what is hashed and why.
 */

const MIX_A = 0x239b961b | 0
const MIX_B = 0xab0e9789 | 0
const MIX_C = 0x38b34ae5 | 0
const MIX_D = 0xa1e38b93 | 0

// An accumulator takes a word of a full block, and is fed by its neighbour. Written out four times, because the
// compiler reliably inlines only one level of calls.

/** @hot */
export function accA(a: number, word: number, b: number): number {
  const k = Math.imul(word, MIX_A)
  const acc = a ^ Math.imul((k << 15) | (k >>> 17), MIX_B)
  return (Math.imul(((acc << 19) | (acc >>> 13)) + b, 5) + 0x561ccd1b) | 0
}

/** @hot */
export function accB(b: number, word: number, c: number): number {
  const k = Math.imul(word, MIX_B)
  const acc = b ^ Math.imul((k << 16) | (k >>> 16), MIX_C)
  return (Math.imul(((acc << 17) | (acc >>> 15)) + c, 5) + 0x0bcaa747) | 0
}

/** @hot */
export function accC(c: number, word: number, d: number): number {
  const k = Math.imul(word, MIX_C)
  const acc = c ^ Math.imul((k << 17) | (k >>> 15), MIX_D)
  return (Math.imul(((acc << 15) | (acc >>> 17)) + d, 5) + 0x96cd1c35) | 0
}

/** @hot */
export function accD(d: number, word: number, a: number): number {
  const k = Math.imul(word, MIX_D)
  const acc = d ^ Math.imul((k << 18) | (k >>> 14), MIX_A)
  return (Math.imul(((acc << 13) | (acc >>> 19)) + a, 5) + 0x32ac3b17) | 0
}

// An accumulator takes a word of the last, partial block. A zero word changes nothing, so missing words count as zero.

/** @hot */
export function tailA(a: number, word: number): number {
  const k = Math.imul(word, MIX_A)
  return a ^ Math.imul((k << 15) | (k >>> 17), MIX_B)
}

/** @hot */
export function tailB(b: number, word: number): number {
  const k = Math.imul(word, MIX_B)
  return b ^ Math.imul((k << 16) | (k >>> 16), MIX_C)
}

/** @hot */
export function tailC(c: number, word: number): number {
  const k = Math.imul(word, MIX_C)
  return c ^ Math.imul((k << 17) | (k >>> 15), MIX_D)
}

/** @hot */
export function tailD(d: number, word: number): number {
  const k = Math.imul(word, MIX_D)
  return d ^ Math.imul((k << 18) | (k >>> 14), MIX_A)
}

/** The final avalanche: every input bit affects every output bit of the accumulator. */
function avalanche(acc: number): number {
  let h = acc
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** @hot Folds the size in and writes the final 64 bits: out[at] low, out[at + 1] high. */
export function finishAccumulators(
  a: number, b: number, c: number, d: number, sizeBytes: number, out: Uint32Array, at: number,
): void {
  const sum = ((a ^ sizeBytes) + (b ^ sizeBytes) + (c ^ sizeBytes) + (d ^ sizeBytes)) | 0
  const second = avalanche(((b ^ sizeBytes) + sum) | 0)
  const third = avalanche(((c ^ sizeBytes) + sum) | 0)
  const fourth = avalanche(((d ^ sizeBytes) + sum) | 0)
  const low = (avalanche(sum) + second + third + fourth) | 0
  out[at] = low
  out[at + 1] = (second + low) | 0
}
