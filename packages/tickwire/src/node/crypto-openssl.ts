/**
 * Primitives of node:crypto, that is of OpenSSL: always available on Node, and widely audited.
 *
 * Each packet needs a new context, which costs several microseconds and a few hundred bytes of garbage whatever the
 * packet's size (docs/adr/0012-crypto-providers.md). Secret keys are imported as PKCS #8 once, and public keys as JWK,
 * which is faster for keys that are used once.
 */

import {
  createCipheriv, createDecipheriv, createHash, createHmac, createPrivateKey, createPublicKey, diffieHellman, sign,
  verify, type CipherChaCha20Poly1305, type CipherGCM, type DecipherChaCha20Poly1305, type DecipherGCM, type KeyObject,
} from 'node:crypto'
import { wipe } from '../core/crypto/constant-time.ts'
import { isWeakPoint } from '../core/crypto/ed25519-verify.ts'
import {
  CRYPTO_BYTES, SUITE, type AeadKey, type AgreementKey, type CryptoProvider, type SigningKey, type SuiteId,
  type VerifyingKey,
} from '../core/crypto/provider.ts'

const TAG_BYTES = CRYPTO_BYTES.tag
const TAG_OPTION = { authTagLength: TAG_BYTES } as const

/** The PKCS #8 bytes that precede the 32 bytes of a secret (RFC 8410). */
const PKCS8_X25519 = Buffer.from('302e020100300506032b656e04220420', 'hex')
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** All primitives, implemented by OpenSSL. */
export const opensslProvider: CryptoProvider = {
  name: `node:crypto (OpenSSL ${process.versions.openssl})`,
  importAead: (suite, key) => new OpensslAeadKey(suite, key),
  importAgreement: (secret) => new OpensslAgreementKey(secret),
  importSigning: (seed) => new OpensslSigningKey(seed),
  importVerifying: (publicKey) => new OpensslVerifyingKey(publicKey),
  sha256: (bytes) => plain(createHash('sha256').update(bytes).digest()),
  hmacSha256: (key, bytes) => plain(createHmac('sha256', key).update(bytes).digest()),
}

class OpensslAeadKey implements AeadKey {
  #isGcm: boolean
  #key: Uint8Array

  constructor(suite: SuiteId, key: Uint8Array) {
    this.#isGcm = suite === SUITE.aes256Gcm
    this.#key = key.slice()
  }

  seal(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, plaintextLength: number): void {
    const end = headerLength + plaintextLength
    const cipher: CipherGCM | CipherChaCha20Poly1305 = this.#isGcm
      ? createCipheriv('aes-256-gcm', this.#key, nonce, TAG_OPTION)
      : createCipheriv('chacha20-poly1305', this.#key, nonce, TAG_OPTION)
    cipher.setAAD(bytes.subarray(0, headerLength), { plaintextLength })
    bytes.set(cipher.update(bytes.subarray(headerLength, end)), headerLength)
    cipher.final()
    bytes.set(cipher.getAuthTag(), end)
  }

  open(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, sealedLength: number): boolean {
    const plaintextLength = sealedLength - TAG_BYTES
    if (plaintextLength < 0) return false
    const end = headerLength + plaintextLength
    const cipher: DecipherGCM | DecipherChaCha20Poly1305 = this.#isGcm
      ? createDecipheriv('aes-256-gcm', this.#key, nonce, TAG_OPTION)
      : createDecipheriv('chacha20-poly1305', this.#key, nonce, TAG_OPTION)
    cipher.setAAD(bytes.subarray(0, headerLength), { plaintextLength })
    cipher.setAuthTag(bytes.subarray(end, end + TAG_BYTES))
    const opened = cipher.update(bytes.subarray(headerLength, end))
    try {
      cipher.final()
    } catch {
      // Wrong tag. The unauthenticated plaintext must not leak.
      wipe(opened)
      return false
    }
    bytes.set(opened, headerLength)
    return true
  }

  wipe(): void {
    wipe(this.#key)
  }
}

class OpensslAgreementKey implements AgreementKey {
  readonly publicKey: Uint8Array
  #key: KeyObject | undefined

  constructor(secret: Uint8Array) {
    this.#key = importSecret(PKCS8_X25519, secret)
    this.publicKey = exportPublic(this.#key)
  }

  agree(peerPublicKey: Uint8Array): Uint8Array | undefined {
    if (this.#key === undefined || peerPublicKey.length !== CRYPTO_BYTES.publicKey) return undefined
    try {
      return plain(diffieHellman({ privateKey: this.#key, publicKey: importPublic('X25519', peerPublicKey) }))
    } catch {
      // OpenSSL refuses an all-zero shared secret.
      return undefined
    }
  }

  wipe(): void {
    this.#key = undefined
  }
}

class OpensslSigningKey implements SigningKey {
  readonly publicKey: Uint8Array
  #key: KeyObject | undefined

  constructor(seed: Uint8Array) {
    this.#key = importSecret(PKCS8_ED25519, seed)
    this.publicKey = exportPublic(this.#key)
  }

  sign(message: Uint8Array): Uint8Array {
    if (this.#key === undefined) throw new Error('a wiped key signs nothing')
    return plain(sign(null, message, this.#key))
  }

  wipe(): void {
    this.#key = undefined
  }
}

class OpensslVerifyingKey implements VerifyingKey {
  readonly publicKey: Uint8Array
  #key: KeyObject
  #isWeak: boolean

  constructor(publicKey: Uint8Array) {
    this.publicKey = publicKey.slice()
    this.#isWeak = isWeakPoint(publicKey)
    this.#key = importPublic('Ed25519', publicKey)
  }

  verify(message: Uint8Array, signature: Uint8Array): boolean {
    // OpenSSL accepts weak points: for a key of small order, one message in eight verifies without its secret.
    if (
      signature.length !== CRYPTO_BYTES.signature
      || this.#isWeak
      || isWeakPoint(signature.subarray(0, CRYPTO_BYTES.publicKey))
    )
      return false
    try {
      return verify(null, message, this.#key, signature)
    } catch {
      return false
    }
  }
}

function importSecret(prefix: Buffer, secret: Uint8Array): KeyObject {
  const der = Buffer.concat([prefix, secret])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  wipe(der)
  return key
}

function importPublic(curve: 'X25519' | 'Ed25519', publicKey: Uint8Array): KeyObject {
  const x = Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.length).toString('base64url')
  return createPublicKey({ key: { kty: 'OKP', crv: curve, x }, format: 'jwk' })
}

function exportPublic(key: KeyObject): Uint8Array {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return plain(Buffer.from(x, 'base64url'))
}

/** A copy that is not a Buffer: a Buffer shares a pool with others, and does not compare equal to a Uint8Array. */
function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer)
}
