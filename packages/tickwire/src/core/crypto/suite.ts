/**
 * A cipher suite: a cipher, the construction of its nonces, and how long one key lasts.
 *
 * ```
 * nonce byte   0                               8                   11      12
 * suite 1      │ sequence, LE                  │ 00 00 00          │ epoch │     ChaCha20-Poly1305
 * suite 2      │ salt, derived with the key    │ sequence mod 2^32, LE     │     AES-256-GCM
 * ```
 *
 * Invariant: under one key no two sequences give the same nonce, as long as the first and the last are less than
 * `packetsMax` apart. `packet-key.ts` enforces that for every key.
 */

import { ConfigError, assert } from '../base/assert.ts'
import {
  AES_GCM_KEY_PACKETS_MAX, AES_GCM_REKEY_PACKETS, CHACHA_KEY_PACKETS_MAX, CHACHA_REKEY_PACKETS,
} from '../base/limits.ts'
import { writeUint32 } from '../packet/header.ts'
import { CRYPTO_BYTES, SUITE, type AeadKey, type CryptoProvider, type SuiteId } from './provider.ts'

/** A cipher, its nonces and its limits. */
export interface CryptoSuite {
  readonly id: SuiteId
  /** For logs: the cipher and its implementation. */
  readonly name: string
  /** Bytes that are derived together with the key and go into every nonce. */
  readonly saltBytes: number
  /** The maximum distance between the first and the last sequence under one key. Sequences beyond it are refused. */
  readonly packetsMax: number
  /** A new key is due after this many packets, long before `packetsMax`. */
  readonly rekeyPackets: number
  importKey(key: Uint8Array): AeadKey
  /** Fills the 12 bytes of `nonce`. */
  writeNonce(nonce: Uint8Array, salt: Uint8Array, epoch: number, sequence: number): void
}

/** Whether `id` is the number of a suite. */
export function isSuiteId(id: number): id is SuiteId {
  return id === SUITE.chacha20Poly1305 || id === SUITE.aes256Gcm
}

/** Bytes of derived key material: a key and its salt. */
export function keyMaterialBytes(suite: CryptoSuite): number {
  return CRYPTO_BYTES.key + suite.saltBytes
}

/** The suite with this number, on the primitives of `provider`. Throws `ConfigError` when there is none. */
export function createSuite(id: number, provider: CryptoProvider): CryptoSuite {
  if (!isSuiteId(id))
    throw new ConfigError(
      'suite',
      `unknown suite ${id} (expected 1 or 2)`,
      'use 1 (ChaCha20-Poly1305) or 2 (AES-256-GCM).',
    )
  const importKey = (key: Uint8Array): AeadKey => provider.importAead(id, key)
  return id === SUITE.chacha20Poly1305
    ? {
        id, name: `ChaCha20-Poly1305 by ${provider.name}`, saltBytes: 0, importKey, writeNonce: writeCounterNonce,
        packetsMax: CHACHA_KEY_PACKETS_MAX, rekeyPackets: CHACHA_REKEY_PACKETS,
      }
    : {
        id, name: `AES-256-GCM by ${provider.name}`, saltBytes: 8, importKey, writeNonce: writeSaltedNonce,
        packetsMax: AES_GCM_KEY_PACKETS_MAX, rekeyPackets: AES_GCM_REKEY_PACKETS,
      }
}

/** The number epoch * 2^88 + sequence, low byte first (CRYPTO3). @hot */
function writeCounterNonce(nonce: Uint8Array, _salt: Uint8Array, epoch: number, sequence: number): void {
  writeUint32(nonce, 0, sequence)
  writeUint32(nonce, 4, Math.floor(sequence / 0x1_0000_0000))
  writeUint32(nonce, 8, epoch << 24)
}

/** Salt, then the sequence's low 32 bits (CRYPTO4). @hot */
function writeSaltedNonce(nonce: Uint8Array, salt: Uint8Array, _epoch: number, sequence: number): void {
  assert(salt.length === 8, 'suite 2 has a salt of 8 bytes')
  nonce.set(salt)
  writeUint32(nonce, 8, sequence)
}
