/** Reads ticks and lockstep frames as docs/wire/LOCKSTEP.md says, and throws if invalid. Imports nothing of src. */

import { createHash } from 'node:crypto'

export interface OrderMeaning {
  readonly player: number
  readonly time: number
  readonly type: number
  readonly data: string
}

class Bytes {
  at = 0
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get left(): number {
    return this.bytes.length - this.at
  }

  byte(): number {
    const value = this.bytes[this.at++]
    if (value === undefined) throw new Error('cut')
    return value
  }

  big(count: number): number {
    let value = 0
    for (let each = 0; each < count; each++) value = value * 256 + this.byte()
    return value
  }

  varint(): number {
    let value = 0n
    for (let group = 0n; group < 8n; group++) {
      const byte = this.byte()
      value |= BigInt(byte & 127) << (7n * group)
      if (byte >= 128) continue
      if ((byte === 0 && group > 0n) || value >= 2n ** 53n) throw new Error('no varint')
      return Number(value)
    }
    throw new Error('long varint')
  }

  hex(count: number): string {
    return Array.from({ length: count }, () => this.byte().toString(16).padStart(2, '0')).join('')
  }

  peek(): string {
    return String.fromCharCode(this.bytes[this.at] ?? 0)
  }

  /** Whether the next byte is this tag; if so, goes behind it. */
  has(tag: string): boolean {
    if (this.left === 0 || this.peek() !== tag) return false
    this.at++
    return true
  }
}

/** Reads `P`, `S`, `T`, `D` after an order before. */
function readOrder(bytes: Bytes, before: OrderMeaning, isFromClient: boolean): OrderMeaning {
  let { player, time, type } = before
  const change = (value: number, now: number): number => {
    if (now === value || now >= 2 ** 32) throw new Error('a tag that changes nothing')
    return now
  }
  if (!isFromClient && bytes.has('P')) player = change(player, bytes.varint())
  if (bytes.has('S')) time = change(time, bytes.varint())
  if (bytes.has('T')) type = change(type, bytes.byte())
  if (!bytes.has('D')) throw new Error('an order without values')
  const length = bytes.varint()
  if (length > (isFromClient ? 380 : 4000)) throw new Error('long values')
  return { player, time, type, data: bytes.hex(length) }
}

const NOTHING: OrderMeaning = { player: 0, time: 0, type: 0, data: '' }

/** The orders of each of some whole ticks. */
export function readTicks(input: Uint8Array): OrderMeaning[][] {
  const bytes = new Bytes(input)
  const ticks: OrderMeaning[][] = []
  while (bytes.left > 0) {
    const orders: OrderMeaning[] = []
    ticks.push(orders)
    if (bytes.has('Z')) continue
    if (!bytes.has('K') || bytes.byte() !== 1) throw new Error('no tick')
    let before = NOTHING
    do {
      const next = readOrder(bytes, before, false)
      const isSorted = next.time > before.time || (next.time === before.time && next.player >= before.player)
      if (!isSorted) throw new Error('unsorted')
      orders.push(next)
      before = next
    } while (bytes.left > 0 && bytes.peek() !== 'K' && bytes.peek() !== 'Z')
  }
  return ticks
}

/** The seed that the first two ticks of a match agree on. Throws when a client must end the match. */
export function readSeed(input: Uint8Array): bigint {
  const [commitTick = [], revealTick = []] = readTicks(input)
  const events = (orders: readonly OrderMeaning[], type: number): [number, Uint8Array][] =>
    orders.filter((order) => order.player === 0 && order.type === type).map(({ data }) => {
      const bytes = new Bytes(Uint8Array.from(Buffer.from(data, 'hex')))
      return [bytes.varint(), Uint8Array.from(Buffer.from(bytes.hex(bytes.left), 'hex'))]
    })
  const commits = new Map(events(commitTick, 0xc9))
  const reveals = new Map(events(revealTick, 0xca))
  const texts = [...commits.values()].map((bytes) => Buffer.from(bytes).toString('hex'))
  if (new Set(texts).size !== texts.length || !commits.has(0)) throw new Error('commits')
  let seed = 0n
  for (const [player, bytes] of reveals) {
    const commit = commits.get(player)
    if (commit === undefined || !createHash('sha256').update(bytes).digest().equals(commit)) throw new Error('a share')
    seed ^= Buffer.from(bytes).readBigUInt64LE(0)
  }
  for (const [player] of events(revealTick, 0xc0)) if (!reveals.has(player)) throw new Error('a join without a share')
  return seed & (2n ** 53n - 1n)
}

export interface OrdersFrameMeaning {
  readonly isContinued?: true
  readonly stamp: number
  readonly executed: number
  readonly token: number
  readonly pulses: readonly number[]
  readonly metrics?: readonly number[]
  readonly first: number
  readonly orders: readonly { readonly age: number; readonly type: number; readonly data: string }[]
}

export function readOrdersFrame(input: Uint8Array): OrdersFrameMeaning {
  const bytes = new Bytes(input)
  const flags = bytes.byte()
  if (flags > 3) throw new Error('flags')
  const [stamp, executed, token, count] = [bytes.big(2), bytes.varint(), bytes.big(4), bytes.byte()]
  if (count > 15 || count > executed) throw new Error('too many pulses')
  const pulses = Array.from({ length: count }, () => bytes.big(2))
  const signed = (value: number): number => (value >= 32_768 ? value - 65_536 : value)
  const metrics = flags % 2 === 1 ? [bytes.big(4), bytes.big(2), signed(bytes.big(2)), bytes.big(4)] : undefined
  const orderCount = bytes.byte()
  const first = orderCount > 0 ? bytes.varint() : 0
  if (orderCount > 0 && first === 0) throw new Error('numbers begin with 1')
  let before = NOTHING
  const orders = Array.from({ length: orderCount }, () => {
    before = readOrder(bytes, before, true)
    return { age: before.time, type: before.type, data: before.data }
  })
  if (bytes.left > 0) throw new Error('more')
  const continued = flags >= 2 ? { isContinued: true as const } : {}
  return { ...continued, stamp, executed, token, pulses, ...(metrics && { metrics }), first, orders }
}

export interface TicksFrameMeaning {
  readonly token: number
  readonly last: number
  readonly offset: number
  readonly feedback?: readonly number[]
  readonly bytes: string
}

export function readTicksFrame(input: Uint8Array): TicksFrameMeaning {
  const bytes = new Bytes(input)
  const flags = bytes.byte()
  if (flags > 3) throw new Error('flags')
  const [token, last, offset] = [bytes.big(4), bytes.varint(), bytes.varint()]
  const feedback = flags % 2 === 1 ? [bytes.big(4) | 0, bytes.big(2), bytes.big(4)] : undefined
  if (flags >= 2) bytes.varint()
  if (bytes.left === 0 || bytes.left > 400) throw new Error('no bytes')
  return { token, last, offset, ...(feedback && { feedback }), bytes: bytes.hex(bytes.left) }
}

/** The ids of a selection in a field `ids(max)`, from the first bit on. */
export function readIds(input: Uint8Array, max: number): number[] {
  const bits = [...input].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  let at = 0
  const take = (count: number): number => {
    if (at + count > bits.length) throw new Error('cut')
    at += count
    return count === 0 ? 0 : Number.parseInt(bits.slice(at - count, at), 2)
  }
  const golomb = (order: number): number => {
    let zeros = 0
    while (take(1) === 0) zeros++
    return 2 ** (zeros + order) + take(zeros + order) - 2 ** order
  }
  const count = take(Math.ceil(Math.log2(max + 1)))
  let [index, generation] = [-1, 1]
  const found = Array.from({ length: count }, () => {
    index += golomb(1) + 1
    if (take(1) === 1) {
      const next = golomb(2) + 1
      if (next === generation) throw new Error('the same generation')
      generation = next
    }
    return index * 65_536 + generation
  })
  if (bits.length - at >= 8 || bits.slice(at).includes('1')) throw new Error('padding')
  return found
}
