/**
 * Canonical prefix codes: frequent symbols in few bits, decoded by one lookup in a table of 256 entries.
 *
 * A code is defined by its lengths, 0..12 bits a symbol (0 = the symbol does not occur). Codes are assigned in order of
 * length, then of symbol, counting upwards, and written most significant bit first:
 *
 * ```
 * lengths  A 1, B 3, C 2, D 3       A 0   C 10   B 110   D 111
 * ```
 *
 * Invariant: a code is complete: every sequence of bits decodes, so no code space is wasted and no input must be
 * refused. An alphabet of one symbol costs no bits.
 *
 * It does not choose contexts or count symbols; it turns counts into lengths (`prefixLengths`) and lengths into a code.
 */

import { assert, ConfigError } from '../base/assert.ts'
import { PREFIX_BITS_MAX } from '../base/limits.ts'
import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'

/**
 * Bits of the first lookup. Longer codes are rare by construction, and a table of 2^12 per context would be megabytes.
 */
const LOOK_BITS = 8

/** A code, ready for writing and reading. Created once per table by `prefixCode`. */
export interface PrefixCode {
  readonly lengths: Uint8Array
  /** The code, in its low `lengths[symbol]` bits. Indexed by symbol. */
  readonly codes: Uint16Array
  /** Indexed by the next 8 bits: symbol << 4 | length, or 0 when the code is longer. */
  readonly look: Uint16Array
  /** Indexed by length: the first code past those of that length, left-aligned to 12 bits. */
  readonly ends: Uint16Array
  /** Indexed by length: index into `sorted` of its first symbol, minus its first code. */
  readonly offsets: Int32Array
  /** Symbols in the order of their codes. */
  readonly sorted: Uint16Array
}

/**
 * The code with these lengths. Throws when they are invalid; for lengths from the wire call `isCompletePrefix` first.
 */
export function prefixCode(lengths: ArrayLike<number>, path: string = 'prefixCode'): PrefixCode {
  if (!isCompletePrefix(lengths)) {
    throw new ConfigError(path, 'over-subscribed or incomplete code lengths', 'use the lengths of prefixLengths.')
  }
  const codes = new Uint16Array(lengths.length)
  const look = new Uint16Array(1 << LOOK_BITS)
  const ends = new Uint16Array(PREFIX_BITS_MAX + 1)
  const offsets = new Int32Array(PREFIX_BITS_MAX + 1)
  const sorted = new Uint16Array(lengths.length)
  let code = 0
  let count = 0
  for (let length = 1; length <= PREFIX_BITS_MAX; length++) {
    code *= 2
    offsets[length] = count - code
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      if (lengths[symbol] !== length) continue
      sorted[count++] = symbol
      codes[symbol] = code
      const spare = LOOK_BITS - length
      if (spare >= 0) look.fill((symbol << 4) | length, code << spare, (code + 1) << spare)
      code++
    }
    ends[length] = code << (PREFIX_BITS_MAX - length)
  }
  return { lengths: Uint8Array.from(lengths), codes, look, ends, offsets, sorted }
}

/** Writes one symbol, which must occur in the code. @hot */
export function writeSymbol(writer: BitWriter, code: PrefixCode, symbol: number): void {
  writer.writeBits(code.codes[symbol], code.lengths[symbol])
}

/** Reads one symbol; 0 once failed. @hot */
export function readSymbol(reader: BitReader, code: PrefixCode): number {
  const bits = reader.peekBits(PREFIX_BITS_MAX)
  const entry = code.look[bits >>> (PREFIX_BITS_MAX - LOOK_BITS)]
  if (entry === 0) return readLongSymbol(reader, code, bits)
  reader.skipBits(entry & 15)
  return reader.failed ? 0 : entry >>> 4
}

/** Whether lengths form a complete code: the codes of all symbols together cover every sequence of bits once. */
export function isCompletePrefix(lengths: ArrayLike<number>): boolean {
  if (lengths.length === 1) return lengths[0] === 0
  if (lengths.length > 1 << PREFIX_BITS_MAX) return false
  let covered = 0
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol]
    if (!Number.isInteger(length) || length < 0 || length > PREFIX_BITS_MAX) return false
    if (length > 0) covered += 1 << (PREFIX_BITS_MAX - length)
  }
  return covered === 1 << PREFIX_BITS_MAX
}

/**
 * The code lengths with the lowest cost for these counts, none above `bitsMax` (package-merge, so optimal under the
 * limit). Symbols with a count of 0 get no code; smooth the counts if they may still occur. Where fewer than two
 * symbols occur, the lowest others get a code, because a code must be complete. Ties between equal counts are broken by
 * symbol: the same on every machine.
 */
export function prefixLengths(counts: ArrayLike<number>, bitsMax: number = PREFIX_BITS_MAX): Uint8Array {
  const lengths = new Uint8Array(counts.length)
  if (counts.length <= 1) return lengths
  const symbols = occurring(counts)
  const count = symbols.length
  assert(bitsMax >= 1 && bitsMax <= PREFIX_BITS_MAX && count <= 1 << bitsMax, 'the symbols fit codes of this length')

  // Level by level: the leaves again, merged with pairs of the level before. Only the positions of leaves are stored.
  const leaves = symbols.map((symbol) => Math.max(counts[symbol], 0))
  const levels: boolean[][] = []
  let weights = leaves
  for (let level = 1; level <= bitsMax; level++) {
    const isLeaf: boolean[] = []
    const merged: number[] = []
    const packages = level === 1 ? 0 : weights.length >> 1
    for (let leaf = 0, pair = 0; leaf < count || pair < packages; ) {
      const weight = pair < packages ? weights[2 * pair] + weights[2 * pair + 1] : Infinity
      const takesLeaf = leaf < count && leaves[leaf] <= weight
      isLeaf.push(takesLeaf)
      merged.push(takesLeaf ? leaves[leaf++] : weight)
      if (!takesLeaf) pair++
    }
    levels.push(isLeaf)
    weights = merged
  }

  // The cheapest 2n - 2 items of the last level are the solution; each leaf among them makes its symbol's code longer.
  for (let level = bitsMax - 1, take = 2 * count - 2; level >= 0 && take > 0; level--) {
    let taken = 0
    for (let item = 0; item < take; item++) if (levels[level][item]) taken++
    for (let leaf = 0; leaf < taken; leaf++) lengths[symbols[leaf]]++
    take = 2 * (take - taken)
  }
  return lengths
}

/** Symbols with a count, rarest first; at least two. */
function occurring(counts: ArrayLike<number>): number[] {
  const symbols: number[] = []
  for (let symbol = 0; symbol < counts.length; symbol++) if (counts[symbol] > 0) symbols.push(symbol)
  for (let symbol = 0; symbols.length < 2; symbol++) if (!(counts[symbol] > 0)) symbols.push(symbol)
  return symbols.sort((a, b) => Math.max(counts[a], 0) - Math.max(counts[b], 0) || a - b)
}

function readLongSymbol(reader: BitReader, code: PrefixCode, bits: number): number {
  // An alphabet of one symbol has an empty table: its code has no bits.
  if (code.lengths.length === 1) return 0
  let length = LOOK_BITS + 1
  while (length < PREFIX_BITS_MAX && bits >= code.ends[length]) length++
  reader.skipBits(length)
  return reader.failed ? 0 : code.sorted[code.offsets[length] + (bits >>> (PREFIX_BITS_MAX - length))]
}
