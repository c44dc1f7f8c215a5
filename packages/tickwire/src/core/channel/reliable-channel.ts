/**
 * What the two reliable channels share: the sending half, and the reading of frames. The frame format is in
 * `reliable-sender.ts`. A subclass stores the messages that it receives, and hands them out.
 *
 * It does not split messages: a message that does not fit one packet is refused. `large-channel.ts` splits.
 */

import { MESSAGE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint } from '../bits/varint.ts'
import type { FrameVerdict } from '../packet/frame-source.ts'
import type { Channel, ChannelPromise, SendResult } from './channel.ts'
import { ReliableSender } from './reliable-sender.ts'

/** The result of `receive` when there is no message. */
export const NO_MESSAGE = -1

/** One side of a reliable channel. */
export abstract class ReliableChannel implements Channel {
  abstract readonly promise: ChannelPromise
  readonly #sender: ReliableSender = new ReliableSender()
  /** The oldest id that has not arrived. */
  protected oldest: number = 0

  /** Messages that were sent and are not acknowledged yet. */
  get pendingCount(): number {
    return this.#sender.pendingCount
  }

  get waitingBytes(): number {
    return this.#sender.waitingBytes
  }

  send(message: Uint8Array): SendResult {
    return this.#sender.send(message)
  }

  abstract receive(out: Uint8Array): number

  dropOldest(): boolean {
    return false
  }

  close(): void {
    this.#sender.isClosed = true
  }

  attach(wake: () => void): void {
    this.#sender.wake = wake
  }

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.#sender.hasQueued ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    return this.#sender.fill(sequence, out)
  }

  /** @hot */
  onDelivered(_now: Millis, sequence: number): void {
    this.#sender.onDelivered(sequence)
  }

  /** @hot */
  onLost(_now: Millis, sequence: number): void {
    this.#sender.onLost(sequence)
  }

  /** @hot */
  accept(_now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    // Shifting left and right again makes the distance from the oldest id a signed 16-bit number.
    const distance = ((frame.readBits(16) - (this.oldest & 0xffff)) << 16) >> 16
    let id = this.oldest + distance
    let isHeld = true
    do {
      const length = readVarint(frame)
      if (length > MESSAGE_BYTES_MAX || length * 8 > frame.bitsLeft) frame.fail()
      // `oldest` is at or above the sender's oldest, so an honest sender is never this far ahead.
      if (frame.failed || id >= this.oldest + RELIABLE_WINDOW_MESSAGES) return 'broken'
      if (!this.hold(id++, length, frame)) isHeld = false
    } while (frame.bitsLeft > 0)
    return isHeld ? 'ok' : 'no-ack'
  }

  /**
   * Stores the next message of `frame`, unless it was received before; false when there is no room for it now. Moves
   * `oldest` past all messages that have arrived.
   */
  protected abstract hold(id: number, length: number, frame: BitReader): boolean
}
