/**
 * Messages that arrive exactly once, in the order they were sent. Frames are drawn in `reliable-sender.ts`.
 *
 * Invariants: received messages are handed out once each, in order, without gaps (CH1, CH2); each direction holds at
 * most 256 messages and `MESSAGE_STORE_BYTES_MAX`.
 *
 * It does not split messages: what does not fit one packet is refused. `large-channel.ts` splits.
 */

import { MESSAGE_BYTES_MAX, MESSAGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint } from '../bits/varint.ts'
import type { FrameVerdict } from '../packet/frame-source.ts'
import type { Channel, SendResult } from './channel.ts'
import { MessageStore } from './message-store.ts'
import { ReliableSender } from './reliable-sender.ts'

const WINDOW = RELIABLE_WINDOW_MESSAGES
const MASK = WINDOW - 1
const NO_MESSAGE = -1

/** A reliable, ordered channel. One on each side of a connection. */
export class ReliableOrderedChannel implements Channel {
  readonly promise = 'ordered'
  #sender: ReliableSender = new ReliableSender()
  /** Receiving: ids from #unread to, not including, #expected are complete and wait to be handed out. */
  #incoming: MessageStore = new MessageStore(MESSAGE_STORE_BYTES_MAX)
  #inHandles: Int16Array = new Int16Array(WINDOW).fill(NO_MESSAGE)
  #unread: number = 0
  #expected: number = 0

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
    if (this.#unread === this.#expected) return NO_MESSAGE
    const at = this.#unread & MASK
    const handle = this.#inHandles[at]
    const length = this.#incoming.copyTo(handle, out)
    this.#incoming.release(handle)
    this.#inHandles[at] = NO_MESSAGE
    this.#unread++
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
    // Shifting up and down again makes the distance from the expected id a signed 16-bit number.
    const distance = ((frame.readBits(16) - (this.#expected & 0xffff)) << 16) >> 16
    let id = this.#expected + distance
    let isHeld = true
    do {
      const length = readVarint(frame)
      if (length > MESSAGE_BYTES_MAX || length * 8 > frame.bitsLeft) frame.fail()
      if (frame.failed || id >= this.#expected + WINDOW) return 'broken'
      if (!this.#hold(id++, length, frame)) isHeld = false
    } while (frame.bitsLeft > 0)
    return isHeld ? 'ok' : 'no-ack'
  }

  /** Keeps the next message of `frame`, unless it is known; false when there is no room for it now. */
  #hold(id: number, length: number, frame: BitReader): boolean {
    const at = id & MASK
    const isKnown = id < this.#expected || (id < this.#unread + WINDOW && this.#inHandles[at] !== NO_MESSAGE)
    // What is unread takes room. What is ahead of a gap cannot take the room of the message that closes it: the sender
    // holds no more than we can, that message included.
    const hasRoom = id < this.#unread + WINDOW && this.#incoming.canHold(length)
    if (isKnown || !hasRoom) {
      frame.skipBits(length * 8)
      return isKnown
    }
    this.#inHandles[at] = this.#incoming.putFrom(frame, length)
    while (this.#expected < this.#unread + WINDOW && this.#inHandles[this.#expected & MASK] !== NO_MESSAGE) this.#expected++
    return true
  }
}
