/**
 * What every channel is: a promise about messages, riding in packets as frames of one kind.
 *
 * A channel is a `FrameSource` and a `FrameSink`; a connection carries it like anything else. Messages are bytes; what
 * they mean is for those who send and receive them. Contract tests: `test/contract`.
 */

import type { FrameSink, FrameSource } from '../packet/frame-source.ts'

/** What became of a message handed to `send`. Only 'queued' ones will travel. */
export type SendResult = 'queued' | 'full' | 'too-large' | 'closed'

/** A way for messages, with a promise about them. */
export interface Channel extends FrameSource, FrameSink {
  /** Takes a copy of `message`. Nothing is lost by a refusal but the message: try again, or do without. */
  send(message: Uint8Array): SendResult
  /**
   * Copies the next message that is due into `out` and returns its length; -1 when there is none. `out` must hold
   * `MESSAGE_BYTES_MAX`. Whoever does not receive holds his peer up.
   */
  receive(out: Uint8Array): number
  /** The connection is over: `send` refuses, what has arrived can still be received. */
  close(): void
}
