/**
 * Two ends in one process, with nothing sealed between them.
 */

import { describe, expect, test } from 'vitest'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import type { CryptoProvider } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { findFaultyPrimitive } from '../../packages/tickwire/src/core/crypto/self-test.ts'
import { unsealedProvider } from '../../packages/tickwire/src/core/crypto/unsealed-provider.ts'

function pairOf(server: CryptoProvider, client: CryptoProvider): { pair: Pair; channels: ReliableOrderedChannel[] } {
  const channels: ReliableOrderedChannel[] = []
  const assemble: NonNullable<NonNullable<ConstructorParameters<typeof Pair>[0]>['client']>['assemble'] = (
    connection,
  ) => {
    const channel = new ReliableOrderedChannel()
    connection.addSource(1, channel)
    connection.addSink(1, channel)
    channels.push(channel)
  }
  const pair = new Pair({
    weather: { latencyMs: 0 },
    server: { assemble, security: { provider: server } }, client: { assemble, security: { provider: client } },
  })
  return { pair, channels }
}

describe('a link inside one process', () => {
  test('[CRYPTO21] an unsealed link delivers every message like a sealed one, and no cipher is called', () => {
    const inner: CryptoProvider = {
      ...pureProvider,
      importAead: () => {
        throw new Error('a cipher was asked for')
      },
    }
    const { pair, channels } = pairOf(unsealedProvider(inner), unsealedProvider(inner))
    expect(pair.connect().isOpen).toBe(true)
    expect(pair.accepted.security.suite).toContain('none, for links inside one process')
    channels[0]!.send(Uint8Array.of(1, 2, 3))
    pair.drive(100)
    const out = new Uint8Array(1024)
    expect(channels[1]!.receive(out)).toBe(3)
    expect(out.subarray(0, 3)).toEqual(Uint8Array.of(1, 2, 3))
  })

  test('[CRYPTO21] an end that seals and one that does not never connect, and neither falls back', () => {
    expect(pairOf(pureProvider, unsealedProvider()).pair.connect().isOpen).toBe(false)
    expect(pairOf(unsealedProvider(), pureProvider).pair.connect().isOpen).toBe(false)
  })

  test('[CRYPTO21] an unsealed link is never reported as sealed', () => {
    expect(findFaultyPrimitive(unsealedProvider())).toBeDefined()
  })
})
