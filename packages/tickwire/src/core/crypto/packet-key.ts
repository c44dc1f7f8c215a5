/**
 * The two ends of one key. A sealing key seals increasing sequences only; an opening key accepts any sequence.
 *
 * Invariant: a sealing key never builds the same nonce twice. It stores the last sequence it sealed, and asserts that
 * the next one is higher and within the suite's limit. A violation throws an `InvariantError`, which must end the
 * connection: two packets under one nonce reveal both plaintexts and the key that authenticates them.
 *
 * This file does not remember what was opened (`replay-window.ts`) and does not decide when a key is too old
 * (`key-ring.ts`).
 */

import { assert } from '../base/assert.ts'
import { DATAGRAM_BYTES_MAX } from '../base/limits.ts'
import { CRYPTO_BYTES, type AeadKey } from './provider.ts'
import { keyMaterialBytes, type CryptoSuite } from './suite.ts'

const TAG_BYTES = CRYPTO_BYTES.tag

/** Seals packets in one direction in one epoch. */
export class SealingKey {
  /** Counts from 0 at the start of the connection; its low byte is in the header. */
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

  /** How many more sequences this key accepts after the last. */
  get sequencesLeft(): number {
    return this.#firstSequence < 0
      ? this.#suite.packetsMax
      : this.#firstSequence + this.#suite.packetsMax - 1 - this.#lastSequence
  }

  /** The key accepts no more sequences. Checked for every packet, where `sequencesLeft` would be boxed. @hot */
  get isSpent(): boolean {
    return this.#firstSequence >= 0 && this.#lastSequence - this.#firstSequence >= this.#suite.packetsMax - 1
  }

  /** Whether the nonce of this sequence is new under this key, and within the suite's limit. @hot */
  canSeal(sequence: number): boolean {
    return (
      sequence > this.#lastSequence
      && (this.#firstSequence < 0 || sequence - this.#firstSequence < this.#suite.packetsMax)
    )
  }

  /**
   * Seals packet `sequence` in place. The header is in the first `headerLength` bytes and the plaintext follows it;
   * there must be room for the tag. Returns the length of the packet. @hot
   */
  seal(sequence: number, bytes: Uint8Array, headerLength: number, plaintextLength: number): number {
    assert(this.#aead !== undefined, 'a wiped key seals nothing')
    assert(
      Number.isSafeInteger(sequence) && sequence > this.#lastSequence,
      'a sequence is sealed once: its nonce would repeat',
    )
    if (this.#firstSequence < 0) this.#firstSequence = sequence
    assert(sequence - this.#firstSequence < this.#suite.packetsMax, 'a key is replaced before its nonces run out')
    const length = headerLength + plaintextLength + TAG_BYTES
    assert(length <= bytes.length && length <= DATAGRAM_BYTES_MAX, 'there is room for the tag')
    this.#lastSequence = sequence
    this.#suite.writeNonce(this.#nonce, this.#salt, this.epoch, sequence)
    this.#aead.seal(this.#nonce, bytes, headerLength, plaintextLength)
    this.packetsSealed++
    this.bytesSealed += plaintextLength
    return length
  }

  /** Wipes the key. */
  wipe(): void {
    this.#aead?.wipe()
    this.#aead = undefined
    this.#salt.fill(0)
  }
}

/** Opens packets in one direction in one epoch. */
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
   * Opens in place the packet of `length` bytes whose header is the first `headerLength` bytes. The plaintext is 16
   * bytes shorter than the rest. False leaves the bytes unchanged: the packet was forged or modified. @hot
   */
  open(sequence: number, bytes: Uint8Array, headerLength: number, length: number): boolean {
    assert(this.#aead !== undefined, 'a wiped key opens nothing')
    const sealedLength = length - headerLength
    if (sealedLength < TAG_BYTES || length > bytes.length || length > DATAGRAM_BYTES_MAX) return false
    this.#suite.writeNonce(this.#nonce, this.#salt, this.epoch, sequence)
    if (!this.#aead.open(this.#nonce, bytes, headerLength, sealedLength)) return false
    this.packetsOpened++
    this.bytesOpened += sealedLength - TAG_BYTES
    return true
  }

  /** Wipes the key. */
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
