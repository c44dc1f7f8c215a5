/**
 * The hash function for state: objects, the tree over them, the world.
 *
 *   words    first | second | 0 | 0 | words ...        in blocks of four, one word for each accumulator a b c d
 *   block    a = turn(a ^ w0, 15) x A + b     b = turn(b ^ w1, 16) x B + c     c = ... 17 ... + d     d = ... 18 ... +
 * a
 *   rest     words of the last, partial block are only taken by XOR
 *   end      the finish of the content hash (base/hash-accumulators.ts), given the length of all words in bytes
 *
 * It is the content hash with one multiplication per word instead of three. Every step is a bijection of the
 * accumulator and of the word, and after the next block a difference is in two accumulators: collisions are as rare as
 * 64 bits allow (row-hash.test.ts looks for more). The first two words have a block of their own: if they were the
 * initial state, they could be traded for the words that follow.
 *
 * Not for bytes, and not for secrets.
 *
 * Fast and ugly: 20 ns for 20 words where the content hash takes 36 (bench/world.bench.ts). It is written out because
 * inlining of twelve small functions through three callers is not reliable. The clear twin is
 * test/reference/world-hash.ts; world-random-games.test.ts checks that the two agree.
 */

import { finishAccumulators } from '../base/hash-accumulators.ts'

const SEED = 0x7157_a7e5 | 0
const MIX_A = 0x239b961b | 0
const MIX_B = 0xab0e9789 | 0
const MIX_C = 0x38b34ae5 | 0
const MIX_D = 0xa1e38b93 | 0
/** The third accumulator after a first block with 0, and the fourth before the first is added. */
const START_C = (Math.imul((SEED << 17) | (SEED >>> 15), MIX_C) + SEED) | 0
const START_D = Math.imul((SEED << 18) | (SEED >>> 14), MIX_D)

/** Hashes words: out[to] is the low half. @hot */
export function hashRow(
  words: Int32Array, at: number, count: number, first: number, second: number, out: Uint32Array, to: number,
): void {
  let a = SEED ^ first
  a = (Math.imul((a << 15) | (a >>> 17), MIX_A) + SEED) | 0
  let b = SEED ^ second
  b = (Math.imul((b << 16) | (b >>> 16), MIX_B) + SEED) | 0
  let c = START_C
  let d = (START_D + a) | 0
  let lane = at
  const end = at + count
  for (; lane + 4 <= end; lane += 4) {
    a ^= words[lane]
    a = (Math.imul((a << 15) | (a >>> 17), MIX_A) + b) | 0
    b ^= words[lane + 1]
    b = (Math.imul((b << 16) | (b >>> 16), MIX_B) + c) | 0
    c ^= words[lane + 2]
    c = (Math.imul((c << 17) | (c >>> 15), MIX_C) + d) | 0
    d ^= words[lane + 3]
    d = (Math.imul((d << 18) | (d >>> 14), MIX_D) + a) | 0
  }
  if (lane < end) a ^= words[lane]
  if (lane + 1 < end) b ^= words[lane + 1]
  if (lane + 2 < end) c ^= words[lane + 2]
  finishAccumulators(a, b, c, d, (count + 4) * 4, out, to)
}
