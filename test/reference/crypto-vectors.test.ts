import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { checkCookie } from '../../packages/tickwire/src/core/crypto/challenge-cookie.ts'
import { issueToken, parseToken } from '../../packages/tickwire/src/core/crypto/connect-token.ts'
import { OpeningKey } from '../../packages/tickwire/src/core/crypto/packet-key.ts'
import type { SuiteId } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { createSuite } from '../../packages/tickwire/src/core/crypto/suite.ts'
import { textToBytes } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { verifyChallengeKey, verifyTranscript } from '../../packages/tickwire/src/core/crypto/transcript.ts'
import { PacketHeader, readHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import vectors from '../vectors/crypto.json' with { type: 'json' }
import standards from '../vectors/crypto-standards.json' with { type: 'json' }
import {
  cookieOf, deriveSession, isChallengeProof, isIdentityProof, isTokenSigned, openPacket, platformHkdf, readToken,
  type OpenedPacket, type SessionParts,
} from './crypto-checker.ts'
import { deriveByEngine, hex, makeVectors, sealPacket, toFileText, unhex } from './crypto-engine.ts'

/** What the engine reads from a packet; undefined when it does not open. */
function engineOpens(suite: number, material: string, packet: string): OpenedPacket | undefined {
  const bytes = unhex(packet)
  const header = new PacketHeader()
  if (readHeader(bytes, bytes.length, header) !== 'ok') return undefined
  const { type, epoch, sequence, idLo, idHi, byteLength } = header
  const key = new OpeningKey(createSuite(suite, pureProvider), epoch, unhex(material))
  if (!key.open(sequence, bytes, byteLength, bytes.length)) return undefined
  const connection = idHi.toString(16).padStart(8, '0') + idLo.toString(16).padStart(8, '0')
  return { type, connection, epoch, sequence, plaintext: hex(bytes.slice(byteLength, -16)) }
}

describe('crypto vectors', () => {
  test('[CRYPTO19] the file is what the engine makes', () => {
    const file = readFileSync(fileURLToPath(new URL('../vectors/crypto.json', import.meta.url)), 'utf8')
    expect(file).toBe(toFileText(makeVectors()))
  })

  test.each(vectors.packets)(
    '[CRYPTO19] suite $suite, $name: opened by the rules and by the engine',
    ({ suite, material, packet, meaning }) => {
      expect(openPacket(suite, material, packet)).toEqual(meaning)
      expect(engineOpens(suite, material, packet)).toEqual(meaning)
    },
  )

  test.each(vectors.packetsRefused)(
    '[CRYPTO19] suite $suite, $name: refused by both',
    ({ suite, material, packet }) => {
      expect(() => openPacket(suite, material, packet)).toThrow()
      expect(engineOpens(suite, material, packet)).toBeUndefined()
    },
  )

  test.each(vectors.sessions)(
    '[CRYPTO19] keys of a session in suite $parts.suite: derived alike',
    ({ parts, keys }) => {
      // reason: the JSON module is typed by its values, wider than the tuples they were written from.
      const given = parts as unknown as SessionParts
      expect(deriveSession(given)).toEqual(keys)
      expect(deriveByEngine(given)).toEqual(keys)
    },
  )

  test("[CRYPTO19] the HKDF of the independent reader equals that of the platform", () => {
    for (const { input, salt, info, length, expanded } of standards.hkdf)
      expect(platformHkdf(input, salt, info, length)).toBe(expanded)
    const { parts, keys } = vectors.sessions[0]!
    const info =
      hex(Uint8Array.of(...new TextEncoder().encode('tickwire/v1/client\0'), parts.suite, 0, 0, 0, 0)) + keys.transcript
    expect(platformHkdf(keys.shared, parts.challenge + parts.serverRandom, info, 32)).toBe(keys.epochs[0]!.client)
  })

  test.each(vectors.cookies)(
    '[CRYPTO19] a cookie for "$address" in bucket $bucket',
    ({ secret, bucket, address, clientKey, cookie }) => {
      expect(cookieOf(secret, bucket, address, clientKey)).toBe(cookie)
      expect(checkCookie(pureProvider, unhex(secret), bucket + 1, address, unhex(clientKey), unhex(cookie))).toBe(
        bucket,
      )
    },
  )

  test.each(vectors.proofs)('[CRYPTO19] a proof of identity', ({ identity, transcript, signature }) => {
    expect(isIdentityProof(identity, transcript, signature)).toBe(true)
    expect(verifyTranscript(pureProvider.importVerifying(unhex(identity)), unhex(transcript), unhex(signature))).toBe(
      true,
    )
  })

  test('[CRYPTO19] the worked hello of the standard is that of the first session', () => {
    const standard = readFileSync(new URL('../../docs/wire/STANDARD.md', import.meta.url), 'utf8')
    const { shared, helloTranscript, hello } = vectors.sessions[0]!.keys
    const spaced = (text: string): string => text.replace(/(..)(?=.)/g, '$1 ')
    expect(standard).toContain(
      `shared  ${spaced(shared)}\nT1      ${spaced(helloTranscript)}\nkey     ${spaced(hello)}\n`,
    )
  })

  test.each(vectors.challengeProofs)(
    '[CRYPTO19] S3: a signature of the key of a challenge',
    ({ identity, serverKey, signature }) => {
      expect(isChallengeProof(identity, serverKey, signature)).toBe(true)
      expect(
        verifyChallengeKey(pureProvider.importVerifying(unhex(identity)), unhex(serverKey), unhex(signature)),
      ).toBe(true)
    },
  )

  test.each(vectors.tokens)('[CRYPTO19] $name', ({ issuerPublic, issuerSecret, bytes, text, meaning }) => {
    expect(readToken(bytes)).toEqual(meaning)
    expect(isTokenSigned(bytes, issuerPublic)).toBe(true)
    expect(Buffer.from(text, 'base64url').toString('hex')).toBe(bytes)
    expect(textToBytes(text)).toEqual(unhex(bytes))
    const said = parseToken(unhex(bytes))!
    expect({
      ...said,
      issuer: hex(said.issuer),
      server: hex(said.server),
      id: hex(said.id),
      user: hex(said.user),
      signature: hex(said.signature),
    }).toEqual(meaning)
    expect(hex(issueToken(pureProvider, pureProvider.importSigning(unhex(issuerSecret)), said))).toBe(bytes)
  })

  test.each(vectors.tokensRefused)('[CRYPTO19] a token refused by both: $name', ({ bytes }) => {
    expect(() => readToken(bytes)).toThrow()
    expect(parseToken(unhex(bytes))).toBeUndefined()
  })
})

describe('beside the independent reader', () => {
  test('[CRYPTO19] the independent reader opens every packet that the engine seals', () => {
    const packet = fc.record({
      suite: fc.constantFrom<SuiteId>(1, 2), epoch: fc.nat(255), sequence: fc.oneof(fc.nat(300), fc.maxSafeNat()),
      plaintext: fc.uint8Array({ maxLength: 300 }), key: fc.uint8Array({ minLength: 40, maxLength: 40 }),
    })
    fc.assert(fc.property(packet, ({ suite, epoch, sequence, plaintext, key }) => {
      const material = key.slice(0, suite === 1 ? 32 : 40)
      const sealed = hex(sealPacket(suite, material, 1, epoch, sequence, plaintext))
      expect(openPacket(suite, hex(material), sealed)).toMatchObject({ epoch, sequence, plaintext: hex(plaintext) })
    }), { seed: 3, numRuns: 150 })
  })

  test('[CRYPTO19] mutated tokens mean the same to both readers, or are refused by both', () => {
    const changes = fc.array(fc.tuple(fc.nat(100), fc.nat(255)), { minLength: 1, maxLength: 2 })
    let accepted = 0
    fc.assert(
      fc.property(fc.constantFrom(...vectors.tokens), changes, ({ bytes }, list) => {
        const mutated = unhex(bytes)
        for (const [at, value] of list) mutated[at] = value
        let meaning: ReturnType<typeof readToken> | undefined
        try {
          meaning = readToken(hex(mutated))
        } catch {
          meaning = undefined
        }
        const said = parseToken(mutated)
        expect(said === undefined).toBe(meaning === undefined)
        if (said === undefined || meaning === undefined) return
        accepted++
        expect([said.audience, said.issuedAt, said.expiresAt, hex(said.user)]).toEqual([
          meaning.audience,
          meaning.issuedAt,
          meaning.expiresAt,
          meaning.user,
        ])
      }),
      { seed: 4, numRuns: 2000 },
    )
    expect(accepted).toBeGreaterThan(300)
  })
})
