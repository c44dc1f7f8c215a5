/**
 * What every channel is: a promise about messages, riding in packets as frames.
 *
 * A channel is a `FrameSource` and a `FrameSink`; a connection carries it like anything else. Messages are bytes; what
 * they mean is for those who send and receive them. Contract tests: `test/contract/channel.contract.ts`.
 */

import type { FrameSink, FrameSource } from '../packet/frame-source.ts'

/** What became of a message handed to `send`. Only 'queued' ones will travel. */
export type SendResult = 'queued' | 'full' | 'too-large' | 'closed'

/** The four promises. Their places are their numbers on the wire. */
export const CHANNEL_PROMISES = ['unreliable', 'sequenced', 'unordered', 'ordered'] as const

/**
 * What a channel promises. `unreliable`: each at most once, some late, some never. `sequenced`: likewise, and none
 * after a newer one. `unordered`: each exactly once. `ordered`: each exactly once, in the order sent.
 */
export type ChannelPromise = (typeof CHANNEL_PROMISES)[number]

/** A way for messages, with a promise about them. */
export interface Channel extends FrameSource, FrameSink {
  readonly promise: ChannelPromise
  /** Channels say when they have something. */
  attach(wake: () => void): void
  /** Bytes held for sending: not yet sent, or sent and not yet known to have arrived. */
  readonly waitingBytes: number
  /**
   * Takes a copy of `message`. Nothing is lost by a refusal but the message: try again, or do without. Unreliable
   * channels are never full: they drop their oldest.
   */
  send(message: Uint8Array): SendResult
  /**
   * Copies the next message that is due into `out` and returns its length; -1 when there is none. `out` must hold
   * the largest message of the channel. Whoever does not receive from a reliable channel holds his peer up.
   */
  receive(out: Uint8Array): number
  /** Forgets the oldest message that waits to be sent, if it was never promised; false when there is none. */
  dropOldest(): boolean
  /** The connection is over: `send` refuses, what has arrived can still be received. */
  close(): void
}

/** Wakes nobody: of channels that ride on no connection. */
export const idle = (): void => {}

/** What a message of `length` bytes costs in a frame: its length, and itself. @hot */
export function messageBits(length: number): number {
  return (length < 0x80 ? 8 : 16) + length * 8
}

