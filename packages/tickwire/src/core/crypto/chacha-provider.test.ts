import { expect, test } from 'vitest'
import { chachaProvider } from './chacha-provider.ts'
import { SUITE } from './provider.ts'
import { pureProvider } from './pure-provider.ts'

const bytes = (size: number, seed: number): Uint8Array => Uint8Array.from({ length: size }, (_, index) => index * 31 + seed)

test('[CRYPTO1] what a page seals with gives the bytes of the whole provider, and says that it has no AES', () => {
  for (const size of [0, 1, 64, 1150]) {
    const [ours, theirs] = [chachaProvider, pureProvider].map((provider) => {
      const packet = bytes(16 + size + 16, 5)
      provider.importAead(SUITE.chacha20Poly1305, bytes(32, 1)).seal(bytes(12, 2), packet, 16, size)
      return packet
    })
    expect(ours).toEqual(theirs)
    expect(chachaProvider.importAead(SUITE.chacha20Poly1305, bytes(32, 1)).open(bytes(12, 2), theirs!, 16, size + 16)).toBe(true)
  }
  expect(chachaProvider.importAgreement(bytes(32, 3)).publicKey).toEqual(pureProvider.importAgreement(bytes(32, 3)).publicKey)
  expect(() => chachaProvider.importAead(SUITE.aes256Gcm, bytes(32, 1))).toThrow('has no AES')
})
