/**
 * Which packets one side has received from the other, once per packet, in 36 to 100 bits.
 *
 * ```
 * ┌────────────┬────────────┬────────┬──────────────────────────────┐
 * │ latest  16 │ delay   16 │ gaps 4 │ 16 for each set bit of gaps  │
 * └────────────┴────────────┴────────┴──────────────────────────────┘
 * ```
 *
 * `latest` is the low half of the newest sequence received, 0 before the first. The vector has 64 bits: bit n says that
 * packet `latest - 1 - n` arrived; packets before sequence 1 count as arrived. It is sent in four groups of 16 bits,
 * group g holding bits 16g..16g+15. A group that is all ones is left out and its bit g of `gaps` is 0, so the block of
 * a path without loss costs 36 bits. `delay` is the time from the arrival of `latest` to this packet, in units of 32
 * us, 65535 meaning "that or more": the sender subtracts it from its round trip.
 *
 * Invariant: a block has one encoding; a written group is never all ones (ACK3).
 *
 * It has no state of its own: `delivery/ack-window.ts` fills it, `delivery/sent-packets.ts` reads it.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'

/** Bits of the longest block. */
export const ACK_BLOCK_BITS_MAX: number = 16 + 16 + 4 + 64

/** One unit of delay. */
export const ACK_DELAY_UNIT_MS = 0.032

/** The delay that means "this much or more", useless for measuring. */
export const ACK_DELAY_SATURATED = 0xffff

const GROUP_FULL = 0xffff

/** One block, decoded. Reused. */
export class AckBlock {
  /** Low 16 bits of the newest sequence received. */
  latest: number = 0
  /** The time since its arrival, in units of 32 us. */
  delayUnits: number = 0
  /** Bits 0..31 of the vector, unsigned. */
  lo: number = 0xffff_ffff
  /** Bits 32..63 of the vector, unsigned. */
  hi: number = 0xffff_ffff
}

/** @hot */
export function writeAckBlock(block: AckBlock, out: BitWriter): void {
  const group0 = block.lo & GROUP_FULL
  const group1 = block.lo >>> 16
  const group2 = block.hi & GROUP_FULL
  const group3 = block.hi >>> 16
  const gaps = +(group0 !== GROUP_FULL) | (+(group1 !== GROUP_FULL) << 1)
    | (+(group2 !== GROUP_FULL) << 2) | (+(group3 !== GROUP_FULL) << 3)
  out.writeBits(block.latest, 16)
  out.writeBits(block.delayUnits, 16)
  out.writeBits(gaps, 4)
  if (gaps & 1) out.writeBits(group0, 16)
  if (gaps & 2) out.writeBits(group1, 16)
  if (gaps & 4) out.writeBits(group2, 16)
  if (gaps & 8) out.writeBits(group3, 16)
}

/** Fails the reader on a non-canonical encoding. @hot */
export function readAckBlock(reader: BitReader, out: AckBlock): void {
  out.latest = reader.readBits(16)
  out.delayUnits = reader.readBits(16)
  const gaps = reader.readBits(4)
  const group0 = readGroup(reader, gaps & 1)
  const group1 = readGroup(reader, gaps & 2)
  const group2 = readGroup(reader, gaps & 4)
  const group3 = readGroup(reader, gaps & 8)
  out.lo = (group0 | (group1 << 16)) >>> 0
  out.hi = (group2 | (group3 << 16)) >>> 0
}

function readGroup(reader: BitReader, hasGap: number): number {
  if (hasGap === 0) return GROUP_FULL
  const group = reader.readBits(16)
  if (group === GROUP_FULL) reader.fail()
  return group
}
