import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chachaProvider } from './chacha-provider.ts'
import { SUITE } from './provider.ts'
import { pureProvider } from './pure-provider.ts'

const bytes = (size: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, index) => index * 31 + seed)

const provider = chachaProvider

test('[CRYPTO1] the provider of a page seals to the same bytes as the full one, and reports what it lacks', () => {
  for (const size of [0, 1, 64, 1150]) {
    const [ours, theirs] = [provider, pureProvider].map((each) => {
      const packet = bytes(16 + size + 16, 5)
      each.importAead(SUITE.chacha20Poly1305, bytes(32, 1)).seal(bytes(12, 2), packet, 16, size)
      return packet
    })
    expect(ours).toEqual(theirs)
    expect(provider.importAead(SUITE.chacha20Poly1305, bytes(32, 1)).open(bytes(12, 2), theirs!, 16, size + 16)).toBe(
      true,
    )
  }
  expect(provider.sha256(bytes(99, 4))).toEqual(pureProvider.sha256(bytes(99, 4)))
  expect(() => provider.importAead(SUITE.aes256Gcm, bytes(32, 1))).toThrow('no AES')
  expect(() => provider.importSigning(bytes(32, 1))).toThrow('no signing')
})

test('[CRYPTO1] X25519 without Ed25519 agrees with RFC 7748 and with the full provider', () => {
  const scalar = unhex('a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4')
  const point = unhex('e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c')
  expect(provider.importAgreement(scalar).agree(point)).toEqual(
    unhex('c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552'),
  )
  const secret = fc.uint8Array({ minLength: 32, maxLength: 32 })
  fc.assert(fc.property(secret, secret, (own, other) => {
    const [ours, whole] = [provider.importAgreement(own), pureProvider.importAgreement(own)]
    expect(ours.publicKey).toEqual(whole.publicKey)
    expect(ours.agree(other)).toEqual(whole.agree(other))
  }), { numRuns: 40, seed: 7 })
})

test('[CRYPTO1] points of small order agree on no key', () => {
  for (const low of [
    new Uint8Array(32),
    Uint8Array.from({ length: 32 }, (_, at) => +(at === 0)),
    unhex('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800'),
  ]) {
    expect(provider.importAgreement(bytes(32, 9)).agree(low)).toBeUndefined()
  }
  expect(provider.importAgreement(bytes(32, 9)).agree(new Uint8Array(31))).toBeUndefined()
})

function unhex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g)!, (pair) => Number.parseInt(pair, 16))
}
