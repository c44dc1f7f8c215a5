/**
 * What the authority sends each client about time, a few times a second, in packets that are sent anyway.
 *
 *   +--------------+---------+-----------------------------------+------------------------------+
 *   | tick, varint | phase 8 | has margins 1 [min 12 | mean 12]  | late 8 | has digest 1 [32]   |
 *   +--------------+---------+-----------------------------------+------------------------------+
 *
 *   phase     how far the next tick has progressed, in 1/256
 *   margins   how early inputs arrived since the last frame, in 1/16 ticks, two's complement; the tightest and the mean
 *   late      how many inputs ever arrived too late, modulo 256
 *   digest    32 bits of all rows that this client owns, at that tick: enough to confirm a correct prediction
 *
 * The digest makes it safe to send nothing: an unchanged object is not sent, so a client that wrongly predicted a
 * movement would otherwise never learn of its error. Every frame is complete, so a lost one needs no repeat.
 */

import type { Millis, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../packet/frame-source.ts'
import type { InputBuffer } from './input-buffer.ts'

const PHASE_BITS = 8
const PHASES = 1 << PHASE_BITS
const MARGIN_BITS = 12
const MARGIN_STEPS = 16
const MARGIN_MAX = (1 << (MARGIN_BITS - 1)) - 1
const LATE_BITS = 8
const DIGEST_BITS = 32
const HALF_BITS = DIGEST_BITS / 2
const HALF_MASK = 0xffff

/** The age of the last frame at which a new one joins any packet, and at which it asks for a packet. */
const RIDE_MS = 45
const OWN_PACKET_MS = 250
/** A new client needs the time at once: during this time every packet has a frame. */
const EAGER_MS = 2000

/** The current position of the authority. */
export interface TickPosition {
  /** The tick that was run last. */
  readonly tick: Tick
  /** How far the next tick has progressed, 0 to 1. */
  alpha(now: Millis): number
}

export class TimingSource implements FrameSource {
  readonly #position: TickPosition
  readonly #inputs: InputBuffer
  readonly #digest: () => number
  #startedAt: Millis = -1
  #sentAt: Millis = -Infinity
  /** An integer: a fractional number would be allocated for every caller. */
  #wantsAt: Millis = 0
  #sequence = -1

  /** `digest`: 32 bits of this client's objects at the tick that was run last; NaN when the client does not need it. */
  constructor(position: TickPosition, inputs: InputBuffer, digest: () => number = () => NaN) {
    this.#position = position
    this.#inputs = inputs
    this.#digest = digest
  }

  /** It wants packets by the clock alone. */
  attach(): void {}

  begin(): void {}

  wantsAt(): Millis {
    return this.#startedAt < 0 ? -Infinity : this.#wantsAt
  }

  /** @hot */
  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#startedAt < 0) this.#startedAt = now
    const isEager = now < this.#startedAt + EAGER_MS
    if (sequence === this.#sequence || (!isEager && now < this.#sentAt + RIDE_MS)) return false
    const inputs = this.#inputs
    const hasMargins = inputs.marginCount > 0
    writeVarint(out, this.#position.tick)
    out.writeBits(Math.min(Math.floor(this.#position.alpha(now) * PHASES), PHASES - 1), PHASE_BITS)
    out.writeBits(hasMargins ? 1 : 0, 1)
    if (hasMargins) {
      writeMargin(out, Math.round(inputs.marginTicksMin * MARGIN_STEPS))
      writeMargin(out, Math.round(inputs.marginTicksMean * MARGIN_STEPS))
    }
    out.writeBits(inputs.lateInputs & 0xff, LATE_BITS)
    const digest = this.#digest()
    const hasDigest = digest === digest
    out.writeBits(hasDigest ? 1 : 0, 1)
    if (hasDigest) {
      // In halves: a number above 2^31 would be allocated.
      out.writeBits(digest >>> HALF_BITS, HALF_BITS)
      out.writeBits(digest & HALF_MASK, HALF_BITS)
    }
    if (out.failed) {
      out.rewind(0)
      return false
    }
    this.#sequence = sequence
    this.#sentAt = now
    this.#wantsAt = Math.ceil(now) + OWN_PACKET_MS
    inputs.forgetMargins()
    return true
  }

  onDelivered(): void {}

  onLost(): void {}
}

/** Receives the authority's timing. The sink's fields hold it during the call. */
export interface TimingListener {
  handleTiming(now: Millis, timing: TimingSink): void
}

export class TimingSink implements FrameSink {
  tick: Tick = -1
  /** 0 to just below 1. */
  phase = 0
  hasMargins = false
  marginTicksMin = 0
  marginTicksMean = 0
  /** Inputs that arrived too late since the frame before. */
  lateInputs = 0
  hasDigest = false
  digest = 0
  readonly #listener: TimingListener
  #lateBefore = 0
  #newest: Tick = -1

  constructor(listener: TimingListener) {
    this.#listener = listener
  }

  /** @hot */
  accept(now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    const tick = readVarint(frame)
    this.phase = frame.readBits(PHASE_BITS) / PHASES
    this.hasMargins = frame.readBits(1) === 1
    this.marginTicksMin = this.hasMargins ? readMargin(frame) : 0
    this.marginTicksMean = this.hasMargins ? readMargin(frame) : 0
    const late = frame.readBits(LATE_BITS)
    this.hasDigest = frame.readBits(1) === 1
    this.digest = this.hasDigest ? frame.readBits(DIGEST_BITS) : 0
    if (!frame.finish()) return 'broken'
    // A reordered frame is valid for its own tick. Its late inputs are already in the count of the newer frame.
    const isNews = tick >= this.#newest
    this.lateInputs = isNews ? (late - this.#lateBefore) & 0xff : 0
    if (isNews) {
      this.#lateBefore = late
      this.#newest = tick
    }
    this.tick = tick
    this.#listener.handleTiming(now, this)
    return 'ok'
  }
}

function writeMargin(out: BitWriter, steps: number): void {
  const bounded = Math.max(-MARGIN_MAX, Math.min(steps, MARGIN_MAX))
  out.writeBits(bounded & ((1 << MARGIN_BITS) - 1), MARGIN_BITS)
}

function readMargin(frame: BitReader): number {
  return (frame.readBits(MARGIN_BITS) << (32 - MARGIN_BITS) >> (32 - MARGIN_BITS)) / MARGIN_STEPS
}
