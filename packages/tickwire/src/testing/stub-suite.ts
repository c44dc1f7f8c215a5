/**
 * Cryptography for simulations that protects nothing and costs almost nothing: a 64-bit keyed checksum as the tag,
 * hashes in place of curves and signatures. A whole handshake takes microseconds, and a packet some tens of
 * nanoseconds.
 *
 * In one respect it is stricter than real suites: it records every key and the highest nonce that was ever sealed under
 * it, across connections, restarts and all importers of the same key. A nonce that does not increase throws
 * `InvariantError`, whether or not the offending key object counts for itself.
 *
 * It keeps the sizes and the behaviour of the real suites: packets have the same length, modified ones do not open, and
 * the first bytes of a sealed body differ from the plaintext.
 *
 * It keeps no secrets: the effects of a private key can be computed from the public one. It fails the self-test on
 * purpose and is never selected automatically.
 */

import { assert } from '../core/base/assert.ts'
import { hashBytes } from '../core/base/hash.ts'
import { isEqualConstantTime } from '../core/crypto/constant-time.ts'
import { concat } from '../core/crypto/label.ts'
import {
  CRYPTO_BYTES, SUITE, type AeadKey, type AgreementKey, type CryptoProvider, type SigningKey, type SuiteId,
  type VerifyingKey,
} from '../core/crypto/provider.ts'
import { bytesToText } from '../core/crypto/token-text.ts'
import { readUint32, writeUint32 } from '../core/packet/header.ts'

/** The highest nonce sealed under one key, by any importer. */
interface NonceRecord {
  highest: number
}

/** A provider for simulations. Use one instance for all ends of a simulation, or reused nonces go undetected. */
export class StubCrypto implements CryptoProvider {
  readonly name = 'stub, protects nothing'
  /** Packets that it sealed. */
  packetsSealed: number = 0
  /** Packets that it opened. */
  packetsOpened: number = 0
  /** Packets that failed authentication. */
  packetsRefused: number = 0
  #records: Map<string, NonceRecord> = new Map()

  /** How many keys were ever imported. */
  get keyCount(): number {
    return this.#records.size
  }

  importAead(suite: SuiteId, key: Uint8Array): AeadKey {
    const name = bytesToText(key)
    const record = this.#records.get(name) ?? { highest: -1 }
    this.#records.set(name, record)
    return new StubAeadKey(this, suite, key, record)
  }

  importAgreement(secret: Uint8Array): AgreementKey {
    const publicKey = digest(secret, 1)
    return {
      publicKey,
      agree: (peer) =>
        peer.length !== CRYPTO_BYTES.publicKey || peer.every((byte) => byte === 0)
          ? undefined
          : digest(peer.map((byte, index) => byte ^ (publicKey[index] ?? 0)), 2),
      wipe: () => {},
    }
  }

  importSigning(seed: Uint8Array): SigningKey {
    const publicKey = digest(seed, 3)
    return { publicKey, sign: (message) => signature(publicKey, message), wipe: () => {} }
  }

  importVerifying(publicKey: Uint8Array): VerifyingKey {
    const key = publicKey.slice()
    return { publicKey: key, verify: (message, said) => isEqualConstantTime(signature(key, message), said) }
  }

  sha256(bytes: Uint8Array): Uint8Array {
    return digest(bytes, 4)
  }

  hmacSha256(key: Uint8Array, bytes: Uint8Array): Uint8Array {
    return digest(concat(digest(key, 5), bytes), 6)
  }
}

class StubAeadKey implements AeadKey {
  #owner: StubCrypto
  #isGcm: boolean
  #record: NonceRecord
  #keyLo: number
  #keyHi: number
  #mac: Uint32Array = new Uint32Array(2)

  constructor(owner: StubCrypto, suite: SuiteId, key: Uint8Array, record: NonceRecord) {
    this.#owner = owner
    this.#isGcm = suite === SUITE.aes256Gcm
    this.#record = record
    const words = new Uint32Array(2)
    hashBytes(key, 0, key.length, 7, words, 0)
    this.#keyLo = words[0] ?? 0
    this.#keyHi = words[1] ?? 0
  }

  /** @hot */
  seal(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, plaintextLength: number): void {
    const counter = this.#counterOf(nonce)
    assert(counter > this.#record.highest, 'a nonce was used twice under one key')
    this.#record.highest = counter
    this.#owner.packetsSealed++
    const end = headerLength + plaintextLength
    this.#scramble(bytes, headerLength, end, counter)
    this.#compute(bytes, end, nonce)
    for (let word = 0; word < 4; word++) writeUint32(bytes, end + 4 * word, this.#tagWord(word))
  }

  /** @hot */
  open(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, sealedLength: number): boolean {
    const end = headerLength + sealedLength - CRYPTO_BYTES.tag
    let isGenuine = end >= headerLength
    if (isGenuine) {
      this.#compute(bytes, end, nonce)
      for (let word = 0; word < 4; word++)
        isGenuine = isGenuine && readUint32(bytes, end + 4 * word) === this.#tagWord(word)
    }
    if (isGenuine) this.#scramble(bytes, headerLength, end, this.#counterOf(nonce))
    if (isGenuine) this.#owner.packetsOpened++
    else this.#owner.packetsRefused++
    return isGenuine
  }

  wipe(): void {
    this.#keyLo = 0
    this.#keyHi = 0
  }

  /** The counter in a nonce. A salted nonce has its low 32 bits; the rest is chosen nearest to the highest. */
  #counterOf(nonce: Uint8Array): number {
    if (!this.#isGcm) return readUint32(nonce, 0) + readUint32(nonce, 4) * 0x1_0000_0000
    const highest = this.#record.highest
    const near = highest - (highest % 0x1_0000_0000) + readUint32(nonce, 8)
    return near < highest - 0x8000_0000 ? near + 0x1_0000_0000 : near
  }

  /** Computes the 64-bit checksum of header and body, under key and nonce. */
  #compute(bytes: Uint8Array, end: number, nonce: Uint8Array): void {
    const seed =
      this.#keyLo ^ Math.imul(readUint32(nonce, 0), 0x9e37_79b1) ^ Math.imul(readUint32(nonce, 8), 0x85eb_ca77)
    hashBytes(bytes, 0, end, seed ^ Math.imul(readUint32(nonce, 4), 0xc2b2_ae3d), this.#mac, 0)
  }

  #tagWord(word: number): number {
    return ((this.#mac[word & 1] ?? 0) ^ Math.imul(this.#keyHi, word + 1)) >>> 0
  }

  /** Masks the first bytes of a body, so that code that reads them before opening reads garbage. */
  #scramble(bytes: Uint8Array, from: number, end: number, counter: number): void {
    const mask = this.#keyHi ^ Math.imul(counter, 0x27d4_eb2f) ^ 0x5bd1_e995
    const stop = from + 4 < end ? from + 4 : end
    for (let at = from; at < stop; at++) bytes[at] = (bytes[at] ?? 0) ^ (mask >>> (8 * (at - from)))
  }
}

function signature(publicKey: Uint8Array, message: Uint8Array): Uint8Array {
  const bound = concat(publicKey, message)
  return concat(digest(bound, 8), digest(bound, 9))
}

/** 32 bytes that depend on all of `bytes`. */
function digest(bytes: Uint8Array, purpose: number): Uint8Array {
  const words = new Uint32Array(8)
  for (let part = 0; part < 8; part += 2)
    hashBytes(bytes, 0, bytes.length, Math.imul(purpose + part, 0x9e37_79b1), words, part)
  const out = new Uint8Array(32)
  for (let word = 0; word < 8; word++) writeUint32(out, 4 * word, words[word] ?? 0)
  return out
}
