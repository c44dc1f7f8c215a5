/**
 * Messages that arrive exactly once, in the order they were sent.
 *
 * ```
 * frame body:  ┌─────────────┬──────────────────────────────────┬──────────────────────┐
 *              │ first id 16 │ length, varint │ message, bytes  │ length │ message ... │
 *              └─────────────┴──────────────────────────────────┴──────────────────────┘
 * ```
 *
 * A frame holds a run of messages with consecutive ids, to the end of its body. Ids count from 0 and wrap at 16 bits.
 * A message waits here until the packet that carried it is delivered; if that packet is lost it rides again in the
 * next one, alone or in other company. It is in one undecided packet at most.
 *
 * Invariants: at most 256 ids lie between the oldest undelivered message and the newest (CH3); received messages are
 * handed out once each, in order, without gaps (CH1, CH2); each direction holds at most `MESSAGE_STORE_BYTES_MAX`.
 *
 * It does not split messages: what does not fit one packet is refused.
 */

import { MESSAGE_BYTES_MAX, MESSAGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import type { FrameVerdict } from '../packet/frame-source.ts'
import type { Channel, SendResult } from './channel.ts'
import { MessageStore } from './message-store.ts'

const WINDOW = RELIABLE_WINDOW_MESSAGES
const MASK = WINDOW - 1
const NO_MESSAGE = -1
const QUEUED = 1
const RIDING = 2
const DELIVERED = 3

/** A reliable, ordered channel. One on each side of a connection, under the same frame kind. */
export class ReliableOrderedChannel implements Channel {
  #isClosed: boolean = false
  /** Sending: ids from #oldest (undelivered) up to, not including, #next. */
  #outgoing: MessageStore = new MessageStore(MESSAGE_STORE_BYTES_MAX)
  #outHandles: Int16Array = new Int16Array(WINDOW)
  #fate: Uint8Array = new Uint8Array(WINDOW)
  #ridesIn: Float64Array = new Float64Array(WINDOW)
  #oldest: number = 0
  #next: number = 0
  #queued: number = 0
  /** Receiving: ids from #unread to, not including, #expected are complete and wait to be handed out. */
  #incoming: MessageStore = new MessageStore(MESSAGE_STORE_BYTES_MAX)
  #inHandles: Int16Array = new Int16Array(WINDOW).fill(NO_MESSAGE)
  #unread: number = 0
  #expected: number = 0

  /** Messages sent and not yet known to have arrived. */
  get pendingCount(): number {
    return this.#next - this.#oldest
  }

  send(message: Uint8Array): SendResult {
    if (this.#isClosed) return 'closed'
    if (message.length > MESSAGE_BYTES_MAX) return 'too-large'
    if (this.#next - this.#oldest >= WINDOW || !this.#outgoing.canHold(message.length)) return 'full'
    const at = this.#next & MASK
    this.#outHandles[at] = this.#outgoing.put(message)
    this.#fate[at] = QUEUED
    this.#next++
    this.#queued++
    return 'queued'
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

  close(): void {
    this.#isClosed = true
  }

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.#queued > 0 ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#queued === 0) return false
    let id = this.#oldest
    while (this.#fate[id & MASK] !== QUEUED) id++
    if (bitsOf(this.#outgoing.lengthOf(this.#outHandles[id & MASK])) + 16 > out.bitsLeft) return false
    out.writeBits(id & 0xffff, 16)
    for (; id < this.#next && this.#fate[id & MASK] === QUEUED; id++) {
      const handle = this.#outHandles[id & MASK]
      const length = this.#outgoing.lengthOf(handle)
      if (bitsOf(length) > out.bitsLeft) break
      writeVarint(out, length)
      this.#outgoing.writeTo(handle, out)
      this.#fate[id & MASK] = RIDING
      this.#ridesIn[id & MASK] = sequence
      this.#queued--
    }
    return true
  }

  /** @hot */
  onDelivered(_now: Millis, sequence: number): void {
    for (let id = this.#oldest; id < this.#next; id++) {
      if (!this.#isRiding(id, sequence)) continue
      this.#outgoing.release(this.#outHandles[id & MASK])
      this.#fate[id & MASK] = DELIVERED
    }
    while (this.#oldest < this.#next && this.#fate[this.#oldest & MASK] === DELIVERED) this.#oldest++
  }

  /** @hot */
  onLost(_now: Millis, sequence: number): void {
    for (let id = this.#oldest; id < this.#next; id++) {
      if (!this.#isRiding(id, sequence)) continue
      this.#fate[id & MASK] = QUEUED
      this.#queued++
    }
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

  #isRiding(id: number, sequence: number): boolean {
    return this.#fate[id & MASK] === RIDING && this.#ridesIn[id & MASK] === sequence
  }
}

/** What a message of `length` bytes costs in a frame. */
function bitsOf(length: number): number {
  return (length < 0x80 ? 8 : 16) + length * 8
}
