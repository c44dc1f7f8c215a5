/**
 * The outer header of every packet: byte-aligned, readable before anything is decrypted.
 *
 * ```
 * byte  0         3         4         5                   13        14
 *       ├─────────┼─────────┼─────────┼───────────────────┼─────────┼──────────────────┤
 *       │ "TKW"   │ version │ type    │ connection id, LE │ epoch   │ sequence, varint │
 *       │ 3       │ 1       │ 1       │ 8                 │ 1       │ 1..8             │
 *       └─────────┴─────────┴─────────┴───────────────────┴─────────┴──────────────────┘
 * ```
 *
 * Invariant: a header has one encoding; what `readHeader` accepts, `writeHeader` writes back byte for byte (PKT2).
 *
 * It does not decide whether a version, an epoch or a connection is acceptable: the endpoint does.
 */

import { assert } from '../base/assert.ts'

/** The protocol version, the fourth byte of every packet. Changes with any change of meaning on the wire. */
export const PROTOCOL_VERSION = 3

/** The type of a packet, the byte at offset 4. */
export const PACKET_TYPE = {
  handshake: 0,
  payload: 1,
  keepalive: 2,
  disconnect: 3,
  challengeResponse: 4,
  relayControl: 5,
} as const

/** Bytes of the shortest and of the longest header that a safe integer sequence needs. */
export const HEADER_BYTES_MIN = 15
export const HEADER_BYTES_MAX = 22

const MAGIC_0 = 0x54
const MAGIC_1 = 0x4b
const MAGIC_2 = 0x57
const TYPE_MAX = PACKET_TYPE.relayControl
const SEQUENCE_AT = 14
const SEQUENCE_BYTES_MAX = 8

/** One header, decoded. Reused: `readHeader` fills it. */
export class PacketHeader {
  version: number = PROTOCOL_VERSION
  type: number = PACKET_TYPE.handshake
  /** The connection id, low and high half. Both 0 before the server has assigned one. */
  idLo: number = 0
  idHi: number = 0
  /** The key epoch of this packet. 0 while there are no keys. */
  epoch: number = 0
  /** Counts the packets of the sending side from 1; 0 on handshake packets, which are not acknowledged. */
  sequence: number = 0
  /** Where the body begins. Set by `readHeader`. */
  byteLength: number = 0
}

/** Whether a header is valid, or why not. */
export type HeaderVerdict = 'ok' | 'short' | 'magic' | 'type' | 'sequence'

/** Writes `header` at the start of `bytes` and returns its length in bytes. @hot */
export function writeHeader(header: PacketHeader, bytes: Uint8Array): number {
  assert(bytes.length >= HEADER_BYTES_MAX, 'a packet buffer holds at least a header')
  bytes[0] = MAGIC_0
  bytes[1] = MAGIC_1
  bytes[2] = MAGIC_2
  bytes[3] = header.version
  bytes[4] = header.type
  writeUint32(bytes, 5, header.idLo)
  writeUint32(bytes, 9, header.idHi)
  bytes[13] = header.epoch
  let at = SEQUENCE_AT
  let rest = header.sequence
  while (rest >= 0x80) {
    bytes[at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  bytes[at++] = rest
  return at
}

/** Reads the header of the packet in the first `length` bytes. On anything but 'ok', `out` is partly stale. @hot */
export function readHeader(bytes: Uint8Array, length: number, out: PacketHeader): HeaderVerdict {
  if (length < HEADER_BYTES_MIN) return 'short'
  if (bytes[0] !== MAGIC_0 || bytes[1] !== MAGIC_1 || bytes[2] !== MAGIC_2) return 'magic'
  if (bytes[4] > TYPE_MAX) return 'type'
  out.version = bytes[3]
  out.type = bytes[4]
  out.idLo = readUint32(bytes, 5)
  out.idHi = readUint32(bytes, 9)
  out.epoch = bytes[13]
  let value = 0
  let unit = 1
  for (let index = 0; index < SEQUENCE_BYTES_MAX; index++, unit *= 0x80) {
    if (SEQUENCE_AT + index >= length) return 'short'
    const byte = bytes[SEQUENCE_AT + index]
    value += (byte & 0x7f) * unit
    if (byte >= 0x80) continue
    // A last byte of 0 is an over-long encoding; above 2^53 - 1 doubles are no longer exact integers.
    if ((byte === 0 && index > 0) || value > Number.MAX_SAFE_INTEGER) return 'sequence'
    out.sequence = value
    out.byteLength = SEQUENCE_AT + index + 1
    return 'ok'
  }
  return 'sequence'
}

/** Little-endian, as all byte-aligned scalars. */
export function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

/** Little-endian, as all byte-aligned scalars. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0
}
