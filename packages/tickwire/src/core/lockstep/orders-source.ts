/**
 * Sends the local player's orders to the relay, and reports executed ticks.
 *
 * An order leaves at once. While it is not acknowledged it is sent again after 10 and 20 ms, and with every packet: a
 * lost packet costs 10 ms. A client without orders sends every 100 ms.
 */

import {
  LOCKSTEP_FRAME_BYTES_MAX, ORDERS_PER_FRAME_MAX, ORDERS_WAITING_MAX, PULSES_PER_FRAME_MAX, SENT_PACKETS_MAX,
} from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { OrderCursor, OrdersHead, STAMP_UNITS, type ClientMetrics } from '../order/orders-frame.ts'
import type { FrameSource } from '../packet/frame-source.ts'

const IDLE_MS = 100
const REPEAT_MS = 10
const REPEATS = 2
const METRICS_MS = 1000
const MICROS = 1000
/** Ticks whose tokens and pulses are remembered. */
const REMEMBERED = 64

/** An order that is not acknowledged. */
interface WaitingOrder {
  readonly number: number
  readonly givenAt: Millis
  readonly type: number
  readonly data: Uint8Array
}

export class OrdersSource implements FrameSource {
  /** Measures of this client, sent once a second. */
  metrics: () => ClientMetrics | undefined = () => undefined
  /** Whether nothing is sent: the relay does not know yet which ticks the client has. */
  isMuted = false
  readonly #head = new OrdersHead()
  readonly #cursor = new OrderCursor()
  readonly #waiting: WaitingOrder[] = []
  #newest = 0
  #sentNewest = 0
  /** When the frame with the newest order left first, and how often it was repeated since. */
  #burstAt: Millis = -Infinity
  #repeats = REPEATS
  #sentAt: Millis = -Infinity
  #metricsAt: Millis = -Infinity
  #filledSequence = -1
  /** Indexed by sequence modulo the length: the newest order and the newest pulse in that packet. */
  readonly #orderIn = new Float64Array(SENT_PACKETS_MAX)
  readonly #pulseIn = new Float64Array(SENT_PACKETS_MAX)
  /** Indexed by tick modulo the length. */
  readonly #pulses = new Uint16Array(REMEMBERED)
  readonly #tokens = new Uint32Array(REMEMBERED)
  readonly #tokenTicks = new Float64Array(REMEMBERED).fill(-1)
  /** The newest executed tick that has a token. Only this one is reported. */
  #reported: Tick = 0
  #reportedToken = 0
  #pulsesAcked: Tick = 0
  #wake: () => void = () => {}

  /** How many orders are not acknowledged. */
  get waitingCount(): number {
    return this.#waiting.length
  }

  /** The last packet with a frame of this source. */
  get filledSequence(): number {
    return this.#filledSequence
  }

  /** False when too many orders wait. */
  push(now: Millis, type: number, data: Uint8Array): boolean {
    if (this.#waiting.length >= ORDERS_WAITING_MAX) return false
    this.#waiting.push({ number: ++this.#newest, givenAt: now, type, data })
    this.#wake()
    return true
  }

  /** A new connection: orders that wait are sent again, under their numbers. */
  restart(): void {
    this.#head.isContinued = this.#newest > 0 || this.#reported > 0
    this.#sentNewest = (this.#waiting[0]?.number ?? this.#newest + 1) - 1
    this.#sentAt = -Infinity
    this.#orderIn.fill(0)
    this.#pulseIn.fill(0)
  }

  /** Another relay, which has the ticks up to one: it knows no order numbers, tokens and pulses of the relay before. */
  beginAnew(tick: Tick): void {
    this.#waiting.length = 0
    this.#newest = 0
    this.#reported = 0
    this.#reportedToken = 0
    this.#tokenTicks.fill(-1)
    this.#pulsesAcked = tick
    this.restart()
  }

  /** The token that came with a tick. */
  noteToken(tick: Tick, token: number): void {
    this.#tokens[tick % REMEMBERED] = token
    this.#tokenTicks[tick % REMEMBERED] = tick
  }

  /** A tick was stepped. */
  report(tick: Tick, pulse: number): void {
    this.#pulses[tick % REMEMBERED] = pulse
    if (this.#tokenTicks[tick % REMEMBERED] !== tick) return
    this.#reported = tick
    this.#reportedToken = this.#tokens[tick % REMEMBERED]
  }

  /** The ticks up to this one were not stepped, and have no pulses. */
  skipTo(tick: Tick): void {
    this.#pulsesAcked = Math.max(this.#pulsesAcked, tick)
  }

  attach(wake: () => void): void {
    this.#wake = wake
  }

  begin(): void {}

  wantsAt(now: Millis): Millis {
    if (this.isMuted) return Infinity
    if (this.#newest > this.#sentNewest) return now
    const repeatAt =
      this.#repeats < REPEATS && this.#waiting.length > 0 ? this.#burstAt + REPEAT_MS * (this.#repeats + 1) : Infinity
    return Math.min(repeatAt, this.#sentAt + IDLE_MS)
  }

  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    if (sequence === this.#filledSequence || this.wantsAt(now) > now) return false
    const isNew = this.#newest > this.#sentNewest
    const sent = this.#write(now, out)
    if (out.failed) return false
    if (isNew) {
      this.#burstAt = now
      this.#repeats = 0
    } else if (this.#repeats < REPEATS) this.#repeats++
    this.#sentNewest = Math.max(this.#sentNewest, sent)
    this.#sentAt = now
    this.#filledSequence = sequence
    this.#orderIn[sequence % SENT_PACKETS_MAX] = sent
    this.#pulseIn[sequence % SENT_PACKETS_MAX] = this.#reported
    return true
  }

  onDelivered(_now: Millis, sequence: number): void {
    const order = this.#orderIn[sequence % SENT_PACKETS_MAX]
    this.#pulsesAcked = Math.max(this.#pulsesAcked, this.#pulseIn[sequence % SENT_PACKETS_MAX])
    let done = 0
    // After a loss orders count as not sent, and an earlier packet may still bring them.
    this.#sentNewest = Math.max(this.#sentNewest, order)
    while (done < this.#waiting.length && this.#waiting[done].number <= order) done++
    if (done > 0) this.#waiting.splice(0, done)
  }

  onLost(_now: Millis, sequence: number): void {
    const [first] = this.#waiting
    // Everything that was repeated is lost as well: it is sent again at once.
    if (first !== undefined && this.#orderIn[sequence % SENT_PACKETS_MAX] >= first.number)
      this.#sentNewest = Math.min(this.#sentNewest, first.number - 1)
  }

  /** Returns the number of the newest order in the frame; 0 when it has none. */
  #write(now: Millis, out: BitWriter): number {
    const head = this.#head
    head.stamp = Math.floor(now * STAMP_UNITS) & 0xffff
    head.executed = this.#reported
    head.token = this.#reportedToken
    const first = Math.max(this.#pulsesAcked + 1, this.#reported - PULSES_PER_FRAME_MAX + 1, 1)
    head.pulseCount = Math.max(0, this.#reported - first + 1)
    for (let each = 0; each < head.pulseCount; each++) head.pulses[each] = this.#pulses[(first + each) % REMEMBERED]
    this.#measure(now, head)
    const waiting = this.#waiting
    let room = Math.min(out.bitsLeft >>> 3, LOCKSTEP_FRAME_BYTES_MAX) - HEAD_BYTES_MAX
    let count = 0
    for (; count < waiting.length && count < ORDERS_PER_FRAME_MAX; count++) {
      room -= waiting[count].data.length + ORDER_TAG_BYTES_MAX
      if (room < 0) break
    }
    // An order of the largest size fits a frame without pulses.
    if (count === 0 && waiting.length > 0) {
      head.pulseCount = 0
      count = 1
    }
    head.count = count
    head.first = count > 0 ? waiting[0].number : 0
    head.write(out)
    this.#cursor.begin()
    for (let each = 0; each < count; each++) {
      const { givenAt, type, data } = waiting[each]
      this.#cursor.write(out, Math.max(0, Math.round((now - givenAt) * MICROS)), type, data, 0, data.length)
    }
    return count > 0 ? waiting[count - 1].number : 0
  }

  #measure(now: Millis, head: OrdersHead): void {
    const metrics = now >= this.#metricsAt + METRICS_MS ? this.metrics() : undefined
    head.hasMetrics = metrics !== undefined
    if (metrics === undefined) return
    this.#metricsAt = now
    head.latencyUs = clamp(metrics.latencyUs, 0, 0xffff_ffff)
    head.drawsPerSecond = clamp(metrics.drawsPerSecond, 0, 0xffff)
    head.cushionTicks = clamp(metrics.cushionTicks, -0x8000, 0x7fff)
    head.stepUs = clamp(metrics.stepUs, 0, 0xffff_ffff)
  }
}

/** Flags, stamp, executed, token, pulses, metrics, count and first. */
const HEAD_BYTES_MAX = 1 + 2 + 8 + 4 + 1 + 2 * PULSES_PER_FRAME_MAX + 12 + 1 + 8
/** S and 5 bytes, T and 1, D and 2. */
const ORDER_TAG_BYTES_MAX = 11

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(Math.round(value), max))
}
