import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HashStream } from './hash-stream.ts'
import { hashHex, hashWords } from './hash.ts'

const out = new Uint32Array(2)
const streamed = (stream: HashStream): string => {
  stream.finish(out, 0)
  return hashHex(out, 0)
}

test('[HASH4] a stream of words hashes as the array of them', () => {
  fc.assert(
    fc.property(fc.int32Array({ maxLength: 40 }), fc.integer(), (words, seed) => {
      const stream = new HashStream(seed)
      for (const word of words) stream.word(word)
      const got = streamed(stream)
      hashWords(words, 0, words.length, seed, out, 0)
      expect(got).toBe(hashHex(out, 0))
    }),
    { seed: 1, numRuns: 500 },
  )
})

test('[HASH4] asking in between changes nothing, and a reset stream is a new one', () => {
  const asked = new HashStream(1)
  for (const word of [1, 2, 3, 4, 5]) {
    asked.word(word)
    streamed(asked)
  }
  const silent = new HashStream(7).word(9).reset(1)
  for (const word of [1, 2, 3, 4, 5]) silent.word(word)
  expect(streamed(asked)).toBe(streamed(silent))
})

test('[HASH4] a double is its low half, then its high half; NaN is one; zeros have signs', () => {
  expect(streamed(new HashStream().double(1.5))).toBe(streamed(new HashStream().word(0).word(0x3ff80000)))
  expect(streamed(new HashStream().double(Number.MIN_VALUE))).toBe(streamed(new HashStream().word(1).word(0)))
  const odd = new DataView(new ArrayBuffer(8))
  odd.setUint32(0, 0xfff80000)
  odd.setUint32(4, 0x1234)
  expect(streamed(new HashStream().double(odd.getFloat64(0)))).toBe(streamed(new HashStream().double(NaN)))
  expect(streamed(new HashStream().double(-0))).not.toBe(streamed(new HashStream().double(0)))
})
