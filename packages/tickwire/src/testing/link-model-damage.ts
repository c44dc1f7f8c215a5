/**
 * Corruption: datagrams that arrive different from how they were sent.
 *
 * Bits flip, bytes change, the end is cut off or bytes are appended. Old datagrams are replayed: a whole one in place
 * of this one, or its tail behind this one's head. A broken device or an attacker on the path does all of these; only
 * authentication detects them.
 */

import type { KeyedPrng } from '../core/base/keyed-prng.ts'
import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { LinkTally } from './link-model-tally.ts'

/** Old datagrams of a link that can be replayed. */
const REMEMBERED = 16
/** Most bits or bytes that change at once. */
const CHANGES_MAX = 4
const EXTENSION_MAX = 16

/** The corruption of one directed link. */
export class Damage {
  /** The datagram as it arrives, when `apply` returned true. */
  readonly bytes: Uint8Array = new Uint8Array(DATAGRAM_BYTES_MAX)
  length: number = 0
  #old: Uint8Array[] = []
  #oldCount: number = 0

  /** Damages a datagram at random, by `chance` (already positioned at this datagram). Returns whether it did. */
  apply(
    chance: KeyedPrng, rate: number, spliceRate: number, bytes: Uint8Array, length: number, tally: LinkTally,
  ): boolean {
    const isChanged = chance.nextFloat() < rate
    const isSpliced = chance.nextFloat() < spliceRate && this.#oldCount > 0
    if (isChanged || isSpliced) {
      this.bytes.set(bytes.length <= DATAGRAM_BYTES_MAX ? bytes : bytes.subarray(0, length))
      this.length = length
      if (isSpliced) this.#splice(chance, tally)
      else this.#change(chance, tally)
    }
    if (spliceRate > 0) this.#remember(bytes.slice(0, length))
    return isChanged || isSpliced
  }

  #change(chance: KeyedPrng, tally: LinkTally): void {
    const kind = this.length === 0 ? 3 : chance.nextInt(0, this.length === DATAGRAM_BYTES_MAX ? 2 : 3)
    if (kind === 0) {
      tally.bitsFlipped++
      // Neighbouring bits, so that no bit flips twice, which would restore it.
      const bits = this.length * 8
      const first = chance.nextInt(0, bits - 1)
      for (let count = chance.nextInt(1, CHANGES_MAX); count > 0; count--) {
        const bit = (first + count) % bits
        this.bytes[bit >> 3] = (this.bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      }
    } else if (kind === 1) {
      tally.bytesChanged++
      const at = chance.nextInt(0, this.length - 1)
      for (let index = at; index < Math.min(this.length, at + CHANGES_MAX); index++) {
        this.bytes[index] = (this.bytes[index] ?? 0) + chance.nextInt(1, 255)
      }
    } else if (kind === 2) {
      tally.cut++
      this.length = chance.nextInt(0, this.length - 1)
    } else {
      tally.extended++
      const end = Math.min(DATAGRAM_BYTES_MAX, this.length + chance.nextInt(1, EXTENSION_MAX))
      for (; this.length < end; this.length++) this.bytes[this.length] = chance.nextInt(0, 255)
    }
  }

  #splice(chance: KeyedPrng, tally: LinkTally): void {
    tally.spliced++
    const old = this.#old[chance.nextInt(0, Math.min(this.#oldCount, REMEMBERED) - 1)] ?? this.bytes
    const isWhole = chance.nextInt(0, 1) === 0
    const from = isWhole ? 0 : chance.nextInt(0, Math.min(old.length, this.length))
    for (let index = from; index < old.length; index++) this.bytes[index] = old[index] ?? 0
    this.length = old.length
  }

  #remember(bytes: Uint8Array): void {
    this.#old[this.#oldCount % REMEMBERED] = bytes
    this.#oldCount++
  }
}
