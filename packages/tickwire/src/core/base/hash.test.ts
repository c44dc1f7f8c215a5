import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { referenceHash } from '../../../../../test/reference/hash-reference.ts'
import { hash64, hashBytes, hashCombine, hashHex, hashWords } from './hash.ts'

const out = new Uint32Array(4)
const pair = (at: number): bigint => (BigInt(out[at + 1]!) << 32n) | BigInt(out[at]!)
const littleEndian = (words: Int32Array): Uint8Array => {
  const view = new DataView(new ArrayBuffer(words.length * 4))
  words.forEach((word, i) => view.setInt32(i * 4, word, true))
  return new Uint8Array(view.buffer)
}
interface Vectors {
  hashes: { meaning: string; bytes: string; seed: number; hash: string }[]
}
const vectors = JSON.parse(
  readFileSync(new URL('../../../../../test/vectors/hash.json', import.meta.url), 'utf8'),
) as Vectors
const seeds = fc.integer({ min: 0, max: 0xffff_ffff })

describe('hashBytes', () => {
  for (const { meaning, bytes, seed, hash } of vectors.hashes) {
    test(`[HASH1] vector: ${meaning}`, () => {
      const content = Uint8Array.from(bytes.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
      hashBytes(content, 0, content.length, seed, out, 0)
      expect(hashHex(out, 0)).toBe(hash)
      expect(referenceHash(content, seed).toString(16).padStart(16, '0')).toBe(hash)
    })
  }

  test('[HASH1] equals the slow twin at every size and seed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), seeds, (bytes, seed) => {
        expect(hash64(bytes, seed)).toBe(referenceHash(bytes, seed))
      }),
      { seed: 1, numRuns: 1000 },
    )
  })

  test('[HASH3] depends on the bytes only, not on where they lie', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 0, max: 9 }), (bytes, offset) => {
        const host = new Uint8Array(offset + bytes.length + 7).fill(0xa5)
        host.set(bytes, offset)
        hashBytes(host, offset, bytes.length, 7, out, 2)
        expect(pair(2)).toBe(hash64(bytes, 7))
      }),
      { seed: 2, numRuns: 500 },
    )
  })

  test('[HASH3] zero bytes at the end count', () => {
    const hashes = new Set<bigint>()
    for (let size = 0; size < 100; size++) hashes.add(hash64(new Uint8Array(size)))
    expect(hashes.size).toBe(100)
  })
})

describe('hashWords', () => {
  test('[HASH2] words hash as their little-endian bytes do', () => {
    fc.assert(
      fc.property(fc.int32Array({ maxLength: 40 }), seeds, fc.integer({ min: 0, max: 5 }), (words, seed, offset) => {
        const host = new Int32Array(offset + words.length + 3).fill(-1)
        host.set(words, offset)
        hashWords(host, offset, words.length, seed, out, 0)
        expect(pair(0)).toBe(referenceHash(littleEndian(words), seed))
      }),
      { seed: 3, numRuns: 1000 },
    )
  })
})

describe('hashCombine', () => {
  test('[HASH5] equals the hash of the running pair followed by the child', () => {
    fc.assert(
      fc.property(seeds, seeds, seeds, seeds, (low, high, childLow, childHigh) => {
        out[0] = low
        out[1] = high
        hashCombine(out, 0, childLow, childHigh)
        expect(pair(0)).toBe(referenceHash(littleEndian(Int32Array.of(low, high, childLow, childHigh))))
      }),
      { seed: 4, numRuns: 500 },
    )
  })

  test('[HASH5] order counts, and so does how often', () => {
    const fold = (...children: number[]): bigint => {
      out[0] = out[1] = 0
      for (const child of children) hashCombine(out, 0, child, 0)
      return pair(0)
    }
    expect(fold(1, 2)).not.toBe(fold(2, 1))
    expect(fold(1, 1)).not.toBe(fold())
    expect(fold(1)).not.toBe(fold(1, 0))
  })
})

test('[HASH6] is printed as 16 hex digits, high half first', () => {
  out[0] = 0x89
  out[1] = 0x1234_5678
  expect(hashHex(out, 0)).toBe('1234567800000089')
})
