import fc from 'fast-check'
import { expect, test } from 'vitest'
import { form } from '../../../../../test/form.ts'
import { unpackText } from '../../../../../test/reference/packed-text-reference.ts'
import cubes from '../../../../../bench/cubes/priors.json' with { type: 'json' }
import { decodeText, encodeText } from './packed-text.ts'
import { TextModel } from './text-model.ts'

const SIZE_MAX = 1 << 20
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(fc.array(fc.integer({ min: -9, max: 99 }), { maxLength: 20 }), { maxLength: 20 })
    .map((lists) => JSON.stringify(lists)),
  fc
    .tuple(fc.string({ unit: 'grapheme', maxLength: 4 }), fc.nat({ max: 200 }))
    .map(([text, times]) => text.repeat(times)),
)

test('[CODEC17] any text is read back, and a reader made from the standard reads the same', () => {
  fc.assert(fc.property(texts, (text) => {
    const bytes = encodeText(text)
    expect(decodeText(bytes, SIZE_MAX)).toBe(text)
    expect(unpackText([...bytes])).toBe(text)
  }), { seed: 1, numRuns: form(80, 200) })
})

test('[CODEC17] a text has one encoding: bytes that are read are those that are written', () => {
  const noise = fc
    .tuple(fc.nat({ max: 6 }), fc.array(fc.nat({ max: 255 }), { maxLength: 8 }))
    .map(([size, bytes]) => Uint8Array.of(size, ...bytes))
  const torn = fc.tuple(texts, fc.nat(), fc.nat({ max: 255 })).map(([text, at, byte]) => {
    const bytes = encodeText(text)
    // The size stays.
    if (bytes.length > 2) bytes[2 + at % (bytes.length - 2)] = byte
    return bytes
  })
  fc.assert(fc.property(fc.oneof(noise, torn), (bytes) => {
    const text = decodeText(bytes, SIZE_MAX)
    expect(unpackText([...bytes])).toBe(text)
    if (text !== undefined) expect([...encodeText(text)]).toEqual([...bytes])
  }), { seed: 2, numRuns: form(150, 400) })
})

test('[CODEC17] a text made against the model, always the least expected symbol, is read back too', () => {
  const model = new TextModel()
  let text = ''
  while (text.length < 3000) {
    let byte = 0
    for (let shift = 7; shift >= 0; shift--) {
      const bit = model.chance() < 16_384 && shift < 7 ? 1 : 0
      model.learn(bit)
      byte = 2 * byte + bit
    }
    text += String.fromCharCode(byte)
  }
  const bytes = encodeText(text)
  // Of each byte, seven bits are the less likely ones, and each of them takes more than one bit.
  expect(bytes.length).toBeGreaterThan((text.length * 7) / 8)
  expect(decodeText(bytes, SIZE_MAX)).toBe(text)
})

test('[CODEC17] a text that claims more than its limit, or does not end where it should, is refused', () => {
  const bytes = encodeText('{"Dot":[0,0,0,0]}')
  expect([decodeText(bytes, 17), decodeText(bytes, 16)]).toEqual(['{"Dot":[0,0,0,0]}', undefined])
  for (const end of [0, 1, 255]) expect(decodeText(Uint8Array.of(...bytes, end), SIZE_MAX)).toBeUndefined()
  for (const head of [[], [0x80], [0x91, 0], [2, 0xff, 0xff, 0xff, 0xff]])
    expect(decodeText(Uint8Array.from(head), SIZE_MAX)).toBeUndefined()
})

test('[CODEC17] the worked example of SNAPSHOTS.md', () => {
  expect(Buffer.from(encodeText('aaa')).toString('hex')).toBe('03616125')
})

test("[CODEC17] priors take a quarter of their text, and those of today's training less", () => {
  const text = JSON.stringify(cubes)
  const bytes = encodeText(text)
  expect(decodeText(bytes, SIZE_MAX)).toBe(text)
  expect(bytes.length).toBeLessThan(text.length / 3.8)
})
