/**
 * The arithmetic of the content hash: four 32-bit lanes that take one word each per block and feed each other.
 *
 * Every step is a bijection of the lane and of the word, so two contents that differ in one block only can never
 * meet again before `finish` cuts 128 bits to 64. See hash.ts for what is hashed and why.
 */

const MIX_A = 0x239b961b | 0
const MIX_B = 0xab0e9789 | 0
const MIX_C = 0x38b34ae5 | 0
const MIX_D = 0xa1e38b93 | 0

function scramble(word: number, first: number, turn: number, second: number): number {
  const k = Math.imul(word, first)
  return Math.imul((k << turn) | (k >>> (32 - turn)), second)
}

function feed(lane: number, turn: number, neighbour: number, salt: number): number {
  return (Math.imul(((lane << turn) | (lane >>> (32 - turn))) + neighbour, 5) + salt) | 0
}

/** @hot */
export function laneA(a: number, word: number, b: number): number {
  return feed(a ^ scramble(word, MIX_A, 15, MIX_B), 19, b, 0x561ccd1b)
}

/** @hot */
export function laneB(b: number, word: number, c: number): number {
  return feed(b ^ scramble(word, MIX_B, 16, MIX_C), 17, c, 0x0bcaa747)
}

/** @hot */
export function laneC(c: number, word: number, d: number): number {
  return feed(c ^ scramble(word, MIX_C, 17, MIX_D), 15, d, 0x96cd1c35)
}

/** @hot */
export function laneD(d: number, word: number, a: number): number {
  return feed(d ^ scramble(word, MIX_D, 18, MIX_A), 13, a, 0x32ac3b17)
}

/** The avalanche at the end: every bit of the lane reaches every bit. */
function avalanche(lane: number): number {
  let h = lane
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/**
 * @hot Takes the words of the last, partial block (zero where there are none: a zero word changes nothing) and the
 * size, and writes the 64 bits that leave: out[at] low, out[at + 1] high.
 */
export function finishLanes(
  a: number, b: number, c: number, d: number,
  word0: number, word1: number, word2: number, word3: number,
  sizeBytes: number, out: Uint32Array, at: number,
): void {
  let first = a ^ scramble(word0, MIX_A, 15, MIX_B) ^ sizeBytes
  let second = b ^ scramble(word1, MIX_B, 16, MIX_C) ^ sizeBytes
  let third = c ^ scramble(word2, MIX_C, 17, MIX_D) ^ sizeBytes
  let fourth = d ^ scramble(word3, MIX_D, 18, MIX_A) ^ sizeBytes
  first = (first + second + third + fourth) | 0
  second = avalanche((second + first) | 0)
  third = avalanche((third + first) | 0)
  fourth = avalanche((fourth + first) | 0)
  first = (avalanche(first) + second + third + fourth) | 0
  out[at] = first
  out[at + 1] = (second + first) | 0
}
