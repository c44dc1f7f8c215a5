/**
 * A residual token: a symbol for a prefix code or a range coder, and low bits that are as good as random.
 *
 * ```
 * size      symbol, and raw bits that follow
 * 0..7      2 * size + sign                                        sign: 1 = negative
 * 8..255    16 + 8 * (octave - 3) + 2 * (the two bits below the leading one) + sign, then octave - 2 bits
 * 256..     56 + octave - 8, then sign, then octave bits
 * 2^18..    66, then all 32 bits of the residual
 * ```
 *
 * A residual that is known not to be 0 has the size |residual| - 1, any other |residual|. The octave of a size is the
 * position of its leading bit.
 */

import type { SymbolSink, SymbolSource } from './symbol-stream.ts'

/** The number of symbols of a token. */
export const TOKEN_SYMBOLS = 67
/** The symbol after which the residual follows as it is. */
export const TOKEN_ESCAPE = 66
/** Symbols from here on stand for an octave with either sign: rare ones must not crowd the code. */
export const TOKEN_OCTAVES = 56
/** Sizes from here on escape. */
export const TOKEN_SIZE_MAX: number = 1 << 18
const OCTAVE_SIZE_MIN = 256

/** The symbol of a size below `TOKEN_SIZE_MAX`, sign aside. @hot */
export function tokenSymbol(size: number): number {
  if (size < 8) return size << 1
  const octave = 31 - Math.clz32(size)
  if (size >= OCTAVE_SIZE_MIN) return TOKEN_OCTAVES + octave - 8
  return 16 + ((octave - 3) << 3) + (((size >>> (octave - 2)) & 3) << 1)
}

/** The number of raw bits after a symbol below `TOKEN_ESCAPE`, without the sign. @hot */
export function tokenRawBits(symbol: number): number {
  if (symbol < 16) return 0
  return symbol < TOKEN_OCTAVES ? ((symbol - 16) >>> 3) + 1 : symbol - TOKEN_OCTAVES + 8
}

/** The least size of a symbol below `TOKEN_ESCAPE`; the raw bits count from there. @hot */
export function tokenSize(symbol: number): number {
  if (symbol < 16) return symbol >>> 1
  if (symbol >= TOKEN_OCTAVES) return OCTAVE_SIZE_MIN << (symbol - TOKEN_OCTAVES)
  return (4 + (((symbol - 16) >>> 1) & 3)) << (((symbol - 16) >>> 3) + 1)
}

/** Writes a residual. `least`: 1 for one that is not 0. @hot */
export function writeToken(sink: SymbolSink, table: number, residual: number, least: number): void {
  const sign = residual < 0 ? 1 : 0
  const size = (residual < 0 ? -residual : residual) - least
  if (size >= TOKEN_SIZE_MAX) {
    sink.symbol(table, TOKEN_ESCAPE, residual >>> 16, 16)
    sink.raw().writeBits(residual & 0xffff, 16)
    return
  }
  const symbol = tokenSymbol(size)
  const width = tokenRawBits(symbol)
  const raw = size & ((1 << width) - 1)
  if (symbol < TOKEN_OCTAVES) sink.symbol(table, symbol + sign, raw, width)
  else sink.symbol(table, symbol, (sign << width) | raw, width + 1)
}

/** Reads a residual. @hot */
export function readToken(source: SymbolSource, table: number, least: number): number {
  const symbol = source.symbol(table)
  if (symbol === TOKEN_ESCAPE) return readEscaped(source, least)
  const isNegative = symbol < TOKEN_OCTAVES ? (symbol & 1) !== 0 : source.raw().readBits(1) !== 0
  const width = tokenRawBits(symbol)
  const size = tokenSize(symbol) + (width === 0 ? 0 : source.raw().readBits(width)) + least
  // There is no negative 0.
  if (isNegative && size === 0) source.raw().fail()
  return isNegative ? -size : size
}

/** Reads an escaped residual. One that has a symbol is refused. */
function readEscaped(source: SymbolSource, least: number): number {
  const high = source.raw().readBits(16)
  const residual = (high << 16) | source.raw().readBits(16)
  if (residual >= 0 ? residual - least < TOKEN_SIZE_MAX : -residual - least < TOKEN_SIZE_MAX) source.raw().fail()
  return residual
}
