/**
 * The 12 bytes at the start of every R-Type packet, big-endian.
 *
 * ```
 * ┌──────────────┬────────┬─────────┬─────────────┬──────────────┐
 * │ magic 0x5254 │ type 8 │ flags 8 │ sequence 32 │ timestamp 32 │
 * └──────────────┴────────┴─────────┴─────────────┴──────────────┘
 * ```
 *
 * The type has a range, and each range a category. Sub-ranges win over the ranges that contain them. The upper three
 * flags are reserved: they are written as 0 and ignored when read.
 */

/** Bytes of the header. */
export const RTYPE_HEADER_BYTES = 12

/** The first two bytes of every packet: 'RT'. */
const MAGIC_HIGH = 0x52
const MAGIC_LOW = 0x54

/** The bits of the flags. */
export const RTYPE_FLAG = {
  /** The receiver must acknowledge the packet. */
  RELIABLE: 0x01,
  /** The payload is raw deflate. */
  COMPRESSED: 0x02,
  /** The payload is sealed. */
  ENCRYPTED: 0x04,
  /** The payload is one part of a message. */
  FRAGMENTED: 0x08,
  /** The packet is processed before others. */
  PRIORITY: 0x10,
} as const

const FLAGS_DEFINED = 0x1f

/** Why a datagram was not read. */
export type RtypeFault =
  | 'short'
  | 'long'
  | 'magic'
  | 'range'
  | 'unassigned'
  | 'size'
  | 'count'
  | 'value'
  | 'text'
  | 'unreliable'
  | 'compressed'
  | 'encrypted'
  | 'fragmented'

/** All faults, for counters. */
export const RTYPE_FAULTS: readonly RtypeFault[] = [
  'short',
  'long',
  'magic',
  'range',
  'unassigned',
  'size',
  'count',
  'value',
  'text',
  'unreliable',
  'compressed',
  'encrypted',
  'fragmented',
]

/** The header of one packet. */
export interface RtypeHeader {
  /** The type, 0x01 to 0x7F. */
  code: number
  /** The bits of `RTYPE_FLAG`. */
  flags: number
  /** Grows by one with each packet of a sender, and wraps at 2^32. */
  sequence: number
  /** Milliseconds since the connection was accepted; 0 before. */
  timestamp: number
}

/** What a packet is about. Effects are part of the game events, and the R-Type systems part of the game control. */
export type RtypeCategory =
  | 'connection'
  | 'input'
  | 'entity'
  | 'snapshot'
  | 'world'
  | 'event'
  | 'effect'
  | 'control'
  | 'rtype'
  | 'protocol'

/** The category of a type; undefined outside of 0x01 to 0x7F. */
export function rtypeCategory(code: number): RtypeCategory | undefined {
  if (!(code >= 0x01 && code <= 0x7f)) return undefined
  if (code <= 0x0f) return 'connection'
  if (code <= 0x1f) return 'input'
  if (code <= 0x23) return 'entity'
  if (code <= 0x2f) return 'snapshot'
  if (code <= 0x3f) return 'world'
  if (code <= 0x4f) return 'event'
  if (code <= 0x5f) return 'effect'
  if (code <= 0x63) return 'control'
  return code <= 0x6f ? 'rtype' : 'protocol'
}

/** Writes the header to the start of `bytes`. Reserved flags become 0. @hot */
export function writeRtypeHeader(header: RtypeHeader, bytes: Uint8Array): void {
  bytes[0] = MAGIC_HIGH
  bytes[1] = MAGIC_LOW
  bytes[2] = header.code
  bytes[3] = header.flags & FLAGS_DEFINED
  write32(bytes, 4, header.sequence)
  write32(bytes, 8, header.timestamp)
}

/** Reads the header of a datagram of `length` bytes into `out`. Reserved flags are ignored. @hot */
export function readRtypeHeader(bytes: Uint8Array, length: number, out: RtypeHeader): RtypeFault | undefined {
  if (length < RTYPE_HEADER_BYTES) return 'short'
  if (bytes[0] !== MAGIC_HIGH || bytes[1] !== MAGIC_LOW) return 'magic'
  const code = bytes[2]
  if (code < 0x01 || code > 0x7f) return 'range'
  out.code = code
  out.flags = bytes[3] & FLAGS_DEFINED
  out.sequence = read32(bytes, 4)
  out.timestamp = read32(bytes, 8)
  return undefined
}

/** Writes the low 32 bits of `value`, highest byte first. @hot */
export function write32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

/** Reads 32 bits without a sign, highest byte first. @hot */
export function read32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0
}
