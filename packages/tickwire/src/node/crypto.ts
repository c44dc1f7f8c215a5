/**
 * Finds the fastest cryptographic primitives on this machine that compute correct results.
 *
 * The order follows measurements (docs/adr/0012-crypto-providers.md): sodium-native if installed, node:crypto, plain
 * JavaScript. A library is trusted only after it has passed known-answer tests, including inputs that it must reject.
 *
 * On Node 24 every context of node:crypto costs 14 us, for ciphers and hashes alike. There, plain JavaScript is two to
 * three times faster, except for AES and curves.
 */

import { SUITE, type CryptoProvider } from '../core/crypto/provider.ts'
import { pureProvider } from '../core/crypto/pure-provider.ts'
import { findFaultyPrimitive } from '../core/crypto/self-test.ts'
import { opensslProvider } from './crypto-openssl.ts'
import { loadSodiumProvider } from './crypto-sodium.ts'

/** The result of the search. */
export interface ProviderSearch {
  readonly provider: CryptoProvider
  /** Installed libraries that failed a known-answer test, and which primitive failed, for the log. */
  readonly rejected: readonly { readonly name: string; readonly primitive: string }[]
}

let found: CryptoProvider | undefined

/** The fastest provider that passes the tests. Log its `name`. The search runs once. */
export function bestProvider(): CryptoProvider {
  return (found ??= searchProvider(installedProviders()).provider)
}

/** Every provider that is installed, fastest first. */
export function installedProviders(nodeVersion: string = process.versions.node): readonly CryptoProvider[] {
  const sodium = loadSodiumProvider()
  const mixed = nodeVersion.startsWith('24.') ? [mixedProvider] : []
  return [...(sodium === undefined ? [] : [sodium]), ...mixed, opensslProvider, pureProvider]
}

const mixedProvider: CryptoProvider = {
  ...opensslProvider,
  name: `${pureProvider.name}, and ${opensslProvider.name} for AES and curves`,
  importAead: (suite, key) =>
    (suite === SUITE.chacha20Poly1305 ? pureProvider : opensslProvider).importAead(suite, key),
  sha256: (bytes) => pureProvider.sha256(bytes),
  hmacSha256: (key, bytes) => pureProvider.hmacSha256(key, bytes),
}

/** The first of `candidates` that passes the tests. Throws when none does. */
export function searchProvider(candidates: readonly CryptoProvider[]): ProviderSearch {
  const rejected: { name: string; primitive: string }[] = []
  for (const provider of candidates) {
    const primitive = findFaultyPrimitive(provider)
    if (primitive === undefined) return { provider, rejected }
    rejected.push({ name: provider.name, primitive })
  }
  throw new Error(
    'no provider of cryptography passes its tests: '
      + rejected.map(({ name, primitive }) => `${name} fails ${primitive}`).join('; '),
  )
}
