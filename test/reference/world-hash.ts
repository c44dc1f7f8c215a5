/**
 * The state hash once more, slow and clear, in BigInt, written from docs/spec/world.md. Of src it knows nothing.
 */

import { referenceHashFrom } from './hash-reference.ts'

/** The start value of every accumulator. */
const SEED = 0x7157_a7e5

/** [STATE1] An object: its id, its owner (0 for none), the words of its row. */
export function objectHash(id: number, owner: number, words: readonly number[]): bigint {
  const hash = rowHash([id, owner, ...words])
  return hash === 0n ? 1n : hash
}

const MIXES = [0x239b961bn, 0xab0e9789n, 0x38b34ae5n, 0xa1e38b93n]

/**
 * [STATE1] The first two words and two zeros, then the rest, in blocks of four, one word for each accumulator: the word
 * is added by XOR, the accumulator is rotated left by 15, 16, 17 or 18 bits, multiplied, and the next accumulator is
 * added. Words of the last, partial block are only added by XOR. The end is the content hash's.
 */
function rowHash([first, second, ...rest]: readonly number[]): bigint {
  const words = [first!, second!, 0, 0, ...rest]
  const lanes = [0, 1, 2, 3].map(() => BigInt(SEED))
  const blocks = Math.floor(words.length / 4)
  words.forEach((word, at) => {
    const lane = at % 4
    const taken = lanes[lane]! ^ BigInt(word >>> 0)
    const turn = 15n + BigInt(lane)
    const turned = ((taken << turn) | (taken >> (32n - turn))) & 0xffff_ffffn
    lanes[lane] = at < blocks * 4 ? (turned * MIXES[lane]! + lanes[(lane + 1) % 4]!) & 0xffff_ffffn : taken
  })
  return referenceHashFrom(new Uint8Array(0), lanes.map((lane) => Number(lane ^ BigInt(words.length * 4))))
}

/**
 * [STATE1] A tree over numbered places, four to a node; a node with content in its first quarter only is that quarter.
 */
export function referenceTree(content: ReadonlyMap<number, bigint>): bigint {
  const last = Math.max(0, ...content.keys())
  let size = 1
  while (size <= last) size *= 4
  const node = (first: number, count: number): bigint => {
    if (count === 1) return content.get(first) ?? 0n
    const quarters = [0, 1, 2, 3].map((quarter) => node(first + (quarter * count) / 4, count / 4))
    return quarters.slice(1).every((hash) => hash === 0n) ? quarters[0]! : rowHash(quarters.flatMap(halves))
  }
  return node(0, size)
}

function halves(hash: bigint): number[] {
  return [Number(hash & 0xffff_ffffn), Number(hash >> 32n)]
}

/**
 * [STATE1] The allocator: high water, length of the free queue, free ids in order, ids that died since the last tick.
 */
export function allocatorHash(highWater: number, free: readonly number[], buried: readonly number[]): bigint {
  return rowHash([highWater, free.length, ...free, ...buried])
}

/** [STATE1] A world: tick, generator, the entities by their roots, external state, allocator. */
export function worldHash(
  tick: number,
  prng: readonly number[],
  entities: readonly bigint[],
  external: number,
  allocator: bigint,
): bigint {
  const roots = new Map(entities.map((root, type) => [type, root] as const))
  return rowHash([
    tick % 2 ** 32,
    Math.floor(tick / 2 ** 32),
    ...prng,
    ...halves(referenceTree(roots)),
    external,
    ...halves(allocator),
  ])
}
