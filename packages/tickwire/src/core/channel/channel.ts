/**
 * The interface of every channel: messages with a delivery promise, sent in packets as frames.
 *
 * A channel is a `FrameSource` and a `FrameSink`; a connection treats it like any other source and sink. Messages are
 * bytes; their meaning is up to the sender and the receiver. Contract tests: `test/contract/channel.contract.ts`.
 */

import type { FrameSink, FrameSource } from '../packet/frame-source.ts'

/** The result of `send`. Only 'queued' messages will be sent. */
export type SendResult = 'queued' | 'full' | 'too-large' | 'closed'

/** The four promises. Their indices are their numbers on the wire. */
export const CHANNEL_PROMISES = ['unreliable', 'sequenced', 'unordered', 'ordered'] as const

/**
 * The promise of a channel. `unreliable`: each message at most once, some late, some never. `sequenced`: the same, and
 * none after a newer one. `unordered`: each exactly once. `ordered`: each exactly once, in the order sent.
 */
export type ChannelPromise = (typeof CHANNEL_PROMISES)[number]

/** Whether every message arrives. Messages that wait on such a channel block its sender. */
export function isReliablePromise(promise: ChannelPromise): boolean {
  return promise === 'ordered' || promise === 'unordered'
}

/** Sends and receives messages with a delivery promise. */
export interface Channel extends FrameSource, FrameSink {
  /** What the channel guarantees. */
  readonly promise: ChannelPromise
  /** Required here: a channel announces when it has data. */
  attach(wake: () => void): void
  /** Bytes held for sending: not yet sent, or sent and not yet acknowledged. */
  readonly waitingBytes: number
  /**
   * Queues a copy of `message`. A refused message is not sent: try again, or do without it. Unreliable channels are
   * never full: they drop their oldest message.
   */
  send(message: Uint8Array): SendResult
  /**
   * Copies the next message into `out` and returns its length; -1 when there is none. `out` must hold the largest
   * message of the channel. An application that does not receive from a reliable channel blocks its peer.
   */
  receive(out: Uint8Array): number
  /** Drops the oldest message that waits to be sent, if the channel is unreliable; false when there is none. */
  dropOldest(): boolean
  /** The connection is over: `send` refuses, messages that have arrived can still be received. */
  close(): void
}

/** The `wake` of channels without a connection: does nothing. */
export const idle = (): void => {}

/** Bits of a message of `length` bytes in a frame: its length field and its bytes. @hot */
export function messageBits(length: number): number {
  return (length < 0x80 ? 8 : 16) + length * 8
}

