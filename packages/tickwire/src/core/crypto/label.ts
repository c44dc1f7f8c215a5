/**
 * Labels as bytes. They separate domains, so that a key or signature for one purpose is not valid for another.
 */

import { assert } from '../base/assert.ts'

/** The bytes of a 7-bit text and a terminating zero, so that no label is a prefix of another. */
export function label(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length + 1)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    assert(code > 0 && code < 0x80, 'labels are ASCII')
    bytes[index] = code
  }
  return bytes
}

/** Concatenates all parts. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
