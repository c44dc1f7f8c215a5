/**
 * Primitives of libsodium through sodium-native, where it is installed: three to five times faster than node:crypto on
 * packets, two to twenty times on handshakes.
 *
 * libsodium has no AES-256-GCM, so node:crypto does it, and no HMAC-SHA256, so it is built from two hashes.
 *
 * A packet is copied into a scratch buffer and back. Views of the scratch buffer are made once for every length:
 * sodium-native takes views, and three new views a packet cost more than two copies of a kilobyte (701 against 615 ns
 * at 64 bytes). So sealing and opening allocate nothing.
 */

import { createRequire } from 'node:module'
import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import { wipe } from '../core/crypto/constant-time.ts'
import { isWeakPoint } from '../core/crypto/ed25519-verify.ts'
import {
  CRYPTO_BYTES, SUITE, type AeadKey, type AgreementKey, type CryptoProvider, type SigningKey, type VerifyingKey,
} from '../core/crypto/provider.ts'
import { opensslProvider } from './crypto-openssl.ts'

/** The part of sodium-native that is used here. The package has no types. */
interface Sodium {
  crypto_aead_chacha20poly1305_ietf_encrypt(
    out: Uint8Array, message: Uint8Array, header: Uint8Array, unused: null, nonce: Uint8Array, key: Uint8Array): number
  crypto_aead_chacha20poly1305_ietf_decrypt(
    out: Uint8Array, unused: null, sealed: Uint8Array, header: Uint8Array, nonce: Uint8Array, key: Uint8Array): number
  crypto_hash_sha256(out: Uint8Array, bytes: Uint8Array): void
  crypto_scalarmult_base(out: Uint8Array, secret: Uint8Array): void
  crypto_scalarmult(out: Uint8Array, secret: Uint8Array, publicKey: Uint8Array): void
  crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void
  crypto_sign_detached(out: Uint8Array, message: Uint8Array, secretKey: Uint8Array): void
  crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean
}

const TAG_BYTES = CRYPTO_BYTES.tag

/** Block size of SHA-256, in bytes. */
const BLOCK_BYTES = 64

/** All primitives, most by libsodium. Undefined if sodium-native is not installed, or not for this machine. */
export function loadSodiumProvider(): CryptoProvider | undefined {
  const load = createRequire(import.meta.url)
  try {
    const sodium: Sodium = load('sodium-native')
    const { version }: { version: string } = load('sodium-native/package.json')
    return createSodiumProvider(sodium, version)
  } catch {
    return undefined
  }
}

function createSodiumProvider(sodium: Sodium, version: string): CryptoProvider {
  const scratch = new Scratch()
  return {
    name: `sodium-native ${version}, and ${opensslProvider.name} for AES`,
    importAead: (suite, key) =>
      suite === SUITE.chacha20Poly1305
        ? new SodiumAeadKey(sodium, scratch, key)
        : opensslProvider.importAead(suite, key),
    importAgreement: (secret) => new SodiumAgreementKey(sodium, secret),
    importSigning: (seed) => new SodiumSigningKey(sodium, seed),
    importVerifying: (publicKey) => new SodiumVerifyingKey(sodium, publicKey),
    sha256: (bytes) => sha256(sodium, bytes),
    hmacSha256: (key, bytes) => hmacSha256(sodium, key, bytes),
  }
}

function sha256(sodium: Sodium, bytes: Uint8Array): Uint8Array {
  const hash = new Uint8Array(CRYPTO_BYTES.hash)
  sodium.crypto_hash_sha256(hash, bytes)
  return hash
}

/** RFC 2104: the inner hash over the padded key and the message, then the outer hash over the other padded key. */
function hmacSha256(sodium: Sodium, key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const short = key.length > BLOCK_BYTES ? sha256(sodium, key) : key
  const inner = new Uint8Array(BLOCK_BYTES + bytes.length)
  const outer = new Uint8Array(BLOCK_BYTES + CRYPTO_BYTES.hash)
  for (let index = 0; index < BLOCK_BYTES; index++) {
    const byte = short[index] ?? 0
    inner[index] = byte ^ 0x36
    outer[index] = byte ^ 0x5c
  }
  inner.set(bytes, BLOCK_BYTES)
  outer.set(sha256(sodium, inner), BLOCK_BYTES)
  const mac = sha256(sodium, outer)
  wipe(inner)
  wipe(outer)
  return mac
}

/** Space for one packet, and views into it. The header ends, and the body begins, at a fixed offset. */
class Scratch {
  #bytes: Uint8Array = new Uint8Array(2 * DATAGRAM_BYTES_MAX)
  /** Both are indexed by length, and filled as lengths occur. */
  #headers: (Uint8Array | undefined)[] = []
  #bodies: (Uint8Array | undefined)[] = []

  /** Copies a packet of `length` bytes into the scratch buffer. @hot */
  load(bytes: Uint8Array, headerLength: number, length: number): void {
    // A packet's buffer is seldom longer than a datagram. Then all of it can be copied without making a view.
    const isShort = bytes.length <= DATAGRAM_BYTES_MAX
    // reason: a longer buffer is not the usual case.
    this.#bytes.set(isShort ? bytes : bytes.subarray(0, length), DATAGRAM_BYTES_MAX - headerLength)
  }

  /** @hot */
  header(length: number): Uint8Array {
    // reason: allocates once for every length.
    return (this.#headers[length] ??= this.#bytes.subarray(DATAGRAM_BYTES_MAX - length, DATAGRAM_BYTES_MAX))
  }

  /** @hot */
  body(length: number): Uint8Array {
    // reason: allocates once for every length.
    return (this.#bodies[length] ??= this.#bytes.subarray(DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX + length))
  }
}

class SodiumAeadKey implements AeadKey {
  // Kept as fields: the module has hundreds of functions, and finding one by its name is a table lookup.
  #encrypt: Sodium['crypto_aead_chacha20poly1305_ietf_encrypt']
  #decrypt: Sodium['crypto_aead_chacha20poly1305_ietf_decrypt']
  #scratch: Scratch
  #key: Uint8Array

  constructor(sodium: Sodium, scratch: Scratch, key: Uint8Array) {
    this.#encrypt = sodium.crypto_aead_chacha20poly1305_ietf_encrypt
    this.#decrypt = sodium.crypto_aead_chacha20poly1305_ietf_decrypt
    this.#scratch = scratch
    this.#key = key.slice()
  }

  /** @hot */
  seal(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, plaintextLength: number): void {
    const scratch = this.#scratch
    scratch.load(bytes, headerLength, headerLength + plaintextLength)
    const sealed = scratch.body(plaintextLength + TAG_BYTES)
    const encrypt = this.#encrypt
    encrypt(
      sealed, scratch.body(plaintextLength), scratch.header(headerLength), null, nonce, this.#key,
    )
    bytes.set(sealed, headerLength)
  }

  /** @hot */
  open(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, sealedLength: number): boolean {
    const plaintextLength = sealedLength - TAG_BYTES
    if (plaintextLength < 0) return false
    const scratch = this.#scratch
    scratch.load(bytes, headerLength, headerLength + sealedLength)
    const plaintext = scratch.body(plaintextLength)
    try {
      const decrypt = this.#decrypt
      const opened = decrypt(
        plaintext, null, scratch.body(sealedLength), scratch.header(headerLength), nonce, this.#key,
      )
      // It throws on a wrong tag. The length that it returns is a second check.
      if (opened !== plaintextLength) return false
    } catch {
      return false
    }
    bytes.set(plaintext, headerLength)
    return true
  }

  wipe(): void {
    wipe(this.#key)
  }
}

class SodiumAgreementKey implements AgreementKey {
  readonly publicKey: Uint8Array = new Uint8Array(CRYPTO_BYTES.publicKey)
  #sodium: Sodium
  #secret: Uint8Array

  constructor(sodium: Sodium, secret: Uint8Array) {
    this.#sodium = sodium
    this.#secret = secret.slice()
    sodium.crypto_scalarmult_base(this.publicKey, this.#secret)
  }

  agree(peerPublicKey: Uint8Array): Uint8Array | undefined {
    const shared = new Uint8Array(CRYPTO_BYTES.key)
    try {
      this.#sodium.crypto_scalarmult(shared, this.#secret, peerPublicKey)
      return shared
    } catch {
      // A point of small order, or not 32 bytes.
      return undefined
    }
  }

  wipe(): void {
    wipe(this.#secret)
  }
}

class SodiumSigningKey implements SigningKey {
  readonly publicKey: Uint8Array = new Uint8Array(CRYPTO_BYTES.publicKey)
  #sodium: Sodium
  /** Seed and public key. */
  #secretKey: Uint8Array = new Uint8Array(64)

  constructor(sodium: Sodium, seed: Uint8Array) {
    this.#sodium = sodium
    sodium.crypto_sign_seed_keypair(this.publicKey, this.#secretKey, seed)
  }

  sign(message: Uint8Array): Uint8Array {
    const signature = new Uint8Array(CRYPTO_BYTES.signature)
    this.#sodium.crypto_sign_detached(signature, message, this.#secretKey)
    return signature
  }

  wipe(): void {
    wipe(this.#secretKey)
  }
}

class SodiumVerifyingKey implements VerifyingKey {
  readonly publicKey: Uint8Array
  #sodium: Sodium

  constructor(sodium: Sodium, publicKey: Uint8Array) {
    this.#sodium = sodium
    this.publicKey = publicKey.slice()
  }

  verify(message: Uint8Array, signature: Uint8Array): boolean {
    // Which weak points libsodium refuses depends on its version.
    if (
      signature.length !== CRYPTO_BYTES.signature
      || isWeakPoint(signature.subarray(0, CRYPTO_BYTES.publicKey))
      || isWeakPoint(this.publicKey)
    )
      return false
    return this.#sodium.crypto_sign_verify_detached(signature, message, this.publicKey)
  }
}
