/**
 * Residuals as tokens: what a prefix code or a range coder has tables for, and the bits that are as good as random.
 *
 * ```
 * size      symbol, and bits that follow as they are
 * 0..7      2 * size + sign                                        sign: 1 = negative
 * 8..       16 + 8 * (octave - 3) + 2 * (the two bits below the leading one) + sign, then octave - 2 bits
 * 2^18..    136, then all 32 bits of the residual
 * ```
 *
 * A residual of which it is known that it is not 0 has the size |residual| - 1, any other |residual|. The octave of a
 * size is the place of its leading bit.
 */

import type { SymbolSink, SymbolSource } from './symbol-stream.ts'

/** Symbols of a token. */
export const TOKEN_SYMBOLS = 137
/** The symbol after which the residual stands as it is. */
export const TOKEN_ESCAPE = 136
/** Sizes from here on escape. */
export const TOKEN_SIZE_MAX: number = 1 << 18

/** The symbol of a size below `TOKEN_SIZE_MAX`, sign aside. @hot */
export function tokenSymbol(size: number): number {
  if (size < 8) return size << 1
  const octave = 31 - Math.clz32(size)
  return 16 + ((octave - 3) << 3) + (((size >>> (octave - 2)) & 3) << 1)
}

/** How many bits follow a symbol below `TOKEN_ESCAPE`. @hot */
export function tokenRawBits(symbol: number): number {
  return symbol < 16 ? 0 : ((symbol - 16) >>> 3) + 1
}

/** The least size of a symbol below `TOKEN_ESCAPE`; the bits that follow count from there. @hot */
export function tokenSize(symbol: number): number {
  if (symbol < 16) return symbol >>> 1
  return (4 + (((symbol - 16) >>> 1) & 3)) << (((symbol - 16) >>> 3) + 1)
}

/** Says a residual. `least`: 1 for one that is not 0. @hot */
export function writeToken(sink: SymbolSink, table: number, residual: number, least: number): void {
  const size = (residual < 0 ? -residual : residual) - least
  if (size >= TOKEN_SIZE_MAX) {
    sink.symbol(table, TOKEN_ESCAPE, residual >>> 16, 16)
    sink.raw().writeBits(residual & 0xffff, 16)
    return
  }
  const symbol = tokenSymbol(size)
  const width = tokenRawBits(symbol)
  sink.symbol(table, residual < 0 ? symbol + 1 : symbol, size & ((1 << width) - 1), width)
}

/** Hears a residual. @hot */
export function readToken(source: SymbolSource, table: number, least: number): number {
  const symbol = source.symbol(table)
  if (symbol === TOKEN_ESCAPE) return readEscaped(source, least)
  const width = tokenRawBits(symbol)
  const size = tokenSize(symbol) + (width === 0 ? 0 : source.raw().readBits(width)) + least
  // There is no negative 0.
  if ((symbol & 1) !== 0 && size === 0) source.raw().fail()
  return (symbol & 1) !== 0 ? -size : size
}

/** What would have had a symbol is refused. */
function readEscaped(source: SymbolSource, least: number): number {
  const high = source.raw().readBits(16)
  const residual = (high << 16) | source.raw().readBits(16)
  if (residual >= 0 ? residual - least < TOKEN_SIZE_MAX : -residual - least < TOKEN_SIZE_MAX) source.raw().fail()
  return residual
}
