/**
 * Finds the fastest primitives on this machine that give the right answers.
 *
 * In this order, by what was measured (docs/adr/0012-crypto-providers.md): sodium-native where it is installed,
 * node:crypto, plain JavaScript. A library is trusted only after it has answered known questions, wrong ones among them.
 *
 * On Node 24 every context of node:crypto costs 14 us, be it a cipher or a hash: plain JavaScript is two to three times
 * faster there, but on AES and on curves.
 */

import { SUITE, type CryptoProvider } from '../core/crypto/provider.ts'
import { pureProvider } from '../core/crypto/pure-provider.ts'
import { findFaultyPrimitive } from '../core/crypto/self-test.ts'
import { opensslProvider } from './crypto-openssl.ts'
import { loadSodiumProvider } from './crypto-sodium.ts'

/** What was found. */
export interface ProviderSearch {
  readonly provider: CryptoProvider
  /** Libraries that are here and are not to be trusted: what they got wrong, for the log. */
  readonly rejected: readonly { readonly name: string; readonly primitive: string }[]
}

let found: CryptoProvider | undefined

/** The fastest trustworthy provider here. Its `name` belongs in the log. Searched for once. */
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
  importAead: (suite, key) => (suite === SUITE.chacha20Poly1305 ? pureProvider : opensslProvider).importAead(suite, key),
  sha256: (bytes) => pureProvider.sha256(bytes),
  hmacSha256: (key, bytes) => pureProvider.hmacSha256(key, bytes),
}

/** The first of `candidates` that answers rightly. Throws when none does. */
export function searchProvider(candidates: readonly CryptoProvider[]): ProviderSearch {
  const rejected: { name: string; primitive: string }[] = []
  for (const provider of candidates) {
    const primitive = findFaultyPrimitive(provider)
    if (primitive === undefined) return { provider, rejected }
    rejected.push({ name: provider.name, primitive })
  }
  throw new Error(`no cryptography here can be trusted: ${rejected.map(({ name, primitive }) => `${name} fails ${primitive}`).join('; ')}`)
}
