/**
 * A channel for messages larger than a packet: cuts them into fragments, each an ordinary message of the channel inside.
 *
 * The promise is that of the channel inside. On reliable ones every fragment arrives, and only lost ones ride again; on
 * unreliable ones a message that misses a fragment for 2 s is given up. Fragments are drawn in `delivery/reassembly.ts`.
 *
 * Invariants: messages are cut one after another, so an ordered channel stays ordered (FRAG1); nothing is taken from
 * the channel inside that cannot be kept, so a peer that sends more than it may stalls itself (FRAG4).
 *
 * It does not hurry: what waits is cut as the channel inside has room, and leaves at the path's pace.
 */

import {
  FRAGMENT_BYTES, FRAGMENT_GROUP_MS_MAX, LARGE_MESSAGE_BYTES_MAX, LARGE_STORE_BYTES_MAX, MESSAGE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FragmentQuota } from '../delivery/fragment-pool.ts'
import { FRAGMENT_HEAD_BYTES, Reassembler, WHOLE_HEAD_BYTES } from '../delivery/reassembly.ts'
import type { FrameVerdict } from '../packet/frame-source.ts'
import type { Channel, ChannelPromise, SendResult } from './channel.ts'
import { MessageQueue } from './message-queue.ts'

const NO_MESSAGE = -1
const IS_WHOLE = 0
const IS_FRAGMENT = 1
const WHOLE_BYTES_MAX = MESSAGE_BYTES_MAX - WHOLE_HEAD_BYTES
/** An unreliable channel is fed no faster than it drains: it would drop the first fragments for the last. */
const UNRELIABLE_AHEAD_BYTES = 8 * MESSAGE_BYTES_MAX

/** Carries messages of up to `LARGE_MESSAGE_BYTES_MAX`. Both sides must use it, or neither. */
export class LargeChannel implements Channel {
  readonly promise: ChannelPromise
  #inner: Channel
  #isReliable: boolean
  #isClosed: boolean = false
  #isBroken: boolean = false
  #now: Millis = 0
  /** Sending: messages that wait to be cut; how much of the first is cut, and under which group. */
  #waiting: MessageQueue = new MessageQueue(LARGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES)
  #cutBytes: number = 0
  #group: number = 0
  #piece: Uint8Array = new Uint8Array(MESSAGE_BYTES_MAX)
  /** Receiving: the next message of the channel inside, while it cannot be handed on. */
  #reassembler: Reassembler
  #arrived: Uint8Array = new Uint8Array(MESSAGE_BYTES_MAX)
  #arrivedLength: number = NO_MESSAGE

  constructor(inner: Channel, quota: FragmentQuota) {
    this.promise = inner.promise
    this.#inner = inner
    this.#isReliable = inner.promise === 'ordered' || inner.promise === 'unordered'
    this.#reassembler = new Reassembler(quota)
  }

  get waitingBytes(): number {
    return this.#waiting.usedBytes + this.#inner.waitingBytes
  }

  /** Large messages that were given up because a fragment did not come. */
  get abandonedCount(): number {
    return this.#reassembler.abandonedCount
  }

  /** The length of the next message that `receive` would return; -1 when there is none. */
  get nextLength(): number {
    this.#pump()
    return this.#isWholeReady() ? this.#arrivedLength - WHOLE_HEAD_BYTES : this.#reassembler.completeLength
  }

  send(message: Uint8Array): SendResult {
    if (this.#isClosed) return 'closed'
    if (message.length > LARGE_MESSAGE_BYTES_MAX) return 'too-large'
    while (!this.#waiting.canHold(message.length)) if (!this.dropOldest()) return 'full'
    this.#waiting.put(message)
    this.#feed()
    return 'queued'
  }

  receive(out: Uint8Array): number {
    this.#pump()
    if (!this.#isWholeReady()) return this.#reassembler.completeLength < 0 ? NO_MESSAGE : this.#reassembler.take(out)
    const length = this.#arrivedLength - WHOLE_HEAD_BYTES
    for (let index = 0; index < length; index++) out[index] = this.#arrived[WHOLE_HEAD_BYTES + index]
    this.#arrivedLength = NO_MESSAGE
    return length
  }

  dropOldest(): boolean {
    if (this.#isReliable) return false
    if (this.#inner.dropOldest()) return true
    if (this.#waiting.count === 0) return false
    this.#waiting.drop()
    this.#cutBytes = 0
    return true
  }

  close(): void {
    this.#isClosed = true
    this.#inner.close()
  }

  /** Gives back what incomplete messages hold of the shared memory. Nothing can be received afterwards. */
  release(): void {
    this.close()
    this.#arrivedLength = NO_MESSAGE
    this.#reassembler.clear()
  }

  attach(wake: () => void): void {
    this.#inner.attach(wake)
  }

  begin(now: Millis): void {
    this.#now = now
    if (!this.#isReliable) this.#reassembler.abandon(now - FRAGMENT_GROUP_MS_MAX)
    this.#inner.begin(now)
  }

  wantsAt(now: Millis): Millis {
    return this.#inner.wantsAt(now)
  }

  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    const isFilled = this.#inner.fill(now, sequence, out)
    this.#feed()
    return isFilled
  }

  onDelivered(now: Millis, sequence: number): void {
    this.#inner.onDelivered(now, sequence)
    this.#feed()
  }

  onLost(now: Millis, sequence: number): void {
    this.#inner.onLost(now, sequence)
  }

  accept(now: Millis, sequence: number, frame: BitReader): FrameVerdict {
    this.#now = now
    if (!this.#isReliable) this.#reassembler.abandon(now - FRAGMENT_GROUP_MS_MAX)
    const verdict = this.#inner.accept(now, sequence, frame)
    this.#pump()
    return this.#isBroken ? 'broken' : verdict
  }

  /** Hands on what waits, while the channel inside has room for it. */
  #feed(): void {
    while (this.#waiting.count > 0) {
      if (!this.#isReliable && this.#inner.waitingBytes >= UNRELIABLE_AHEAD_BYTES) return
      const length = this.#waiting.frontLength
      const isWhole = length <= WHOLE_BYTES_MAX
      const head = isWhole ? WHOLE_HEAD_BYTES : FRAGMENT_HEAD_BYTES
      const piece = this.#piece
      piece[0] = isWhole ? IS_WHOLE : IS_FRAGMENT
      if (!isWhole) {
        piece[1] = this.#group >>> 8
        piece[2] = this.#group
        piece[3] = this.#cutBytes / FRAGMENT_BYTES
        piece[4] = Math.ceil(length / FRAGMENT_BYTES) - 1
      }
      const size = this.#waiting.copyFront(piece, this.#cutBytes, head, isWhole ? WHOLE_BYTES_MAX : FRAGMENT_BYTES)
      const result = this.#inner.send(head + size === piece.length ? piece : piece.subarray(0, head + size))
      if (result !== 'queued') return
      this.#cutBytes += size
      if (this.#cutBytes < length) continue
      this.#waiting.drop()
      this.#cutBytes = 0
      if (!isWhole) this.#group = (this.#group + 1) & 0xffff
    }
  }

  #isWholeReady(): boolean {
    return this.#arrivedLength > 0 && this.#arrived[0] === IS_WHOLE
  }

  /** Takes in messages of the channel inside until one can be handed on, or there is no room for the next. */
  #pump(): void {
    while (!this.#isBroken && this.#reassembler.completeLength < 0) {
      if (this.#arrivedLength < 0) this.#arrivedLength = this.#inner.receive(this.#arrived)
      if (this.#arrivedLength < 0 || this.#isWholeReady()) return
      const isFragment = this.#arrivedLength > 0 && this.#arrived[0] === IS_FRAGMENT
      const verdict = isFragment ? this.#reassembler.insert(this.#now, this.#arrived, this.#arrivedLength) : 'broken'
      if (verdict === 'broken') this.#isBroken = true
      else if (verdict !== 'no-room') this.#arrivedLength = NO_MESSAGE
      // On a reliable channel the newest waits. On an unreliable one the oldest makes room, or the newest is lost.
      else if (this.#isReliable) return
      else if (!this.#reassembler.abandonOldest()) this.#arrivedLength = NO_MESSAGE
    }
  }
}
