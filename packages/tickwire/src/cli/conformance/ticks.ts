/**
 * The log of a lockstep match and the frames that carry it, written and read from docs/wire/LOCKSTEP.md alone.
 */

import { varint, type Frame } from './packets.ts'

/** Frame kinds. */
export const LOCKSTEP = { lanes: 3, orders: 11, ticks: 12 } as const
/** Types of tick events that checks look for. */
export const EVENT = { join: 0xc0, leave: 0xc1, away: 0xc2, end: 0xc8 } as const
/** Types from here on are events. */
export const EVENTS_FROM = 0xc0

const PLAYERS_MAX = 2 ** 32
const VALUES_MAX = 4000
const TAG = { empty: 0x5a, orders: 0x4b, player: 0x50, time: 0x53, type: 0x54, values: 0x44 } as const

/** An order in a tick, or an event. */
export interface Order {
  readonly tick: number
  readonly player: number
  readonly timeUs: number
  readonly type: number
  readonly values: Buffer
}

/** The ticks of a log, as far as they are whole. */
export interface Log {
  readonly orders: readonly Order[]
  /** How many ticks begin in the log. */
  readonly ticks: number
  /** What is invalid. */
  readonly fault: string | undefined
}

/** A frame of kind 12. */
export interface TicksFrame {
  readonly token: Buffer
  readonly last: number
  readonly offset: number
  readonly bytes: Buffer
}

class Cursor {
  at = 0
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length
  }

  take(count: number): Buffer {
    if (this.at + count > this.bytes.length) throw new Cut()
    this.at += count
    return this.bytes.subarray(this.at - count, this.at)
  }

  byte(): number {
    return this.take(1)[0] ?? 0
  }

  varint(): number {
    let value = 0
    for (let index = 0; index < 8; index++) {
      const byte = this.byte()
      value += (byte % 128) * 128 ** index
      if (byte >= 128) continue
      if (byte === 0 && index > 0) throw new Error('a number with a last byte of 0')
      return value
    }
    throw new Error('a number of more than 8 bytes')
  }

  /** Whether the next byte is a tag; if so, goes behind it. */
  has(tag: number): boolean {
    if (this.bytes[this.at] !== tag) return false
    this.at++
    return true
  }
}

/** The bytes end too early: the rest is still to come. */
class Cut extends Error {
  override readonly name = 'Cut'
}

/** Reads a log from its beginning. Its end may be in the middle of a tick. */
export function readLog(bytes: Buffer): Log {
  const cursor = new Cursor(bytes)
  const orders: Order[] = []
  let ticks = 0
  try {
    while (!cursor.isAtEnd) {
      ticks++
      if (!cursor.has(TAG.empty)) readTick(cursor, ticks, orders)
    }
  } catch (error) {
    if (error instanceof Cut) return { orders, ticks, fault: undefined }
    return { orders, ticks, fault: `tick ${ticks}: ${error instanceof Error ? error.message : 'invalid'}` }
  }
  return { orders, ticks, fault: undefined }
}

function readTick(cursor: Cursor, tick: number, into: Order[]): void {
  if (!cursor.has(TAG.orders)) throw new Error(`byte ${cursor.bytes[cursor.at]?.toString(16)} begins no tick`)
  if (cursor.byte() !== 1) throw new Error('a distance that is not 1')
  let before: Order = { tick, player: 0, timeUs: 0, type: 0, values: Buffer.alloc(0) }
  const isNext = (): boolean => cursor.bytes[cursor.at] === TAG.empty || cursor.bytes[cursor.at] === TAG.orders
  do {
    const order = readOrder(cursor, before)
    const isSorted = order.timeUs > before.timeUs || (order.timeUs === before.timeUs && order.player >= before.player)
    if (!isSorted) throw new Error('orders that do not ascend by time and player')
    if (order.type >= EVENTS_FROM && (order.player !== 0 || order.timeUs !== 0))
      throw new Error(`an event of player ${order.player} at ${order.timeUs} us`)
    into.push(order)
    before = order
  } while (!cursor.isAtEnd && !isNext())
}

function readOrder(cursor: Cursor, before: Order): Order {
  let { player, timeUs, type } = before
  const changed = (value: number, now: number): number => {
    if (now === value) throw new Error('a tag that changes nothing')
    if (now >= PLAYERS_MAX) throw new Error('a number of more than 32 bits')
    return now
  }
  if (cursor.has(TAG.player)) player = changed(player, cursor.varint())
  if (cursor.has(TAG.time)) timeUs = changed(timeUs, cursor.varint())
  if (cursor.has(TAG.type)) type = changed(type, cursor.byte())
  if (cursor.byte() !== TAG.values) throw new Error('an order without values')
  const size = cursor.varint()
  if (size > VALUES_MAX) throw new Error(`values of ${size} bytes`)
  return { tick: before.tick, player, timeUs, type, values: cursor.take(size) }
}

/** Reads a frame of kind 12. Returns what is invalid. */
export function readTicks(body: Buffer): TicksFrame | string {
  const cursor = new Cursor(body)
  try {
    const flags = cursor.byte()
    if (flags > 3) return `flags ${flags}`
    const [token, last, offset] = [cursor.take(4), cursor.varint(), cursor.varint()]
    if (flags % 2 === 1) cursor.take(10)
    if (flags >= 2) cursor.varint()
    const bytes = cursor.take(body.length - cursor.at)
    return bytes.length === 0 ? 'no bytes of the log' : { token, last, offset, bytes }
  } catch {
    return 'it ends too early'
  }
}

/** An order that a client gives. */
export interface GivenOrder {
  readonly number: number
  readonly type: number
  readonly values: Buffer
}

/** A frame of kind 11: the newest tick and its token, and orders with consecutive numbers. */
export function writeOrders(executed: number, token: Buffer, orders: readonly GivenOrder[]): Frame {
  const stamp = Buffer.alloc(2)
  stamp.writeUInt16BE(Math.floor(performance.now() * 16) & 0xffff)
  const parts = [
    Buffer.of(0), stamp, varint(executed), executed === 0 ? Buffer.alloc(4) : token, Buffer.of(0, orders.length),
  ]
  const [first] = orders
  if (first !== undefined) parts.push(varint(first.number))
  let type = 0
  for (const order of orders) {
    if (order.type !== type) parts.push(Buffer.of(TAG.type, order.type))
    type = order.type
    parts.push(Buffer.of(TAG.values), varint(order.values.length), order.values)
  }
  return { kind: LOCKSTEP.orders, body: Buffer.concat(parts) }
}

/** The player of a tick event. Undefined if its values are no number. */
export function playerOf({ values }: Order): number | undefined {
  try {
    return new Cursor(values).varint()
  } catch {
    return undefined
  }
}
