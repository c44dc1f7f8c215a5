import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import {
  directionMaterial, firstSecret, helloMaterial, helloSecret, nextSecret, type Role,
} from './key-schedule.ts'
import { SUITE, type SuiteId } from './provider.ts'
import { pureProvider } from './pure-provider.ts'
import { createSuite } from './suite.ts'
import { signTranscript, Transcript, TRANSCRIPT_PART, verifyTranscript } from './transcript.ts'

const fill = (size: number, value: number): Uint8Array => new Uint8Array(size).fill(value)
const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

interface Inputs {
  shared: Uint8Array
  challenge: Uint8Array
  serverRandom: Uint8Array
  transcript: Uint8Array
  suite: SuiteId
  role: Role
  epoch: number
}

const base: Inputs = {
  shared: fill(32, 1), challenge: fill(16, 2), serverRandom: fill(16, 3), transcript: fill(32, 4),
  suite: SUITE.aes256Gcm, role: 'client', epoch: 0,
}

function derive(change: Partial<Inputs> = {}): string {
  const { shared, challenge, serverRandom, transcript, suite, role, epoch } = { ...base, ...change }
  const secret = firstSecret(pureProvider, shared, challenge, serverRandom)
  return hex(directionMaterial(pureProvider, createSuite(suite, pureProvider), secret, role, epoch, transcript))
}

describe('key schedule', () => {
  test('[CRYPTO8] both ends derive the same keys, one per direction: 32 bytes, and in suite 2 a salt of 8', () => {
    expect(derive()).toBe(derive())
    expect(derive()).not.toBe(derive({ role: 'server' }))
    expect(derive()).toHaveLength(80)
    expect(derive({ suite: SUITE.chacha20Poly1305 })).toHaveLength(64)
  })

  test.each([
    ['the shared secret', { shared: fill(32, 9) }],
    ['the challenge', { challenge: fill(16, 9) }],
    ['the server\'s random', { serverRandom: fill(16, 9) }],
    ['the conversation', { transcript: fill(32, 9) }],
    ['the suite', { suite: SUITE.chacha20Poly1305 }],
    ['the epoch', { epoch: 1 }],
    ['the epoch, 256 later', { epoch: 256 }],
  ] as const)('[CRYPTO9] a different value of %s gives a different key', (_, change) => {
    expect(derive(change).slice(0, 64)).not.toBe(derive().slice(0, 64))
  })

  test('[CRYPTO9] the same challenge answered twice by a stateless server gives another key: its random is new', () => {
    const again = { ...base, role: 'server' } as const
    expect(derive({ ...again, serverRandom: fill(16, 5) })).not.toBe(derive({ ...again, serverRandom: fill(16, 6) }))
  })

  test('[CRYPTO8] the first message has its own key', () => {
    const suite = createSuite(SUITE.aes256Gcm, pureProvider)
    const hello = hex(
      helloMaterial(pureProvider, suite, helloSecret(pureProvider, base.shared, base.challenge), base.transcript),
    )
    expect(hello).toHaveLength(80)
    expect([derive(), derive({ role: 'server' })]).not.toContain(hello)
  })

  test('[CRYPTO8] the next secret needs the previous one and a new agreement', () => {
    const secret = firstSecret(pureProvider, base.shared, base.challenge, base.serverRandom)
    const next = hex(nextSecret(pureProvider, secret, fill(32, 7)))
    expect(next).not.toBe(hex(nextSecret(pureProvider, secret, fill(32, 8))))
    expect(next).not.toBe(hex(nextSecret(pureProvider, fill(32, 0), fill(32, 7))))
  })

  test('[CRYPTO8] values of another size are refused', () => {
    expect(() => derive({ challenge: fill(15, 0) })).toThrow(InvariantError)
    expect(() => derive({ serverRandom: fill(17, 0) })).toThrow(InvariantError)
    expect(() => derive({ transcript: fill(31, 0) })).toThrow(InvariantError)
  })
})

describe('transcript', () => {
  const transcriptOf = (change: Partial<Record<keyof typeof TRANSCRIPT_PART, Uint8Array>> = {}): string => {
    const transcript = new Transcript()
    for (const [name, part] of Object.entries(TRANSCRIPT_PART)) {
      transcript.add(part, change[name as keyof typeof TRANSCRIPT_PART] ?? fill(part, part))
    }
    return hex(transcript.hash(pureProvider))
  }

  test.each(Object.keys(TRANSCRIPT_PART) as (keyof typeof TRANSCRIPT_PART)[])(
    '[CRYPTO10] %s counts: its bytes, and how many',
    (name) => {
      const part = TRANSCRIPT_PART[name]
      const changed = fill(part, part)
      changed[0]! ^= 1
      expect(transcriptOf({ [name]: changed })).not.toBe(transcriptOf())
      expect(transcriptOf({ [name]: fill(part + 1, part) })).not.toBe(transcriptOf())
      expect(transcriptOf({ [name]: fill(0, part) })).not.toBe(transcriptOf())
    },
  )

  test('[CRYPTO10] bytes that move from one part into the next give another transcript', () => {
    const split = (a: number[], b: number[]): string =>
      hex(
        new Transcript()
          .add(TRANSCRIPT_PART.token, Uint8Array.from(a))
          .add(TRANSCRIPT_PART.user, Uint8Array.from(b))
          .hash(pureProvider),
      )
    expect(split([1, 2], [3])).not.toBe(split([1], [2, 3]))
  })

  test('[CRYPTO10] parts are added in order, each once; the hash may be taken in between', () => {
    const transcript = new Transcript().add(TRANSCRIPT_PART.suite, fill(1, 1))
    const early = hex(transcript.hash(pureProvider))
    expect(() => transcript.add(TRANSCRIPT_PART.version, fill(1, 1))).toThrow(InvariantError)
    expect(() => transcript.add(TRANSCRIPT_PART.suite, fill(1, 1))).toThrow(InvariantError)
    expect(hex(transcript.hash(pureProvider))).toBe(early)
    expect(hex(transcript.add(TRANSCRIPT_PART.token, fill(0, 0)).hash(pureProvider))).not.toBe(early)
  })

  test('[CRYPTO10] later changes to the bytes that were added change nothing', () => {
    const bytes = fill(4, 1)
    const transcript = new Transcript().add(TRANSCRIPT_PART.version, bytes)
    const before = hex(transcript.hash(pureProvider))
    bytes.fill(9)
    expect(hex(transcript.hash(pureProvider))).toBe(before)
  })
})

describe('server identity', () => {
  const identity = pureProvider.importSigning(fill(32, 11))
  const known = pureProvider.importVerifying(identity.publicKey)

  test('[CRYPTO11] the holder of the identity key proves that it took part in this handshake', () => {
    const proof = signTranscript(identity, fill(32, 1))
    expect(verifyTranscript(known, fill(32, 1), proof)).toBe(true)
    expect(verifyTranscript(known, fill(32, 2), proof)).toBe(false)
  })

  test('[CRYPTO11] a man in the middle, with separate keys for each side, can prove nothing to the client', () => {
    const keys = [1, 2, 3].map((value) => pureProvider.importAgreement(fill(32, value)))
    const [client, server, middle] = keys as [(typeof keys)[0], (typeof keys)[0], (typeof keys)[0]]
    const hash = (clientKey: Uint8Array, serverKey: Uint8Array): Uint8Array =>
      new Transcript()
        .add(TRANSCRIPT_PART.clientKey, clientKey)
        .add(TRANSCRIPT_PART.serverKey, serverKey)
        .hash(pureProvider)
    // The server signs the keys that it saw; with an attacker in the middle, the client saw others.
    const proof = signTranscript(identity, hash(middle.publicKey, server.publicKey))
    const seen = hash(client.publicKey, middle.publicKey)
    expect(verifyTranscript(known, seen, proof)).toBe(false)
    expect(verifyTranscript(known, seen, signTranscript(pureProvider.importSigning(fill(32, 12)), seen))).toBe(false)
  })

  test('[CRYPTO11] a signature of the same key for another purpose is not a proof', () => {
    expect(verifyTranscript(known, fill(32, 1), identity.sign(fill(32, 1)))).toBe(false)
  })
})
