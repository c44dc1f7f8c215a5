/**
 * Messages that arrive exactly once, in the order they were sent. The frame format is in `reliable-sender.ts`.
 *
 * Invariants: received messages are delivered once each, in order, without gaps (CH1, CH2); each direction holds at
 * most 256 messages and `MESSAGE_STORE_BYTES_MAX`.
 */

import { MESSAGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES } from '../base/limits.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { MessageStore } from './message-store.ts'
import { NO_MESSAGE, ReliableChannel } from './reliable-channel.ts'

const MASK = RELIABLE_WINDOW_MESSAGES - 1

/** A reliable, ordered channel. One on each side of a connection. */
export class ReliableOrderedChannel extends ReliableChannel {
  override readonly promise = 'ordered'
  /** Ids from #unread up to, not including, `oldest` are complete and wait to be received. */
  readonly #incoming: MessageStore = new MessageStore(MESSAGE_STORE_BYTES_MAX)
  readonly #inHandles: Int16Array = new Int16Array(RELIABLE_WINDOW_MESSAGES).fill(NO_MESSAGE)
  #unread: number = 0

  override receive(out: Uint8Array): number {
    if (this.#unread === this.oldest) return NO_MESSAGE
    const at = this.#unread & MASK
    const handle = this.#inHandles[at]
    const length = this.#incoming.copyTo(handle, out)
    this.#incoming.release(handle)
    this.#inHandles[at] = NO_MESSAGE
    this.#unread++
    return length
  }

  /** @hot */
  protected override hold(id: number, length: number, frame: BitReader): boolean {
    const at = id & MASK
    const isInWindow = id < this.#unread + RELIABLE_WINDOW_MESSAGES
    const isKnown = id < this.oldest || (isInWindow && this.#inHandles[at] !== NO_MESSAGE)
    // Unread messages take room. Messages ahead of a gap cannot take the room of the message that closes the gap: the
    // sender holds no more than the receiver can, including that message.
    const hasRoom = isInWindow && this.#incoming.canHold(length)
    if (isKnown || !hasRoom) {
      frame.skipBits(length * 8)
      return isKnown
    }
    this.#inHandles[at] = this.#incoming.putFrom(frame, length)
    const end = this.#unread + RELIABLE_WINDOW_MESSAGES
    while (this.oldest < end && this.#inHandles[this.oldest & MASK] !== NO_MESSAGE) this.oldest++
    return true
  }
}
