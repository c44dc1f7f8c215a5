/**
 * The bodies of the chunks of a recorded lockstep match.
 *
 * ```
 * ticks         seed varint │ count varint │ entry │ …                 the first tick is the chunk's
 * entry         empty ticks, orders: pair │ an order each              0 orders: no tick follows
 * order         player, type: pair │ time 2 bytes, FFFF: 4 follow │ length varint │ values
 * pair          two numbers in one byte, the first in the low four bits; 15: the number less 15 follows as a varint
 * image         an image; without the key flag a patch of the image before
 * seal          seal │ signature 64 bytes                               the chunk's tick is the last of the segment
 * gap           first tick varint │ count varint │ SHA-256 each, 32 bytes   of the bytes of ticks that were lost
 * player seals  player varint │ tick varint │ orders varint │ public key 32 bytes │ signature 64 bytes │ …
 * ```
 *
 * Bytes may be hostile: reading returns undefined and never throws.
 */

import { RECORDING_CHUNK_BYTES_MAX } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import { putVarint, VarintReader } from '../order/leb128.ts'
import { decodeSeal, HASH_BYTES, putNumber, SIGNATURE_BYTES, type Seal } from '../order/seal.ts'
import { TAG, TickBodyReader, TickBodyWriter } from '../order/tick-body.ts'
import type { TickLog } from '../order/tick-log.ts'

/** Ticks of a chunk. */
export interface TicksChunk {
  readonly seed: number
  /** The bytes of all ticks, as in a log. */
  readonly bytes: Uint8Array
  readonly count: number
}

/** What a player signed. */
export interface PlayerSeal {
  /** The player. */
  readonly player: PeerId
  /** The tick up to which its orders are covered. */
  readonly tick: Tick
  /** How many orders these are. */
  readonly orders: number
  /** Its Ed25519 key. */
  readonly publicKey: Uint8Array
  /** Its signature. */
  readonly signature: Uint8Array
}

const VARINT_MAX = 8
const NIBBLE = 15
/** A time from here on needs four bytes. */
const LONG_TIME = 0xffff
/** Bytes of the largest order that any tick has. */
const ORDER_LENGTH_MAX = 0xffff

/** Ticks of a log, as the body of a chunk. */
export function encodeTicks(log: TickLog, first: Tick, last: Tick, seed: number): Uint8Array {
  const size = log.endOf(last) - log.startOf(first)
  const bytes = new Uint8Array(4 * VARINT_MAX + 2 * size + 2 * VARINT_MAX * (last - first + 1))
  const reader = new TickBodyReader()
  let at = putVarint(bytes, putVarint(bytes, 0, seed), last - first + 1)
  let empty = 0
  for (let tick = first; tick <= last; tick++) {
    const count = countOrders(reader, log, tick)
    if (count === 0) {
      empty++
      continue
    }
    at = putPair(bytes, at, empty, count)
    reader.open(log.bytes, log.startOf(tick), log.endOf(tick))
    while (reader.next()) at = putOrder(bytes, at, reader, log.bytes)
    empty = 0
  }
  if (empty > 0) at = putPair(bytes, at, empty, 0)
  return bytes.slice(0, at)
}

function countOrders(reader: TickBodyReader, log: TickLog, tick: Tick): number {
  let count = 0
  reader.open(log.bytes, log.startOf(tick), log.endOf(tick))
  while (reader.next()) count++
  return count
}

function putOrder(to: Uint8Array, from: number, order: TickBodyReader, source: Uint8Array): number {
  const { player, type, timeUs, dataAt, dataLength } = order
  let at = putPair(to, from, player, type)
  const isShort = timeUs < LONG_TIME
  at = putNumber(to, at, isShort ? timeUs : LONG_TIME, 2)
  if (!isShort) at = putNumber(to, at, timeUs, 4)
  at = putVarint(to, at, dataLength)
  to.set(source.subarray(dataAt, dataAt + dataLength), at)
  return at + dataLength
}

/** Two numbers in one byte, four bits each. 15: the number less 15 follows as a varint. */
function putPair(to: Uint8Array, at: number, low: number, high: number): number {
  to[at] = Math.min(low, NIBBLE) + 16 * Math.min(high, NIBBLE)
  const end = low < NIBBLE ? at + 1 : putVarint(to, at + 1, low - NIBBLE)
  return high < NIBBLE ? end : putVarint(to, end, high - NIBBLE)
}

/** The ticks of a chunk. */
export function decodeTicks(body: Uint8Array): TicksChunk | undefined {
  const from = new Cursor(body)
  const seed = from.varint()
  const count = from.varint()
  if (from.failed || count === 0 || count > RECORDING_CHUNK_BYTES_MAX) return undefined
  const writer = new TickBodyWriter()
  const parts: Uint8Array[] = []
  let [found, size] = [0, 0]
  const push = (part: Uint8Array): void => {
    parts.push(part)
    size += part.length
  }
  while (found < count && !from.failed) {
    const [empty, orders] = from.pair()
    if (from.failed || found + empty > count || orders > body.length) return undefined
    push(new Uint8Array(empty).fill(TAG.empty))
    found += empty
    if (orders === 0) break
    writer.begin()
    for (let each = 0; each < orders && !from.failed; each++) from.order(writer)
    writer.end()
    push(writer.bytes.slice(0, writer.length))
    found++
  }
  if (from.failed || !from.isEnd || found !== count) return undefined
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return { seed, bytes, count }
}

/** Reads a body. After invalid bytes `failed` is true, and everything is 0. */
class Cursor {
  failed = false
  readonly #bytes: Uint8Array
  readonly #reader = new VarintReader()
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  varint(): number {
    const value = this.#reader.read(this.#bytes, this.#at, this.#bytes.length)
    if (this.#reader.end < 0) this.failed = true
    else this.#at = this.#reader.end
    return this.failed ? 0 : value
  }

  pair(): [low: number, high: number] {
    const byte = this.#number(1)
    const [low, high] = [byte & NIBBLE, byte >>> 4]
    return [low < NIBBLE ? low : NIBBLE + this.varint(), high < NIBBLE ? high : NIBBLE + this.varint()]
  }

  order(to: TickBodyWriter): void {
    const [player, type] = this.pair()
    const short = this.#number(2)
    const timeUs = short === LONG_TIME ? this.#number(4) : short
    const length = this.varint()
    if (this.failed || type > 255 || this.#at + length > this.#bytes.length || length > ORDER_LENGTH_MAX) {
      this.failed = true
      return
    }
    to.add(player, timeUs, type, this.#bytes, this.#at, length)
    this.#at += length
  }

  #number(count: number): number {
    if (this.#at + count > this.#bytes.length) this.failed = true
    let value = 0
    for (let each = count - 1; each >= 0; each--) value = value * 256 + (this.#bytes[this.#at + each] ?? 0)
    this.#at += count
    return this.failed ? 0 : value
  }
}

/** A seal and its signature. */
export function readSealChunk(
  body: Uint8Array,
): { readonly seal: Seal; readonly encoded: Uint8Array; readonly signature: Uint8Array } | undefined {
  const encoded = body.slice(0, Math.max(0, body.length - SIGNATURE_BYTES))
  const seal = decodeSeal(encoded)
  return seal && { seal, encoded, signature: body.slice(encoded.length) }
}

/** Ticks that were lost, with their digests. */
export function encodeGap(first: Tick, digests: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(2 * VARINT_MAX + HASH_BYTES * digests.length)
  let at = putVarint(bytes, putVarint(bytes, 0, first), digests.length)
  for (const digest of digests) {
    bytes.set(digest, at)
    at += HASH_BYTES
  }
  return bytes.slice(0, at)
}

/** The first lost tick and the digests. */
export function decodeGap(body: Uint8Array): { readonly first: Tick; readonly digests: Uint8Array[] } | undefined {
  const reader = new VarintReader()
  const first = reader.read(body, 0, body.length)
  const count = reader.end < 0 ? 0 : reader.read(body, reader.end, body.length)
  if (reader.end < 0 || first === 0 || reader.end + HASH_BYTES * count !== body.length) return undefined
  const from = reader.end
  const digestAt = (at: number): Uint8Array => body.slice(from + at * HASH_BYTES, from + (at + 1) * HASH_BYTES)
  return { first, digests: Array.from({ length: count }, (_, at) => digestAt(at)) }
}

/** Seals of players. */
export function encodePlayerSeals(seals: readonly PlayerSeal[]): Uint8Array {
  const bytes = new Uint8Array(seals.length * (3 * VARINT_MAX + HASH_BYTES + SIGNATURE_BYTES))
  let at = 0
  for (const { player, tick, orders, publicKey, signature } of seals) {
    at = putVarint(bytes, putVarint(bytes, putVarint(bytes, at, player), tick), orders)
    bytes.set(publicKey, at)
    bytes.set(signature, at + HASH_BYTES)
    at += HASH_BYTES + SIGNATURE_BYTES
  }
  return bytes.slice(0, at)
}

/** The seals of players in a chunk. */
export function decodePlayerSeals(body: Uint8Array): PlayerSeal[] | undefined {
  const reader = new VarintReader()
  const seals: PlayerSeal[] = []
  for (let at = 0; at < body.length; ) {
    const numbers: number[] = []
    for (let each = 0; each < 3; each++) {
      numbers.push(reader.read(body, at, body.length))
      if (reader.end < 0) return undefined
      at = reader.end
    }
    const [player, tick, orders] = numbers
    const end = at + HASH_BYTES + SIGNATURE_BYTES
    if (end > body.length) return undefined
    seals.push({
      player, tick, orders, publicKey: body.slice(at, at + HASH_BYTES), signature: body.slice(at + HASH_BYTES, end),
    })
    at = end
  }
  return seals
}
