/**
 * Strict UTF-8, directly to and from bit cursors (core has no TextEncoder, and the platform's decoders repair what they
 * should refuse).
 *
 * Invariant: one text has one encoding. The reader refuses over-long forms, surrogates, code points above U+10FFFF,
 * stray and missing continuation bytes. A lone surrogate in a JavaScript string has no UTF-8: the writer sends U+FFFD.
 *
 * It does not normalise, and a byte order mark is a character like any other.
 */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'

/** Size of `text` in bytes. */
export function utf8Size(text: string): number {
  let size = 0
  for (let index = 0; index < text.length; index++) {
    const code = codePoint(text, index)
    if (code > 0xffff) index++
    size += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4
  }
  return size
}

/** The longest prefix of `text`, in whole code points, that takes at most `bytesMax` bytes. */
export function clipUtf8(text: string, bytesMax: number): string {
  let size = 0
  let index = 0
  while (index < text.length) {
    const code = codePoint(text, index)
    size += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4
    if (size > bytesMax) break
    index += code > 0xffff ? 2 : 1
  }
  return text.slice(0, index)
}

/** Writes the bytes of `text`, without a length. */
export function writeUtf8(writer: BitWriter, text: string): void {
  for (let index = 0; index < text.length; index++) {
    const code = codePoint(text, index)
    if (code < 0x80) {
      writer.writeBits(code, 8)
    } else if (code < 0x800) {
      writer.writeBits(0xc080 | ((code & 0x7c0) << 2) | (code & 0x3f), 16)
    } else if (code < 0x1_0000) {
      writer.writeBits(0xe0_8080 | ((code & 0xf000) << 4) | ((code & 0xfc0) << 2) | (code & 0x3f), 24)
    } else {
      index++
      const head = 0xf080_8080 | ((code & 0x1c_0000) << 6) | ((code & 0x3_f000) << 4)
      writer.writeBits(head | ((code & 0xfc0) << 2) | (code & 0x3f), 32)
    }
  }
}

/** Reads `size` bytes of text; empty once failed. */
export function readUtf8(reader: BitReader, size: number): string {
  // Nothing is decoded or allocated for a size above the remaining bytes.
  if (size * 8 > reader.bitsLeft) reader.fail()
  let text = ''
  let count = 0
  let left = reader.failed ? 0 : size
  while (left > 0) {
    const lead = reader.readBits(8)
    const extra = lead < 0x80 ? 0 : lead < 0xc0 ? -1 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf8 ? 3 : -1
    if (extra < 0 || extra >= left) return refuse(reader)
    left -= 1 + extra
    let code = extra === 0 ? lead : lead & (0x3f >> extra)
    for (let more = 0; more < extra; more++) {
      const byte = reader.readBits(8)
      if ((byte & 0xc0) !== 0x80) return refuse(reader)
      code = (code << 6) | (byte & 0x3f)
    }
    if (code < LEAST[extra] || code > 0x10_ffff || (code >= 0xd800 && code < 0xe000)) return refuse(reader)
    if (code > 0xffff) {
      units[count++] = 0xd800 | ((code - 0x1_0000) >> 10)
      units[count++] = 0xdc00 | (code & 0x3ff)
    } else {
      units[count++] = code
    }
    if (count >= UNITS - 1) {
      text += take(count)
      count = 0
    }
  }
  return count === 0 ? text : text + take(count)
}

/** The lowest code point for each number of continuation bytes; a lower one is an over-long form. */
const LEAST: readonly number[] = [0, 0x80, 0x800, 0x1_0000]

/**
 * Code units decoded before they become a string: they are call arguments, so no more than any engine's stack allows.
 */
const UNITS = 1024
const units: Uint16Array = new Uint16Array(UNITS)

function take(count: number): string {
  return Reflect.apply(String.fromCharCode, undefined, units.subarray(0, count))
}

function refuse(reader: BitReader): string {
  reader.fail()
  return ''
}

/** The code point at `index`, U+FFFD for half of a surrogate pair. */
function codePoint(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit < 0xd800 || unit > 0xdfff) return unit
  const next = index + 1 < text.length ? text.charCodeAt(index + 1) : 0
  if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff) return 0xfffd
  return 0x1_0000 + ((unit - 0xd800) << 10) + (next - 0xdc00)
}
