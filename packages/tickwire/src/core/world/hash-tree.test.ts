import { describe, expect, test } from 'vitest'
import { referenceTree } from '../../../../../test/reference/world-hash.ts'
import { Prng } from '../base/prng.ts'
import { HashTree, verifyProof } from './hash-tree.ts'

function rootOf(tree: HashTree): bigint {
  tree.settle()
  return (BigInt(tree.nodes[1]!) << 32n) | BigInt(tree.nodes[0]!)
}

function randomTree(seed: number, places: number, fill: number): { tree: HashTree; content: Map<number, bigint> } {
  const dice = new Prng(seed)
  const tree = new HashTree()
  const content = new Map<number, bigint>()
  for (let place = 0; place < places; place++) {
    if (dice.nextFloat() > fill) continue
    const [low, high] = [dice.nextU32(), dice.nextU32()]
    tree.set(place, Uint32Array.of(low, high), 0)
    content.set(place, (BigInt(high) << 32n) | BigInt(low))
  }
  return { tree, content }
}

describe('a tree of hashes', () => {
  test('[STATE1] has the root that its slow twin computes', () => {
    for (const [seed, places, fill] of [
      [1, 1, 1],
      [2, 2, 1],
      [3, 3, 1],
      [4, 64, 0.1],
      [5, 65, 0.5],
      [6, 300, 0.02],
      [7, 300, 1],
    ] as const) {
      const { tree, content } = randomTree(seed, places, fill)
      expect(rootOf(tree), `${places} places`).toBe(referenceTree(content))
    }
    expect(rootOf(new HashTree())).toBe(0n)
  })

  test('[STATE2] is the same for every order of operations: set, change, empty, grow, settle in between or not', () => {
    const dice = new Prng(9)
    const tree = new HashTree(2)
    const content = new Map<number, bigint>()
    for (let step = 0; step < 3000; step++) {
      const place = dice.nextInt(0, step / 4 | 0)
      const [low, high] = dice.nextInt(0, 2) === 0 ? [0, 0] : [dice.nextU32(), dice.nextU32()]
      tree.set(place, Uint32Array.of(low, high), 0)
      if (low === 0 && high === 0) content.delete(place)
      else content.set(place, (BigInt(high) << 32n) | BigInt(low))
      if (step % 150 === 0) expect(rootOf(tree)).toBe(referenceTree(content))
    }
    expect(rootOf(tree)).toBe(referenceTree(content))
  })

  test('[STATE3] depends on its content, and not on how large it has grown', () => {
    const { tree } = randomTree(11, 40, 0.5)
    const before = rootOf(tree)
    tree.reserve(5000)
    expect(rootOf(tree)).toBe(before)
    tree.set(4000, Uint32Array.of(1, 2), 0)
    expect(rootOf(tree)).not.toBe(before)
    tree.set(4000, Uint32Array.of(0, 0), 0)
    expect(rootOf(tree)).toBe(before)
  })

  test('[STATE3] two hashes that change places give another root', () => {
    const [a, b] = [new HashTree(), new HashTree()]
    a.set(3, Uint32Array.of(5, 6), 0)
    a.set(9, Uint32Array.of(7, 8), 0)
    b.set(9, Uint32Array.of(5, 6), 0)
    b.set(3, Uint32Array.of(7, 8), 0)
    expect(rootOf(a)).not.toBe(rootOf(b))
  })

  test('[STATE6] a proof shows the content of one place, and of no other', () => {
    const { tree, content } = randomTree(13, 200, 0.4)
    tree.settle()
    const root = tree.nodes.slice(0, 2)
    const [rootLow, rootHigh] = [root[0]!, root[1]!]
    for (const [place, hash] of content) {
      const [low, high] = [Number(hash & 0xffff_ffffn), Number(hash >> 32n)]
      const proof = tree.proof(place)
      expect(proof.length).toBe(8 * Math.log2(tree.capacity) / 2)
      expect(verifyProof(place, low, high, proof, rootLow, rootHigh)).toBe(true)
      expect(verifyProof(place, low ^ 1, high, proof, rootLow, rootHigh)).toBe(false)
      expect(verifyProof(place, low, high, proof, rootLow, rootHigh ^ 1)).toBe(false)
      expect(verifyProof(place + tree.capacity, low, high, proof, rootLow, rootHigh)).toBe(false)
      const bent = proof.slice()
      bent[2 * ((place + 1) & 3)]! += 1
      expect(verifyProof(place, low, high, bent, rootLow, rootHigh)).toBe(false)
    }
  })

  test('[STATE6] a proof also shows that a place is empty', () => {
    const { tree, content } = randomTree(14, 60, 0.5)
    tree.settle()
    const root = tree.nodes.slice(0, 2)
    const empty = Array.from({ length: 60 }, (_, place) => place).filter((place) => !content.has(place))
    for (const place of empty) expect(verifyProof(place, 0, 0, tree.proof(place), root[0]!, root[1]!)).toBe(true)
  })
})
