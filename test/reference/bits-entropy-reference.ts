/**
 * The range coder and prefix codes once more, slow and simple: whole numbers of any size instead of carries
 * and shifts, codes as text. Written from docs/spec/bits.md alone; imports nothing from src.
 */

import { Refused, type Bits, type BitSource } from './bits-reference.ts'

/** How one bit is coded: by a fixed probability of being 0, in parts of 2^15, or by the adaptive cell of that index. */
export type Coding = { readonly fixed: number } | { readonly cell: number }

const ONE = 2 ** 15

/** [BITS26] The interval after some bits. Numbers have `4 + scale` bytes. */
class Interval {
  low = 0n
  range = 2n ** 32n - 1n
  scale = 0
  readonly cells = new Map<number, number>()

  /** Where the part of a 1 begins. */
  bound(coding: Coding): bigint {
    const probability = 'fixed' in coding ? coding.fixed : this.cells.get(coding.cell) ?? ONE / 2
    return (this.range / 2n ** 15n) * BigInt(probability)
  }

  take(coding: Coding, bit: number): void {
    const bound = this.bound(coding)
    if (bit === 0) this.range = bound
    else [this.low, this.range] = [this.low + bound, this.range - bound]
    if ('cell' in coding) {
      const before = this.cells.get(coding.cell) ?? ONE / 2
      this.cells.set(coding.cell, bit === 0 ? before + ((ONE - before) >> 5) : before - (before >> 5))
    }
    for (; this.range < 2n ** 24n; this.scale++) [this.low, this.range] = [this.low << 8n, this.range << 8n]
  }

  /** [BITS27] The number of the interval with the fewest bytes, trailing zeros dropped. */
  shortest(): number[] {
    const total = 4 + this.scale
    for (let size = 0; ; size++) {
      const unit = 2n ** BigInt(8 * (total - size))
      const number = ((this.low + unit - 1n) / unit) * unit
      if (number - this.low >= this.range) continue
      const bytes = Array.from({ length: size }, (_, index) =>
        Number((number >> BigInt(8 * (total - 1 - index))) & 255n),
      )
      while (bytes.at(-1) === 0) bytes.pop()
      return bytes
    }
  }
}

/** The bytes of `bits`, coded as `codings` say. */
export function rangeEncode(bits: readonly number[], codings: readonly Coding[]): number[] {
  const interval = new Interval()
  codings.forEach((coding, index) => interval.take(coding, bits[index]!))
  return interval.shortest()
}

/** The bits in `bytes`; refused when `rangeEncode` would write them differently. */
export function rangeDecode(bytes: readonly number[], codings: readonly Coding[]): number[] {
  const interval = new Interval()
  const bits: number[] = []
  for (const coding of codings) {
    const number = Array.from({ length: 4 + interval.scale }, (_, index) => BigInt(bytes[index] ?? 0)).reduce(
      (sum, byte) => sum * 256n + byte,
      0n,
    )
    const bit = number - interval.low < interval.bound(coding) ? 0 : 1
    bits.push(bit)
    interval.take(coding, bit)
  }
  if (interval.shortest().join() !== bytes.join()) throw new Refused('not the shortest encoding')
  return bits
}

/**
 * [BITS28] The code of each symbol as text; undefined for symbols without one. Refused when the lengths are not a code.
 */
export function prefixCodes(lengths: readonly number[]): (Bits | undefined)[] {
  if (lengths.length === 1 && lengths[0] === 0) return ['']
  const codes: (Bits | undefined)[] = lengths.map(() => undefined)
  const order = lengths.map((length, symbol) => ({ length, symbol })).filter(({ length }) => length > 0)
    .sort((a, b) => a.length - b.length || a.symbol - b.symbol)
  let next = 0
  let width = 0
  for (const { length, symbol } of order) {
    next *= 2 ** (length - width)
    width = length
    codes[symbol] = next.toString(2).padStart(length, '0')
    next++
  }
  // Exactly used up: the code after the last one would be one bit longer than all.
  if (order.length === 0 || width > 12 || next !== 2 ** width) throw new Refused('no complete code')
  return codes
}

/** Reads one symbol. */
export function takeSymbol(source: BitSource, lengths: readonly number[]): number {
  const codes = prefixCodes(lengths)
  for (let code = ''; ; code += source.take(1)) {
    const symbol = codes.indexOf(code)
    if (symbol >= 0) return symbol
  }
}
