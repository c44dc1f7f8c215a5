/**
 * Whole numbers in bytes, for code that works on bytes and not on bits: LEB128, as in `bits/varint.ts`, up to 2^53 - 1.
 *
 * A number has one encoding: a last byte of 0 after the first is invalid.
 */

/** Writes a number at `at` and returns the end. There must be room for 8 bytes. @hot */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let to = at
  let rest = value
  while (rest >= 0x80) {
    bytes[to++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  bytes[to++] = rest
  return to
}

/** How many bytes `putVarint` writes. @hot */
export function varintBytes(value: number): number {
  let count = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) count++
  return count
}

/** A cursor that reads numbers from bytes. `end` becomes -1 when the bytes are invalid or end too early. */
export class VarintReader {
  /** The position after the number, or -1. */
  end = 0

  /** Reads the number at `at`, which must end by `limit`. @hot */
  read(bytes: Uint8Array, at: number, limit: number): number {
    let value = 0
    let unit = 1
    for (let from = at; from < limit && from < at + 8; from++) {
      const byte = bytes[from]
      value += (byte & 0x7f) * unit
      if (byte < 0x80) {
        this.end = (byte === 0 && from > at) || value > Number.MAX_SAFE_INTEGER ? -1 : from + 1
        return value
      }
      unit *= 0x80
    }
    this.end = -1
    return 0
  }
}
