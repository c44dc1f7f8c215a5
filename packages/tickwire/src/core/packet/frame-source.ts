/**
 * The two interfaces that connect packets and game state without making them depend on each other.
 *
 * Everything in a packet comes from a `FrameSource` and goes to a `FrameSink`: channels, inputs, snapshots, pings. The
 * connection asks each source in turn to fill the remaining room, does not remember what they wrote, and notifies them
 * whether that packet arrived. A new feature is a new pair of source and sink, not a new branch.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Millis } from '../base/time.ts'

/** Writes frames into packets. */
export interface FrameSource {
  /**
   * Called once, when the source is added to a connection. A source with this method must call `wake` whenever it wants
   * a packet earlier than `wantsAt` last returned, except from within a call of its connection (`fill`, `onLost`, a
   * sink's `accept`), because a connection is polled after those anyway. A source without it is asked at every flush,
   * which costs time and nothing else.
   */
  attach?(wake: () => void): void
  /** Called once per flush, before the first packet: priorities accumulate here, not per packet. */
  begin(now: Millis): void
  /** When the source next needs a packet; Infinity = never. Used by `pollTimeout`. */
  wantsAt(now: Millis): Millis
  /**
   * Writes the body of one frame into `out`, at most to its end, and remembers what went into packet `sequence`.
   * Returns false when it has nothing (more) for this packet; what it wrote is then ignored. Called again for the same
   * packet until it returns false.
   */
  fill(now: Millis, sequence: number, out: BitWriter): boolean
  /** Packet `sequence`, which contains a frame of this source, has arrived. Either this or `onLost` is called, once. */
  onDelivered(now: Millis, sequence: number): void
  /** Packet `sequence`, which contains a frame of this source, is lost. */
  onLost(now: Millis, sequence: number): void
}

/**
 * The result of a frame. `no-ack`: a valid frame that cannot be used (a snapshot whose baseline is missing), so the
 * sender must not build on it. `broken`: its bits are invalid; the peer is authenticated, so this ends the connection.
 */
export type FrameVerdict = 'ok' | 'no-ack' | 'broken'

/** Receives the frames of one kind. `frame` spans exactly the frame's body. */
export interface FrameSink {
  /** Reads one frame of packet `sequence`. It must not throw, whatever the bits. */
  accept(now: Millis, sequence: number, frame: BitReader): FrameVerdict
}
