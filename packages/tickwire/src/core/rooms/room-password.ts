/**
 * Passwords of rooms. A room keeps a random salt and an HMAC-SHA-256 under it, and never the password.
 *
 * ```
 * │ salt 16 │ HMAC-SHA-256 of the label and the password, 32 │
 * ```
 *
 * The comparison takes the same time for every password of a length. The hash is fast: it does not protect a weak
 * password from a reader of the server's memory or of its images. Guesses over the network are limited per origin.
 */

import type { Entropy } from '../base/entropy.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { utf8Size, writeUtf8 } from '../bits/utf8.ts'
import { isEqualConstantTime } from '../crypto/constant-time.ts'
import { concat, label } from '../crypto/label.ts'
import type { CryptoProvider } from '../crypto/provider.ts'

const SALT_BYTES = 16
const LABEL = label('tickwire/v1/room-password')

/** Hashes passwords, and compares them with the hash of a room. */
export class PasswordHasher {
  readonly #provider: CryptoProvider
  readonly #entropy: Entropy

  constructor(provider: CryptoProvider, entropy: Entropy) {
    this.#provider = provider
    this.#entropy = entropy
  }

  /** The salted hash of a password. */
  hash(password: string): Uint8Array {
    const salt = new Uint8Array(SALT_BYTES)
    this.#entropy.fill(salt)
    return concat(salt, this.#mac(salt, password))
  }

  /** Whether `hash` was made of this password. */
  isMatch(hash: Uint8Array, password: string): boolean {
    const mac = this.#mac(hash.subarray(0, SALT_BYTES), password)
    return isEqualConstantTime(mac, hash.subarray(SALT_BYTES))
  }

  #mac(salt: Uint8Array, password: string): Uint8Array {
    const bytes = new Uint8Array(utf8Size(password))
    const writer = new BitWriter(bytes)
    writeUtf8(writer, password)
    writer.finish()
    return this.#provider.hmacSha256(salt, concat(LABEL, bytes))
  }
}
