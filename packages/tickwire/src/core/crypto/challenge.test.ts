import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { CHALLENGE_BUCKET_MS } from '../base/limits.ts'
import { challengeBucket, checkCookie, makeCookie } from './challenge-cookie.ts'
import { ChallengeKeys } from './challenge-keys.ts'
import { isEqualConstantTime } from './constant-time.ts'
import type { CryptoProvider } from './provider.ts'
import { pureProvider } from './pure-provider.ts'
import { verifyChallengeKey } from './transcript.ts'

const fill = (size: number, value: number): Uint8Array => new Uint8Array(size).fill(value)
const secret = fill(32, 1)
const client = fill(32, 2)
const identity = pureProvider.importSigning(fill(32, 7))

describe('challenge cookies', () => {
  test('[CRYPTO16] a cookie is valid in its bucket and the next, and in no other', () => {
    for (const bucket of [0, 1, 2, 1000, 2 ** 31, 2 ** 32 - 1]) {
      const cookie = makeCookie(pureProvider, secret, bucket, '10.0.0.1:4000', client)
      const at = (now: number): number | undefined =>
        checkCookie(pureProvider, secret, now, '10.0.0.1:4000', client, cookie)
      expect([-2, -1, 0, 1, 2, 3, 4].map((step) => at(bucket + step))).toEqual([
        undefined,
        undefined,
        bucket,
        bucket,
        undefined,
        undefined,
        undefined,
      ])
    }
    expect(challengeBucket(3999.9)).toBe(0)
    expect(challengeBucket(4000)).toBe(1)
  })

  test('[CRYPTO16] a cookie is bound to address, key and server; every bit counts', () => {
    const cookie = makeCookie(pureProvider, secret, 7, '10.0.0.1:4000', client)
    expect(cookie).toHaveLength(16)
    expect(checkCookie(pureProvider, secret, 7, '10.0.0.1:4001', client, cookie)).toBeUndefined()
    expect(checkCookie(pureProvider, secret, 7, '10.0.0.1:400', client, cookie)).toBeUndefined()
    expect(checkCookie(pureProvider, secret, 7, '10.0.0.1:4000', fill(32, 3), cookie)).toBeUndefined()
    expect(checkCookie(pureProvider, fill(32, 9), 7, '10.0.0.1:4000', client, cookie)).toBeUndefined()
    for (let bit = 0; bit < 128; bit++) {
      const forged = cookie.slice()
      forged[bit >> 3]! ^= 1 << (bit & 7)
      expect(checkCookie(pureProvider, secret, 7, '10.0.0.1:4000', client, forged)).toBeUndefined()
    }
    for (const size of [0, 15, 17])
      expect(checkCookie(pureProvider, secret, 7, '10.0.0.1:4000', client, fill(size, 0))).toBeUndefined()
  })

  test("[CRYPTO16] a cookie has the documented form: 16 bytes of an HMAC, with the bucket's bit as its first", () => {
    const message = Uint8Array.of(7, 0, 0, 0, ...client, 0x61, 0, 0xac, 0x20)
    const mac = pureProvider.hmacSha256(secret, message).slice(0, 16)
    mac[0] = (mac[0]! & 0xfe) | 1
    expect(makeCookie(pureProvider, secret, 7, 'a€', client)).toEqual(mac)
    expect(() => makeCookie(pureProvider, secret, 7, 'a'.repeat(129), client)).toThrow(InvariantError)
  })

  test('[CRYPTO16] a check costs one HMAC, whatever the client shows', () => {
    let macs = 0
    const provider: CryptoProvider = {
      ...pureProvider,
      hmacSha256: (key, bytes) => {
        macs++
        return pureProvider.hmacSha256(key, bytes)
      },
    }
    const cookie = makeCookie(pureProvider, secret, 7, 'a', client)
    for (const bucket of [7, 8, 9]) checkCookie(provider, secret, bucket, 'a', client, cookie)
    expect(macs).toBe(3)
  })
})

describe('challenge keys', () => {
  /** Counts keys made and wiped. */
  function counting(): { provider: CryptoProvider; made: number; wiped: number } {
    const counts = { provider: pureProvider, made: 0, wiped: 0 }
    counts.provider = { ...pureProvider, importAgreement: (bytes) => {
      counts.made++
      const key = pureProvider.importAgreement(bytes)
      return { publicKey: key.publicKey, agree: (peer) => key.agree(peer), wipe: () => { counts.wiped++; key.wipe() } }
    } }
    return counts
  }
  const entropy = (): { fill(bytes: Uint8Array): void } => {
    let next = 1
    return { fill: (bytes) => { bytes.fill(next++) } }
  }

  test('[CRYPTO17] a thousand clients in one bucket cost one key', () => {
    const counts = counting()
    const keys = new ChallengeKeys(counts.provider, entropy(), identity)
    const seen = new Set<string>()
    for (let port = 0; port < 1000; port++) seen.add(keys.challenge(10, `10.0.0.1:${port}`, client).cookie.join())
    expect([seen.size, counts.made]).toEqual([1000, 1])
  })

  test('[CRYPTO17] S3: the identity signs the key of a bucket once, for that key and this version alone', () => {
    let signed = 0
    const keys = new ChallengeKeys(pureProvider, entropy(), {
      publicKey: identity.publicKey,
      wipe() {},
      sign: (message) => {
        signed++
        return identity.sign(message)
      },
    })
    const first = keys.challenge(10, 'a', client)
    for (let port = 0; port < 100; port++)
      expect(keys.challenge(10, `10.0.0.1:${port}`, client).signature).toBe(first.signature)
    const next = keys.challenge(CHALLENGE_BUCKET_MS + 10, 'a', client)
    expect(signed).toBe(2)
    const verifying = pureProvider.importVerifying(identity.publicKey)
    expect(verifyChallengeKey(verifying, first.serverKey, first.signature)).toBe(true)
    expect(verifyChallengeKey(verifying, next.serverKey, next.signature)).toBe(true)
    expect(verifyChallengeKey(verifying, next.serverKey, first.signature)).toBe(false)
    const other = pureProvider.importSigning(fill(32, 8)).publicKey
    expect(verifyChallengeKey(pureProvider.importVerifying(other), first.serverKey, first.signature)).toBe(false)
    const bytes = Uint8Array.of(...Buffer.from('tickwire/v3/challenge-key\0'), 3, ...first.serverKey)
    expect(verifying.verify(bytes, first.signature)).toBe(true)
  })

  test('[CRYPTO17] a client that answers in this bucket or the next finds its key; later there is none', () => {
    const counts = counting()
    const keys = new ChallengeKeys(counts.provider, entropy(), identity)
    const { cookie, serverKey } = keys.challenge(100, 'a', client)
    const other = keys.challenge(CHALLENGE_BUCKET_MS + 100, 'a', client)
    expect(other.serverKey).not.toEqual(serverKey)
    expect(keys.recognise(CHALLENGE_BUCKET_MS + 100, 'a', client, cookie)?.key.publicKey).toEqual(serverKey)
    expect(keys.recognise(CHALLENGE_BUCKET_MS + 100, 'a', client, other.cookie)?.key.publicKey).toEqual(other.serverKey)
    expect(keys.recognise(CHALLENGE_BUCKET_MS + 100, 'b', client, cookie)).toBeUndefined()
    expect(keys.recognise(2 * CHALLENGE_BUCKET_MS, 'a', client, cookie)).toBeUndefined()
    expect(keys.recognise(2 * CHALLENGE_BUCKET_MS, 'a', client, other.cookie)?.key.publicKey).toEqual(other.serverKey)
  })

  test('[CRYPTO17] at most two keys exist, whatever the clock does, and none after close', () => {
    fc.assert(fc.property(fc.array(fc.tuple(fc.nat(20_000), fc.boolean()), { maxLength: 12 }), (steps) => {
      const counts = counting()
      const keys = new ChallengeKeys(counts.provider, entropy(), identity)
      let now = 0
      for (const [wait, asks] of steps) {
        now += wait
        if (asks) keys.challenge(now, 'a', client)
        else keys.recognise(now, 'a', client, fill(16, 0))
        expect(counts.made - counts.wiped).toBeLessThanOrEqual(2)
      }
      keys.wipe()
      expect(counts.wiped).toBe(counts.made)
    }), { seed: 5, numRuns: 30 })
  })

  test('[CRYPTO17] another server, or the same server restarted, recognises no cookie', () => {
    const first = new ChallengeKeys(pureProvider, { fill: (bytes) => { bytes.fill(1) } }, identity)
    const second = new ChallengeKeys(pureProvider, { fill: (bytes) => { bytes.fill(2) } }, identity)
    const { cookie } = first.challenge(0, 'a', client)
    second.challenge(0, 'a', client)
    expect(second.recognise(0, 'a', client, cookie)).toBeUndefined()
    expect(first.recognise(0, 'a', client, cookie)).toBeDefined()
  })
})

test('[CRYPTO18] two byte arrays are equal when length and bytes are the same, compared without a branch', () => {
  expect(isEqualConstantTime.toString()).not.toMatch(/\bif\b|\?|&&|\|\||\bbreak\b|\bcontinue\b/)
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(39), (bytes, at) => {
    expect(isEqualConstantTime(bytes, bytes.slice())).toBe(true)
    expect(isEqualConstantTime(bytes, Uint8Array.of(...bytes, 0))).toBe(false)
    expect(isEqualConstantTime(Uint8Array.of(...bytes, 0), bytes)).toBe(false)
    if (at >= bytes.length) return
    const other = bytes.slice()
    other[at]! ^= 0x80
    expect(isEqualConstantTime(bytes, other)).toBe(false)
  }), { seed: 6, numRuns: 300 })
})
