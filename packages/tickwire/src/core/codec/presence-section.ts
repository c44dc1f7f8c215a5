/**
 * Which objects a frame speaks of, said by their difference from an earlier frame that the receiver surely got: whoever
 * moved a moment ago moves now, whoever rested rests. An object that goes on as before costs a fraction of a bit.
 *
 * ```
 * size, varint | a range-coded section of so many bytes:
 *
 *   0 the last index is below the end of the reference, 1 it is not: then 16 bits, the end
 *   for every index below the end: 1 bit, is it here; if it is, 1 bit, is its entry of the ordinary kind
 * ```
 *
 * Bits are coded by how they went before in this section, in contexts of how lively the index and its neighbours were in the
 * reference, and whether the index before surprised. Both start from the same numbers in every section: nothing is carried from packet to packet.
 *
 * Invariant: indexes rise, below 65,536. One list has one spelling, given the reference.
 *
 * What an ordinary entry is, and how frames are named, is the caller's.
 */

import { assert } from '../base/assert.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { PROBABILITY_HALF, RangeDecoder, RangeEncoder } from '../bits/range-coder.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'

/** Object indexes of a frame end here. */
const INDEXES_MAX = 65_536
const END_BITS = 16
/** Bytes of a section at most: two bits an index, none dearer than 11 bits, is never near. */
const SECTION_BYTES_MAX: number = INDEXES_MAX

/**
 * What both sides surely know of objects from before: 0 nothing; 1 it rests, but moved not long ago; 2 it was spoken of and
 * hardly moved; 3 it was spoken of.
 */
export type Liveliness = 0 | 1 | 2 | 3

/** Object indexes, and how lively each was: what a section is told against. */
export class IndexSet {
  /** Above every index in it. */
  end: number = 0
  readonly #lively: Uint8Array = new Uint8Array(INDEXES_MAX)

  clear(): void {
    this.#lively.fill(0, 0, this.end)
    this.end = 0
  }

  /** @hot */
  add(index: number, liveliness: Liveliness = 3): void {
    this.#lively[index] = liveliness
    if (index >= this.end) this.end = index + 1
  }

  /** @hot */
  at(index: number): number {
    return this.#lively[index]
  }
}

/** Of being 0, in parts of 2^15, at the start of every section. */
const CERTAIN: number = PROBABILITY_HALF / 8
/** By liveliness, whether a neighbour is lively, and whether the index before surprised. */
const FIRST: readonly number[] = [
  32_768 - CERTAIN / 12, 32_768 - CERTAIN, 32_768 - CERTAIN / 6, 32_768 - CERTAIN * 2,
  32_768 - CERTAIN / 2, 32_768 - CERTAIN * 2, 32_768 - CERTAIN, 32_768 - CERTAIN * 3,
  CERTAIN * 3, CERTAIN * 4, CERTAIN * 2, CERTAIN * 3,
  CERTAIN, CERTAIN * 2, CERTAIN / 2, CERTAIN,
]
const FIRST_KIND: readonly number[] = [CERTAIN / 2, CERTAIN * 4]
const END_KNOWN: number = 32_768 - CERTAIN

/** Writes and reads sections. Kept and used again. */
export class PresenceSection {
  /** What the latest `read` found, in order: indexes, and 1 where the entry is ordinary. */
  readonly indexes: Uint16Array = new Uint16Array(INDEXES_MAX)
  readonly ordinary: Uint8Array = new Uint8Array(INDEXES_MAX)
  readonly #bytes = new Uint8Array(SECTION_BYTES_MAX)
  readonly #encoder = new RangeEncoder(this.#bytes)
  readonly #decoder = new RangeDecoder(this.#bytes)
  readonly #odds = new Uint16Array(FIRST.length)
  readonly #kindOdds = new Uint16Array(FIRST_KIND.length)

  /** Writes which of the indexes are here: `count` of them, rising; `ordinary[i]` is 1 or 0. @hot */
  write(out: BitWriter, indexes: ArrayLike<number>, ordinary: ArrayLike<number>, count: number, reference: IndexSet): void {
    const encoder = this.#encoder
    encoder.reset(this.#bytes)
    this.#start()
    const last = count === 0 ? -1 : indexes[count - 1]
    assert(last < INDEXES_MAX, 'an index fits 16 bits')
    const isBeyond = last >= reference.end
    encoder.encodeFixed(END_KNOWN, isBeyond ? 1 : 0)
    if (isBeyond) for (let bit = END_BITS - 1; bit >= 0; bit--) encoder.encodeFixed(PROBABILITY_HALF, (last >>> bit) & 1)
    const end = isBeyond ? last + 1 : reference.end
    let at = 0
    let surprise = 0
    let kindSurprise = 0
    for (let index = 0; index < end; index++) {
      const was = reference.at(index)
      const isHere = at < count && indexes[at] === index ? 1 : 0
      encoder.encodeBit(this.#odds, contextOf(reference, index, was, surprise), isHere)
      surprise = (was >> 1) ^ isHere
      if (isHere === 0) continue
      encoder.encodeBit(this.#kindOdds, kindSurprise, ordinary[at])
      kindSurprise = 1 - ordinary[at]
      at++
    }
    assert(at === count, 'indexes rise')
    const size = encoder.finish()
    writeVarint(out, size)
    out.copyBits(this.#bytes, 0, size * 8)
  }

  /** Reads a section into `indexes` and `ordinary`; returns how many. On nonsense the reader has failed, and it is 0. @hot */
  read(reader: BitReader, reference: IndexSet): number {
    const decoder = this.#decoder
    const size = readVarint(reader)
    if (size > SECTION_BYTES_MAX || size * 8 > reader.bitsLeft) reader.fail()
    if (reader.failed) return 0
    for (let at = 0; at < size; at++) this.#bytes[at] = reader.readBits(8)
    decoder.reset(this.#bytes, 0, size)
    this.#start()
    const isBeyond = decoder.decodeFixed(END_KNOWN) === 1
    let last = reference.end - 1
    if (isBeyond) {
      last = 0
      for (let bit = 0; bit < END_BITS; bit++) last = (last << 1) | decoder.decodeFixed(PROBABILITY_HALF)
    }
    const count = this.#readIndexes(last + 1, reference)
    const isEnd = !isBeyond || (last >= reference.end && count > 0 && this.indexes[count - 1] === last)
    if (!isEnd || !decoder.finish()) reader.fail()
    return reader.failed ? 0 : count
  }

  #readIndexes(end: number, reference: IndexSet): number {
    const decoder = this.#decoder
    let count = 0
    let surprise = 0
    let kindSurprise = 0
    for (let index = 0; index < end; index++) {
      const was = reference.at(index)
      const isHere = decoder.decodeBit(this.#odds, contextOf(reference, index, was, surprise))
      surprise = (was >> 1) ^ isHere
      if (isHere === 0) continue
      this.indexes[count] = index
      this.ordinary[count] = decoder.decodeBit(this.#kindOdds, kindSurprise)
      kindSurprise = 1 - this.ordinary[count]
      count++
    }
    return count
  }

  #start(): void {
    this.#odds.set(FIRST)
    this.#kindOdds.set(FIRST_KIND)
  }
}

function contextOf(reference: IndexSet, index: number, was: number, surprise: number): number {
  const isNear = (index > 0 && reference.at(index - 1) > 1) || (index + 1 < reference.end && reference.at(index + 1) > 1)
  return (was << 2) | (isNear ? 2 : 0) | surprise
}
