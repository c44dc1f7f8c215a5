/**
 * The two ends of one key: a sealing key numbers what it seals and can only count up; an opening key takes any number.
 *
 * Invariant: a sealing key never builds the same nonce twice. It owns the last sequence it sealed and asserts that the
 * next is higher and still within the suite's reach; a caller that forces it meets an `InvariantError`, which must end
 * the connection: two packets under one nonce give away both plaintexts and the key that authenticates them.
 *
 * It does not remember what was opened (`replay-window.ts`), nor decide when a key is too old (`key-ring.ts`).
 */

import { assert } from '../base/assert.ts'
import { DATAGRAM_BYTES_MAX } from '../base/limits.ts'
import { CRYPTO_BYTES, type AeadKey } from './provider.ts'
import { keyMaterialBytes, type CryptoSuite } from './suite.ts'

const TAG_BYTES = CRYPTO_BYTES.tag
const BYTES_MAX = DATAGRAM_BYTES_MAX

/** Seals packets in one direction in one epoch. */
export class SealingKey {
  /** Counts from 0 at the start of the connection; its low byte stands in the header. */
  readonly epoch: number
  packetsSealed: number = 0
  bytesSealed: number = 0
  #suite: CryptoSuite
  #aead: AeadKey | undefined
  #salt: Uint8Array
  #nonce: Uint8Array = new Uint8Array(CRYPTO_BYTES.nonce)
  #firstSequence: number = -1
  #lastSequence: number = -1

  /** `material` is copied: the key, and the salt if the suite has one. */
  constructor(suite: CryptoSuite, epoch: number, material: Uint8Array) {
    this.epoch = epoch
    this.#suite = suite
    this.#aead = importMaterial(suite, material)
    this.#salt = material.slice(CRYPTO_BYTES.key)
  }

  /** How many sequences more this key will take after the last. */
  get sequencesLeft(): number {
    return this.#firstSequence < 0 ? this.#suite.packetsMax : this.#firstSequence + this.#suite.packetsMax - 1 - this.#lastSequence
  }

  /** It takes no sequence more: asked with every packet, where the number itself would be boxed. @hot */
  get isSpent(): boolean {
    return this.#firstSequence >= 0 && this.#lastSequence - this.#firstSequence >= this.#suite.packetsMax - 1
  }

  /**
   * Seals in place the packet `sequence`, whose header stands in the first `headerLength` bytes and whose plaintext
   * stands behind it; there must be room for the tag. Returns the length of the whole. @hot
   */
  seal(sequence: number, bytes: Uint8Array, headerLength: number, plaintextLength: number): number {
    assert(this.#aead !== undefined, 'a wiped key seals nothing')
    assert(Number.isSafeInteger(sequence) && sequence > this.#lastSequence, 'a sequence is sealed once: its nonce would repeat')
    if (this.#firstSequence < 0) this.#firstSequence = sequence
    assert(sequence - this.#firstSequence < this.#suite.packetsMax, 'a key is replaced before its nonces run out')
    const length = headerLength + plaintextLength + TAG_BYTES
    assert(length <= bytes.length && length <= BYTES_MAX, 'there is room for the tag')
    this.#lastSequence = sequence
    this.#suite.writeNonce(this.#nonce, this.#salt, this.epoch, sequence)
    this.#aead.seal(this.#nonce, bytes, headerLength, plaintextLength)
    this.packetsSealed++
    this.bytesSealed += plaintextLength
    return length
  }

  /** Forgets the key. */
  wipe(): void {
    this.#aead?.wipe()
    this.#aead = undefined
    this.#salt.fill(0)
  }
}

/** Opens packets of one direction in one epoch. */
export class OpeningKey {
  readonly epoch: number
  packetsOpened: number = 0
  bytesOpened: number = 0
  #suite: CryptoSuite
  #aead: AeadKey | undefined
  #salt: Uint8Array
  #nonce: Uint8Array = new Uint8Array(CRYPTO_BYTES.nonce)

  /** `material` is copied: the key, and the salt if the suite has one. */
  constructor(suite: CryptoSuite, epoch: number, material: Uint8Array) {
    this.epoch = epoch
    this.#suite = suite
    this.#aead = importMaterial(suite, material)
    this.#salt = material.slice(CRYPTO_BYTES.key)
  }

  /**
   * Opens in place the packet of `length` bytes whose header is the first `headerLength`; the plaintext is 16 bytes
   * shorter than what follows it. False leaves the bytes as they were: someone else wrote or touched them. @hot
   */
  open(sequence: number, bytes: Uint8Array, headerLength: number, length: number): boolean {
    assert(this.#aead !== undefined, 'a wiped key opens nothing')
    const sealedLength = length - headerLength
    if (sealedLength < TAG_BYTES || length > bytes.length || length > BYTES_MAX) return false
    this.#suite.writeNonce(this.#nonce, this.#salt, this.epoch, sequence)
    if (!this.#aead.open(this.#nonce, bytes, headerLength, sealedLength)) return false
    this.packetsOpened++
    this.bytesOpened += sealedLength - TAG_BYTES
    return true
  }

  /** Forgets the key. */
  wipe(): void {
    this.#aead?.wipe()
    this.#aead = undefined
    this.#salt.fill(0)
  }
}

function importMaterial(suite: CryptoSuite, material: Uint8Array): AeadKey {
  assert(material.length === keyMaterialBytes(suite), 'a key comes with the salt its suite asks for')
  const key = material.slice(0, CRYPTO_BYTES.key)
  const aead = suite.importKey(key)
  key.fill(0)
  return aead
}
