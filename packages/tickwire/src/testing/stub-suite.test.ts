import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvariantError } from '../core/base/assert.ts'
import { SealingKey } from '../core/crypto/packet-key.ts'
import { SUITE } from '../core/crypto/provider.ts'
import { findFaultyPrimitive } from '../core/crypto/self-test.ts'
import { createSuite } from '../core/crypto/suite.ts'
import { StubCrypto } from './stub-suite.ts'

const bytes = (size: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: size, maxLength: size })

describe('stub cryptography', () => {
  test('[CRYPTO20] it is never mistaken for a real suite', () => {
    expect(findFaultyPrimitive(new StubCrypto())).toBeDefined()
  })

  test.each(Object.values(SUITE))(
    '[CRYPTO20] suite %i: packets keep their sizes, open as sealed, and not when touched',
    (suite) => {
      const stub = new StubCrypto()
      fc.assert(
        fc.property(bytes(32), bytes(12), fc.nat(40), fc.nat(100), fc.nat(), (key, nonce, header, length, salt) => {
          const plain = new Uint8Array(header + length + 16).map((_, index) => Math.imul(salt + 1, index + 1) >>> 8)
          const packet = plain.slice()
          new StubCrypto().importAead(suite, key).seal(nonce, packet, header, length)
          const aead = stub.importAead(suite, key)
          if (length > 3) expect(packet.slice(header, header + 4)).not.toEqual(plain.slice(header, header + 4))
          const forged = packet.slice()
          forged[salt % forged.length]! ^= 1 << (salt & 7)
          expect(aead.open(nonce, forged, header, length + 16)).toBe(false)
          expect(aead.open(nonce, packet.slice(), header, Math.min(length, 15))).toBe(false)
          expect(aead.open(nonce, packet, header, length + 16)).toBe(true)
          expect(packet.subarray(0, header + length)).toEqual(plain.subarray(0, header + length))
        }),
        { seed: 51, numRuns: 300 },
      )
    },
  )

  test('[CRYPTO20] both sides agree, and a signature is valid only for its key and its message', () => {
    const stub = new StubCrypto()
    fc.assert(
      fc.property(bytes(32), bytes(32), fc.uint8Array({ maxLength: 50 }), (one, two, message) => {
        fc.pre(one.some((byte, index) => byte !== two[index]))
        const [a, b] = [stub.importAgreement(one), stub.importAgreement(two)]
        expect(a.agree(b.publicKey)).toEqual(b.agree(a.publicKey))
        const said = stub.importSigning(one).sign(message)
        expect(stub.importVerifying(stub.importSigning(one).publicKey).verify(message, said)).toBe(true)
        expect(stub.importVerifying(stub.importSigning(two).publicKey).verify(message, said)).toBe(false)
        expect(stub.importVerifying(stub.importSigning(one).publicKey).verify(Uint8Array.of(...message, 0), said)).toBe(
          false,
        )
      }),
      { seed: 52, numRuns: 100 },
    )
    expect(stub.importAgreement(new Uint8Array(32)).agree(new Uint8Array(32))).toBeUndefined()
  })

  test('[CRYPTO6] it detects a repeated nonce that no single key could detect: the same secret imported twice', () => {
    const stub = new StubCrypto()
    const suite = createSuite(SUITE.chacha20Poly1305, stub)
    const secret = new Uint8Array(32).fill(1)
    const packet = new Uint8Array(64)
    const before = new SealingKey(suite, 0, secret)
    before.seal(1, packet, 15, 10)
    before.seal(2, packet, 15, 10)
    // A server that restarts and derives the same key again.
    const after = new SealingKey(suite, 0, secret)
    expect(() => after.seal(1, packet, 15, 10)).toThrow(InvariantError)
    expect(stub).toMatchObject({ packetsSealed: 2, keyCount: 1 })
  })
})
