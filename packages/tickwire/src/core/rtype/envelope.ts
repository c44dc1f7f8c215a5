/**
 * What the flags COMPRESSED, ENCRYPTED and FRAGMENTED do to a payload. The protocol defines no formats for them; these
 * are our own (docs/wire/RTYPE.md), and each is off unless the program gives a coder for it.
 *
 * A payload is compressed first, then cut into fragments, and each packet is sealed last. A reader goes the other way.
 *
 * ```
 * a fragment:  ┌──────────┬─────────┬─────────┬──────────┐      a sealed payload:  ┌────────────┬────────┐
 *              │ group 16 │ index 8 │ count 8 │ its part │                         │ ciphertext │ tag 16 │
 *              └──────────┴─────────┴─────────┴──────────┘                         └────────────┴────────┘
 * ```
 *
 * Invariant: a peer holds at most RTYPE_FRAGMENT_GROUPS_MAX incomplete messages, each for RTYPE_FRAGMENT_MS, and no
 * payload grows beyond RTYPE_MESSAGE_BYTES_MAX.
 */

import {
  RTYPE_FRAGMENT_GROUPS_MAX,
  RTYPE_FRAGMENT_MS,
  RTYPE_FRAGMENTS_MAX,
  RTYPE_MESSAGE_BYTES_MAX,
  RTYPE_PAYLOAD_BYTES_MAX,
} from '../base/limits.ts'
import { readRtypePayload, writeRtypePayload, type RtypeCodecOptions, type RtypeMessage } from './codec.ts'
import {
  readRtypeHeader,
  RTYPE_FLAG,
  RTYPE_HEADER_BYTES,
  writeRtypeHeader,
  type RtypeFault,
  type RtypeHeader,
} from './header.ts'
import { RTYPE_PACKETS, type RtypePacket } from './packet-table.ts'

/** Raw deflate (RFC 1951), from the platform. */
export interface RtypeCompression {
  /** The compressed bytes. */
  deflate(bytes: Uint8Array): Uint8Array
  /** The original bytes; undefined if the input is not deflate or becomes longer than `bytesMax`. */
  inflate(bytes: Uint8Array, bytesMax: number): Uint8Array | undefined
}

/** An authenticated cipher under a key that both sides have. It covers the header, and the sequence is the nonce. */
export interface RtypeSeal {
  /** Bytes that sealing adds. */
  readonly tagBytes: number
  /** Ciphertext and tag. */
  seal(header: Uint8Array, sequence: number, payload: Uint8Array): Uint8Array
  /** The plaintext; undefined if the tag is wrong. */
  open(header: Uint8Array, sequence: number, payload: Uint8Array): Uint8Array | undefined
}

/** How an envelope writes and reads. */
export interface RtypeEnvelopeOptions extends RtypeCodecOptions {
  /** Compress payloads that become shorter by it. Default: none are, and compressed packets are dropped. */
  readonly compression?: RtypeCompression
  /** Seal every payload, and drop packets that are not sealed. Default: none are, and sealed packets are dropped. */
  readonly seal?: RtypeSeal
  /** Cut payloads above 1,188 bytes into fragments. Default false: they are not sent, and fragments are dropped. */
  readonly canFragment?: boolean
}

const FRAGMENT_HEAD_BYTES = 4

/** Where payloads are written before they are copied into datagrams. */
const scratch: Uint8Array = new Uint8Array(RTYPE_MESSAGE_BYTES_MAX)

interface Group {
  readonly id: number
  readonly code: number
  readonly startedAt: number
  readonly parts: (Uint8Array | undefined)[]
  missing: number
}

/** Writes and reads the packets of one peer. */
export class RtypeEnvelope {
  readonly #options: RtypeEnvelopeOptions
  /** Incomplete messages, the oldest first. */
  #groups: Group[] = []
  #nextGroup: number = 0

  constructor(options: RtypeEnvelopeOptions = {}) {
    this.#options = options
  }

  /** Incomplete messages that are held. */
  get incomplete(): number {
    return this.#groups.length
  }

  /**
   * The datagrams of one packet, each with the next sequence; none if it is too long. Calls `nextSequence` once for
   * each. Sets RELIABLE for packets that the protocol marks with it.
   */
  write(packet: RtypePacket, flags: number, nextSequence: () => number, timestamp: number): Uint8Array[] {
    const { code, isReliable } = RTYPE_PACKETS[packet.type]
    const length = writeRtypePayload(packet, scratch, 0, this.#options)
    if (length < 0) return []
    let payload = scratch.subarray(0, length)
    let marks = (flags & (RTYPE_FLAG.RELIABLE | RTYPE_FLAG.PRIORITY)) | (isReliable ? RTYPE_FLAG.RELIABLE : 0)
    const smaller = this.#options.compression?.deflate(payload)
    if (smaller !== undefined && smaller.length < payload.length) {
      payload = smaller
      marks |= RTYPE_FLAG.COMPRESSED
    }
    const space = RTYPE_PAYLOAD_BYTES_MAX - (this.#options.seal?.tagBytes ?? 0)
    const header = { code, flags: marks, sequence: 0, timestamp }
    if (payload.length <= space) return [this.#pack(header, nextSequence(), payload)]
    return this.#options.canFragment === true ? this.#cut(header, nextSequence, payload, space) : []
  }

  /** Reads a datagram. `'held'`: it is a part of a message that is not complete. */
  read(now: number, bytes: Uint8Array, length: number): RtypeMessage | RtypeFault | 'held' {
    const header: RtypeHeader = { code: 0, flags: 0, sequence: 0, timestamp: 0 }
    const fault = readRtypeHeader(bytes, length, header)
    if (fault !== undefined) return fault
    if (length > RTYPE_HEADER_BYTES + RTYPE_PAYLOAD_BYTES_MAX) return 'long'
    const { seal, canFragment, compression } = this.#options
    let payload: Uint8Array | undefined = bytes.subarray(RTYPE_HEADER_BYTES, length)
    const isSealed = (header.flags & RTYPE_FLAG.ENCRYPTED) !== 0
    if (isSealed !== (seal !== undefined)) return 'encrypted'
    if (seal !== undefined) payload = seal.open(bytes.subarray(0, RTYPE_HEADER_BYTES), header.sequence, payload)
    if (payload === undefined) return 'encrypted'
    if ((header.flags & RTYPE_FLAG.FRAGMENTED) !== 0) {
      if (canFragment !== true) return 'fragmented'
      const joined = this.#join(now, header, payload)
      if (typeof joined === 'string') return joined
      payload = joined
    }
    if ((header.flags & RTYPE_FLAG.COMPRESSED) !== 0) {
      payload = compression?.inflate(payload, RTYPE_MESSAGE_BYTES_MAX)
      if (payload === undefined) return 'compressed'
    }
    const packet = readRtypePayload(header, payload, this.#options)
    return typeof packet === 'string' ? packet : { header, packet }
  }

  #pack(header: RtypeHeader, sequence: number, payload: Uint8Array): Uint8Array {
    const { seal } = this.#options
    const head = new Uint8Array(RTYPE_HEADER_BYTES)
    const flags = header.flags | (seal === undefined ? 0 : RTYPE_FLAG.ENCRYPTED)
    writeRtypeHeader({ ...header, flags, sequence }, head)
    const body = seal === undefined ? payload : seal.seal(head, sequence, payload)
    const datagram = new Uint8Array(RTYPE_HEADER_BYTES + body.length)
    datagram.set(head)
    datagram.set(body, RTYPE_HEADER_BYTES)
    return datagram
  }

  #cut(header: RtypeHeader, nextSequence: () => number, payload: Uint8Array, space: number): Uint8Array[] {
    const part = space - FRAGMENT_HEAD_BYTES
    const count = Math.ceil(payload.length / part)
    if (count > RTYPE_FRAGMENTS_MAX) return []
    const group = this.#nextGroup
    this.#nextGroup = (group + 1) & 0xffff
    const flags = header.flags | RTYPE_FLAG.FRAGMENTED
    return Array.from({ length: count }, (_, index) => {
      const bytes = payload.subarray(index * part, (index + 1) * part)
      const body = new Uint8Array(FRAGMENT_HEAD_BYTES + bytes.length)
      body.set([group >> 8, group & 0xff, index, count])
      body.set(bytes, FRAGMENT_HEAD_BYTES)
      return this.#pack({ ...header, flags }, nextSequence(), body)
    })
  }

  /** The whole message once its last part has arrived. */
  #join(now: number, header: RtypeHeader, payload: Uint8Array): Uint8Array | RtypeFault | 'held' {
    this.#groups = this.#groups.filter(({ startedAt }) => now - startedAt < RTYPE_FRAGMENT_MS)
    if (payload.length <= FRAGMENT_HEAD_BYTES) return 'fragmented'
    const id = (payload[0] << 8) | payload[1]
    const index = payload[2]
    const count = payload[3]
    if (count < 2 || count > RTYPE_FRAGMENTS_MAX || index >= count) return 'fragmented'
    const group = this.#groups.find((each) => each.id === id) ?? this.#begin(now, id, header.code, count)
    if (group.code !== header.code || group.parts.length !== count) return 'fragmented'
    if (group.parts[index] === undefined) {
      group.parts[index] = payload.slice(FRAGMENT_HEAD_BYTES)
      group.missing--
    }
    if (group.missing > 0) return 'held'
    this.#groups = this.#groups.filter((each) => each !== group)
    return joinParts(group.parts)
  }

  #begin(now: number, id: number, code: number, count: number): Group {
    const parts = new Array<Uint8Array | undefined>(count).fill(undefined)
    const group = { id, code, startedAt: now, parts, missing: count }
    this.#groups.push(group)
    if (this.#groups.length > RTYPE_FRAGMENT_GROUPS_MAX) this.#groups.shift()
    return group
  }
}

function joinParts(parts: readonly (Uint8Array | undefined)[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + (part?.length ?? 0), 0)
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    if (part === undefined) continue
    whole.set(part, at)
    at += part.length
  }
  return whole
}
