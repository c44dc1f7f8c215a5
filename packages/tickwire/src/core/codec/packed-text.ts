/**
 * A compressed text: tables that a server sends while a match runs take a sixth of their JSON or less.
 *
 *   bytes of the text, varint | a range coder's section (bits/range-coder.ts): the text in UTF-8, bit by bit,
 *   high bits first, with the probabilities of text-model.ts
 *
 * Invariant: a text has one encoding, and every other is refused. The size comes first and is bounded, so the cost of
 * decoding a few bytes is bounded too.
 */

import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { RangeDecoder, RangeEncoder } from '../bits/range-coder.ts'
import { readUtf8, utf8Size, writeUtf8 } from '../bits/utf8.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { TextModel } from './text-model.ts'

const ONE = 1 << 15
/** The varint of a size. */
const HEAD_BYTES_MAX = 5

export function encodeText(text: string): Uint8Array {
  const size = utf8Size(text)
  const plain = new BitWriter(new Uint8Array(size))
  writeUtf8(plain, text)
  plain.finish()
  // A bit takes at most 12 bits, since its probability is at least 11 of 2^15. Only a text made against the model comes
  // near.
  const bytes = new Uint8Array(HEAD_BYTES_MAX + 12 * size + 8)
  const head = new BitWriter(bytes)
  writeVarint(head, size)
  const start = head.finish()
  const encoder = new RangeEncoder(bytes.subarray(start))
  const model = new TextModel()
  for (const byte of plain.bytes) {
    for (let shift = 7; shift >= 0; shift--) {
      const bit = (byte >> shift) & 1
      encoder.encodeFixed(ONE - model.chance(), bit)
      model.learn(bit)
    }
  }
  return bytes.slice(0, start + encoder.finish())
}

/** The text of these bytes; undefined when they are invalid or longer than `sizeMax` bytes. */
export function decodeText(bytes: Uint8Array, sizeMax: number): string | undefined {
  const head = new BitReader(bytes)
  const size = readVarint(head)
  if (head.failed || size > sizeMax) return undefined
  const decoder = new RangeDecoder(bytes.subarray(head.bitPosition / 8))
  const model = new TextModel()
  const plain = new Uint8Array(size)
  for (let at = 0; at < size && !decoder.failed; at++) {
    let byte = 0
    for (let count = 0; count < 8; count++) {
      const bit = decoder.decodeFixed(ONE - model.chance())
      model.learn(bit)
      byte = (byte << 1) | bit
    }
    plain[at] = byte
  }
  const reader = new BitReader(plain)
  const text = readUtf8(reader, size)
  return decoder.finish() && !reader.failed ? text : undefined
}
