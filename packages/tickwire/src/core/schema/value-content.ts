/**
 * A value of variable size as a heap keeps it: its canonical bits, what those bits decode to, and a key to find it by.
 */

import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import type { Field } from './field.ts'
import type { Leaf } from './leaf.ts'
import { readHeapValue, VALUE_BITS_MAX, writeHeapValue } from './value-codec.ts'

/** A value as its bits and as what they mean. */
export interface Content {
  readonly bytes: Uint8Array
  readonly bitCount: number
  readonly value: unknown
  readonly key: string
}

/** Initial values belong to the definition: encoded once, whatever number of heaps there are. */
const initials = new WeakMap<Leaf, Content>()

/** What handle 0 stands for. */
export function initialContent(leaf: Leaf): Content {
  let content = initials.get(leaf)
  if (content === undefined) {
    content = encodeContent(leaf, leaf.initial)
    freezeValue(leaf.field, content.value)
    initials.set(leaf, content)
  }
  return content
}

const scratch = new BitWriter(new Uint8Array(0))
const again = new BitReader(new Uint8Array(0))

/** Encodes a value and decodes it again: what is kept is what every peer will see, and nobody else's object. */
export function encodeContent(leaf: Leaf, value: unknown): Content {
  // Made when first needed: most peers only read.
  if (scratch.bytes.length === 0) scratch.reset(new Uint8Array(VALUE_BITS_MAX / 8))
  scratch.reset(scratch.bytes)
  try {
    writeHeapValue(scratch, leaf, value)
  } catch (cause) {
    if (cause instanceof RangeError) throw cause
    throw new RangeError(`${leaf.path}: the value cannot be written: ${String(cause)}`, { cause })
  }
  const bitCount = scratch.bitLength
  if (scratch.failed) throw new RangeError(`${leaf.path}: more than ${VALUE_BITS_MAX / 8} bytes in one value.`)
  scratch.finish()
  again.resetBits(scratch.bytes, 0, bitCount)
  const decoded = readHeapValue(again, leaf)
  if (again.failed || again.bitsLeft > 0) throw new RangeError(`${leaf.path}: the value does not read back as it was written.`)
  return makeContent(scratch.bytes, 0, bitCount, decoded)
}

/** The content that `bitCount` bits from `bitOffset` are, and that `value` is the meaning of. */
export function makeContent(bytes: Uint8Array, bitOffset: number, bitCount: number, value: unknown): Content {
  const copy = new Uint8Array((bitCount + 7) >>> 3)
  const writer = new BitWriter(copy)
  writer.copyBits(bytes, bitOffset, bitCount)
  writer.finish()
  return { bytes: copy, bitCount, value, key: keyOf(copy) }
}

/**
 * What lists are made of is ours, and shared: writing to it would change every object that holds an equal list. Bytes
 * cannot be frozen, and what a manual codec made is the game's own.
 */
export function freezeValue({ spec }: Field<unknown>, value: unknown): void {
  if (spec.kind === 'list' && Array.isArray(value)) {
    for (const item of Object.freeze(value)) freezeValue(spec.item, item)
  } else if (spec.kind === 'struct' || spec.kind === 'vector') {
    const inner = Object.values(Object.freeze(value) ?? {})
    Object.values(spec.shape).forEach((field, index) => freezeValue(field, inner[index]))
  } else if (spec.kind === 'quat') {
    Object.freeze(value)
  }
}

/** Bytes of content that become characters in one call: call arguments, so no more than any engine's stack takes. */
const KEY_CHUNK = 1024
const units = new Uint16Array(KEY_CHUNK)

/**
 * Content as a map key: two bytes a character. That says neither how many bits of the last byte count nor whether the last
 * character is half empty, and need not: no spelling of a field is the beginning of another. A string, since engines hash
 * those with a secret of their own: with a hash of ours whoever sends the values could make them all collide.
 */
function keyOf(bytes: Uint8Array): string {
  let key = ''
  let count = 0
  for (let at = 0; at < bytes.length; at += 2) {
    if (count === KEY_CHUNK) {
      key += charactersOf(count)
      count = 0
    }
    units[count++] = (bytes[at] << 8) | (bytes[at + 1] ?? 0)
  }
  return key + charactersOf(count)
}

function charactersOf(count: number): string {
  return Reflect.apply(String.fromCharCode, undefined, units.subarray(0, count))
}
