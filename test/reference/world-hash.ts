/**
 * The state hash once more, slow and clear, in BigInt, written from docs/spec/world.md. Of src it knows nothing.
 */

import { referenceHash } from './hash-reference.ts'

/** Seed of an object's hash. */
export const OBJECT_SEED = 0x7157_a7e5

/** The hash of int32 words, low byte first. */
export function hashOfWords(words: readonly number[], seed: number): bigint {
  const bytes = new Uint8Array(words.length * 4)
  const view = new DataView(bytes.buffer)
  words.forEach((word, at) => view.setUint32(4 * at, word >>> 0, true))
  return referenceHash(bytes, seed)
}

/** [HASH5] Two hashes in order. */
export function combine(first: bigint, second: bigint): bigint {
  return hashOfWords([first, second].flatMap((hash) => [Number(hash & 0xffff_ffffn), Number(hash >> 32n)]), 0)
}

/** [STATE1] An object: its id, its owner, the words of its row. 0 is nobody's. */
export function objectHash(id: number, owner: number, words: readonly number[]): bigint {
  const hash = hashOfWords([id, owner, ...words], OBJECT_SEED)
  return hash === 0n ? 1n : hash
}

/** [STATE1] A tree over numbered places: halves of a power of two; a right half without content is left out. */
export function referenceTree(content: ReadonlyMap<number, bigint>): bigint {
  const last = Math.max(0, ...content.keys())
  let size = 1
  while (size <= last) size *= 2
  const node = (first: number, count: number): bigint => {
    if (count === 1) return content.get(first) ?? 0n
    const [left, right] = [node(first, count / 2), node(first + count / 2, count / 2)]
    return right === 0n ? left : combine(left, right)
  }
  return node(0, size)
}

/** [STATE1] A world: tick, generator, the entities by their roots, external state. */
export function worldHash(tick: number, prng: readonly number[], entities: readonly bigint[], external: number): bigint {
  const roots = new Map(entities.map((root, type) => [type, root] as const))
  const pair = (low: number, high: number): bigint => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
  let hash = pair(tick % 2 ** 32, Math.floor(tick / 2 ** 32))
  for (let word = 0; word < prng.length; word += 2) hash = combine(hash, pair(prng[word]!, prng[word + 1]!))
  return combine(combine(hash, referenceTree(roots)), pair(external, 0))
}
