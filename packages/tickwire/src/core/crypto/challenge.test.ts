import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { CHALLENGE_BUCKET_MS } from '../base/limits.ts'
import { challengeBucket, checkCookie, makeCookie } from './challenge-cookie.ts'
import { ChallengeKeys } from './challenge-keys.ts'
import { isEqualConstantTime } from './constant-time.ts'
import type { CryptoProvider } from './provider.ts'
import { pureProvider } from './pure-provider.ts'

const fill = (size: number, value: number): Uint8Array => new Uint8Array(size).fill(value)
const secret = fill(32, 1)
const client = fill(32, 2)

describe('challenge cookies', () => {
  test('[CRYPTO16] good in its bucket and the next, in no other', () => {
    for (const bucket of [0, 1, 2, 1000, 2 ** 31, 2 ** 32 - 1]) {
      const cookie = makeCookie(pureProvider, secret, bucket, '10.0.0.1:4000', client)
      const at = (now: number): number | undefined => checkCookie(pureProvider, secret, now, '10.0.0.1:4000', client, cookie)
      expect([-2, -1, 0, 1, 2, 3, 4].map((step) => at(bucket + step)))
        .toEqual([undefined, undefined, bucket, bucket, undefined, undefined, undefined])
    }
    expect(challengeBucket(3999.9)).toBe(0)
    expect(challengeBucket(4000)).toBe(1)
  })

  test('[CRYPTO16] bound to address, key and server; every bit counts', () => {
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
    for (const size of [0, 15, 17]) expect(checkCookie(pureProvider, secret, 7, '10.0.0.1:4000', client, fill(size, 0))).toBeUndefined()
  })

  test('[CRYPTO16] the drawn form: an HMAC cut to 16 bytes, its first bit the bucket\'s', () => {
    const message = Uint8Array.of(7, 0, 0, 0, ...client, 0x61, 0, 0xac, 0x20)
    const mac = pureProvider.hmacSha256(secret, message).slice(0, 16)
    mac[0] = (mac[0]! & 0xfe) | 1
    expect(makeCookie(pureProvider, secret, 7, 'a€', client)).toEqual(mac)
    expect(() => makeCookie(pureProvider, secret, 7, 'a'.repeat(129), client)).toThrow(InvariantError)
  })

  test('[CRYPTO16] a check costs one HMAC, whatever is shown', () => {
    let macs = 0
    const provider: CryptoProvider = { ...pureProvider, hmacSha256: (key, bytes) => { macs++; return pureProvider.hmacSha256(key, bytes) } }
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

  test('[CRYPTO17] a thousand strangers in one bucket cost one key', () => {
    const counts = counting()
    const keys = new ChallengeKeys(counts.provider, entropy())
    const seen = new Set<string>()
    for (let port = 0; port < 1000; port++) seen.add(keys.challenge(10, `10.0.0.1:${port}`, client).cookie.join())
    expect([seen.size, counts.made]).toEqual([1000, 1])
  })

  test('[CRYPTO17] who answers in this bucket or the next meets the key he was shown, later none', () => {
    const counts = counting()
    const keys = new ChallengeKeys(counts.provider, entropy())
    const { cookie, serverKey } = keys.challenge(100, 'a', client)
    const other = keys.challenge(CHALLENGE_BUCKET_MS + 100, 'a', client)
    expect(other.serverKey).not.toEqual(serverKey)
    expect(keys.recognise(CHALLENGE_BUCKET_MS + 100, 'a', client, cookie)?.key.publicKey).toEqual(serverKey)
    expect(keys.recognise(CHALLENGE_BUCKET_MS + 100, 'a', client, other.cookie)?.key.publicKey).toEqual(other.serverKey)
    expect(keys.recognise(CHALLENGE_BUCKET_MS + 100, 'b', client, cookie)).toBeUndefined()
    expect(keys.recognise(2 * CHALLENGE_BUCKET_MS, 'a', client, cookie)).toBeUndefined()
    expect(keys.recognise(2 * CHALLENGE_BUCKET_MS, 'a', client, other.cookie)?.key.publicKey).toEqual(other.serverKey)
  })

  test('[CRYPTO17] at most two keys live, whatever the clock does, and none after the end', () => {
    fc.assert(fc.property(fc.array(fc.tuple(fc.nat(20_000), fc.boolean()), { maxLength: 12 }), (steps) => {
      const counts = counting()
      const keys = new ChallengeKeys(counts.provider, entropy())
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

  test('[CRYPTO17] another server, or the same one started again, recognises nothing', () => {
    const first = new ChallengeKeys(pureProvider, { fill: (bytes) => { bytes.fill(1) } })
    const second = new ChallengeKeys(pureProvider, { fill: (bytes) => { bytes.fill(2) } })
    const { cookie } = first.challenge(0, 'a', client)
    second.challenge(0, 'a', client)
    expect(second.recognise(0, 'a', client, cookie)).toBeUndefined()
    expect(first.recognise(0, 'a', client, cookie)).toBeDefined()
  })
})

test('[CRYPTO18] equal is the same length and the same bytes', () => {
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
