/**
 * Messages that are sent once: both unreliable channels.
 *
 * ```
 * frame body:  ┌──────────────────────────────────┬──────────────────────┐
 *              │ length, varint │ message, bytes  │ length │ message ... │
 *              └──────────────────────────────────┴──────────────────────┘
 * ```
 *
 * There are no ids. A packet takes effect once, so no message arrives twice. Messages are sent in order, so the
 * packet's own sequence says which of two is newer. It never wraps.
 *
 * Invariants: a message is in one packet at most; a sequenced channel delivers no message that was sent before one it
 * has delivered (CHAN3); each direction holds at most 256 messages and `MESSAGE_STORE_BYTES_MAX`, the newest (CHAN5).
 */

import { MESSAGE_BYTES_MAX, MESSAGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import type { FrameVerdict } from '../packet/frame-source.ts'
import { type Channel, idle, messageBits, type SendResult } from './channel.ts'
import { MessageQueue } from './message-queue.ts'

const NO_MESSAGE = -1

/** An unreliable channel, sequenced or not. One on each side of a connection. */
export class UnreliableChannel implements Channel {
  readonly promise: 'unreliable' | 'sequenced'
  /** Messages dropped unsent because newer ones needed their room. */
  droppedCount: number = 0
  /** Messages that arrived after newer ones and were dropped. */
  staleCount: number = 0
  #isSequenced: boolean
  #isClosed: boolean = false
  #outgoing: MessageQueue = new MessageQueue(MESSAGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES)
  #incoming: MessageQueue = new MessageQueue(MESSAGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES)
  #newestSequence: number = 0
  #wake: () => void = idle

  constructor(promise: 'unreliable' | 'sequenced') {
    this.promise = promise
    this.#isSequenced = promise === 'sequenced'
  }

  get waitingBytes(): number {
    return this.#outgoing.usedBytes
  }

  send(message: Uint8Array): SendResult {
    if (this.#isClosed) return 'closed'
    if (message.length > MESSAGE_BYTES_MAX) return 'too-large'
    while (!this.#outgoing.canHold(message.length)) this.dropOldest()
    this.#outgoing.put(message)
    this.#wake()
    return 'queued'
  }

  receive(out: Uint8Array): number {
    if (this.#incoming.count === 0) return NO_MESSAGE
    const length = this.#incoming.copyFront(out)
    this.#incoming.drop()
    return length
  }

  dropOldest(): boolean {
    if (this.#outgoing.count === 0) return false
    this.#outgoing.drop()
    this.droppedCount++
    return true
  }

  close(): void {
    this.#isClosed = true
  }

  attach(wake: () => void): void {
    this.#wake = wake
  }

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.#outgoing.count > 0 ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, _sequence: number, out: BitWriter): boolean {
    const queue = this.#outgoing
    let isFilled = false
    while (queue.count > 0 && messageBits(queue.frontLength) <= out.bitsLeft) {
      writeVarint(out, queue.frontLength)
      queue.writeFront(out)
      queue.drop()
      isFilled = true
    }
    return isFilled
  }

  onDelivered(): void {}

  onLost(): void {}

  /** @hot */
  accept(_now: Millis, sequence: number, frame: BitReader): FrameVerdict {
    const isStale = this.#isSequenced && sequence < this.#newestSequence
    if (!isStale) this.#newestSequence = sequence
    do {
      const length = readVarint(frame)
      if (length > MESSAGE_BYTES_MAX || length * 8 > frame.bitsLeft) frame.fail()
      if (frame.failed) return 'broken'
      if (isStale) {
        this.staleCount++
        frame.skipBits(length * 8)
      } else {
        while (!this.#incoming.canHold(length)) this.#incoming.drop()
        this.#incoming.putFrom(frame, length)
      }
    } while (frame.bitsLeft > 0)
    return 'ok'
  }
}
