import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifyEd25519 } from './ed25519-verify.ts'
import { pureProvider } from './pure-provider.ts'

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
const MESSAGE = Uint8Array.of(1, 2, 3)

/** The eight points whose order divides eight, in all encodings that 32 bytes allow. */
const SMALL_ORDERS = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
]

test('[CRYPTO1] a signature of noble is valid, and no other message, key or bit of the signature is', () => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  fc.assert(fc.property(bytes, bytes, fc.uint8Array({ maxLength: 300 }), fc.nat(511), (seed, other, message, bit) => {
    const key = pureProvider.importSigning(seed)
    const signature = key.sign(message)
    expect(verifyEd25519(key.publicKey, message, signature)).toBe(true)
    expect(verifyEd25519(key.publicKey, Uint8Array.of(...message, 0), signature)).toBe(false)
    expect(verifyEd25519(other, message, signature)).toBe(false)
    signature[bit >> 3]! ^= 1 << (bit & 7)
    expect(verifyEd25519(key.publicKey, message, signature)).toBe(false)
  }), { seed: 11, numRuns: 12 })
})

test('[CRYPTO1] the second encoding of s is refused, and so is a signature of another length', () => {
  const key = pureProvider.importSigning(new Uint8Array(32).fill(9))
  const signature = key.sign(MESSAGE)
  const respelt = signature.slice()
  let s = ORDER + signature.slice(32).reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n)
  for (let at = 32; at < 64; at++, s >>= 8n) respelt[at] = Number(s & 255n)
  expect(s).toBe(0n)
  expect(verifyEd25519(key.publicKey, MESSAGE, signature)).toBe(true)
  expect(verifyEd25519(key.publicKey, MESSAGE, respelt)).toBe(false)
  for (const size of [0, 63, 65]) expect(verifyEd25519(key.publicKey, MESSAGE, new Uint8Array(size))).toBe(false)
  for (const size of [0, 31, 33]) expect(verifyEd25519(new Uint8Array(size), MESSAGE, signature)).toBe(false)
})

test('[CRYPTO1] a key of small order proves nothing, although the equation may hold', () => {
  for (const key of SMALL_ORDERS) {
    for (const r of SMALL_ORDERS) {
      // With s = 0 and such points the equation holds for one message in eight.
      const signature = Uint8Array.of(...unhex(r), ...new Uint8Array(32))
      for (let message = 0; message < 3; message++)
        expect(verifyEd25519(unhex(key), Uint8Array.of(message), signature)).toBe(false)
    }
  }
})

function unhex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g)!, (pair) => Number.parseInt(pair, 16))
}
