/**
 * What the authority tells each client of time, a few times a second, in packets that go anyway.
 *
 *   +--------------+---------+-----------------------------------+------------------------------+
 *   | tick, varint | phase 8 | has margins 1 [min 12 | mean 12]  | late 8 | has digest 1 [32]   |
 *   +--------------+---------+-----------------------------------+------------------------------+
 *
 *   phase     how far the tick after it has come, in 1/256
 *   margins   how early inputs came since the last word, in 1/16 ticks, two's complement; the tightest and the mean
 *   late      how many ever came too late, modulo 256
 *   digest    32 bits of all rows that this client owns, at that tick: he who predicted them right knows it by this alone
 *
 * The digest is what makes silence safe: an object that did not change is not sent, so a client who predicted that it
 * moves would never hear that it did not. Whatever is lost, the next frame says it all.
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

/** It rides along when the last is so old, and asks for a packet when it is this old. */
const RIDE_MS = 45
const OWN_PACKET_MS = 250
/** A newcomer's clock is wanted at once: everything rides. */
const EAGER_MS = 2000

/** Where the authority stands. */
export interface TickPosition {
  /** The tick that was run last. */
  readonly tick: Tick
  /** How far the next has come, 0 to 1. */
  alpha(now: Millis): number
}

export class TimingSource implements FrameSource {
  readonly #position: TickPosition
  readonly #inputs: InputBuffer
  readonly #digest: () => number
  #startedAt: Millis = -1
  #sentAt: Millis = -Infinity
  /** A whole number: one with a fraction would be another on the heap for everyone who asks. */
  #wantsAt: Millis = 0
  #sequence = -1

  /** `digest`: 32 bits of what this client owns at the tick that was run last; NaN when he need not know. */
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
      // In halves: above 2^31 the whole would be another number on the heap.
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

/** Who wants to know what the authority said of time: the sink's fields hold it during the call. */
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
  /** Inputs that came too late since the frame before. */
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
    // What was overtaken is true of its own moment, and late is counted by who came first.
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
