/**
 * The sending half of both reliable channels: messages are sent again until a packet that carried them has arrived.
 *
 * ```
 * frame body:  ┌─────────────┬──────────────────────────────────┬──────────────────────┐
 *              │ first id 16 │ length, varint │ message, bytes  │ length │ message ... │
 *              └─────────────┴──────────────────────────────────┴──────────────────────┘
 * ```
 *
 * A frame holds a run of messages with consecutive ids, to the end of its body. Ids count from 0 and wrap at 16 bits. A
 * message is kept until the packet that carried it is delivered. If that packet is lost, the message is sent again in
 * the next packet, alone or with other messages. It is in one undecided packet at most.
 *
 * Invariant: at most 256 ids, and `MESSAGE_STORE_BYTES_MAX` bytes, lie between the oldest undelivered message and the
 * newest (CH3).
 */

import { MESSAGE_BYTES_MAX, MESSAGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES } from '../base/limits.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import { idle, messageBits, type SendResult } from './channel.ts'
import { MessageStore } from './message-store.ts'

const MASK = RELIABLE_WINDOW_MESSAGES - 1
const QUEUED = 1
const RIDING = 2
const DELIVERED = 3

/** Undelivered messages: ids from #oldest up to, not including, #next. Arrays are indexed by `id & MASK`. */
export class ReliableSender {
  /** The connection is over. */
  isClosed: boolean = false
  /** Notifies the connection that there is data to send. */
  wake: () => void = idle
  #store: MessageStore = new MessageStore(MESSAGE_STORE_BYTES_MAX)
  #handles: Int16Array = new Int16Array(RELIABLE_WINDOW_MESSAGES)
  #fate: Uint8Array = new Uint8Array(RELIABLE_WINDOW_MESSAGES)
  #ridesIn: Float64Array = new Float64Array(RELIABLE_WINDOW_MESSAGES)
  #oldest: number = 0
  #next: number = 0
  #queued: number = 0

  /** Messages that were sent and are not acknowledged yet. */
  get pendingCount(): number {
    return this.#next - this.#oldest
  }

  /** Bytes of these messages, in whole blocks. */
  get waitingBytes(): number {
    return this.#store.usedBytes
  }

  /** Whether there are messages for the next packet. */
  get hasQueued(): boolean {
    return this.#queued > 0
  }

  send(message: Uint8Array): SendResult {
    if (this.isClosed) return 'closed'
    if (message.length > MESSAGE_BYTES_MAX) return 'too-large'
    if (this.#next - this.#oldest >= RELIABLE_WINDOW_MESSAGES || !this.#store.canHold(message.length)) return 'full'
    const at = this.#next & MASK
    this.#handles[at] = this.#store.put(message)
    this.#fate[at] = QUEUED
    this.#next++
    this.#queued++
    this.wake()
    return 'queued'
  }

  /** Writes the first run of messages that fits into packet `sequence`; false when none does. @hot */
  fill(sequence: number, out: BitWriter): boolean {
    if (this.#queued === 0) return false
    let id = this.#oldest
    while (this.#fate[id & MASK] !== QUEUED) id++
    if (messageBits(this.#store.lengthOf(this.#handles[id & MASK])) + 16 > out.bitsLeft) return false
    out.writeBits(id & 0xffff, 16)
    for (; id < this.#next && this.#fate[id & MASK] === QUEUED; id++) {
      const handle = this.#handles[id & MASK]
      const length = this.#store.lengthOf(handle)
      if (messageBits(length) > out.bitsLeft) break
      writeVarint(out, length)
      this.#store.writeTo(handle, out)
      this.#fate[id & MASK] = RIDING
      this.#ridesIn[id & MASK] = sequence
      this.#queued--
    }
    return true
  }

  /** @hot */
  onDelivered(sequence: number): void {
    for (let id = this.#oldest; id < this.#next; id++) {
      if (this.#isRiding(id, sequence)) this.#fate[id & MASK] = DELIVERED
    }
    // A message that arrived ahead of a gap still takes room at the receiver. If its room here were reused, the message
    // that closes the gap could find no room at the receiver, and both sides would wait without end.
    while (this.#oldest < this.#next && this.#fate[this.#oldest & MASK] === DELIVERED) {
      this.#store.release(this.#handles[this.#oldest & MASK])
      this.#oldest++
    }
  }

  /** @hot */
  onLost(sequence: number): void {
    for (let id = this.#oldest; id < this.#next; id++) {
      if (!this.#isRiding(id, sequence)) continue
      this.#fate[id & MASK] = QUEUED
      this.#queued++
    }
  }

  #isRiding(id: number, sequence: number): boolean {
    return this.#fate[id & MASK] === RIDING && this.#ridesIn[id & MASK] === sequence
  }
}
