/**
 * Signs and opens listings.
 *
 * ```
 * sig = Ed25519(identity, "tickwire/v1/listing" 00 | canonical text of the listing without `sig`)
 * ```
 */

import { LISTING_BYTES_MAX } from '../base/limits-listing.ts'
import { ConfigError } from '../base/assert.ts'
import { concat, label } from '../crypto/label.ts'
import type { CryptoProvider, SigningKey } from '../crypto/provider.ts'
import { bytesToText, textToBytes } from '../crypto/token-text.ts'
import { hexToBytes } from '../nat/hex.ts'
import { canonicalBytes } from './canonical.ts'
import { readListing, type GameListing, type ListingFacts, type RequiredMod } from './listing.ts'

const SIGNED = label('tickwire/v1/listing')

/** Signs a listing. Throws `ConfigError` when a field is invalid, or it is too long. */
export function signListing(key: SigningKey, facts: ListingFacts, signedAt: number): GameListing {
  const unsigned = { ...facts, signedAt }
  const bytes = canonicalBytes(unsigned)
  const listing = bytes === undefined ? undefined
    : readListing({ ...unsigned, sig: bytesToText(key.sign(concat(SIGNED, bytes))) })
  if (listing === undefined || bytes === undefined)
    throw new ConfigError('publish', 'a field of the listing is invalid', 'see the limits in docs/wire/LISTINGS.md.')
  if (bytes.length > LISTING_BYTES_MAX) {
    throw new ConfigError(
      'publish', `too long (expected at most ${LISTING_BYTES_MAX} bytes, got ${bytes.length})`, 'publish fewer names.',
    )
  }
  return listing
}

/**
 * The listing, if its form is right and its host has signed exactly these fields; undefined otherwise. Never throws,
 * whatever the value is.
 */
export function openListing(provider: CryptoProvider, value: unknown): GameListing | undefined {
  const listing = readListing(value)
  if (listing === undefined) return undefined
  const { sig, ...unsigned } = listing
  const bytes = canonicalBytes(unsigned)
  const signature = textToBytes(sig)
  const identity = hexToBytes(listing.host.identity)
  if (bytes === undefined || bytes.length > LISTING_BYTES_MAX || signature === undefined || identity === undefined)
    return undefined
  return provider.importVerifying(identity).verify(concat(SIGNED, bytes), signature) ? listing : undefined
}

/** Whether bytes are the mod that a listing requires. A client checks this before it uses them. */
export function isMod(provider: CryptoProvider, { sha256, bytes: size }: RequiredMod, bytes: Uint8Array): boolean {
  const expected = hexToBytes(sha256)
  if (expected === undefined || bytes.length !== size) return false
  return provider.sha256(bytes).every((byte, at) => byte === expected[at])
}
