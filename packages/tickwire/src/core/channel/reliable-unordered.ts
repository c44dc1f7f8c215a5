/**
 * Messages that arrive exactly once, each as soon as it can. Frames are drawn in `reliable-sender.ts`.
 *
 * Invariants: every id takes effect once (CHAN2); ids below #oldest have all arrived, of the 256 from there on one byte
 * each says whether; unread messages are at most 256 and `MESSAGE_STORE_BYTES_MAX`.
 *
 * It does not order, and it does not split: `large-channel.ts` does.
 */

import { MESSAGE_BYTES_MAX, MESSAGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint } from '../bits/varint.ts'
import type { FrameVerdict } from '../packet/frame-source.ts'
import type { Channel, SendResult } from './channel.ts'
import { MessageQueue } from './message-queue.ts'
import { ReliableSender } from './reliable-sender.ts'

const WINDOW = RELIABLE_WINDOW_MESSAGES
const MASK = WINDOW - 1
const NO_MESSAGE = -1

/** A reliable channel without an order. One on each side of a connection. */
export class ReliableUnorderedChannel implements Channel {
  readonly promise = 'unordered'
  #sender: ReliableSender = new ReliableSender()
  #unread: MessageQueue = new MessageQueue(MESSAGE_STORE_BYTES_MAX, WINDOW)
  /** The oldest id that has not arrived; 1 for each id from there on that has. */
  #oldest: number = 0
  #hasArrived: Uint8Array = new Uint8Array(WINDOW)

  /** Messages sent and not yet known to have arrived. */
  get pendingCount(): number {
    return this.#sender.pendingCount
  }

  get waitingBytes(): number {
    return this.#sender.waitingBytes
  }

  send(message: Uint8Array): SendResult {
    return this.#sender.send(message)
  }

  receive(out: Uint8Array): number {
    if (this.#unread.count === 0) return NO_MESSAGE
    const length = this.#unread.copyFront(out)
    this.#unread.drop()
    return length
  }

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
    // Shifting up and down again makes the distance from the oldest id a signed 16-bit number.
    const distance = ((frame.readBits(16) - (this.#oldest & 0xffff)) << 16) >> 16
    let id = this.#oldest + distance
    let isHeld = true
    do {
      const length = readVarint(frame)
      if (length > MESSAGE_BYTES_MAX || length * 8 > frame.bitsLeft) frame.fail()
      // Our oldest is the sender's or newer, so an honest one is never this far ahead.
      if (frame.failed || id >= this.#oldest + WINDOW) return 'broken'
      if (!this.#hold(id++, length, frame)) isHeld = false
    } while (frame.bitsLeft > 0)
    return isHeld ? 'ok' : 'no-ack'
  }

  /** Keeps the next message of `frame`, unless it is known; false when there is no room for it now. */
  #hold(id: number, length: number, frame: BitReader): boolean {
    const isKnown = id < this.#oldest || this.#hasArrived[id & MASK] === 1
    if (isKnown || !this.#unread.canHold(length)) {
      frame.skipBits(length * 8)
      return isKnown
    }
    this.#unread.putFrom(frame, length)
    this.#hasArrived[id & MASK] = 1
    for (; this.#hasArrived[this.#oldest & MASK] === 1; this.#oldest++) this.#hasArrived[this.#oldest & MASK] = 0
    return true
  }
}
