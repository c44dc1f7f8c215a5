/** Shared code of the readers of recordings, made from docs/wire/RECORDING.md alone. */

import { BitSource } from './bits-reference.ts'

export function small(bits: BitSource): number {
  let value = 0
  for (let group = 0; group < 6; group++) {
    const isMore = number(bits, 1) === 1
    const low = number(bits, 3)
    value += low * 8 ** group
    if (isMore) continue
    need(group === 0 || low !== 0, 'one encoding')
    return value
  }
  throw new Error('a small number')
}

export function varint(bits: BitSource): number {
  let value = 0
  for (let group = 0; group < 8; group++) {
    const byte = number(bits, 8)
    value += (byte % 128) * 128 ** group
    if (byte < 128) {
      need(group === 0 || byte !== 0, 'one encoding')
      return value
    }
  }
  throw new Error('a varint')
}

export const number = (bits: BitSource, width: number): number => Number(bits.takeUnsigned(width))
export const string = (bits: BitSource): string =>
  new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bits.takeBytes(varint(bits))))
export const sourceOf = (bytes: Uint8Array): BitSource =>
  new BitSource([...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join(''))
export const little = (bytes: Uint8Array, at: number, count: number): number =>
  Array.from({ length: count }, (_, byte) => bytes[at + byte]! * 256 ** byte).reduce((a, b) => a + b, 0)
export const hex = (bytes: Iterable<number>): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

export function need(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Error(why)
}
