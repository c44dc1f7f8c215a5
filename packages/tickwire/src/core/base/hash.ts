/**
 * The 64-bit content hash: state hashes, desync trees, schema fingerprints.
 *
 * It is MurmurHash3 x86_128 (published, public domain) truncated to its first 64 bits. Reasons: its 128 bits of state
 * separate contents that 64 would not, and it needs only 32-bit multiplies, so it runs in plain JavaScript at gigabytes
 * per second (bench/numbers.bench.ts) with no BigInt and no WebAssembly.
 *
 *   content    w0 w1 w2 w3 | w4 w5 w6 w7 | ... | tail, padded with zeros     little-endian 32-bit words
 *              each block is folded into the accumulators a b c d (hash-accumulators.ts)
 *   result     out[at] = low 32 bits, out[at + 1] = high 32 bits
 *
 * Invariant: the result depends on the values and their order only, never on the machine's byte order, on alignment or
 * on how the content was divided. Words hash as their little-endian bytes do (HASH2).
 *
 * It is not cryptographic: an attacker that chooses the content can produce collisions. Never authenticate with it. A
 * seed gives a different hash of the same content, but it does not separate kinds of content (empty content under seed
 * 1 has the hash of one zero byte under seed 0): to separate kinds, hash the kind as the first word.
 *
 * Slow reference: test/reference/hash-reference.ts, compared by hash.test.ts.
 */

import { finishAccumulators, accA, accB, accC, accD, tailA, tailB, tailC, tailD } from './hash-accumulators.ts'

const BLOCK_BYTES = 16
const BLOCK_WORDS = 4

/** @hot Hashes `byteLength` bytes from `byteOffset`: out[at] is the low half, out[at + 1] the high half. */
export function hashBytes(
  bytes: Uint8Array, byteOffset: number, byteLength: number, seed: number, out: Uint32Array, at: number,
): void {
  let a = seed | 0
  let b = a
  let c = a
  let d = a
  let i = byteOffset
  const end = byteOffset + byteLength
  for (const stop = end - BLOCK_BYTES; i <= stop; i += BLOCK_BYTES) {
    a = accA(a, bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24), b)
    b = accB(b, bytes[i + 4] | (bytes[i + 5] << 8) | (bytes[i + 6] << 16) | (bytes[i + 7] << 24), c)
    c = accC(c, bytes[i + 8] | (bytes[i + 9] << 8) | (bytes[i + 10] << 16) | (bytes[i + 11] << 24), d)
    d = accD(d, bytes[i + 12] | (bytes[i + 13] << 8) | (bytes[i + 14] << 16) | (bytes[i + 15] << 24), a)
  }
  a = tailA(a, tailWord(bytes, i, end))
  b = tailB(b, tailWord(bytes, i + 4, end))
  c = tailC(c, tailWord(bytes, i + 8, end))
  d = tailD(d, tailWord(bytes, i + 12, end))
  finishAccumulators(a, b, c, d, byteLength, out, at)
}

/** The little-endian word at `at`; bytes from `end` on read as zero. */
function tailWord(bytes: Uint8Array, at: number, end: number): number {
  let word = 0
  for (let i = Math.min(at + 4, end) - 1; i >= at; i--) word = (word << 8) | bytes[i]
  return word
}

/** @hot Hashes `length` int32 values from `offset`, as their little-endian bytes would be hashed. */
export function hashWords(
  words: Int32Array, offset: number, length: number, seed: number, out: Uint32Array, at: number,
): void {
  let a = seed | 0
  let b = a
  let c = a
  let d = a
  let i = offset
  const end = offset + length
  for (const stop = end - BLOCK_WORDS; i <= stop; i += BLOCK_WORDS) {
    a = accA(a, words[i], b)
    b = accB(b, words[i + 1], c)
    c = accC(c, words[i + 2], d)
    d = accD(d, words[i + 3], a)
  }
  if (i < end) a = tailA(a, words[i])
  if (i + 1 < end) b = tailB(b, words[i + 1])
  if (i + 2 < end) c = tailC(c, words[i + 2])
  finishAccumulators(a, b, c, d, length * 4, out, at)
}

/**
 * @hot Folds a child's hash into the running one at out[at], out[at + 1]. Order counts: parts folded in a different
 * order give a different hash, which an XOR of parts would hide (HASH5). Equals hashWords over the four words, seed 0.
 */
export function hashCombine(out: Uint32Array, at: number, childLow: number, childHigh: number): void {
  // As int32: a word above 2^31 would be boxed wherever a call below is not inlined.
  const a = accA(0, out[at] | 0, 0)
  const b = accB(0, out[at + 1] | 0, 0)
  const c = accC(0, childLow | 0, 0)
  const d = accD(0, childHigh | 0, a)
  finishAccumulators(a, b, c, d, BLOCK_BYTES, out, at)
}

/** The hash at out[at], out[at + 1] as 16 hex digits, high half first: for printing and comparing by eye. */
export function hashHex(out: Uint32Array, at: number): string {
  return out[at + 1].toString(16).padStart(8, '0') + out[at].toString(16).padStart(8, '0')
}

/** The hash of whole bytes as one bigint. For edges and fingerprints; hot paths keep the halves. */
export function hash64(bytes: Uint8Array, seed: number = 0): bigint {
  const out = new Uint32Array(2)
  hashBytes(bytes, 0, bytes.length, seed, out, 0)
  return (BigInt(out[1]) << 32n) | BigInt(out[0])
}
