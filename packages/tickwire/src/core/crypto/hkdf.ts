/**
 * HKDF-SHA256 (RFC 5869), over the HMAC of any provider: one implementation, so that all providers derive the same
 * keys.
 *
 *   extract   PRK = HMAC(salt, input)                     input of any quality to 32 bytes of full entropy
 *   expand    T1 = HMAC(PRK, info | 1), T2 = HMAC(PRK, T1 | info | 2), …   cut to the length asked for
 */

import { assert } from '../base/assert.ts'
import { wipe } from './constant-time.ts'
import { CRYPTO_BYTES, type CryptoProvider } from './provider.ts'

const HASH_BYTES = CRYPTO_BYTES.hash
const BLOCKS_MAX = 255

/** Extracts 32 bytes from `input`, which need not be uniform but must be secret. An empty salt is 32 zeros. */
export function hkdfExtract(provider: CryptoProvider, salt: Uint8Array, input: Uint8Array): Uint8Array {
  return provider.hmacSha256(salt.length === 0 ? new Uint8Array(HASH_BYTES) : salt, input)
}

/** Expands an extracted key to `length` bytes; `info` states the purpose. */
export function hkdfExpand(provider: CryptoProvider, key: Uint8Array, info: Uint8Array, length: number): Uint8Array {
  const blocks = Math.ceil(length / HASH_BYTES)
  assert(blocks >= 1 && blocks <= BLOCKS_MAX, 'HKDF gives 1 to 8160 bytes')
  const out = new Uint8Array(blocks * HASH_BYTES)
  const input = new Uint8Array(HASH_BYTES + info.length + 1)
  input.set(info, HASH_BYTES)
  for (let block = 0; block < blocks; block++) {
    input[input.length - 1] = block + 1
    // The first block has no previous block.
    const hashed = provider.hmacSha256(key, block === 0 ? input.subarray(HASH_BYTES) : input)
    out.set(hashed, block * HASH_BYTES)
    input.set(hashed)
    wipe(hashed)
  }
  wipe(input)
  const cut = out.slice(0, length)
  wipe(out)
  return cut
}
