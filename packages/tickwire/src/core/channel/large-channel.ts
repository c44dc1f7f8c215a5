/**
 * A channel for messages larger than a packet. It splits them into fragments; each is an ordinary message of an inner
 * channel.
 *
 * The promise is that of the inner channel. On reliable channels every fragment arrives, and only lost ones are sent
 * again. On unreliable channels a message that misses a fragment for 2 s is discarded. The format of fragments is in
 * `delivery/reassembly.ts`.
 *
 * Invariants: messages are split one after another, so an ordered channel stays ordered (FRAG1); nothing is taken from
 * the inner channel that cannot be stored, so a peer that sends too much stalls only itself (FRAG4).
 *
 * The first byte of a message is its kind. An ordered channel can limit the size of received messages of each kind: a
 * first fragment whose message would be longer is broken, before more of it is stored (FRAG7).
 *
 * It does not send ahead: waiting messages are split as the inner channel has room, and are sent at the path's rate.
 */

import {
  FRAGMENT_BYTES, FRAGMENT_GROUP_MS_MAX, LARGE_MESSAGE_BYTES_MAX, LARGE_STORE_BYTES_MAX, MESSAGE_BYTES_MAX,
  RELIABLE_WINDOW_MESSAGES,
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
/**
 * An unreliable channel is filled no faster than it drains. Otherwise it would drop the first fragments for the last.
 */
const UNRELIABLE_AHEAD_BYTES = 8 * MESSAGE_BYTES_MAX

/** A large message in progress. */
export interface LargeProgress {
  /** Its first byte. */
  readonly kind: number
  /** Bytes that have arrived: for a received message here, for a sent message as far as the peer has acknowledged. */
  readonly bytes: number
  /** Total bytes. For a received message, rounded up to whole fragments. */
  readonly totalBytes: number
}

/** A message that is being split or waits to be. `start`: bytes that were split before it. */
interface Outgoing {
  readonly kind: number
  readonly length: number
  readonly start: number
}

/** Carries messages of up to `LARGE_MESSAGE_BYTES_MAX`. Both sides must use it, or neither. */
export class LargeChannel implements Channel {
  readonly promise: ChannelPromise
  #inner: Channel
  #isReliable: boolean
  #isClosed: boolean = false
  #isBroken: boolean = false
  #isReleased: boolean = false
  #now: Millis = 0
  /** Sending: messages that wait to be split; how much of the first is split, and its group. */
  #waiting: MessageQueue = new MessageQueue(LARGE_STORE_BYTES_MAX, RELIABLE_WINDOW_MESSAGES)
  #cutBytes: number = 0
  #group: number = 0
  #piece: Uint8Array = new Uint8Array(MESSAGE_BYTES_MAX)
  /** Receiving: the next message of the inner channel, while it cannot be delivered. */
  #reassembler: Reassembler
  #arrived: Uint8Array = new Uint8Array(MESSAGE_BYTES_MAX)
  #arrivedLength: number = NO_MESSAGE
  /** The longest message that is received. Indexed by kind. Undefined: no limits. */
  #limits: Uint32Array | undefined
  /** The group and the kind of the message that is being received, on an ordered channel with limits. */
  #dueGroup: number = NO_MESSAGE
  #dueKind: number = 0
  /** Bytes of messages passed to `send`, and of fragments split, since the start. */
  #sentBytes: number = 0
  #allCutBytes: number = 0
  #outgoing: Outgoing[] = []

  constructor(inner: Channel, quota: FragmentQuota, limits?: Uint32Array) {
    this.#limits = inner.promise === 'ordered' ? limits : undefined
    this.promise = inner.promise
    this.#inner = inner
    this.#isReliable = inner.promise === 'ordered' || inner.promise === 'unordered'
    this.#reassembler = new Reassembler(quota)
  }

  get waitingBytes(): number {
    return this.#waiting.usedBytes - this.#cutBytes + this.#inner.waitingBytes
  }

  /** Large messages that were discarded because a fragment was missing. */
  get abandonedCount(): number {
    return this.#reassembler.abandonedCount
  }

  /** Whether a received fragment waits for room that other peers have taken. */
  get isStalled(): boolean {
    return this.#arrivedLength >= 0
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
    if (this.#isReliable && message.length > WHOLE_BYTES_MAX)
      this.#outgoing.push({ kind: message[0], length: message.length, start: this.#sentBytes })
    this.#sentBytes += message.length
    this.#feed()
    return 'queued'
  }

  /** Large messages that are sent and not completely acknowledged, oldest first. Not known for unreliable channels. */
  get outgoing(): readonly LargeProgress[] {
    this.#forgetArrived()
    const arrived = this.#allCutBytes - this.#inner.waitingBytes
    return this.#outgoing.map(({ kind, length, start }) => ({
      kind,
      bytes: Math.max(0, Math.min(length, arrived - start)),
      totalBytes: length,
    }))
  }

  /** The large message that is being received, if there is one and its kind is known. */
  get incoming(): readonly LargeProgress[] {
    const { openBytes, openTotalBytes } = this.#reassembler
    return openTotalBytes === 0 || this.#dueGroup < 0
      ? []
      : [{ kind: this.#dueKind, bytes: openBytes, totalBytes: openTotalBytes }]
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

  /** Returns the shared memory of incomplete messages. Nothing can be received afterwards. */
  release(): void {
    this.close()
    this.#isReleased = true
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
    this.#forgetArrived()
  }

  onLost(now: Millis, sequence: number): void {
    this.#inner.onLost(now, sequence)
  }

  accept(now: Millis, sequence: number, frame: BitReader): FrameVerdict {
    // A closing connection may still receive packets; without this check shared memory would never be released.
    if (this.#isReleased) return 'no-ack'
    this.#now = now
    if (!this.#isReliable) this.#reassembler.abandon(now - FRAGMENT_GROUP_MS_MAX)
    const verdict = this.#inner.accept(now, sequence, frame)
    this.#pump()
    return this.#isBroken ? 'broken' : verdict
  }

  /** Splits waiting messages while the inner channel has room. */
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
      this.#allCutBytes += size
      if (this.#cutBytes < length) continue
      this.#waiting.drop()
      this.#cutBytes = 0
      if (!isWhole) this.#group = (this.#group + 1) & 0xffff
    }
  }

  /** Whether the fragment that arrived belongs to a message within the limits. */
  #isDue(): boolean {
    const limits = this.#limits
    if (limits === undefined) return true
    const group = this.#arrived[1] * 256 + this.#arrived[2]
    if (this.#arrived[3] > 0) return group === this.#dueGroup
    this.#dueGroup = group
    this.#dueKind = this.#arrived[FRAGMENT_HEAD_BYTES]
    // The last fragment has at least one byte.
    return this.#arrived[4] * FRAGMENT_BYTES + 1 <= limits[this.#dueKind]
  }

  /** Removes large messages that have arrived completely. */
  #forgetArrived(): void {
    const arrived = this.#allCutBytes - this.#inner.waitingBytes
    while (this.#outgoing.length > 0 && this.#outgoing[0].start + this.#outgoing[0].length <= arrived)
      this.#outgoing.shift()
  }

  #isWholeReady(): boolean {
    return this.#arrivedLength > 0 && this.#arrived[0] === IS_WHOLE
  }

  /** Takes messages from the inner channel until one can be delivered, or there is no room for the next. */
  #pump(): void {
    while (!this.#isBroken && this.#reassembler.completeLength < 0) {
      if (this.#arrivedLength < 0) this.#arrivedLength = this.#inner.receive(this.#arrived)
      if (this.#arrivedLength < 0 || this.#isWholeReady()) return
      const isFragment = this.#arrivedLength > 0 && this.#arrived[0] === IS_FRAGMENT
      const verdict =
        isFragment && this.#isDue() ? this.#reassembler.insert(this.#now, this.#arrived, this.#arrivedLength) : 'broken'
      if (verdict === 'broken') this.#isBroken = true
      else if (verdict !== 'no-room') this.#arrivedLength = NO_MESSAGE
      // On a reliable channel the newest waits. On an unreliable one the oldest is discarded, or else the newest.
      else if (this.#isReliable) return
      else if (!this.#reassembler.abandonOldest()) this.#arrivedLength = NO_MESSAGE
    }
  }
}
