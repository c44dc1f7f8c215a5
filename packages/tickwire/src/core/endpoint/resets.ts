/**
 * What a server says about connections it no longer knows: "start anew", once for each packet, never more than it got.
 *
 * ```
 * reset token = HMAC-SHA256(reset key, connection id 8, LE), first 16 bytes
 * ```
 *
 * Every client is told the token of its connection when it is accepted, sealed; only the server that gave it can make it
 * again, without having kept anything. So a client that outlives its server learns of it in one round trip instead of ten
 * seconds, and nobody else can tell it so.
 *
 * Invariant: a reset is shorter than the packet that asked for it, and no packet that could be a reset asks for one.
 */

import { RESETS_PER_SECOND } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { RESET_TOKEN_BYTES } from '../connection/handshake.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { HEADER_BYTES_MIN, writeUint32 } from '../packet/header.ts'

/** Bytes of a reset, header included. */
export const RESET_BYTES: number = HEADER_BYTES_MIN + 1 + RESET_TOKEN_BYTES

/** Makes reset tokens, and not too many. */
export class Resets {
  #provider: CryptoProvider
  #key: Uint8Array
  #id: Uint8Array = new Uint8Array(8)
  #left: number = RESETS_PER_SECOND
  #refilledAt: Millis = 0

  constructor(provider: CryptoProvider, key: Uint8Array) {
    this.#provider = provider
    this.#key = key
  }

  tokenOf(idLo: number, idHi: number): Uint8Array {
    writeUint32(this.#id, 0, idLo)
    writeUint32(this.#id, 4, idHi)
    return this.#provider.hmacSha256(this.#key, this.#id).slice(0, RESET_TOKEN_BYTES)
  }

  /** Whether a packet of `length` bytes for nobody is answered now. */
  take(now: Millis, length: number): boolean {
    if (length <= RESET_BYTES) return false
    const refill = ((now - this.#refilledAt) * RESETS_PER_SECOND) / 1000
    this.#left = Math.min(RESETS_PER_SECOND, this.#left + (refill > 0 ? refill : 0))
    this.#refilledAt = now
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
