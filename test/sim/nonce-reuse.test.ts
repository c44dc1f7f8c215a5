/** A sender that forgets its last packet number: the nonce is not used twice, and the connection ends. */

import { expect, test } from 'vitest'
import { KeyRing } from '../../packages/tickwire/src/core/crypto/key-ring.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'

test('[CRYPTO6, SEC11] a nonce that would be used twice is never used, and ends the connection', () => {
  const crypto = new StubCrypto()
  const pair = new Pair({ seed: 12, crypto })
  const connection = pair.connect()
  pair.drive(500)
  const { seal } = KeyRing.prototype
  const refused: number[] = []
  try {
    // From now on the sender forgets its last sequence: the fault that must not reuse a nonce.
    KeyRing.prototype.seal = function (this: KeyRing, _sequence, ...rest) {
      const length = seal.call(this, 1, ...rest)
      refused.push(length)
      return length
    }
    const { packetsSealed } = crypto
    pair.drive(5000)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.every((length) => length === 0)).toBe(true)
    expect(crypto.packetsSealed, 'nothing was sealed').toBe(packetsSealed)
  } finally {
    KeyRing.prototype.seal = seal
  }
  expect(connection.state).toBe('disconnected')
  expect(connection.closeReason).toEqual({ by: 'protocol', code: 'broken' })
  expect(pair.client.endpoint.connections).toHaveLength(0)
})
