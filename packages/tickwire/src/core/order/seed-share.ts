/**
 * The seed of a match that no side chooses alone: every player and the relay add a share.
 *
 * ```
 * type       request of a player           tick event, by player 0
 * C9 commit  SHA-256, 32 bytes             player, varint (0: the relay) │ SHA-256, 32 bytes
 * CA reveal  share 32 │ nonce 16           player, varint │ share 32 │ nonce 16
 * ```
 *
 * A commit is the SHA-256 of share and nonce. The first tick of the match has all commits and nothing else; a client
 * reveals when it has that tick, so no share can depend on another. The second tick has all reveals, then the joins.
 * The seed is the XOR of all shares: their first eight bytes, least first, of which 53 bits are used.
 */

import { SEED_NONCE_BYTES, SEED_SHARE_BYTES } from '../base/limits.ts'
import type { PeerId } from '../base/time.ts'
import { putVarint, VarintReader } from './leb128.ts'

/** The types of requests and tick events about the seed. */
export const SEED_EVENT = { commit: 0xc9, reveal: 0xca } as const

/** Bytes of a commit, and of a reveal. */
export const COMMIT_BYTES = 32
export const REVEAL_BYTES: number = SEED_SHARE_BYTES + SEED_NONCE_BYTES

const TWO_32 = 0x1_0000_0000

/** SHA-256 of a byte string. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** One side's share of a seed: the commit is sent first, the reveal when all commits are known. */
export interface SeedShare {
  /** SHA-256 of the reveal. */
  readonly commit: Uint8Array
  /** The share and its nonce. */
  readonly reveal: Uint8Array
}

/** Makes a share from unpredictable bytes. */
export function makeSeedShare(fill: (bytes: Uint8Array) => void, sha256: Sha256): SeedShare {
  const reveal = new Uint8Array(REVEAL_BYTES)
  fill(reveal)
  return { commit: sha256(reveal), reveal }
}

/** A commit or a reveal in a tick. */
export interface SeedEvent {
  readonly type: number
  readonly player: PeerId
  readonly bytes: Uint8Array
}

/** Writes the values of a seed event at `at` and returns the end. */
export function putSeedEvent(to: Uint8Array, at: number, player: PeerId, bytes: Uint8Array): number {
  const from = putVarint(to, at, player)
  to.set(bytes, from)
  return from + bytes.length
}

const varint = new VarintReader()

/** Reads the values of a seed event. Undefined when they are invalid, or the type is another. */
export function readSeedEvent(type: number, bytes: Uint8Array, at: number, length: number): SeedEvent | undefined {
  const size = type === SEED_EVENT.commit ? COMMIT_BYTES : type === SEED_EVENT.reveal ? REVEAL_BYTES : -1
  const player = varint.read(bytes, at, at + length)
  if (size < 0 || varint.end < 0 || varint.end + size !== at + length) return undefined
  return { type, player, bytes: bytes.slice(varint.end, at + length) }
}

/** The seed that the shares of a match give. */
export function seedOf(reveals: readonly Uint8Array[]): number {
  const mixed = new Uint8Array(8)
  for (const reveal of reveals) for (let at = 0; at < mixed.length; at++) mixed[at] ^= reveal[at]
  const low = mixed[0] | mixed[1] << 8 | mixed[2] << 16 | mixed[3] << 24
  const high = mixed[4] | mixed[5] << 8 | (mixed[6] & 0x1f) << 16
  return (low >>> 0) + high * TWO_32
}

/** Whether two byte strings are equal. Nothing here is secret. */
export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}

/** Checks that the reveals of a match fit its commits. Every client does this: a relay could lie. */
export class SeedWitness {
  readonly #sha256: Sha256
  readonly #commits = new Map<PeerId, Uint8Array>()
  readonly #revealed = new Set<PeerId>()

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  /** Whether the relay has shown the commits. */
  get hasCommits(): boolean {
    return this.#commits.size > 0
  }

  /** Whether a player's share is in the seed. */
  has(player: PeerId): boolean {
    return this.#revealed.has(player)
  }

  /** A seed event of a tick. False when it does not fit the others. */
  note({ type, player, bytes }: SeedEvent): boolean {
    const committed = this.#commits.get(player)
    if (type === SEED_EVENT.commit) {
      if (committed !== undefined || this.#revealed.size > 0) return false
      for (const other of this.#commits.values()) if (isSameBytes(other, bytes)) return false
      this.#commits.set(player, bytes)
      return true
    }
    if (committed === undefined || this.#revealed.has(player)) return false
    this.#revealed.add(player)
    return isSameBytes(this.#sha256(bytes), committed)
  }
}
