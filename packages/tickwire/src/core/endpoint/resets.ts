/**
 * Resets: how a server answers packets of a connection that it no longer knows. One reset for each packet, never longer
 * than that packet.
 *
 * ```
 * reset token = HMAC-SHA256(reset key, connection id 8, LE), first 16 bytes
 * ```
 *
 * A client receives the token of its connection in the sealed Accepted packet. The server stores nothing: it computes
 * the token again from the connection id. So a client whose server restarted learns of it in one round trip instead of
 * ten seconds, and no other host can forge a reset. The key belongs to one process (`security.resetSecret`): a process
 * that could compute the tokens of another process would send them to any attacker that names a connection of that
 * process.
 *
 * Invariants: a reset has 32 bytes and answers a packet of 33 bytes or more, so it is at most 0.97 of that packet's
 * size. At most 100 are sent per second, 3,200 bytes. A packet that could itself be a reset is never answered with a
 * reset.
 */

import { RESETS_PER_SECOND } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { RESET_TOKEN_BYTES } from '../connection/handshake.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { HEADER_BYTES_MIN, writeUint32 } from '../packet/header.ts'

/** Bytes of a reset, header included. */
export const RESET_BYTES: number = HEADER_BYTES_MIN + 1 + RESET_TOKEN_BYTES

/** Computes reset tokens and limits the rate of resets. */
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

  /** Whether a packet of `length` bytes for an unknown connection is answered with a reset now. */
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
