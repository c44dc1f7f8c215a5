/**
 * The frame that a client sends to the relay: what it has executed, and its orders that are not acknowledged.
 *
 * ```
 * flags 8 │ stamp 16 │ executed varint │ token 32 │ pulses │ metrics │ orders
 *
 * flags     bit 0: metrics follow. Bit 1: order numbers go on from an earlier connection. The other bits are 0
 * stamp     the client's clock at sending, in 1/16 ms, modulo 65,536
 * executed  the newest tick that the client has stepped; 0: none
 * token     the token that came with that tick; 0: unknown
 * pulses    count 8 │ 16 bits each, oldest first. The last one is that of tick `executed`
 * metrics   latency us 32 │ draws per second 16 │ cushion in ticks 16, two's complement │ step us 32
 * orders    count 8 │ if any: number of the first, varint │ ( S age )? ( T type )? D length bytes, each
 * ```
 *
 * Tags are those of `tick-body.ts`. S is the age of the order at sending, in microseconds. S and T are 0 before the
 * first order, and written when they change. Orders of a player are numbered from 1; those of a frame are consecutive.
 */

import { ORDER_BYTES_MAX, ORDERS_PER_FRAME_MAX, PULSES_PER_FRAME_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { TAG, TIME_US_MAX } from './tick-body.ts'

/** Units of a stamp per millisecond. */
export const STAMP_UNITS = 16

/** Bits of the flags. */
const METRICS = 1
const CONTINUED = 2

/** What a client measures of itself. */
export interface ClientMetrics {
  /** The smoothed round trip, in microseconds. */
  readonly latencyUs: number
  /** Draws per second. */
  readonly drawsPerSecond: number
  /** How many ticks early the ticks arrive. */
  readonly cushionTicks: number
  /** How long one step takes, in microseconds. */
  readonly stepUs: number
}

/** The head of a frame of orders. Reused for every frame. */
export class OrdersHead {
  /** The same process had a connection to this seat before, and goes on with its order numbers. */
  isContinued = false
  stamp = 0
  executed: Tick = 0
  token = 0
  pulseCount = 0
  readonly pulses: Uint16Array = new Uint16Array(PULSES_PER_FRAME_MAX)
  hasMetrics = false
  latencyUs = 0
  drawsPerSecond = 0
  cushionTicks = 0
  stepUs = 0
  /** How many orders follow, and the number of the first. */
  count = 0
  first = 0

  /** Writes everything before the orders. @hot */
  write(out: BitWriter): void {
    out.writeBits((this.hasMetrics ? METRICS : 0) | (this.isContinued ? CONTINUED : 0), 8)
    out.writeBits(this.stamp, 16)
    writeVarint(out, this.executed)
    out.writeBits(this.token, 32)
    out.writeBits(this.pulseCount, 8)
    for (let each = 0; each < this.pulseCount; each++) out.writeBits(this.pulses[each], 16)
    if (this.hasMetrics) {
      out.writeBits(this.latencyUs, 32)
      out.writeBits(this.drawsPerSecond, 16)
      out.writeBits(this.cushionTicks, 16)
      out.writeBits(this.stepUs, 32)
    }
    out.writeBits(this.count, 8)
    if (this.count > 0) writeVarint(out, this.first)
  }

  /** Reads everything before the orders. On invalid input the reader has failed. @hot */
  read(reader: BitReader): void {
    const flags = reader.readBits(8)
    this.stamp = reader.readBits(16)
    this.executed = readVarint(reader)
    this.token = reader.readBits(32) >>> 0
    this.pulseCount = reader.readBits(8)
    if (flags > (METRICS | CONTINUED) || this.pulseCount > PULSES_PER_FRAME_MAX || this.pulseCount > this.executed) {
      this.pulseCount = 0
      reader.fail()
    }
    for (let each = 0; each < this.pulseCount; each++) this.pulses[each] = reader.readBits(16)
    this.hasMetrics = (flags & METRICS) !== 0
    this.isContinued = (flags & CONTINUED) !== 0
    if (this.hasMetrics) {
      this.latencyUs = reader.readBits(32) >>> 0
      this.drawsPerSecond = reader.readBits(16)
      this.cushionTicks = (reader.readBits(16) << 16) >> 16
      this.stepUs = reader.readBits(32) >>> 0
    }
    this.count = reader.readBits(8)
    this.first = this.count > 0 ? readVarint(reader) : 0
    if (this.count > ORDERS_PER_FRAME_MAX || (this.count > 0 && this.first === 0)) reader.fail()
    if (reader.failed) this.count = 0
  }
}

/** The orders of a frame, one at a time, in either direction. */
export class OrderCursor {
  ageUs = 0
  type = 0
  length = 0
  readonly data: Uint8Array = new Uint8Array(ORDER_BYTES_MAX)

  /** Call before the first order of a frame. */
  begin(): void {
    this.ageUs = 0
    this.type = 0
  }

  /** Writes an order with its values. @hot */
  write(out: BitWriter, ageUs: number, type: number, data: Uint8Array, from: number, length: number): void {
    if (ageUs !== this.ageUs) {
      out.writeBits(TAG.time, 8)
      writeVarint(out, ageUs)
      this.ageUs = ageUs
    }
    if (type !== this.type) {
      out.writeBits(TAG.type, 8)
      out.writeBits(type, 8)
      this.type = type
    }
    out.writeBits(TAG.data, 8)
    writeVarint(out, length)
    for (let at = 0; at < length; at++) out.writeBits(data[from + at], 8)
  }

  /** Reads the next order. On invalid input the reader has failed. @hot */
  read(reader: BitReader): void {
    let tag = reader.readBits(8)
    if (tag === TAG.time) {
      const ageUs = readVarint(reader)
      if (ageUs === this.ageUs || ageUs > TIME_US_MAX) reader.fail()
      this.ageUs = ageUs
      tag = reader.readBits(8)
    }
    if (tag === TAG.type) {
      const type = reader.readBits(8)
      if (type === this.type) reader.fail()
      this.type = type
      tag = reader.readBits(8)
    }
    this.length = readVarint(reader)
    if (tag !== TAG.data || this.length > ORDER_BYTES_MAX) reader.fail()
    if (!reader.failed) reader.readBytes(this.data, 0, this.length)
  }
}
