/**
 * Seals of a recorded match: a signature over a segment of ticks, so that no tick of it can be changed, added or left
 * out, and one tick can be proved without the others.
 *
 * ```
 * leaf     SHA-256( 00 │ tick 48 │ root 64 │ agreed 8 │ players 8 │ SHA-256 of the bytes of the tick )
 * node     SHA-256( 01 │ left 256 │ right 256 )          the last node of an odd row goes up as it is
 * seal     first tick 48 │ last tick 48 │ top 256 │ seal before 256 │ images │ roots │ public key 256
 * images   count 8 │ tick 48, SHA-256 of the chunk, SHA-256 of the whole image, witnesses 8, each
 * roots    count 16 │ tick 48, root 64, agreed 8, players 8, each
 * signed   "tickwire seal 1" 00 │ fingerprint 64 │ seed 64 │ seal
 * ```
 *
 * Numbers are whole bytes, lowest first. The root of a tick is the hash of the world that `agreed` of `players` players
 * reported; 0 of 0 where none was asked for. `seal before` is the SHA-256 of the seal before and its signature, or 0.
 *
 * Players sign, too: a running hash of their own orders, so that a relay cannot invent orders unseen.
 *
 * ```
 * chain    SHA-256( "tickwire player 1" 00 │ fingerprint 64 │ seed 64 │ player 32 ), then for each order
 *          SHA-256( chain │ tick 48 │ time in us 32 │ type 8 │ length 16 │ values )
 * signed   "tickwire player 1" 00 │ player 32 │ tick 48 │ orders 32 │ chain
 * ```
 */

import { SEAL_TICKS } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import type { Sha256 } from './seed-share.ts'
import type { Root } from './sync-messages.ts'
import { TAG } from './tick-body.ts'

/** A root that most players reported. */
export interface AgreedRoot {
  /** The tick. */
  readonly tick: Tick
  /** The hash of the world after it. */
  readonly root: Root
  /** How many players reported this hash. */
  readonly agreed: number
  /** How many players reported a hash of this tick. */
  readonly players: number
}

/** Whether no majority of the players had the same world: the root is only one of several. */
export function isDisputed({ agreed, players }: AgreedRoot): boolean {
  return 2 * agreed <= players
}

/** An image in a recording. */
export interface SealedImage {
  /** The tick after which it was taken. */
  readonly tick: Tick
  /** SHA-256 of the bytes in the file: an image, or a patch of the image before. */
  readonly chunkDigest: Uint8Array
  /** SHA-256 of the whole image. */
  readonly imageDigest: Uint8Array
  /** How many other players had the same image. */
  readonly witnesses: number
}

/** A seal without its signature. */
export interface Seal {
  /** The first tick of the segment. */
  readonly first: Tick
  /** The last tick of the segment. */
  readonly last: Tick
  /** The top of the tree over the leaves. */
  readonly top: Uint8Array
  /** SHA-256 of the seal before and its signature. Zeros: this is the first. */
  readonly before: Uint8Array
  /** Images of the segment. */
  readonly images: readonly SealedImage[]
  /** The hashes that players agreed on, ascending by tick. */
  readonly roots: readonly AgreedRoot[]
  /** The Ed25519 key that signs. */
  readonly publicKey: Uint8Array
}

/** Which match is sealed. */
export interface SealedMatch {
  /** The fingerprint of the game, eight bytes. */
  readonly fingerprint: Uint8Array
  /** The seed of the match. 0: the players agree on it in the first ticks. */
  readonly seed: number
}

export const HASH_BYTES = 32
export const SIGNATURE_BYTES = 64
const IMAGES_MAX = 16
const SEAL_LABEL = label('tickwire seal 1')
const PLAYER_LABEL = label('tickwire player 1')
const NO_ROOT: Root = { low: 0, high: 0 }

/** SHA-256 of the bytes of ticks. Most ticks are empty: their digest is computed once. */
export class BodyDigests {
  readonly #sha256: Sha256
  readonly #empty: Uint8Array

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
    this.#empty = sha256(Uint8Array.of(TAG.empty))
  }

  /** The digest of the bytes of one tick. */
  of(bytes: Uint8Array, from: number, end: number): Uint8Array {
    return end - from === 1 && bytes[from] === TAG.empty ? this.#empty : this.#sha256(bytes.subarray(from, end))
  }
}

const leafBytes = new Uint8Array(17 + 32)

/** The leaf of a tick. `digest` is that of its bytes in the log. */
export function leafOf(
  tick: Tick, digest: Uint8Array, agreed: AgreedRoot | undefined, sha256: Sha256,
): Uint8Array {
  const { low, high } = agreed?.root ?? NO_ROOT
  const bytes = leafBytes
  putNumber(bytes, 1, tick, 6)
  putNumber(bytes, 7, low, 4)
  putNumber(bytes, 11, high, 4)
  bytes[15] = agreed?.agreed ?? 0
  bytes[16] = agreed?.players ?? 0
  bytes.set(digest, 17)
  return sha256(bytes)
}

/** The top of the tree over leaves. */
export function topOf(leaves: readonly Uint8Array[], sha256: Sha256): Uint8Array {
  let row = leaves
  while (row.length > 1) row = rowAbove(row, sha256)
  return row[0] ?? new Uint8Array(HASH_BYTES)
}

/** The hashes beside the path from a leaf to the top, lowest first. Undefined where the node goes up as it is. */
export function proofOf(leaves: readonly Uint8Array[], at: number, sha256: Sha256): (Uint8Array | undefined)[] {
  const proof: (Uint8Array | undefined)[] = []
  let [row, place] = [leaves, at]
  while (row.length > 1) {
    proof.push(row[place ^ 1])
    row = rowAbove(row, sha256)
    place >>>= 1
  }
  return proof
}

/** The top that a leaf and its proof give. */
export function topFrom(
  leaf: Uint8Array, at: number, proof: readonly (Uint8Array | undefined)[], sha256: Sha256,
): Uint8Array {
  let [node, place] = [leaf, at]
  for (const beside of proof) {
    if (beside !== undefined) node = place & 1 ? nodeOf(beside, node, sha256) : nodeOf(node, beside, sha256)
    place >>>= 1
  }
  return node
}

function rowAbove(row: readonly Uint8Array[], sha256: Sha256): Uint8Array[] {
  const above: Uint8Array[] = []
  for (let at = 0; at < row.length; at += 2)
    above.push(at + 1 < row.length ? nodeOf(row[at], row[at + 1], sha256) : row[at])
  return above
}

const pair = new Uint8Array(1 + 2 * HASH_BYTES)

function nodeOf(left: Uint8Array, right: Uint8Array, sha256: Sha256): Uint8Array {
  pair[0] = 1
  pair.set(left, 1)
  pair.set(right, 1 + HASH_BYTES)
  return sha256(pair)
}

/** The bytes of a seal, without its signature. */
export function encodeSeal({ first, last, top, before, images, roots, publicKey }: Seal): Uint8Array {
  const bytes = new Uint8Array(15 + 3 * HASH_BYTES + images.length * 71 + roots.length * 16)
  let at = putNumber(bytes, 0, first, 6)
  at = putNumber(bytes, at, last, 6)
  at = putBytes(bytes, at, top)
  at = putBytes(bytes, at, before)
  at = putNumber(bytes, at, images.length, 1)
  for (const { tick, chunkDigest, imageDigest, witnesses } of images) {
    at = putNumber(bytes, at, tick, 6)
    at = putBytes(bytes, at, chunkDigest)
    at = putBytes(bytes, at, imageDigest)
    at = putNumber(bytes, at, witnesses, 1)
  }
  at = putNumber(bytes, at, roots.length, 2)
  for (const { tick, root: { low, high }, agreed, players } of roots) {
    at = putNumber(bytes, at, tick, 6)
    at = putNumber(bytes, at, low, 4)
    at = putNumber(bytes, at, high, 4)
    at = putNumber(bytes, at, agreed, 1)
    at = putNumber(bytes, at, players, 1)
  }
  putBytes(bytes, at, publicKey)
  return bytes
}

/** Undefined when the bytes are not a seal. It never throws. */
export function decodeSeal(bytes: Uint8Array): Seal | undefined {
  const from = new Numbers(bytes)
  const [first, last] = [from.number(6), from.number(6)]
  const [top, before] = [from.bytes(HASH_BYTES), from.bytes(HASH_BYTES)]
  const imageCount = from.number(1)
  if (imageCount > IMAGES_MAX) return undefined
  const images = Array.from({ length: imageCount }, () => ({
    tick: from.number(6), chunkDigest: from.bytes(HASH_BYTES), imageDigest: from.bytes(HASH_BYTES),
    witnesses: from.number(1),
  }))
  const rootCount = from.number(2)
  if (rootCount > SEAL_TICKS) return undefined
  const roots = Array.from({ length: rootCount }, () => ({
    tick: from.number(6), root: { low: from.number(4), high: from.number(4) }, agreed: from.number(1),
    players: from.number(1),
  }))
  const publicKey = from.bytes(HASH_BYTES)
  const isValid = from.isEnd && first >= 1 && last >= first && last - first < SEAL_TICKS
    && roots.every(({ tick }, each) => tick >= first && tick <= last && (each === 0 || tick > roots[each - 1].tick))
  return isValid ? { first, last, top, before, images, roots, publicKey } : undefined
}

/** What the relay signs. */
export function sealMessage({ fingerprint, seed }: SealedMatch, seal: Uint8Array): Uint8Array {
  const at = SEAL_LABEL.length
  const bytes = new Uint8Array(at + 16 + seal.length)
  bytes.set(SEAL_LABEL)
  bytes.set(fingerprint, at)
  putNumber(bytes, at + 8, seed, 8)
  bytes.set(seal, at + 16)
  return bytes
}

/** The running hash of a player's own orders. */
export class PlayerChain {
  /** Orders so far. */
  orders = 0
  readonly #player: PeerId
  readonly #sha256: Sha256
  #chain: Uint8Array

  constructor({ fingerprint, seed }: SealedMatch, player: PeerId, sha256: Sha256) {
    const at = PLAYER_LABEL.length
    const bytes = new Uint8Array(at + 20)
    bytes.set(PLAYER_LABEL)
    bytes.set(fingerprint, at)
    putNumber(bytes, at + 8, seed, 8)
    putNumber(bytes, at + 16, player, 4)
    this.#player = player
    this.#sha256 = sha256
    this.#chain = sha256(bytes)
  }

  /** The next order of the player in the stream. */
  add(tick: Tick, timeUs: number, type: number, data: Uint8Array): void {
    const bytes = new Uint8Array(HASH_BYTES + 13 + data.length)
    let at = putBytes(bytes, 0, this.#chain)
    at = putNumber(bytes, at, tick, 6)
    at = putNumber(bytes, at, timeUs, 4)
    at = putNumber(bytes, at, type, 1)
    at = putNumber(bytes, at, data.length, 2)
    putBytes(bytes, at, data)
    this.#chain = this.#sha256(bytes)
    this.orders++
  }

  /** What the player signs after a tick. */
  message(tick: Tick): Uint8Array {
    const at = PLAYER_LABEL.length
    const bytes = new Uint8Array(at + 14 + HASH_BYTES)
    bytes.set(PLAYER_LABEL)
    putNumber(bytes, at, this.#player, 4)
    putNumber(bytes, at + 4, tick, 6)
    putNumber(bytes, at + 10, this.orders, 4)
    bytes.set(this.#chain, at + 14)
    return bytes
  }
}

/** Reads numbers, lowest byte first, and bytes. After the end everything is 0. */
export class Numbers {
  #at = 0
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Whether everything was read, and nothing after the end. */
  get isEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** Bytes that are left. */
  get left(): number {
    return this.#bytes.length - this.#at
  }

  number(count: number): number {
    let value = 0
    for (let each = count - 1; each >= 0; each--) value = value * 256 + (this.#bytes[this.#at + each] ?? 0)
    this.#at += count
    return value
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count)
    bytes.set(this.#bytes.subarray(this.#at, this.#at + count))
    this.#at += count
    return bytes
  }
}

/** Writes a number in `count` bytes, lowest first, and returns the end. */
export function putNumber(bytes: Uint8Array, at: number, value: number, count: number): number {
  let rest = value
  for (let each = 0; each < count; each++) {
    bytes[at + each] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return at + count
}

function putBytes(to: Uint8Array, at: number, bytes: Uint8Array): number {
  to.set(bytes, at)
  return at + bytes.length
}

function label(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length + 1 }, (_, at) => text.charCodeAt(at) || 0)
}
