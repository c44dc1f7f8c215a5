/**
 * A stream of messages beside the ticks, in both directions: reports of desyncs, images, seals. Frame kind 13.
 *
 * ```
 * frame    offset varint │ bytes of the stream, to the end of the frame
 * stream   message │ message │ …
 * message  length varint │ bytes
 * ```
 *
 * Messages arrive once, whole, in order. Frames may arrive in any order: bytes that are early wait, and lost ranges are
 * sent again. A connection has one stream in each direction, which begins at offset 0.
 *
 * A frame is small (400 bytes) unless much waits, and it is never in a packet with orders or ticks, so those packets
 * stay small.
 */

import {
  LOCKSTEP_FRAME_BYTES_MAX, SENT_PACKETS_MAX, SYNC_MESSAGE_BYTES_MAX, SYNC_QUEUE_BYTES_MAX, SYNC_WINDOW_BYTES,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../packet/frame-source.ts'
import { putVarint, varintBytes } from './leb128.ts'

/** With more than this waiting, frames are as large as the path allows. */
const BULK_BYTES = 2048
const FIRST_BYTES = 1024
/** The weights of the bytes of a length. */
const LENGTH_UNITS = [1, 0x80, 0x4000, 0x20_0000]
/** Ranges of early bytes that a sink remembers. More are not acknowledged and arrive again. */
const ISLANDS_MAX = 64

/** Sends the messages of one side. */
export class SyncSource implements FrameSource {
  /** The sequence of the last packet with orders or ticks: this source leaves that packet alone. */
  takenSequence: () => number = () => -1
  /** The bytes from offset `#base` on. */
  #bytes = new Uint8Array(FIRST_BYTES)
  #base = 0
  #end = 0
  #sentTo = 0
  /** Ranges that were lost, and ranges beyond `#base` that have arrived. */
  #lost: [number, number][] = []
  #arrived: [number, number][] = []
  #filledSequence = -1
  /** Indexed by sequence modulo the length: the range in that packet. */
  readonly #fromIn = new Float64Array(SENT_PACKETS_MAX)
  readonly #toIn = new Float64Array(SENT_PACKETS_MAX)
  #wake: () => void = () => {}

  /** Bytes that have not arrived. */
  get waitingBytes(): number {
    return this.#end - this.#base
  }

  /** Whether everything was sent, and nothing of it is known to be lost. */
  get isSent(): boolean {
    return this.#sentTo === this.#end && this.#lost.length === 0
  }

  /** False when too much waits: the message is not sent. */
  send(message: Uint8Array): boolean {
    const size = varintBytes(message.length) + message.length
    if (message.length > SYNC_MESSAGE_BYTES_MAX || this.waitingBytes + size > SYNC_QUEUE_BYTES_MAX) return false
    this.#reserve(this.waitingBytes + size)
    const at = putVarint(this.#bytes, this.#end - this.#base, message.length)
    this.#bytes.set(message, at)
    this.#end += size
    this.#wake()
    return true
  }

  attach(wake: () => void): void {
    this.#wake = wake
  }

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.#sentTo < this.#end || this.#lost.length > 0 ? now : Infinity
  }

  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (sequence === this.#filledSequence || sequence === this.takenSequence()) return false
    const lost = this.#lost[0]
    const from = lost?.[0] ?? this.#sentTo
    const until = lost?.[1] ?? this.#end
    const isBulk = this.waitingBytes > BULK_BYTES
    const room = Math.min(out.bitsLeft >>> 3, isBulk ? Infinity : LOCKSTEP_FRAME_BYTES_MAX)
    const count = Math.min(until - from, room - varintBytes(from))
    if (count <= 0) return false
    writeVarint(out, from)
    out.copyBits(this.#bytes, (from - this.#base) * 8, count * 8)
    if (lost === undefined) this.#sentTo = from + count
    else if (from + count === until) this.#lost.shift()
    else lost[0] = from + count
    this.#filledSequence = sequence
    this.#fromIn[sequence % SENT_PACKETS_MAX] = from
    this.#toIn[sequence % SENT_PACKETS_MAX] = from + count
    return true
  }

  onDelivered(_now: Millis, sequence: number): void {
    addRange(this.#arrived, this.#fromIn[sequence % SENT_PACKETS_MAX], this.#toIn[sequence % SENT_PACKETS_MAX])
    const [first] = this.#arrived
    if (first === undefined || first[0] > this.#base) return
    this.#arrived.shift()
    this.#bytes.copyWithin(0, first[1] - this.#base, this.#end - this.#base)
    this.#base = first[1]
  }

  onLost(_now: Millis, sequence: number): void {
    const from = Math.max(this.#base, this.#fromIn[sequence % SENT_PACKETS_MAX])
    const to = this.#toIn[sequence % SENT_PACKETS_MAX]
    if (from < to) this.#lost.push([from, to])
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(size, 2 * this.#bytes.length))
    grown.set(this.#bytes.subarray(0, this.waitingBytes))
    this.#bytes = grown
  }
}

/** Receives the messages of the other side. */
export class SyncSink implements FrameSink {
  /** The longest message that the other side may send now. A longer one ends the connection. */
  limit: () => number = () => SYNC_MESSAGE_BYTES_MAX
  /** A message has arrived. Its bytes belong to the receiver. */
  onMessage: (now: Millis, message: Uint8Array) => void = () => {}
  /** Everything before this offset has arrived. */
  #received = 0
  /** Bytes from `#received` on, of which only the islands are there. */
  #early = new Uint8Array(FIRST_BYTES)
  #islands: [number, number][] = []
  /** The message that is arriving: its length while that is known, and its bytes so far. */
  #length = -1
  #lengthBits = 0
  #lengthValue = 0
  #message = new Uint8Array(0)
  #count = 0

  accept(now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    const offset = readVarint(frame)
    const count = frame.bitsLeft >>> 3
    if (frame.failed || count === 0) return 'broken'
    if (offset + count > this.#received + SYNC_WINDOW_BYTES) return 'no-ack'
    const bytes = new Uint8Array(count)
    frame.readBytes(bytes, 0, count)
    const known = Math.max(0, this.#received - offset)
    if (known >= count) return 'ok'
    if (offset > this.#received) return this.#keep(offset, bytes)
    return this.#take(now, bytes.subarray(known)) && this.#takeIslands(now) ? 'ok' : 'broken'
  }

  /** Bytes that are early. */
  #keep(offset: number, bytes: Uint8Array): FrameVerdict {
    if (this.#islands.length >= ISLANDS_MAX) return 'no-ack'
    const at = offset - this.#received
    if (at + bytes.length > this.#early.length) {
      const grown = new Uint8Array(SYNC_WINDOW_BYTES)
      grown.set(this.#early)
      this.#early = grown
    }
    this.#early.set(bytes, at)
    addRange(this.#islands, offset, offset + bytes.length)
    return 'ok'
  }

  #takeIslands(now: Millis): boolean {
    for (let [first] = this.#islands; first !== undefined && first[0] <= this.#received; [first] = this.#islands) {
      this.#islands.shift()
      const count = first[1] - this.#received
      if (count > 0 && !this.#take(now, this.#early.slice(0, count))) return false
    }
    return true
  }

  /** The next bytes of the stream. False when they are invalid. */
  #take(now: Millis, bytes: Uint8Array): boolean {
    this.#early.copyWithin(0, Math.min(bytes.length, this.#early.length))
    this.#received += bytes.length
    for (let at = 0; at < bytes.length; ) {
      if (this.#length < 0) {
        if (!this.#takeLength(bytes[at++])) return false
      } else {
        const count = Math.min(this.#length - this.#count, bytes.length - at)
        this.#message.set(bytes.subarray(at, at + count), this.#count)
        this.#count += count
        at += count
      }
      if (this.#length >= 0 && this.#count === this.#length) this.#finish(now)
    }
    return true
  }

  #takeLength(byte: number): boolean {
    this.#lengthValue += (byte & 0x7f) * LENGTH_UNITS[this.#lengthBits / 7]
    this.#lengthBits += 7
    if (this.#lengthValue > this.limit() || (byte === 0 && this.#lengthBits > 7)) return false
    if (byte > 0x7f) return this.#lengthBits < 28
    this.#length = this.#lengthValue
    this.#message = new Uint8Array(this.#length)
    this.#count = 0
    return true
  }

  #finish(now: Millis): void {
    const message = this.#message
    this.#length = -1
    this.#lengthBits = 0
    this.#lengthValue = 0
    this.#message = new Uint8Array(0)
    this.onMessage(now, message)
  }
}

/** Adds a range to ascending ranges that do not touch each other. */
function addRange(ranges: [number, number][], from: number, to: number): void {
  let at = 0
  while (at < ranges.length && ranges[at][1] < from) at++
  let [low, high] = [from, to]
  let count = 0
  for (; at + count < ranges.length && ranges[at + count][0] <= to; count++) {
    low = Math.min(low, ranges[at + count][0])
    high = Math.max(high, ranges[at + count][1])
  }
  ranges.splice(at, count, [low, high])
}
