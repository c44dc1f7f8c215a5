/**
 * The content hash, slow and clear: MurmurHash3 x86_128 in BigInt, written from its published description, cut to the
 * first 64 bits. Imports nothing from src, so that the fast one has an independent check.
 */

const MASK = 0xffff_ffffn
const WORD_CONSTANTS = [0x239b961bn, 0xab0e9789n, 0x38b34ae5n, 0xa1e38b93n]
const WORD_TURNS = [15n, 16n, 17n, 18n]
const LANE_TURNS = [19n, 17n, 15n, 13n]
const LANE_SALTS = [0x561ccd1bn, 0x0bcaa747n, 0x96cd1c35n, 0x32ac3b17n]

const turn = (x: bigint, by: bigint): bigint => ((x << by) | (x >> (32n - by))) & MASK

/** Word `i` of a block, mixed for accumulator `i`. */
function scramble(word: bigint, i: number): bigint {
  const k = turn((word * WORD_CONSTANTS[i]!) & MASK, WORD_TURNS[i]!)
  return (k * WORD_CONSTANTS[(i + 1) % 4]!) & MASK
}

function avalanche(lane: bigint): bigint {
  let h = lane
  h ^= h >> 16n
  h = (h * 0x85ebca6bn) & MASK
  h ^= h >> 13n
  h = (h * 0xc2b2ae35n) & MASK
  return h ^ (h >> 16n)
}

/** The first accumulator becomes the sum of all; then it is added to the others. */
function gather(lanes: bigint[]): void {
  lanes[0] = (lanes[0]! + lanes[1]! + lanes[2]! + lanes[3]!) & MASK
  for (let i = 1; i < 4; i++) lanes[i] = (lanes[i]! + lanes[0]!) & MASK
}

/** The hash of `bytes` as one number: the low half is the first accumulator, the high half the second. */
export function referenceHash(bytes: Uint8Array, seed: number = 0): bigint {
  return referenceHashFrom(bytes, [seed, seed, seed, seed])
}

/** The same with a different start value for each accumulator. */
export function referenceHashFrom(bytes: Uint8Array, start: readonly number[]): bigint {
  const lanes = start.map((lane) => BigInt(lane >>> 0))
  const wholeBlocks = Math.floor(bytes.length / 16)
  const word = (at: number): bigint =>
    [0, 1, 2, 3].reduce((sum, i) => sum | (BigInt(bytes[at + i] ?? 0) << BigInt(8 * i)), 0n)

  for (let block = 0; block < wholeBlocks; block++) {
    for (let i = 0; i < 4; i++) {
      lanes[i] = turn(lanes[i]! ^ scramble(word(block * 16 + i * 4), i), LANE_TURNS[i]!)
      lanes[i] = ((lanes[i]! + lanes[(i + 1) % 4]!) * 5n + LANE_SALTS[i]!) & MASK
    }
  }
  for (let i = 0; i < 4; i++) lanes[i] = lanes[i]! ^ scramble(word(wholeBlocks * 16 + i * 4), i)
  for (let i = 0; i < 4; i++) lanes[i] = lanes[i]! ^ BigInt(bytes.length)
  gather(lanes)
  for (let i = 0; i < 4; i++) lanes[i] = avalanche(lanes[i]!)
  gather(lanes)
  return (lanes[1]! << 32n) | lanes[0]!
}
