import { createHash, createPrivateKey, createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeRelayVectors, relayVectorsText } from '../../tools/gen-vectors-relay.ts'
import vectors from '../vectors/relay.json' with { type: 'json' }
import { type RelayMeaning, readRelayMeaning } from './relay-checker.ts'
import { engineReadsRelay, engineWritesRelay } from './relay-engine.ts'
import { readTurn, turnKeyOf } from './turn-checker.ts'

const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))
const messages: readonly { readonly name: string; readonly bytes: string; readonly meaning: unknown }[] =
  vectors.messages

function checkerReads(bytes: Uint8Array): RelayMeaning | undefined {
  try {
    return readRelayMeaning(bytes, vectors.key)
  } catch {
    return undefined
  }
}

describe('relay vectors', () => {
  test('[NAT1] the file is what its generator makes', () => {
    expect(readFileSync(new URL('../vectors/relay.json', import.meta.url), 'utf8')).toBe(
      relayVectorsText(makeRelayVectors()),
    )
  })

  test.each(messages)('[NAT1] $name: the document, the engine\'s reader and its writer agree', ({ bytes, meaning }) => {
    expect(readRelayMeaning(unhex(bytes), vectors.key)).toEqual(meaning)
    expect(engineReadsRelay(unhex(bytes), vectors.key)).toEqual(meaning)
    // reason: the JSON module is typed by its values, wider than what they were written from.
    expect(engineWritesRelay(meaning as RelayMeaning, vectors.key)).toEqual(unhex(bytes))
  })

  test.each(vectors.refused)('[NAT1] refused by the document and by the engine: $name', ({ bytes }) => {
    expect(checkerReads(unhex(bytes))).toBeUndefined()
    expect(engineReadsRelay(unhex(bytes), vectors.key)).toBeUndefined()
  })

  test('[NAT1] on mutated messages, engine and document accept the same, with the same meaning', () => {
    const mutations = fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { minLength: 0, maxLength: 3 })
    fc.assert(fc.property(fc.constantFrom(...messages), mutations, fc.nat(4), (vector, changes, cut) => {
      const bytes = unhex(vector.bytes)
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
      const shorter = bytes.slice(0, bytes.length - cut)
      expect(engineReadsRelay(shorter, vectors.key)).toEqual(checkerReads(shorter))
    }), { seed: 28, numRuns: 1500 })
  })

  test.each(vectors.turn.exchange)('[TURN1] $name: the checker reads question and answer', (vector) => {
    const keys = vectors.turn.users.map(({ key }) => Buffer.from(key, 'hex'))
    const key = vector.from.startsWith('[') ? keys[1] : keys[0]
    if (vector.meaning !== undefined) expect(readTurn(unhex(vector.bytes), key)).toEqual(vector.meaning)
    const { answer } = vector
    if (answer === undefined) return
    if (answer.meaning !== undefined) expect(readTurn(unhex(answer.bytes), key)).toEqual(answer.meaning)
    // A request without a MAC, or with a MAC that cannot be checked, is answered without a MAC.
    const isProven = vector.meaning?.hasIntegrity === true && !vector.name.includes('438')
    if (answer.meaning?.class !== 'indication' && answer.meaning !== undefined)
      expect(answer.meaning.hasIntegrity).toBe(isProven)
    expect(unhex(answer.bytes).length).toBeLessThanOrEqual(2 * unhex(vector.bytes).length + 36)
  })

  test('[TURN1] the key of a user is what the document says', () => {
    for (const { username, password, key } of vectors.turn.users)
      expect(turnKeyOf(username, 'turn', password).toString('hex')).toBe(key)
  })

  test('[NAT2] the signature of a relay token is what the document says, by another library', () => {
    const token = Buffer.from(vectors.token.bytes, 'hex')
    const head = Buffer.from('302e020100300506032b657004220420', 'hex')
    const seed = Buffer.concat([head, unhex(vectors.token.issuerSeed)])
    const publicKey = createPublicKey(createPrivateKey({ key: seed, format: 'der', type: 'pkcs8' }))
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
    const signed = Buffer.concat([Buffer.from('tickwire/v1/relay-token\0'), token.subarray(0, -64)])
    expect(verify(null, signed, publicKey, token.subarray(-64))).toBe(true)
    expect(token.subarray(1, 9)).toEqual(createHash('sha256').update(raw).digest().subarray(0, 8))
  })
})
