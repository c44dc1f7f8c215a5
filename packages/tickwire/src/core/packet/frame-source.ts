/**
 * The two interfaces through which bytes and game state meet without seeing each other.
 *
 * Everything that rides in a packet is a `FrameSource` on the way out and a `FrameSink` on the way in: channels,
 * inputs, snapshots, pings. The connection asks each source in turn to fill what room is left, remembers nothing of
 * what they wrote, and tells them whether that packet arrived. A new feature is a new pair, not a new branch.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Millis } from '../base/time.ts'

/** Anything that rides in packets. */
export interface FrameSource {
  /**
   * Handed over once, when the source is added to a connection. A source that has this promises to call `wake` whenever it
   * wants a packet earlier than it last said, except from within a call of its connection (`fill`, `onLost`, a sink's
   * `accept`): a connection is asked after those anyway. One without it is asked at every flush, which costs time and
   * nothing else.
   */
  attach?(wake: () => void): void
  /** Once per flush, before the first packet: priorities accumulate here, not per packet. */
  begin(now: Millis): void
  /** When it next needs a packet; Infinity = never. Feeds `pollTimeout`. */
  wantsAt(now: Millis): Millis
  /**
   * Writes one frame's body into `out`, at most to its end, and remembers what went into packet `sequence`.
   * Returns false, with nothing written that matters, when it has nothing (more) for this packet. Called again for
   * the same packet until it says false.
   */
  fill(now: Millis, sequence: number, out: BitWriter): boolean
  /** Packet `sequence`, which this source put a frame into, has arrived. Called once, or `onLost` is. */
  onDelivered(now: Millis, sequence: number): void
  /** Packet `sequence`, which this source put a frame into, is given up. */
  onLost(now: Millis, sequence: number): void
}

/**
 * What became of a frame. `no-ack`: understood as a packet, but of no use (a snapshot whose baseline is gone), so
 * the sender must not build on it. `broken`: its bits make no sense; the peer is authenticated, so this ends the
 * connection.
 */
export type FrameVerdict = 'ok' | 'no-ack' | 'broken'

/** Where frames of one kind go. `frame` spans exactly the frame's body. */
export interface FrameSink {
  accept(now: Millis, sequence: number, frame: BitReader): FrameVerdict
}
