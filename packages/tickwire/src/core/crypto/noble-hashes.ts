/** SHA-256 and HMAC of noble, in the form of a provider. */

import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import type { CryptoProvider } from './provider.ts'

export const nobleHashes: Pick<CryptoProvider, 'sha256' | 'hmacSha256'> = {
  sha256: (bytes) => sha256(bytes),
  hmacSha256: (key, bytes) => hmac(sha256, key, bytes),
}
