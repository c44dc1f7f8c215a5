/**
 * STUN messages (RFC 8489): the address of a peer as seen from outside.
 *
 * ```
 * byte  0        2         4              8                 20
 *       ├────────┼─────────┼──────────────┼─────────────────┼──────────────────────────┤
 *       │ type   │ size    │ 21 12 a4 42  │ transaction     │ attributes:              │
 *       │ 2      │ 2       │ 4            │ 12              │ type 2, size 2, value,   │
 *       └────────┴─────────┴──────────────┴─────────────────┤ zeros up to 4 bytes      │
 *                                                           └──────────────────────────┘
 * ```
 *
 * Numbers are high byte first. Invalid bytes are refused and never thrown about. TURN messages (RFC 8656) have the same
 * form: `turn-desk.ts` answers them.
 */

import { STUN_ATTRIBUTES_MAX } from '../base/limits.ts'
import { crc32 } from './crc32.ts'
import { STUN_COOKIE, readXorAddress, writeXorAddress } from './net-address.ts'

/** Methods, and the classes that are combined with them. */
export const STUN_METHOD = {
  binding: 0x001, allocate: 0x003, refresh: 0x004, send: 0x006, data: 0x007, createPermission: 0x008,
  channelBind: 0x009,
} as const
export const STUN_CLASS = { request: 0x000, indication: 0x010, success: 0x100, error: 0x110 } as const

/** Attributes. Below 0x8000 a reader must understand them. */
export const STUN_ATTRIBUTE = {
  mappedAddress: 0x0001, username: 0x0006, messageIntegrity: 0x0008, errorCode: 0x0009, unknownAttributes: 0x000a,
  channelNumber: 0x000c, lifetime: 0x000d, xorPeerAddress: 0x0012, data: 0x0013, realm: 0x0014, nonce: 0x0015,
  xorRelayedAddress: 0x0016, requestedAddressFamily: 0x0017, evenPort: 0x0018, requestedTransport: 0x0019,
  dontFragment: 0x001a, xorMappedAddress: 0x0020, reservationToken: 0x0022, software: 0x8022, fingerprint: 0x8028,
} as const

export const STUN_HEADER_BYTES = 20
const FINGERPRINT_BYTES = 8
const FINGERPRINT_MASK = 0x5354_554e

/** One STUN message, decoded. Reused: `readStun` fills it. Positions are offsets in the bytes that were read. */
export class StunMessage {
  bytes: Uint8Array = new Uint8Array(0)
  length: number = 0
  method: number = 0
  class: number = 0
  count: number = 0
  /** Indexed by attribute, in the order of the message. */
  readonly types: Uint16Array = new Uint16Array(STUN_ATTRIBUTES_MAX)
  readonly starts: Uint16Array = new Uint16Array(STUN_ATTRIBUTES_MAX)
  readonly sizes: Uint16Array = new Uint16Array(STUN_ATTRIBUTES_MAX)
  /** Where MESSAGE-INTEGRITY begins; 0 when there is none. Attributes after it, but FINGERPRINT, are left out. */
  integrityAt: number = 0
  hasFingerprint: boolean = false

  /** The index of the first attribute of a type; -1 when there is none. */
  find(type: number): number {
    for (let index = 0; index < this.count; index++) if (this.types[index] === type) return index
    return -1
  }

  /** The value of an attribute, as a view; undefined when there is none. */
  value(type: number): Uint8Array | undefined {
    const index = this.find(type)
    return index < 0 ? undefined : this.bytes.subarray(this.starts[index], this.starts[index] + this.sizes[index])
  }

  /** The value of an attribute of 32 bits; undefined when there is none of that size. */
  word(type: number): number | undefined {
    const index = this.find(type)
    if (index < 0 || this.sizes[index] !== 4) return undefined
    return readUint32Be(this.bytes, this.starts[index])
  }

  /** The address in the attribute with this index; undefined when it is invalid. */
  address(index: number): string | undefined {
    return index < 0 ? undefined : readXorAddress(this.bytes, this.starts[index], this.sizes[index], 0)
  }
}

/** Whether the bytes may be a STUN message: the first two bits and the cookie. @hot */
export function isStun(bytes: Uint8Array, length: number): boolean {
  return length >= STUN_HEADER_BYTES && bytes[0] < 0x40 && readUint32Be(bytes, 4) === STUN_COOKIE
}

/** Reads the message in the first `length` bytes. False when they are not a valid STUN message. */
export function readStun(bytes: Uint8Array, length: number, out: StunMessage): boolean {
  if (!isStun(bytes, length) || readUint16Be(bytes, 2) !== length - STUN_HEADER_BYTES || length % 4 !== 0) return false
  const type = readUint16Be(bytes, 0)
  out.bytes = bytes
  out.length = length
  out.class = type & 0x110
  out.method = (type & 0xf) | ((type & 0xe0) >>> 1) | ((type & 0x3e00) >>> 2)
  out.count = 0
  out.integrityAt = 0
  out.hasFingerprint = false
  for (let at = STUN_HEADER_BYTES; at < length;) {
    if (at + 4 > length || out.hasFingerprint) return false
    const attribute = readUint16Be(bytes, at)
    const size = readUint16Be(bytes, at + 2)
    const next = at + 4 + ((size + 3) & ~3)
    if (next > length) return false
    if (attribute === STUN_ATTRIBUTE.fingerprint) {
      const expected = (crc32(bytes, 0, at) ^ FINGERPRINT_MASK) >>> 0
      if (size !== 4 || readUint32Be(bytes, at + 4) !== expected) return false
      out.hasFingerprint = true
    } else if (attribute === STUN_ATTRIBUTE.messageIntegrity && out.integrityAt === 0) {
      if (size !== 20) return false
      out.integrityAt = at
    } else if (out.integrityAt === 0) {
      if (out.count === STUN_ATTRIBUTES_MAX) return false
      out.types[out.count] = attribute
      out.starts[out.count] = at + 4
      out.sizes[out.count++] = size
    }
    at = next
  }
  return true
}

/** The first attribute that a reader must understand and that is not in `known`; -1 when there is none. */
export function unknownAttribute(message: StunMessage, known: readonly number[]): number {
  for (let index = 0; index < message.count; index++) {
    const type = message.types[index]
    if (type < 0x8000 && !known.includes(type)) return type
  }
  return -1
}

/** Writes one STUN message into a buffer. */
export class StunWriter {
  bytes: Uint8Array = new Uint8Array(0)
  length: number = 0

  /** Begins a message. `transaction`: where the 12 bytes of the transaction begin in `source`. */
  begin(bytes: Uint8Array, method: number, messageClass: number, source: Uint8Array, transaction: number): this {
    const type = messageClass | (method & 0xf) | ((method & 0x70) << 1) | ((method & 0xf80) << 2)
    this.bytes = bytes
    writeUint16Be(bytes, 0, type)
    writeUint32Be(bytes, 4, STUN_COOKIE)
    for (let index = 0; index < 12; index++) bytes[8 + index] = source[transaction + index]
    this.length = STUN_HEADER_BYTES
    return this
  }

  /** Writes an attribute. */
  attribute(type: number, value: Uint8Array): this {
    writeUint16Be(this.bytes, this.length, type)
    writeUint16Be(this.bytes, this.length + 2, value.length)
    this.bytes.set(value, this.length + 4)
    const end = this.length + 4 + value.length
    this.length += 4 + ((value.length + 3) & ~3)
    this.bytes.fill(0, end, this.length)
    return this
  }

  /** Writes an attribute of 32 bits. */
  word(type: number, value: number): this {
    writeUint16Be(this.bytes, this.length, type)
    writeUint16Be(this.bytes, this.length + 2, 4)
    writeUint32Be(this.bytes, this.length + 4, value)
    this.length += 8
    return this
  }

  /** Writes an XOR- address attribute, or nothing when the text is not an IP address. */
  address(type: number, text: string): this {
    const end = writeXorAddress(text, this.bytes, this.length + 4, 0)
    if (end === this.length + 4) return this
    writeUint16Be(this.bytes, this.length, type)
    writeUint16Be(this.bytes, this.length + 2, end - this.length - 4)
    this.length = end
    return this
  }

  /** Writes the size, with `extra` bytes that will follow: integrity and fingerprint cover a size that has them. */
  setSize(extra: number): void {
    writeUint16Be(this.bytes, 2, this.length - STUN_HEADER_BYTES + extra)
  }

  /** Ends the message, with a fingerprint if asked. Returns its length. */
  end(withFingerprint: boolean): number {
    this.setSize(withFingerprint ? FINGERPRINT_BYTES : 0)
    if (withFingerprint)
      this.word(STUN_ATTRIBUTE.fingerprint, (crc32(this.bytes, 0, this.length) ^ FINGERPRINT_MASK) >>> 0)
    return this.length
  }
}

const writer = new StunWriter()
const response = new StunMessage()

/**
 * Answers a Binding request from `from` into `bytes`. Returns the length of the answer; 0 when there is none. The
 * answer has the address and nothing else, so that it is as short as the protocol allows.
 */
export function answerBinding(request: StunMessage, from: string, bytes: Uint8Array): number {
  if (request.method !== STUN_METHOD.binding || request.class !== STUN_CLASS.request) return 0
  const unknown = unknownAttribute(request, [])
  if (unknown >= 0) {
    writer.begin(bytes, STUN_METHOD.binding, STUN_CLASS.error, request.bytes, 8)
    return writeStunError(writer, 420, unknown).end(request.hasFingerprint)
  }
  writer.begin(bytes, STUN_METHOD.binding, STUN_CLASS.success, request.bytes, 8)
  writer.address(STUN_ATTRIBUTE.xorMappedAddress, from)
  return writer.length === STUN_HEADER_BYTES ? 0 : writer.end(request.hasFingerprint)
}

/** Writes ERROR-CODE without a text, and for 420 the attribute that was not understood. */
export function writeStunError(target: StunWriter, code: number, unknown: number = -1): StunWriter {
  target.attribute(STUN_ATTRIBUTE.errorCode, Uint8Array.of(0, 0, Math.floor(code / 100), code % 100))
  if (unknown >= 0) target.attribute(STUN_ATTRIBUTE.unknownAttributes, Uint8Array.of(unknown >>> 8, unknown & 0xff))
  return target
}

/** Writes a Binding request with these 12 bytes of transaction. Returns its length. */
export function writeBindingRequest(bytes: Uint8Array, transaction: Uint8Array): number {
  return writer.begin(bytes, STUN_METHOD.binding, STUN_CLASS.request, transaction, 0).end(false)
}

/** The address in a Binding success response with this transaction; undefined for any other bytes. */
export function readBindingResponse(bytes: Uint8Array, length: number, transaction: Uint8Array): string | undefined {
  if (!readStun(bytes, length, response)) return undefined
  if (response.method !== STUN_METHOD.binding || response.class !== STUN_CLASS.success) return undefined
  for (let index = 0; index < 12; index++) if (bytes[8 + index] !== transaction[index]) return undefined
  return response.address(response.find(STUN_ATTRIBUTE.xorMappedAddress))
}

/** High byte first, as all numbers of STUN and of channel data. @hot */
export function readUint16Be(bytes: Uint8Array, at: number): number {
  return (bytes[at] << 8) | bytes[at + 1]
}

/** High byte first. @hot */
export function writeUint16Be(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8
  bytes[at + 1] = value
}

function readUint32Be(bytes: Uint8Array, at: number): number {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0
}

function writeUint32Be(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}
