import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { form } from '../../../../../test/form.ts'
import { ConfigError } from '../base/assert.ts'
import { TOKEN_LIFE_SECONDS_MAX } from '../base/limits.ts'
import {
  createTokenCheck, issuerKeyId, issueToken, parseToken, TOKEN_BYTES_MAX, verifyToken, type TokenGrant,
} from './connect-token.ts'
import { SUITE, type CryptoProvider } from './provider.ts'
import { pureProvider } from './pure-provider.ts'
import { bytesToText, textToBytes } from './token-text.ts'

const fill = (size: number, value: number): Uint8Array => new Uint8Array(size).fill(value)
const issuer = pureProvider.importSigning(fill(32, 1))
const server = pureProvider.importSigning(fill(32, 2)).publicKey
const NOW = 1_800_000_000
const grant: TokenGrant = {
  server,
  id: fill(16, 3),
  issuedAt: NOW,
  expiresAt: NOW + 300,
  audience: 'arena',
  user: Uint8Array.of(0x61, 0x64, 0x61),
}
const token = issueToken(pureProvider, issuer, grant)
const check = createTokenCheck(pureProvider, [issuer.publicKey], 'arena', server)

describe('connect tokens', () => {
  test('[TOKEN1] every byte is at the offset of the drawing', () => {
    expect([...token.slice(0, 2)]).toEqual([1, 1])
    expect(token.slice(2, 10)).toEqual(issuerKeyId(pureProvider, issuer.publicKey))
    expect(token.slice(2, 10)).toEqual(pureProvider.sha256(issuer.publicKey).slice(0, 8))
    expect(token.slice(10, 42)).toEqual(server)
    expect(token.slice(42, 58)).toEqual(fill(16, 3))
    expect([...token.slice(58, 74)]).toEqual([0x00, 0xd2, 0x49, 0x6b, 0, 0, 0, 0, 0x2c, 0xd3, 0x49, 0x6b, 0, 0, 0, 0])
    expect([...token.slice(74, 85)]).toEqual([5, 0x61, 0x72, 0x65, 0x6e, 0x61, 3, 0, 0x61, 0x64, 0x61])
    expect(token).toHaveLength(85 + 64)
    const signed = Uint8Array.of(...new TextEncoder().encode('tickwire/v1/token\0'), ...token.slice(0, 85))
    expect(pureProvider.importVerifying(issuer.publicKey).verify(signed, token.slice(85))).toBe(true)
  })

  test('[TOKEN1] a grant is read back from its token, and reading checks nothing', () => {
    expect(parseToken(token)).toEqual({
      ...grant,
      suite: SUITE.chacha20Poly1305,
      issuer: token.slice(2, 10),
      signature: token.slice(85),
    })
    expect(parseToken(Uint8Array.of(...token.slice(0, 85), ...fill(64, 0)))?.audience).toBe('arena')
  })

  test('[TOKEN2] a token has one encoding: any grant is read back, and written again byte for byte', () => {
    const arbitrary = fc.record({
      suite: fc.constantFrom(SUITE.chacha20Poly1305, SUITE.aes256Gcm),
      server: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      id: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      issuedAt: fc.oneof(fc.nat(), fc.integer({ min: 2 ** 32 - 2, max: 2 ** 32 + 2 }), fc.constant(2 ** 53 - 1 - 3600)),
      life: fc.integer({ min: 1, max: 3600 }),
      audience: fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 4 })
        .filter((text) => new TextEncoder().encode(text).length <= 32),
      user: fc.uint8Array({ maxLength: 256 }),
    })
    fc.assert(fc.property(arbitrary, ({ life, ...rest }) => {
      const given = { ...rest, expiresAt: rest.issuedAt + life }
      const bytes = issueToken(pureProvider, issuer, given)
      const said = parseToken(bytes)!
      expect(said).toMatchObject(given)
      expect(issueToken(pureProvider, issuer, said)).toEqual(bytes)
      expect(bytes.length).toBeLessThanOrEqual(TOKEN_BYTES_MAX)
    }), { seed: 1, numRuns: 25 })
  })

  test('[TOKEN2] tokens that are too short, too long, or have impossible sizes, names or times are refused', () => {
    const changed = (at: number, ...values: number[]): Uint8Array => {
      const copy = token.slice()
      copy.set(values, at)
      return copy
    }
    for (let length = 0; length < token.length; length++) expect(parseToken(token.slice(0, length))).toBeUndefined()
    const refused = [
      Uint8Array.of(...token, 0), fill(2000, 1), changed(0, 0), changed(0, 2), changed(1, 0), changed(1, 3),
      changed(74, 0), changed(74, 33), changed(74, 255), changed(74, 4), changed(80, 2), changed(80, 4), changed(81, 1),
      changed(75, 0xc0, 0xaf), changed(75, 0xff), // not UTF-8
      changed(66, ...token.slice(58, 66)), // expires when it is issued
      changed(67, 0xff), // lives too long
      changed(64, 0xff, 0xff), changed(72, 0xff, 0xff), // beyond exact numbers
    ]
    for (const bytes of refused) expect(parseToken(bytes)).toBeUndefined()
    for (const bytes of refused) expect(verifyToken(check, bytes, NOW)).toBe('malformed')
  })

  test('[TOKEN3] a valid token is distinguished from every kind of invalid one', () => {
    const other = pureProvider.importSigning(fill(32, 9))
    const refusal = (change: Partial<TokenGrant>, now: number = NOW, key = issuer): unknown =>
      verifyToken(check, issueToken(pureProvider, key, { ...grant, ...change }), now)
    expect(verifyToken(check, token, NOW)).toMatchObject({ audience: 'arena', user: grant.user })
    expect(refusal({}, NOW, other)).toBe('unknown-issuer')
    expect(refusal({ audience: 'arenas' })).toBe('audience')
    expect(refusal({ server: other.publicKey })).toBe('server')
    expect(verifyToken(check, Uint8Array.of(...token.slice(0, 85), ...fill(64, 0)), NOW)).toBe('signature')
  })

  test('[TOKEN3] every single bit counts', () => {
    // A step of 7 touches every byte, and each bit of a byte in turn.
    for (let bit = 0; bit < token.length * 8; bit += form(7, 1)) {
      const touched = token.slice()
      touched[bit >> 3]! ^= 1 << (bit & 7)
      const said = verifyToken(check, touched, NOW)
      expect(typeof said, `bit ${bit}`).toBe('string')
    }
  }, 60_000)

  test('[TOKEN3] cheap checks come before the signature check', () => {
    let checks = 0
    const provider: CryptoProvider = {
      ...pureProvider, importVerifying: (publicKey) => ({ publicKey, verify: () => { checks++; return true } }),
    }
    const counting = createTokenCheck(provider, [issuer.publicKey], 'arena', server)
    for (const now of [0, NOW + 300]) verifyToken(counting, token, now)
    verifyToken(counting, token.slice(1), NOW)
    verifyToken(createTokenCheck(provider, [issuer.publicKey], 'race', server), token, NOW)
    expect(checks).toBe(0)
    verifyToken(counting, token, NOW)
    expect(checks).toBe(1)
  })

  test('[TOKEN4] a token is valid from five seconds before its issue until the second it expires', () => {
    const at = (now: number): unknown => verifyToken(check, token, now)
    expect(
      [NOW - 6, NOW - 5, NOW, NOW + 299, NOW + 300, NOW + 301]
        .map(at)
        .map((said) => (typeof said === 'string' ? said : 'ok')),
    ).toEqual(['not-yet', 'ok', 'ok', 'ok', 'expired', 'expired'])
    expect([at(NaN), at(Infinity), at(-Infinity)]).toEqual(['not-yet', 'expired', 'not-yet'])
  })

  test('[TOKEN5] two issuer keys are accepted while one replaces the other', () => {
    const next = pureProvider.importSigning(fill(32, 4))
    const both = createTokenCheck(pureProvider, [issuer.publicKey, next.publicKey], 'arena', server)
    expect(verifyToken(both, token, NOW)).toMatchObject({ issuer: issuerKeyId(pureProvider, issuer.publicKey) })
    expect(verifyToken(both, issueToken(pureProvider, next, grant), NOW)).toMatchObject({
      issuer: issuerKeyId(pureProvider, next.publicKey),
    })
    expect(verifyToken(check, issueToken(pureProvider, next, grant), NOW)).toBe('unknown-issuer')
    expect(() => createTokenCheck(pureProvider, [], 'arena', server)).toThrow(ConfigError)
    expect(() => createTokenCheck(pureProvider, [server, server, server], 'arena', server)).toThrow(ConfigError)
    expect(() => createTokenCheck(pureProvider, [fill(31, 0)], 'arena', server)).toThrow('tokens.issuers[0]')
    expect(() => createTokenCheck(pureProvider, [server], '', server)).toThrow('tokens.audience')
    expect(() => createTokenCheck(pureProvider, [server], 'arena', fill(3, 0))).toThrow('tokens.server')
  })

  test('[TOKEN2] a token that no server would accept cannot be issued', () => {
    const wrong: Partial<TokenGrant>[] = [
      { server: fill(31, 0) },
      { id: fill(15, 0) },
      { audience: '' },
      { audience: 'x'.repeat(33) },
      { audience: '€'.repeat(11) },
      { user: fill(257, 0) },
      { expiresAt: NOW },
      { expiresAt: NOW + TOKEN_LIFE_SECONDS_MAX + 1 },
      { issuedAt: NOW + 0.5 },
      { issuedAt: -1, expiresAt: 5 },
      { suite: 3 as 1 },
    ]
    for (const change of wrong)
      expect(() => issueToken(pureProvider, issuer, { ...grant, ...change })).toThrow(ConfigError)
  })

  test('[TOKEN1] the longest token leaves room for a handshake in a safe datagram', () => {
    const longest = issueToken(pureProvider, issuer, { ...grant, audience: 'x'.repeat(32), user: fill(256, 1) })
    expect(longest).toHaveLength(TOKEN_BYTES_MAX)
    expect(TOKEN_BYTES_MAX).toBe(429)
  })
})

describe('tokens as text', () => {
  test('[TOKEN9] tokens are base64url, as the platform writes it', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      const text = bytesToText(bytes)
      expect(text).toBe(Buffer.from(bytes).toString('base64url'))
      expect(textToBytes(text)).toEqual(bytes)
    }), { seed: 3, numRuns: 300 })
  })

  test('[TOKEN9] each sequence of bytes has one text; every other text is refused', () => {
    for (const text of ['A', 'AAAAA', 'AA==', 'AA=', 'AB', 'AAB', 'A A', 'AA\n', '+/', 'AAÄA', 'AA.A'])
      expect(textToBytes(text), text).toBeUndefined()
    expect(textToBytes('')).toEqual(new Uint8Array(0))
    fc.assert(fc.property(fc.string({ maxLength: 12 }), (text) => {
      const bytes = textToBytes(text)
      if (bytes !== undefined) expect(bytesToText(bytes)).toBe(text)
    }), { seed: 4, numRuns: 500 })
  })
})
