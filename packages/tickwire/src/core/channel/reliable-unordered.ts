/**
 * Messages that arrive exactly once, each as soon as it can. The frame format is in `reliable-sender.ts`.
 *
 * Invariants: every id takes effect once (CHAN2); all ids below `oldest` have arrived, and for each of the 256 ids from
 * there on one byte says whether it has; unread messages are at most 256 and `MESSAGE_STORE_BYTES_MAX`.
 *
 * It does not order messages.
 */

import { MESSAGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES } from '../base/limits.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { MessageQueue } from './message-queue.ts'
import { NO_MESSAGE, ReliableChannel } from './reliable-channel.ts'

const MASK = RELIABLE_WINDOW_MESSAGES - 1

/** A reliable channel without an order. One on each side of a connection. */
export class ReliableUnorderedChannel extends ReliableChannel {
  override readonly promise = 'unordered'
  readonly #unread: MessageQueue = new MessageQueue(MESSAGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES)
  /** Indexed by `id & MASK`: 1 for each id after `oldest` that has arrived. */
  readonly #hasArrived: Uint8Array = new Uint8Array(RELIABLE_WINDOW_MESSAGES)

  override receive(out: Uint8Array): number {
    if (this.#unread.count === 0) return NO_MESSAGE
    const length = this.#unread.copyFront(out)
    this.#unread.drop()
    return length
  }

  /** @hot */
  protected override hold(id: number, length: number, frame: BitReader): boolean {
    const isKnown = id < this.oldest || this.#hasArrived[id & MASK] === 1
    if (isKnown || !this.#unread.canHold(length)) {
      frame.skipBits(length * 8)
      return isKnown
    }
    this.#unread.putFrom(frame, length)
    this.#hasArrived[id & MASK] = 1
    for (; this.#hasArrived[this.oldest & MASK] === 1; this.oldest++) this.#hasArrived[this.oldest & MASK] = 0
    return true
  }
}
