/**
 * A value of variable size as a heap stores it: its canonical bits, the value they decode to, and a key to find it by.
 */

import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import type { Field } from './field.ts'
import type { Leaf } from './leaf.ts'
import { readHeapValue, ValueCounts, valueBitsMax, writeHeapValue } from './value-codec.ts'

/** A value and its bits. */
export interface Content {
  readonly bytes: Uint8Array
  readonly bitCount: number
  readonly value: unknown
  readonly key: string
}

/** Initial values belong to the definition: encoded once, whatever the number of heaps. */
const initials = new WeakMap<Leaf, Content>()

/** The content of handle 0. */
export function initialContent(leaf: Leaf): Content {
  let content = initials.get(leaf)
  if (content === undefined) {
    const counts = new ValueCounts()
    content = encodeContent(leaf, leaf.initial, counts)
    if (content === undefined || counts.clipped > 0)
      throw new RangeError(`${leaf.path}: the value is longer than the field allows.`)
    freezeValue(leaf.field, content.value)
    initials.set(leaf, content)
  }
  return content
}

const scratch = new BitWriter(new Uint8Array(0))
const again = new BitReader(new Uint8Array(0))

/**
 * Encodes a value and decodes it again: the stored value is what every peer will see, and shares no object with the
 * caller. A value that is too long is cut; undefined when it cannot be.
 */
export function encodeContent(leaf: Leaf, value: unknown, counts: ValueCounts): Content | undefined {
  // Made when first needed: most peers only read.
  if (scratch.bytes.length < valueBitsMax(leaf) / 8) scratch.reset(new Uint8Array(valueBitsMax(leaf) / 8))
  if (!isWritten(leaf, value, counts) && !isClippedList(leaf, value, counts)) return undefined
  const bitCount = scratch.bitLength
  scratch.finish()
  again.resetBits(scratch.bytes, 0, bitCount)
  const decoded = readHeapValue(again, leaf)
  if (again.failed || again.bitsLeft > 0)
    throw new RangeError(`${leaf.path}: the value does not read back as it was written.`)
  return makeContent(scratch.bytes, 0, bitCount, decoded)
}

/** Writes a value to the scratch bytes; false when they do not hold it. */
function isWritten(leaf: Leaf, value: unknown, counts: ValueCounts): boolean {
  scratch.reset(scratch.bytes, 0, valueBitsMax(leaf) / 8)
  try {
    writeHeapValue(scratch, leaf, value, counts)
  } catch (cause) {
    if (cause instanceof RangeError) throw cause
    throw new RangeError(`${leaf.path}: the value cannot be written: ${String(cause)}`, { cause })
  }
  return !scratch.failed
}

/** Writes the longest prefix of a list that fits one value, found by halving; false for values that are not lists. */
function isClippedList(leaf: Leaf, value: unknown, counts: ValueCounts): boolean {
  if (leaf.field.spec.kind !== 'list' || !Array.isArray(value)) return false
  counts.clipped++
  const uncounted = new ValueCounts()
  let [fits, fails] = [0, value.length]
  while (fails - fits > 1) {
    const middle = (fits + fails) >>> 1
    if (isWritten(leaf, value.slice(0, middle), uncounted)) fits = middle
    else fails = middle
  }
  return isWritten(leaf, value.slice(0, fits), uncounted)
}

/** The content of `bitCount` bits from `bitOffset`, which decode to `value`. */
export function makeContent(bytes: Uint8Array, bitOffset: number, bitCount: number, value: unknown): Content {
  const copy = new Uint8Array((bitCount + 7) >>> 3)
  const writer = new BitWriter(copy)
  writer.copyBits(bytes, bitOffset, bitCount)
  writer.finish()
  return { bytes: copy, bitCount, value, key: keyOf(copy) }
}

/**
 * Freezes a list. Its items are shared: writing to one would change every object with an equal list. Bytes cannot be
 * frozen, and the result of a manual codec belongs to the game.
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

/** Characters made in one call. They are call arguments, so no more than any engine's stack takes. */
const KEY_CHUNK = 1024
const units = new Uint16Array(KEY_CHUNK)

/**
 * Content as a map key: two bytes per character. It does not say how many bits of the last byte count, nor whether the
 * last character is half empty. It need not: no encoding of a field is a prefix of another. It is a string, because
 * engines hash strings with a secret seed: with a hash of ours a sender of values could make them all collide.
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
