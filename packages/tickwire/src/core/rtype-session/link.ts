/**
 * One side of an R-Type connection: sequences, acknowledgements, repeats, and what was received before.
 *
 * Every datagram gets the next sequence. A reliable one is sent again, with the same bytes, until its sequence is
 * acknowledged. A reliable packet is acknowledged each time it arrives and delivered once; order is not kept. A packet
 * behind the window may be a copy, so it is neither delivered nor acknowledged.
 *
 * Invariant: at most RTYPE_UNACKED_MAX packets wait for an acknowledgement and RTYPE_OUTGOING_MAX to be sent.
 */

import { RTYPE_OUTGOING_MAX, RTYPE_UNACKED_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { RtypeMessage } from '../rtype/codec.ts'
import { RtypeEnvelope, type RtypeEnvelopeOptions } from '../rtype/envelope.ts'
import { readRtypeHeader, RTYPE_FLAG, type RtypeFault, type RtypeHeader } from '../rtype/header.ts'
import type { RtypePacket } from '../rtype/packet-table.ts'
import { SerialWindow } from './serial-window.ts'

/** Why a datagram brought no new packet. */
export type RtypeDrop = RtypeFault | 'held' | 'copy' | 'old' | 'identity'

interface Unacked {
  readonly bytes: Uint8Array
  readonly firstAt: Millis
  sentAt: Millis
}

/** The state of one connection on one side. */
export class RtypeLink {
  /** The id that acknowledgements carry. */
  readonly clientId: number
  /** When the connection was accepted. Timestamps count from here. */
  readonly startedAt: Millis
  /** Datagrams that were sent again. */
  resent: number = 0
  /** Unreliable datagrams that were dropped because too many waited. */
  congested: number = 0
  readonly #envelope: RtypeEnvelope
  readonly #resendMs: number
  readonly #window: SerialWindow = new SerialWindow()
  readonly #header: RtypeHeader = { code: 0, flags: 0, sequence: 0, timestamp: 0 }
  /** By sequence, the oldest first. */
  readonly #unacked: Map<number, Unacked> = new Map()
  #outgoing: Uint8Array[] = []
  #next: number

  /** `first` is the first sequence that it sends. */
  constructor(now: Millis, clientId: number, first: number, resendMs: number, options: RtypeEnvelopeOptions) {
    this.startedAt = now
    this.clientId = clientId
    this.#next = first
    this.#resendMs = resendMs
    this.#envelope = new RtypeEnvelope(options)
  }

  /** Reliable packets that are not acknowledged. */
  get unacked(): number {
    return this.#unacked.size
  }

  /** How long the oldest reliable packet has waited for its acknowledgement, in ms. */
  unackedMs(now: Millis): number {
    for (const { firstAt } of this.#unacked.values()) return now - firstAt
    return 0
  }

  /** The timestamp of a packet that is sent now. */
  timestamp(now: Millis): number {
    return Math.max(0, Math.floor(now - this.startedAt)) >>> 0
  }

  /** Queues a packet. `'full'`: too many reliable packets are not acknowledged. `'too-large'`: it fits no datagram. */
  send(now: Millis, packet: RtypePacket, flags: number = 0): 'queued' | 'full' | 'too-large' {
    const sequence = (): number => {
      const next = this.#next
      this.#next = (next + 1) >>> 0
      return next
    }
    if (this.#unacked.size >= RTYPE_UNACKED_MAX) return 'full'
    const datagrams = this.#envelope.write(packet, flags, sequence, this.timestamp(now))
    if (datagrams.length === 0) return 'too-large'
    for (const bytes of datagrams) this.#queue(now, bytes)
    return 'queued'
  }

  /**
   * Reads a datagram. `isTrusted` says whether a packet carries the ids of this connection: only such packets are
   * acknowledged and counted as received.
   */
  receive(
    now: Millis,
    bytes: Uint8Array,
    length: number,
    isTrusted: (packet: RtypePacket) => boolean,
  ): RtypeMessage | RtypeDrop {
    const header = this.#header
    const fault = readRtypeHeader(bytes, length, header)
    if (fault !== undefined) return fault
    const freshness = this.#window.peek(header.sequence)
    if (freshness === 'old') return 'old'
    const isPart = (header.flags & RTYPE_FLAG.FRAGMENTED) !== 0
    // A copy of a fragment must not restart its message.
    const read = isPart && freshness !== 'new' ? 'held' : this.#envelope.read(now, bytes, length)
    if (typeof read === 'string' && read !== 'held') return read
    if (typeof read !== 'string' && !isTrusted(read.packet)) return 'identity'
    if ((header.flags & RTYPE_FLAG.RELIABLE) !== 0) this.#acknowledge(now, header.sequence)
    if (freshness !== 'new') return 'copy'
    this.#window.mark(header.sequence)
    return read
  }

  /** The peer has received this sequence. */
  handleAck(sequence: number): void {
    this.#unacked.delete(sequence)
  }

  /** The next datagram to send, repeats included. */
  poll(now: Millis): Uint8Array | undefined {
    const queued = this.#outgoing.shift()
    if (queued !== undefined) return queued
    for (const entry of this.#unacked.values()) {
      if (now - entry.sentAt < this.#resendMs) continue
      entry.sentAt = now
      this.resent++
      return entry.bytes
    }
    return undefined
  }

  /** When the next repeat is due. */
  nextAt(): Millis {
    let earliest = Infinity
    for (const { sentAt } of this.#unacked.values()) earliest = Math.min(earliest, sentAt + this.#resendMs)
    return this.#outgoing.length > 0 ? -Infinity : earliest
  }

  #acknowledge(now: Millis, ackedSequence: number): void {
    const { clientId } = this
    this.send(now, { type: 'ACKNOWLEDGMENT', ackedSequence, receivedTimestamp: this.timestamp(now), clientId })
  }

  #queue(now: Millis, bytes: Uint8Array): void {
    if ((bytes[3] & RTYPE_FLAG.RELIABLE) !== 0) {
      readRtypeHeader(bytes, bytes.length, this.#header)
      this.#unacked.set(this.#header.sequence, { bytes, firstAt: now, sentAt: now })
    } else if (this.#outgoing.length >= RTYPE_OUTGOING_MAX) {
      this.congested++
      return
    }
    this.#outgoing.push(bytes)
  }
}
