import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { makeCodecVectors, type CodecVector } from '../../tools/gen-vectors-codec.ts'
import { bytesToBits } from './bits-reference.ts'
import { decodePacked } from './packed-reference.ts'
import { parseSchemaText } from './schema-text.ts'

const VECTORS = JSON.parse(readFileSync(new URL('../vectors/codec.json', import.meta.url), 'utf8')) as readonly CodecVector[]
const PACKED = VECTORS.filter(({ coder }) => coder === 'packed')

function bitsOf({ hex, bits }: CodecVector): string {
  return bytesToBits(Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))).slice(0, bits)
}

/** Lanes of 32 bits may be read signed or not. */
const words = (lanes: readonly number[]): number[] => lanes.map((lane) => lane >>> 0)

test('[CODEC13] the packed vectors mean what the chapter says, to a reader that has never seen the engine', () => {
  expect(PACKED.length).toBeGreaterThan(10)
  for (const vector of PACKED) {
    const { row, taken } = decodePacked(bitsOf(vector), parseSchemaText(vector.schema), vector.base, vector.initial)
    expect(words(row)).toEqual(words(vector.row))
    expect(taken).toBe(vector.bits)
  }
})

test('[CODEC13] the engine still writes the vectors of both codecs', () => {
  expect(makeCodecVectors()).toEqual(VECTORS)
})

test('[CODEC13] the reader finds a wrong bit', () => {
  const [vector] = PACKED
  const bits = bitsOf(vector!)
  const flipped = `${bits.slice(0, -1)}${bits.endsWith('1') ? '0' : '1'}`
  expect(decodePacked(flipped, parseSchemaText(vector!.schema), vector!.base, vector!.initial).row).not.toEqual(vector!.row)
})
