/**
 * The bodies of the chunks of a recorded lockstep match.
 *
 * ```
 * ticks         seed varint │ count varint │ entry │ …                 the first tick is the chunk's
 * entry         empty ticks varint │ length varint │ bytes of a tick after K 01         length 0: no tick follows
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
import { decodeSeal, HASH_BYTES, SIGNATURE_BYTES, type Seal } from '../order/seal.ts'
import { TAG } from '../order/tick-body.ts'
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

const K_BYTES = 2
const VARINT_MAX = 8
const NO_TICK = 1

/** Ticks of a log, as the body of a chunk. */
export function encodeTicks(log: TickLog, first: Tick, last: Tick, seed: number): Uint8Array {
  const size = log.endOf(last) - log.startOf(first)
  const bytes = new Uint8Array(4 * VARINT_MAX + size + 2 * VARINT_MAX * (last - first + 1))
  let at = putVarint(bytes, putVarint(bytes, 0, seed), last - first + 1)
  let empty = 0
  for (let tick = first; tick <= last; tick++) {
    const [from, end] = [log.startOf(tick), log.endOf(tick)]
    if (end - from === NO_TICK) {
      empty++
      continue
    }
    at = putVarint(bytes, putVarint(bytes, at, empty), end - from - K_BYTES)
    bytes.set(log.bytes.subarray(from + K_BYTES, end), at)
    at += end - from - K_BYTES
    empty = 0
  }
  if (empty > 0) at = putVarint(bytes, putVarint(bytes, at, empty), 0)
  return bytes.slice(0, at)
}

/** The ticks of a chunk. */
export function decodeTicks(body: Uint8Array): TicksChunk | undefined {
  const reader = new VarintReader()
  const seed = reader.read(body, 0, body.length)
  const count = reader.end < 0 ? 0 : reader.read(body, reader.end, body.length)
  if (reader.end < 0 || count === 0 || count > RECORDING_CHUNK_BYTES_MAX) return undefined
  const bytes = new Uint8Array(body.length + K_BYTES * body.length + count)
  let [at, to, found] = [reader.end, 0, 0]
  while (at < body.length && found < count) {
    const empty = reader.read(body, at, body.length)
    if (reader.end < 0 || found + empty > count) return undefined
    const length = reader.read(body, reader.end, body.length)
    if (reader.end < 0 || reader.end + length > body.length) return undefined
    at = reader.end
    bytes.fill(TAG.empty, to, to + empty)
    to += empty
    found += empty
    if (length === 0) break
    bytes[to] = TAG.tick
    bytes[to + 1] = 1
    bytes.set(body.subarray(at, at + length), to + K_BYTES)
    to += K_BYTES + length
    at += length
    found++
  }
  return at === body.length && found === count ? { seed, bytes: bytes.slice(0, to), count } : undefined
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
