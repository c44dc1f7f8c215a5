import { describe, expect, test } from 'vitest'
import { Pair } from 'tickwire/testing'
import { GUEST_MS } from '../base/limits.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { pureProvider } from '../crypto/pure-provider.ts'

/** A provider that collects every shared secret that it computes. */
function watchedProvider(secrets: Uint8Array[]): CryptoProvider {
  return {
    ...pureProvider,
    importAgreement: (seed) => {
      const key = pureProvider.importAgreement(seed)
      return {
        publicKey: key.publicKey,
        agree: (peer) => {
          const shared = key.agree(peer)
          if (shared !== undefined) secrets.push(shared)
          return shared
        },
        wipe: () => key.wipe(),
      }
    },
  }
}

const isWiped = (secret: Uint8Array): boolean => secret.every((byte) => byte === 0)

describe('a shared secret is wiped', () => {
  test('when the client is refused', () => {
    const secrets: Uint8Array[] = []
    const security = { provider: watchedProvider(secrets) }
    const pair = new Pair({ crypto: pureProvider, server: { security, admit: () => 'locked' } })
    pair.connect(undefined, 2000)
    expect(secrets).toHaveLength(1)
    expect(secrets.every(isWiped)).toBe(true)
  })

  test('when the client waited for a decision that never came', () => {
    const secrets: Uint8Array[] = []
    const security = { provider: watchedProvider(secrets) }
    const pair = new Pair({ crypto: pureProvider, server: { security, admit: () => 'later' } })
    pair.connect(undefined, 2000)
    expect([secrets.length, secrets.some(isWiped)]).toEqual([1, false])
    pair.drive(2 * GUEST_MS + 15_000)
    // The next client that has to wait removes the one before it.
    pair.connect(undefined, 2000)
    expect(isWiped(secrets[0]!)).toBe(true)
  })
})
