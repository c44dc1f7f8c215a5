/**
 * Path MTU discovery: finds the largest datagram that the path carries by sending padding whose loss does no harm.
 *
 * ```
 * frame body:  │ 4 │ zeros to the end of the packet │
 * ```
 *
 * It begins with 1200 bytes, which every path carries. It tries the largest size first, because most paths carry it.
 * Then it halves the interval between the largest size that arrived and the smallest that did not, down to 8 bytes. A
 * size is given up after three probes. Node and browsers cannot forbid routers to fragment datagrams, so a path that
 * fragments and reassembles looks as wide as it behaves; that is what matters.
 *
 * Six lost packets in a row above 1200 bytes, with none of that size arriving in between, are a black hole. The size
 * then drops to 1200 at once, and a new search begins after a while.
 *
 * Invariants: no packet except a probe is larger than a probe that has arrived (MTU1); at most one probe is in flight.
 */

import { DATAGRAM_BYTES_SAFE } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FrameSource } from '../packet/frame-source.ts'

/** The first byte of a padding frame, of frame kind 15. */
export const PADDING = 4

const PROBES_PER_SIZE = 3
/** The search ends when the interval is smaller than this. */
const GRAIN_BYTES = 8
const PROBE_GAP_MS = 250
/** Paths change: sizes that failed are tried again after ten minutes, and sooner after a black hole. */
const SEARCH_AGAIN_MS = 600_000
const AFTER_HOLE_MS = 30_000
const HOLE_PACKETS = 6

/** The packet size of one path. */
export class PathMtu implements FrameSource {
  /** The maximum packet size: the largest size that is known to arrive. */
  bytes: number = DATAGRAM_BYTES_SAFE
  /** How often large packets stopped arriving. */
  holeCount: number = 0
  /** The largest size that is tried: the limit of both sides' transports. */
  limitBytes: number = DATAGRAM_BYTES_SAFE
  /** The smallest size that is known not to arrive. */
  #failedBytes: number = DATAGRAM_BYTES_SAFE + 1
  #probeBytes: number = DATAGRAM_BYTES_SAFE
  #probeSequence: number = 0
  #triesLeft: number = PROBES_PER_SIZE
  #nextAt: Millis = Infinity
  #lostInARow: number = 0

  begin(): void {}

  /** The transport carries up to `limitBytes`: the search begins after `PROBE_GAP_MS`. */
  start(now: Millis, limitBytes: number): void {
    this.limitBytes = limitBytes
    this.#search(now + PROBE_GAP_MS)
  }

  /** The path has changed: all results are discarded. */
  reset(now: Millis): void {
    this.bytes = DATAGRAM_BYTES_SAFE
    this.#lostInARow = 0
    this.#search(now + PROBE_GAP_MS)
  }

  /** When a probe is due; Infinity while one is in flight or the search is complete. */
  get nextAt(): Millis {
    return this.#probeSequence === 0 ? this.#nextAt : Infinity
  }

  /** Whether a probe is due. Unlike `nextAt` it boxes nothing. @hot */
  isDue(now: Millis): boolean {
    return this.#probeSequence === 0 && now >= this.#nextAt
  }

  /** Lowers a deadline to `nextAt`. @hot */
  lower(deadline: Float64Array): void {
    if (this.#probeSequence === 0 && this.#nextAt < deadline[0]) deadline[0] = this.#nextAt
  }

  /** The size of the probe that is due. */
  get probeBytes(): number {
    return this.#probeBytes
  }

  /** A probe is sent as packet `sequence`. */
  onProbe(sequence: number): void {
    this.#probeSequence = sequence
  }

  /** Padding never shares a packet with other frames: probe packets ask for it explicitly. */
  wantsAt(): Millis {
    return Infinity
  }

  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (sequence !== this.#probeSequence || out.bitsLeft < 8) return false
    out.writeBits(PADDING, 8)
    while (out.bitsLeft >= 32) out.writeBits(0, 32)
    while (out.bitsLeft >= 8) out.writeBits(0, 8)
    return true
  }

  onDelivered(now: Millis, sequence: number): void {
    if (sequence !== this.#probeSequence) return
    this.#probeSequence = 0
    this.bytes = this.#probeBytes
    this.#choose(now)
  }

  onLost(now: Millis, sequence: number): void {
    if (sequence !== this.#probeSequence) return
    this.#probeSequence = 0
    this.#nextAt = now + PROBE_GAP_MS
    if (--this.#triesLeft > 0) return
    this.#failedBytes = this.#probeBytes
    this.#choose(now)
  }

  /** A packet of this size that was not a probe has arrived. @hot */
  onPacketArrived(bytes: number): void {
    if (bytes > DATAGRAM_BYTES_SAFE) this.#lostInARow = 0
  }

  /** A packet of this size that was not a probe was lost. @hot */
  onPacketLost(now: Millis, bytes: number): void {
    // Packets that were in flight when the black hole was found give no new information.
    if (bytes <= DATAGRAM_BYTES_SAFE || this.bytes === DATAGRAM_BYTES_SAFE) return
    if (++this.#lostInARow < HOLE_PACKETS) return
    this.holeCount++
    this.bytes = DATAGRAM_BYTES_SAFE
    this.#lostInARow = 0
    this.#search(now + AFTER_HOLE_MS)
  }

  #search(from: Millis): void {
    this.#failedBytes = this.limitBytes + 1
    this.#probeSequence = 0
    this.#triesLeft = PROBES_PER_SIZE
    this.#probeBytes = this.limitBytes
    this.#nextAt = this.limitBytes > this.bytes ? from : Infinity
  }

  #choose(now: Millis): void {
    if (this.#failedBytes - this.bytes <= GRAIN_BYTES || this.bytes >= this.limitBytes) {
      this.#search(now + SEARCH_AGAIN_MS)
      return
    }
    this.#triesLeft = PROBES_PER_SIZE
    this.#probeBytes = (this.bytes + this.#failedBytes) >>> 1
    this.#nextAt = now + PROBE_GAP_MS
  }
}
