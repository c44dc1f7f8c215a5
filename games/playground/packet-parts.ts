/**
 * A packet, taken apart by the book: docs/wire/STANDARD.md. Every bit belongs to one part.
 *
 *   header | acks | frame head, frame body | … | zeros to the next byte | seal
 *
 * For packets whose seal seals nothing: what is sealed can be read by nobody but its receiver.
 */

import { BitReader } from 'tickwire'

export type PartName = 'header' | 'acks' | 'head' | 'inputs' | 'snapshot' | 'timing' | 'messages' | 'other' | 'padding' | 'seal'

/** Bits from one place up to another. */
export interface Part {
  readonly name: PartName
  readonly from: number
  readonly to: number
}

const HEADER_BYTES = 14
const SEAL_BYTES = 16
const PAYLOAD = 1
/** Frames of the game, by their number on the wire. */
const FRAMES: { readonly [kind: number]: PartName } = { 3: 'messages', 4: 'inputs', 5: 'snapshot', 7: 'timing' }
const FRAME_HEAD_BITS = 22
const [KIND_BITS, FLAG_BITS, LENGTH_BITS] = [4, 4, 14]

/** The parts of a packet that carries frames, in their order; undefined for another kind of packet, or for none at all. */
export function packetParts(bytes: Uint8Array): Part[] | undefined {
  const parts: Part[] = []
  const bits = new BitReader(bytes)
  const end = (bytes.length - SEAL_BYTES) * 8
  let from = 0
  const add = (name: PartName): void => {
    if (bits.bitPosition > from) parts.push({ name, from, to: bits.bitPosition })
    from = bits.bitPosition
  }
  bits.skipBits(4 * 8)
  if (bits.readBits(8) !== PAYLOAD) return undefined
  bits.skipBits((HEADER_BYTES - 5) * 8)
  while (bits.readBits(8) >= 0x80) { /* the sequence, seven bits a byte, goes on while the highest bit is set */ }
  add('header')

  bits.skipBits(32)
  const gaps = bits.readBits(4)
  for (let group = 0; group < 4; group++) if ((gaps >> group & 1) === 1) bits.skipBits(16)
  add('acks')

  while (end - bits.bitPosition >= FRAME_HEAD_BITS) {
    const kind = bits.readBits(KIND_BITS)
    bits.skipBits(FLAG_BITS)
    const length = bits.readBits(LENGTH_BITS)
    add('head')
    bits.skipBits(length * 8)
    add(FRAMES[kind] ?? 'other')
  }
  const padding = end - bits.bitPosition
  if (padding < 0 || padding >= 8 || bits.readBits(padding) !== 0) return undefined
  add('padding')
  bits.skipBits(SEAL_BYTES * 8)
  add('seal')
  return bits.failed || bits.bitPosition !== bytes.length * 8 ? undefined : parts
}
