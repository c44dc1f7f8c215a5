/**
 * The frame that a relay sends to a client: bytes of the tick log.
 *
 * ```
 * flags 8 │ token 32 │ last varint │ offset varint │ feedback │ newest │ bytes to the end of the frame
 *
 * flags     bit 0: feedback follows. Bit 1: `newest` follows, for a client that is far behind. The other bits are 0
 * token     proves that tick `last` was stepped, when the client returns it
 * last      the newest tick that ends within these bytes, or before them
 * offset    where the first byte stands in the log of the match
 * feedback  mean arrival of orders before their deadline, us 32, two's complement │ late orders 16 │ jitter us 32
 * newest    the newest tick of the match, varint
 * ```
 *
 * Every packet repeats the last ticks that are not known to have arrived, so a lost packet costs no round trip; after a
 * loss it repeats all of them. A tick may be larger than a frame and then spans several.
 */

import { LOCKSTEP_FRAME_BYTES_MAX, REJOIN_BEHIND_TICKS, SENT_PACKETS_MAX } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../packet/frame-source.ts'
import { varintBytes } from './leb128.ts'
import type { TickLog } from './tick-log.ts'

/** How early the orders of a client arrive, as the relay measures it. */
export interface TimingFeedback {
  /** The mean time from arrival to the deadline, in microseconds. Negative: late. */
  readonly arrivalUs: number
  /** Orders that came late since the last feedback. */
  readonly lateCount: number
  /** The jitter of the way to the relay, in microseconds. */
  readonly jitterUs: number
}

/** What a source of ticks needs from the relay. */
export interface TicksFeed {
  readonly log: TickLog
  /** The newest tick that this client may receive. */
  newest(): Tick
  /** The token of a tick for this client. */
  tokenOf(tick: Tick): number
  /** Feedback that is due for this client. Undefined: none. */
  takeFeedback(): TimingFeedback | undefined
}

const FEEDBACK_BYTES = 10
/** Bits of the flags. */
const FEEDBACK = 1
const NEWEST = 2
const FRAMES_PER_FLUSH_MAX = 4
/** On a path without losses a tick is in this many packets. */
const REPEATED_TICKS = 2
/** For this many ticks after a loss everything that is not acknowledged is repeated: ten seconds at 30 Hz. */
const LOSSY_TICKS = 300
/** Bytes that are repeated in every flush until they are acknowledged: three frames. */
const REPEATED_BYTES_MAX = 1200

/** Sends ticks to one client. */
export class TicksSource implements FrameSource {
  readonly #feed: TicksFeed
  /**
   * Positions in the log: bytes before the first have arrived, bytes before the second were sent, and this flush sends
   * from the third on.
   */
  #acked = 0
  #sentTo = 0
  #next = 0
  /** The newest tick when a packet was last lost. */
  #lossTick: Tick = -Infinity
  #newestSent: Tick = 0
  #inFlush = 0
  #filledSequence = -1
  /** Where the bytes of each packet in flight end. Indexed by sequence modulo the length. */
  readonly #endIn = new Float64Array(SENT_PACKETS_MAX).fill(-1)
  #wake: () => void = () => {}

  constructor(feed: TicksFeed) {
    this.#feed = feed
  }

  /** How many bytes of the log have arrived. */
  get ackedBytes(): number {
    return this.#acked
  }

  /** The last packet with a frame of this source. */
  get filledSequence(): number {
    return this.#filledSequence
  }

  /** The client has stepped a tick, so it has all bytes up to its end. */
  noteExecuted(tick: Tick): void {
    const end = this.#feed.log.endOf(tick)
    if (end <= this.#acked) return
    this.#acked = end
    if (end > this.#sentTo) this.#sentTo = end
    if (tick > this.#newestSent) this.#newestSent = tick
  }

  /** A tick was closed. */
  wake(): void {
    this.#wake()
  }

  attach(wake: () => void): void {
    this.#wake = wake
  }

  begin(): void {
    const feed = this.#feed
    // A client that is far behind gets every byte once, and lost bytes again; the others get all that may be lost.
    const newest = feed.newest()
    const isBehind = feed.log.endOf(newest) - this.#acked > REPEATED_BYTES_MAX
    const isLossy = newest - this.#lossTick < LOSSY_TICKS
    const recent = feed.log.endOf(Math.max(0, newest - REPEATED_TICKS))
    // Repeats go along with new ticks. Otherwise they would be in every packet, and displace all other frames.
    const isRepeating = !isBehind && newest > this.#newestSent
    this.#next = !isRepeating ? this.#sentTo : isLossy ? this.#acked : Math.max(this.#acked, recent)
    if (this.#next > this.#sentTo) this.#next = this.#sentTo
    this.#inFlush = 0
  }

  wantsAt(now: Millis): Millis {
    return this.#feed.newest() > this.#newestSent ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    const feed = this.#feed
    const { log } = feed
    const newest = feed.newest()
    const end = log.endOf(newest)
    if (sequence === this.#filledSequence || this.#next >= end || this.#inFlush >= FRAMES_PER_FLUSH_MAX) return false
    const from = this.#next
    const room = Math.min(out.bitsLeft >>> 3, LOCKSTEP_FRAME_BYTES_MAX)
    // Assume the longest `last`: the frame never grows beyond its room.
    const isFar = newest - log.tickAt(from) > REJOIN_BEHIND_TICKS
    const head = 5 + (isFar ? 2 : 1) * varintBytes(newest) + varintBytes(from)
    const feedback = room - head - FEEDBACK_BYTES > 0 ? feed.takeFeedback() : undefined
    const count = Math.min(end - from, room - head - (feedback === undefined ? 0 : FEEDBACK_BYTES))
    if (count <= 0) return false
    const last = from + count === end ? newest : log.tickAt(from + count)
    out.writeBits((feedback === undefined ? 0 : FEEDBACK) | (isFar ? NEWEST : 0), 8)
    out.writeBits(feed.tokenOf(last), 32)
    writeVarint(out, last)
    writeVarint(out, from)
    if (feedback !== undefined) {
      out.writeBits(feedback.arrivalUs, 32)
      out.writeBits(feedback.lateCount, 16)
      out.writeBits(feedback.jitterUs, 32)
    }
    if (isFar) writeVarint(out, newest)
    out.copyBits(log.bytes, from * 8, count * 8)
    this.#inFlush++
    this.#next = from + count
    if (this.#next > this.#sentTo) this.#sentTo = this.#next
    this.#filledSequence = sequence
    this.#endIn[sequence % SENT_PACKETS_MAX] = from + count
    if (last > this.#newestSent) this.#newestSent = last
    return true
  }

  onDelivered(_now: Millis, sequence: number): void {
    const end = this.#endIn[sequence % SENT_PACKETS_MAX]
    if (end > this.#acked) this.#acked = end
  }

  onLost(): void {
    this.#lossTick = this.#feed.newest()
    this.#sentTo = this.#acked
    this.#newestSent = this.#feed.log.tickAt(this.#acked)
  }
}

/** Receives ticks into the log of a client. */
export class TicksSink implements FrameSink {
  readonly log: TickLog
  /** The newest token, and its tick. */
  token = 0
  tokenTick: Tick = 0
  /** The last feedback. Undefined before the first. */
  feedback: TimingFeedback | undefined = undefined
  /** Frames that began after the end of the log, and frames with invalid ticks. */
  gaps = 0
  corrupted = 0
  /**
   * Another relay is asked to go on with the match. Until it says which of the own ticks are in it, no bytes are taken:
   * they could seem to be in the log already.
   */
  isHeld = false
  /** Called for each tick that became complete, with the time of its arrival. False: the tick is invalid. */
  onTick: (now: Millis, tick: Tick) => boolean = () => true
  /** Called with the newest tick of the match while the ticks that arrive are far behind it. */
  onNewest: (now: Millis, newest: Tick) => void = () => {}
  /** Called with the token of a tick. */
  onToken: (tick: Tick, token: number) => void = () => {}
  readonly #bytes = new Uint8Array(LOCKSTEP_FRAME_BYTES_MAX)

  constructor(log: TickLog) {
    this.log = log
  }

  accept(now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    const { log } = this
    const flags = frame.readBits(8)
    const token = frame.readBits(32) >>> 0
    const last = readVarint(frame)
    const offset = readVarint(frame)
    const feedback = (flags & FEEDBACK) !== 0 ? readFeedback(frame) : undefined
    const newest = (flags & NEWEST) !== 0 ? readVarint(frame) : 0
    const count = frame.bitsLeft >>> 3
    if (frame.failed || flags > (FEEDBACK | NEWEST) || count === 0 || count > LOCKSTEP_FRAME_BYTES_MAX) return 'broken'
    // The packet is not acknowledged, so its bytes are sent again.
    if (this.isHeld) return 'no-ack'
    if (offset > log.length) {
      // Bytes in between were lost.
      this.gaps++
      return 'no-ack'
    }
    frame.readBytes(this.#bytes, 0, count)
    if (feedback !== undefined) this.feedback = feedback
    if (newest > 0) this.onNewest(now, newest)
    const known = log.length - offset
    if (known < count && !this.#take(now, this.#bytes, known, count, last)) return 'broken'
    if (last > this.tokenTick) {
      this.token = token
      this.tokenTick = last
      // Observers, and players before their join, have no token.
      if (token !== 0) this.onToken(last, token)
    }
    return 'ok'
  }

  /** The first ticks, at once: bytes of the log from its beginning on. False when they are invalid. */
  takeFirst(now: Millis, bytes: Uint8Array, last: Tick): boolean {
    this.log.dropPart()
    const known = this.log.length
    return known >= bytes.length || this.#take(now, bytes, known, bytes.length, last)
  }

  #take(now: Millis, bytes: Uint8Array, from: number, to: number, last: Tick): boolean {
    const { log } = this
    const before = log.newest
    let isValid = log.receive(bytes, from, to - from, last) === 'ok'
    for (let tick = before + 1; isValid && tick <= log.newest; tick++) isValid = this.onTick(now, tick)
    if (!isValid) this.corrupted++
    return isValid
  }
}

function readFeedback(frame: BitReader): TimingFeedback {
  const arrivalUs = frame.readBits(32) | 0
  const lateCount = frame.readBits(16)
  return { arrivalUs, lateCount, jitterUs: frame.readBits(32) >>> 0 }
}
