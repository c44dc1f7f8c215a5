import { ed25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { form } from '../../../../test/form.ts'
import standards from '../../../../test/vectors/crypto-standards.json' with { type: 'json' }
import { InvariantError } from '../core/base/assert.ts'
import { chachaProvider } from '../core/crypto/chacha-provider.ts'
import { hkdfExpand, hkdfExtract } from '../core/crypto/hkdf.ts'
import { SUITE, type AeadKey, type CryptoProvider, type SuiteId } from '../core/crypto/provider.ts'
import { pureProvider } from '../core/crypto/pure-provider.ts'
import { bestProvider, installedProviders, searchProvider } from './crypto.ts'

const installed = installedProviders()
/** The installed providers, and those that other versions of Node would use. */
const providers = [...new Set([...installedProviders('24.0.0'), ...installed])].filter(isFirstOfItsName)

function isFirstOfItsName({ name }: CryptoProvider, index: number, all: readonly CryptoProvider[]): boolean {
  return all.findIndex((each) => each.name === name) === index
}

const unhex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))
const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('hex')

for (const provider of providers) describe(provider.name, () => {
  test.each(standards.aead)('[CRYPTO1] $name', ({ suite, key, nonce, header, plaintext, ciphertext, tag }) => {
    const aead = provider.importAead(suite as SuiteId, unhex(key))
    const packet = unhex(header + plaintext + '00'.repeat(16))
    aead.seal(unhex(nonce), packet, header.length / 2, plaintext.length / 2)
    expect(hex(packet)).toBe(header + ciphertext + tag)
    expect(aead.open(unhex(nonce), packet, header.length / 2, plaintext.length / 2 + 16)).toBe(true)
    expect(hex(packet)).toBe(header + plaintext + tag)
  })

  test.each(standards.x25519)('[CRYPTO1] $name', ({ secret, peer, shared, ...more }) => {
    const key = provider.importAgreement(unhex(secret))
    expect(hex(key.agree(unhex(peer)))).toBe(shared)
    if ('public' in more) expect(hex(key.publicKey)).toBe(more.public)
  })

  test('[CRYPTO1] RFC 7748, 5.2: a scalar multiplied a thousand times', { timeout: 60_000 }, () => {
    const { start, once, thousand } = standards.x25519Iterated
    // Noble takes milliseconds for each, so only the others run a thousand rounds; they are compared with noble below.
    const rounds = provider === pureProvider ? 1 : 1000
    let secret = unhex(start)
    let point = unhex(start)
    for (let round = 0; round < rounds; round++) {
      const next = provider.importAgreement(secret).agree(point)!
      point = secret
      secret = next
    }
    expect(hex(secret)).toBe(rounds === 1 ? once : thousand)
  })

  test.each(standards.hkdf)('[CRYPTO1] $name', ({ input, salt, info, length, extracted, expanded }) => {
    const key = hkdfExtract(provider, unhex(salt), unhex(input))
    expect(hex(key)).toBe(extracted)
    expect(hex(hkdfExpand(provider, key, unhex(info), length))).toBe(expanded)
    expect(() => hkdfExpand(provider, key, unhex(info), 255 * 32 + 1)).toThrow(InvariantError)
  })

  test.each(standards.ed25519)('[CRYPTO1] $name', ({ seed, public: publicKey, message, signature }) => {
    const key = provider.importSigning(unhex(seed))
    expect(hex(key.publicKey)).toBe(publicKey)
    expect(hex(key.sign(unhex(message)))).toBe(signature)
    expect(provider.importVerifying(unhex(publicKey)).verify(unhex(message), unhex(signature))).toBe(true)
  })

  test.each(standards.sha256)('[CRYPTO1] $name', ({ message, hash }) => {
    expect(hex(provider.sha256(unhex(message)))).toBe(hash)
  })

  test.each(standards.hmac)('[CRYPTO1] $name', ({ key, message, mac }) => {
    expect(hex(provider.hmacSha256(unhex(key), unhex(message)))).toBe(mac)
  })

    test("[CRYPTO1] a peer's key of small order, or of another length, agrees on no key", () => {
      const key = provider.importAgreement(new Uint8Array(32).fill(7))
      const smallOrders = [
        '00'.repeat(32),
        `01${'00'.repeat(31)}`,
        'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
      ]
      for (const point of smallOrders) expect(key.agree(unhex(point))).toBeUndefined()
      for (const size of [0, 31, 33]) expect(key.agree(new Uint8Array(size))).toBeUndefined()
    })

    test('[CRYPTO1] a signature is refused with another encoding of s, a changed bit, another length or key', () => {
      const key = provider.importSigning(new Uint8Array(32).fill(9))
      const message = unhex('0102')
      const signature = key.sign(message)
      const verifying = provider.importVerifying(key.publicKey)
      // s + L: the same number modulo the group's order.
      const order = 2n ** 252n + 27742317777372353535851937790883648493n
      const s = BigInt(`0x${hex(signature.slice(32).reverse())}`) + order
      const respelt = Uint8Array.of(...signature.slice(0, 32), ...unhex(s.toString(16).padStart(64, '0')).reverse())
      expect(verifying.verify(message, respelt)).toBe(false)
      for (let bit = 0; bit < 512; bit += 5) {
        const forged = signature.slice()
        forged[bit >> 3]! ^= 1 << (bit & 7)
        expect(verifying.verify(message, forged)).toBe(false)
      }
      for (const size of [0, 63, 65]) expect(verifying.verify(message, new Uint8Array(size))).toBe(false)
      for (const fill of [0, 1, 0xff])
        expect(provider.importVerifying(new Uint8Array(32).fill(fill)).verify(message, signature)).toBe(false)
      expect(verifying.verify(message, signature)).toBe(true)
    })

    test.each(Object.values(SUITE))(
      '[CRYPTO5] suite %i: each bit of header, body and tag counts, and a refusal touches nothing',
      (suite) => {
        const aead = provider.importAead(suite, new Uint8Array(32).fill(3))
        const nonce = new Uint8Array(12).fill(5)
        const packet = Uint8Array.from({ length: 15 + 24 + 16 }, (_, index) => index * 7)
        aead.seal(nonce, packet, 15, 24)
        for (let bit = 0; bit < packet.length * 8; bit++) {
          const forged = packet.slice()
          forged[bit >> 3]! ^= 1 << (bit & 7)
          const before = forged.slice()
          expect(aead.open(nonce, forged, 15, 40)).toBe(false)
          expect(forged).toEqual(before)
        }
        for (let length = 0; length < 40; length++) expect(aead.open(nonce, packet.slice(), 15, length)).toBe(false)
        expect(aead.open(nonce, Uint8Array.of(...packet, 0), 15, 41)).toBe(false)
        expect(aead.open(nonce, packet.slice(), 14, 41)).toBe(false)
        expect(aead.open(new Uint8Array(12).fill(6), packet.slice(), 15, 40)).toBe(false)
        expect(aead.open(nonce, packet, 15, 40)).toBe(true)
      },
    )

  test('[CRYPTO5] in place: nothing outside the packet is touched, in a buffer of any length', () => {
    for (const room of [0, 100, 1400, 70_000]) {
      const bytes = new Uint8Array(100 + 16 + room).fill(0xee)
      const aead = provider.importAead(SUITE.chacha20Poly1305, new Uint8Array(32))
      aead.seal(new Uint8Array(12), bytes, 20, 80)
      expect(bytes.subarray(0, 20).every((byte) => byte === 0xee)).toBe(true)
      expect(bytes.subarray(116).every((byte) => byte === 0xee)).toBe(true)
      expect(aead.open(new Uint8Array(12), bytes, 20, 96)).toBe(true)
      expect(bytes.subarray(0, 100).every((byte) => byte === 0xee)).toBe(true)
    }
  })
})

describe('providers compared', () => {
  const bytes = (size: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: size, maxLength: size })

  test.each(Object.values(SUITE))(
    '[CRYPTO1] suite %i: all providers seal to the same bytes, and each opens the packets of all others',
    (suite) => {
      const sizes = fc.tuple(fc.nat(60), fc.nat(1400))
      fc.assert(
        fc.property(bytes(32), bytes(12), sizes, fc.nat(0xffff_ffff), (key, nonce, [headerLength, length], fill) => {
          const plain = new Uint8Array(headerLength + length + 16).map((_, index) => Math.imul(fill, index + 1) >>> 16)
          const sealed = providers.map((provider) =>
            sealWith(provider.importAead(suite, key), nonce, plain, headerLength, length),
          )
          for (const [index, provider] of providers.entries()) {
            expect(sealed[index]).toEqual(sealed[0])
            const packet = sealed[(index + 1) % sealed.length]!.slice()
            expect(provider.importAead(suite, key).open(nonce, packet, headerLength, length + 16)).toBe(true)
            expect(packet.subarray(0, headerLength + length)).toEqual(plain.subarray(0, headerLength + length))
          }
        }),
        { seed: 41, numRuns: 60 },
      )
    },
  )

  test('[CRYPTO1] agreement, signatures and hashes are the same bytes', () => {
    fc.assert(
      fc.property(bytes(32), bytes(32), fc.uint8Array({ maxLength: 200 }), (one, two, message) => {
        const all = providers.map((provider) => {
          const [a, b] = [provider.importAgreement(one), provider.importAgreement(two)]
          const signing = provider.importSigning(one)
          return [
            a.publicKey,
            b.publicKey,
            a.agree(b.publicKey),
            b.agree(a.publicKey),
            signing.publicKey,
            signing.sign(message),
            provider.sha256(message),
            provider.hmacSha256(two, message),
          ].map(hex)
        })
        for (const answers of all) expect(answers).toEqual(all[0])
        expect(all[0]![2]).toBe(all[0]![3])
      }),
      { seed: 42, numRuns: 8 },
    )
  })

  test('[CRYPTO1] any point on or off the curve has the same result in all providers', () => {
    fc.assert(fc.property(bytes(32), bytes(32), bytes(64), (secret, point, signature) => {
      const agreed = providers.map((provider) => hex(provider.importAgreement(secret).agree(point)))
      expect(new Set(agreed).size).toBe(1)
      const verdicts = providers.map((provider) => provider.importVerifying(point).verify(secret, signature))
      expect(verdicts.every((verdict) => !verdict)).toBe(true)
    }), { seed: 43, numRuns: 8 })
  })
})

describe('what pages need of it', () => {
  test.each(standards.x25519)('[CRYPTO1] $name', ({ secret, peer, shared }) => {
    expect(hex(chachaProvider.importAgreement(unhex(secret)).agree(unhex(peer)))).toBe(shared)
  })

  test.each(standards.ed25519)('[CRYPTO1] $name', ({ public: publicKey, message, signature }) => {
    expect(chachaProvider.importVerifying(unhex(publicKey)).verify(unhex(message), unhex(signature))).toBe(true)
  })

  test('[CRYPTO1] for keys that combine a point of the group and one of small order, it agrees with the others', () => {
    const { Point } = ed25519
    const torsion = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')
    const secret = 123_456_789n
    const key = Point.BASE.multiply(secret).add(torsion).toBytes()
    const verdicts = Array.from({ length: 40 }, (_, index) => {
      const nonce = Point.BASE.multiply(BigInt(index + 1)).toBytes()
      const challenge = number(sha512(Uint8Array.of(...nonce, ...key, index)))
      let s = (BigInt(index + 1) + challenge * secret) % Point.Fn.ORDER
      const signature = Uint8Array.from({ length: 64 }, (_unused, at) => {
        if (at < 32) return nonce[at]!
        const byte = Number(s & 255n)
        s >>= 8n
        return byte
      })
      const said = [chachaProvider, ...providers]
        .map((provider) => provider.importVerifying(key).verify(Uint8Array.of(index), signature))
      expect(new Set(said).size, `message ${index}`).toBe(1)
      return said[0]
    })
    // The equation holds when the challenge is a multiple of eight.
    expect(verdicts).toContain(true)
    expect(verdicts).toContain(false)
  })
})

describe('weak points', () => {
  const everyProvider = [chachaProvider, ...providers]
  const { Point } = ed25519
  const P = 2n ** 255n - 19n
  const encode = (value: bigint): Uint8Array =>
    Uint8Array.from({ length: 32 }, (_, at) => Number((value >> BigInt(8 * at)) & 255n))
  /** All encodings of the eight points of small order: canonical ones, those of y + p, and those of the other sign. */
  const smallOrders = [...Array(8).keys()]
    .map(
      (times) =>
        Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')
          .multiplyUnsafe(BigInt(times))
          .toAffine().y,
    )
    .flatMap((y) => (y + P < 2n ** 255n ? [y, y + P] : [y]))
    .flatMap((y) => [encode(y), encode(y + 2n ** 255n)])
  const spellings = [...new Map(smallOrders.map((bytes) => [hex(bytes), bytes])).values()]
  const verdictsOf = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean[] =>
    everyProvider.map((provider) => provider.importVerifying(key).verify(message, signature))
  const none = everyProvider.map(() => false)

  test('[CRYPTO1] S10: no provider accepts a key or a nonce of small order, in any encoding', () => {
    expect(spellings.length).toBe(14)
    for (const key of spellings) {
      for (const nonce of spellings) {
        const signature = Uint8Array.of(...nonce, ...new Uint8Array(32))
        for (let message = 0; message < form(2, 11); message++)
          expect(verdictsOf(key, Uint8Array.of(message), signature), `${hex(key)} ${hex(nonce)}`).toEqual(none)
      }
    }
  })

  test('[CRYPTO1] S10: a signature of a valid key with the nonce 0 is refused by all', () => {
    const secret = 987_654_321n
    const key = Point.BASE.multiply(secret).toBytes()
    const nonce = Point.ZERO.toBytes()
    const challenge = number(sha512(Uint8Array.of(...nonce, ...key, 7))) % Point.Fn.ORDER
    const signature = Uint8Array.of(...nonce, ...encode((challenge * secret) % Point.Fn.ORDER))
    expect(verdictsOf(key, Uint8Array.of(7), signature)).toEqual(none)
  })

  test('[CRYPTO1] S10: coordinates at and above p are keys for no provider, and random keys are equal in all', () => {
    const signing = pureProvider.importSigning(new Uint8Array(32).fill(9))
    const message = Uint8Array.of(1)
    const signature = signing.sign(message)
    for (let y = P; y < 2n ** 255n; y++) {
      for (const sign of [0n, 2n ** 255n]) {
        expect(verdictsOf(encode(y + sign), message, signature)).toEqual(none)
        expect(
          verdictsOf(signing.publicKey, message, Uint8Array.of(...encode(y + sign), ...signature.slice(32))),
        ).toEqual(none)
      }
    }
    expect(verdictsOf(signing.publicKey, message, signature)).toEqual(everyProvider.map(() => true))
    fc.assert(fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(255), (seed, last) => {
      const key = pureProvider.importSigning(seed)
      const signed = key.sign(seed)
      expect(verdictsOf(key.publicKey, seed, signed)).toEqual(everyProvider.map(() => true))
      const changed = key.publicKey.slice()
      changed[31] = last
      expect(new Set(verdictsOf(changed, seed, signed)).size).toBe(1)
    }), { seed: 44, numRuns: 8 })
  })
})

function number(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
}

function sealWith(
  key: AeadKey,
  nonce: Uint8Array,
  plain: Uint8Array,
  headerLength: number,
  length: number,
): Uint8Array {
  const packet = plain.slice()
  key.seal(nonce, packet, headerLength, length)
  return packet
}

describe('discovery', () => {
  /** A provider that differs from a correct one by `change`. */
  const faulty = (change: Partial<CryptoProvider>): CryptoProvider => ({ ...pureProvider, name: 'faulty', ...change })
  const trusting: CryptoProvider['importAead'] = (suite, key) => {
    const real = pureProvider.importAead(suite, key)
    return {
      seal: (nonce, bytes, header, length) => real.seal(nonce, bytes, header, length),
      open: (nonce, bytes, header, length) => real.open(nonce, bytes, header, length) || true,
      wipe: () => real.wipe(),
    }
  }

  test('[CRYPTO2] the fastest provider that passes its tests is used, and reports its name', () => {
    expect(bestProvider()).toBe(bestProvider())
    expect(bestProvider().name).toBe(installed[0]!.name)
    const order = (version: string): string[] =>
      installedProviders(version).map(({ name }) => name.split(' ')[0]!).filter((name) => name !== 'sodium-native')
    expect(order('20.19.0')).toEqual(['node:crypto', 'noble'])
    expect(order('26.0.0')).toEqual(['node:crypto', 'noble'])
    // On this version a context of node:crypto costs more than noble's whole computation.
    expect(order('24.3.0')).toEqual(['noble', 'node:crypto', 'noble'])
    expect(installedProviders('24.3.0').at(-1)).toBe(pureProvider)
  })

  test.each([
    ['ChaCha20-Poly1305', { importAead: trusting }],
    [
      'AES-256-GCM',
      {
        importAead: (suite: SuiteId, key: Uint8Array) => (suite === 2 ? trusting : pureProvider.importAead)(suite, key),
      },
    ],
    [
      'X25519',
      { importAgreement: () => ({ publicKey: new Uint8Array(32), agree: () => new Uint8Array(32), wipe: () => {} }) },
    ],
    ['Ed25519', { importVerifying: (publicKey: Uint8Array) => ({ publicKey, verify: () => true }) }],
    ['SHA-256', { sha256: () => { throw new Error('not in this build') } }],
    ['HMAC-SHA256', { hmacSha256: () => new Uint8Array(32) }],
  ] as const)('[CRYPTO2] a provider that fails at %s, or refuses nothing, is skipped', (primitive, change) => {
    const search = searchProvider([faulty(change), pureProvider])
    expect(search).toEqual({ provider: pureProvider, rejected: [{ name: 'faulty', primitive }] })
    expect(() => searchProvider([faulty(change)])).toThrow(`faulty fails ${primitive}`)
  })
})
