/**
 * The cookie of a challenge, 16 bytes. The server recognises it later without having stored anything.
 *
 * ```
 * HMAC-SHA256(server secret, bucket 4, LE | client key 32 | address, 2 bytes a character, LE), first 16 bytes,
 * the lowest bit of the first byte replaced by the lowest bit of the bucket
 * ```
 *
 * A bucket is 4 s of the server's clock. The bit says which of two buckets it was, so that a check costs one HMAC and
 * not two; 127 bits are left to guess. The challenge is also one of the two random inputs of the session keys.
 *
 * Invariant: a client with a valid cookie received it within the last two buckets, at the address it sends it from.
 */

import { assert } from '../base/assert.ts'
import { ADDRESS_CHARS_MAX, CHALLENGE_BUCKET_MS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { writeUint32 } from '../packet/header.ts'
import { isEqualConstantTime } from './constant-time.ts'
import { CHALLENGE_BYTES } from './key-schedule.ts'
import { CRYPTO_BYTES, type CryptoProvider } from './provider.ts'

const KEY_AT = 4
const ADDRESS_AT = KEY_AT + CRYPTO_BYTES.publicKey

/** The bucket that `now` falls into. */
export function challengeBucket(now: Millis): number {
  return Math.floor(now / CHALLENGE_BUCKET_MS)
}

/** The cookie for a client's public key at its address, in one bucket. */
export function makeCookie(
  provider: CryptoProvider, secret: Uint8Array, bucket: number, address: string, clientKey: Uint8Array,
): Uint8Array {
  assert(address.length <= ADDRESS_CHARS_MAX, 'addresses are short')
  const bytes = new Uint8Array(ADDRESS_AT + 2 * address.length)
  writeUint32(bytes, 0, bucket)
  bytes.set(clientKey, KEY_AT)
  for (let index = 0; index < address.length; index++) {
    const code = address.charCodeAt(index)
    bytes[ADDRESS_AT + 2 * index] = code
    bytes[ADDRESS_AT + 2 * index + 1] = code >>> 8
  }
  const cookie = provider.hmacSha256(secret, bytes).slice(0, CHALLENGE_BYTES)
  cookie[0] = (cookie[0] & 0xfe) | (bucket & 1)
  return cookie
}

/**
 * The bucket of a cookie, if the cookie is valid and from the current bucket or the one before; otherwise undefined.
 */
export function checkCookie(
  provider: CryptoProvider,
  secret: Uint8Array,
  bucket: number,
  address: string,
  clientKey: Uint8Array,
  cookie: Uint8Array,
): number | undefined {
  const isCurrent = (cookie[0] & 1) === (bucket & 1)
  const made = isCurrent ? bucket : bucket - 1
  return isEqualConstantTime(makeCookie(provider, secret, made, address, clientKey), cookie) ? made : undefined
}
