/**
 * How large a datagram the path carries: found by sending padding that nobody misses.
 *
 * ```
 * frame body:  │ 4 │ zeros to the end of the packet │
 * ```
 *
 * It begins with 1200 bytes, which every path carries, and tries the largest size first, since most paths carry it;
 * then halves the distance between what arrived and what did not, down to 8 bytes. A size is given up after three
 * probes. There is no way to forbid routers to cut datagrams from Node or a browser, so a path that cuts and puts
 * together looks as wide as it behaves; that is what matters.
 *
 * Six packets above 1200 in a row that were lost, with none of that size arriving between, are a black hole: back to
 * 1200 at once, and a new search after a while.
 *
 * Invariants: no packet but a probe is larger than what a probe has crossed the path with (MTU1); at most one probe is
 * under way.
 */

import { DATAGRAM_BYTES_SAFE } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FrameSource } from '../packet/frame-source.ts'

/** The first byte of padding, among the frames of kind 15. */
export const PADDING = 4

const PROBES_PER_SIZE = 3
/** Closer than this is close enough. */
const GRAIN_BYTES = 8
const PROBE_GAP_MS = 250
/** Paths change: what failed is tried again after ten minutes, and after a black hole sooner. */
const SEARCH_AGAIN_MS = 600_000
const AFTER_HOLE_MS = 30_000
const HOLE_PACKETS = 6

// Imported constants as the module's own: read through an import they are loaded anew each time.
const SAFE_BYTES = DATAGRAM_BYTES_SAFE

/** The size of packets on one path. */
export class PathMtu implements FrameSource {
  /** What packets may have: the largest size that is known to arrive. */
  bytes: number = SAFE_BYTES
  /** Times that large packets stopped arriving. */
  holeCount: number = 0
  #limitBytes: number = SAFE_BYTES
  /** The smallest size that is known not to arrive. */
  #failedBytes: number = SAFE_BYTES + 1
  #probeBytes: number = SAFE_BYTES
  #probeSequence: number = 0
  #triesLeft: number = PROBES_PER_SIZE
  #nextAt: Millis = Infinity
  #lostInARow: number = 0

  begin(): void {}

  /** The transport carries up to `limitBytes`: the search begins soon. */
  start(now: Millis, limitBytes: number): void {
    this.#limitBytes = limitBytes
    this.#search(now + PROBE_GAP_MS)
  }

  /** Another path: what was found is worth nothing. */
  reset(now: Millis): void {
    this.bytes = SAFE_BYTES
    this.#lostInARow = 0
    this.#search(now + PROBE_GAP_MS)
  }

  /** When a probe is due; Infinity while one is under way or nothing is left to find. */
  get nextAt(): Millis {
    return this.#probeSequence === 0 ? this.#nextAt : Infinity
  }

  /** Whether a probe is due: `nextAt`, and nothing is boxed. @hot */
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

  /** A probe goes out as packet `sequence`. */
  onProbe(sequence: number): void {
    this.#probeSequence = sequence
  }

  /** Padding never rides with others: it is asked for by whoever builds probes, into packets of their own. */
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

  /** A packet of this size, which was no probe, has arrived. @hot */
  onPacketArrived(bytes: number): void {
    if (bytes > SAFE_BYTES) this.#lostInARow = 0
  }

  /** A packet of this size, which was no probe, was given up. @hot */
  onPacketLost(now: Millis, bytes: number): void {
    // What was under way when the hole was found says nothing new.
    if (bytes <= SAFE_BYTES || this.bytes === SAFE_BYTES) return
    if (++this.#lostInARow < HOLE_PACKETS) return
    this.holeCount++
    this.bytes = SAFE_BYTES
    this.#lostInARow = 0
    this.#search(now + AFTER_HOLE_MS)
  }

  #search(from: Millis): void {
    this.#failedBytes = this.#limitBytes + 1
    this.#probeSequence = 0
    this.#triesLeft = PROBES_PER_SIZE
    this.#probeBytes = this.#limitBytes
    this.#nextAt = this.#limitBytes > this.bytes ? from : Infinity
  }

  #choose(now: Millis): void {
    if (this.#failedBytes - this.bytes <= GRAIN_BYTES || this.bytes >= this.#limitBytes) {
      this.#search(now + SEARCH_AGAIN_MS)
      return
    }
    this.#triesLeft = PROBES_PER_SIZE
    this.#probeBytes = (this.bytes + this.#failedBytes) >>> 1
    this.#nextAt = now + PROBE_GAP_MS
  }
}
