/**
 * The state hash once more, slow and clear, in BigInt, written from docs/spec/world.md. Of src it knows nothing.
 */

import { referenceHash, referenceHashFrom } from './hash-reference.ts'

/** Seed of an object's hash. */
const OBJECT_SEED = 0x7157_a7e5

/** int32 words as bytes, low byte first. */
function bytesOf(words: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(words.length * 4)
  const view = new DataView(bytes.buffer)
  words.forEach((word, at) => view.setUint32(4 * at, word >>> 0, true))
  return bytes
}

/** [STATE1] An object: the words of its row, begun with its id and its owner. 0 is nobody's. */
export function objectHash(id: number, owner: number, words: readonly number[]): bigint {
  const hash = referenceHashFrom(bytesOf(words), [id, owner, OBJECT_SEED, OBJECT_SEED])
  return hash === 0n ? 1n : hash
}

/** [STATE1] A tree over numbered places, four to a node; a node with content in its first quarter only is that quarter. */
export function referenceTree(content: ReadonlyMap<number, bigint>): bigint {
  const last = Math.max(0, ...content.keys())
  let size = 1
  while (size <= last) size *= 4
  const node = (first: number, count: number): bigint => {
    if (count === 1) return content.get(first) ?? 0n
    const quarters = [0, 1, 2, 3].map((quarter) => node(first + (quarter * count) / 4, count / 4))
    return quarters.slice(1).every((hash) => hash === 0n) ? quarters[0]! : referenceHash(bytesOf(quarters.flatMap(halves)))
  }
  return node(0, size)
}

function halves(hash: bigint): number[] {
  return [Number(hash & 0xffff_ffffn), Number(hash >> 32n)]
}

/** [STATE1] A world: tick, generator, the entities by their roots, external state. */
export function worldHash(tick: number, prng: readonly number[], entities: readonly bigint[], external: number): bigint {
  const roots = new Map(entities.map((root, type) => [type, root] as const))
  return referenceHash(bytesOf([tick % 2 ** 32, Math.floor(tick / 2 ** 32), ...prng, ...halves(referenceTree(roots)), external]))
}
