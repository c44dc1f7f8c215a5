import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { REPLY_BYTES_MAX } from '../base/limits.ts'
import { HEADER_BYTES_MIN, PacketHeader, readHeader } from '../packet/header.ts'
import {
  HandshakeMessage, REQUEST_BYTES, readHandshake, writeAccepted, writeChallenge, writeRefused, writeRejected,
  writeRequest, writeReset, writeResponse,
} from './handshake.ts'
import { readAcceptance, readHello, writeAcceptance, writeHello } from './handshake-body.ts'

const key = Uint8Array.from({ length: 32 }, (_, index) => index + 1)
const cookie = Uint8Array.from({ length: 16 }, (_, index) => 0x40 + index)
const signature = Uint8Array.from({ length: 64 }, (_, index) => 0xa0 + index)
const random = Uint8Array.from({ length: 16 }, (_, index) => 0x80 + index)
const byteStrings = (maxLength: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength })
const fingerprint = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
const AT = HEADER_BYTES_MIN

function read(bytes: Uint8Array, length: number, isOurVersion: boolean = true) {
  const header = new PacketHeader()
  if (readHeader(bytes, length, header) !== 'ok') return { kind: 'malformed', message: new HandshakeMessage() }
  if (!isOurVersion) header.version = 200
  const message = new HandshakeMessage()
  return { kind: readHandshake(header, bytes, length, message), message }
}

describe('handshake', () => {
  test('[HS1] a request is 1200 bytes: kind, salt, key, suites, zeros', () => {
    const bytes = new Uint8Array(1500).fill(0xee)
    expect(writeRequest(bytes, 0x11223344, 0x55667788, key, [2, 1])).toBe(1200)
    expect([...bytes.slice(AT, AT + 44)]).toEqual(
      [1, 0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55, ...key, 2, 2, 1],
    )
    expect(bytes.slice(AT + 44, 1200).every((byte) => byte === 0)).toBe(true)
    const { kind, message } = read(bytes, 1200)
    expect(kind).toBe('request')
    expect(message).toMatchObject({
      saltLo: 0x11223344,
      saltHi: 0x55667788,
      clientKey: key,
      suites: Uint8Array.of(2, 1, 0, 0, 0, 0, 0, 0),
    })
  })

  test('[HS1] a packet with another length, other padding or no suites is not a request', () => {
    const bytes = new Uint8Array(1500)
    writeRequest(bytes, 1, 2, key, [1, 2, 3, 4, 5, 6, 7, 8])
    expect(read(bytes, 1200).kind).toBe('request')
    for (const length of [0, AT, AT + 9, 1199, 1201]) expect(read(bytes, length).kind).toBe('malformed')
    const spoilt = (at: number, value: number): string =>
      read(
        Uint8Array.from(bytes, (byte, index) => (index === at ? value : byte)),
        1200,
      ).kind
    expect(spoilt(1199, 1)).toBe('malformed')
    for (const count of [0, 7, 9, 255]) expect(spoilt(AT + 41, count), `${count} suites`).toBe('malformed')
    expect(spoilt(AT + 45, 0), 'suite 0').toBe('malformed')
  })

  test('[HS1] a response is 1200 bytes, whatever it carries', () => {
    fc.assert(
      fc.property(byteStrings(429), byteStrings(64), byteStrings(590), (token, user, data) => {
        const bytes = new Uint8Array(1500).fill(0xee)
        const at = writeResponse(bytes, 7, 8, 1, key, cookie, Uint8Array.of(2, 1))
        writeHello(bytes, at, { fingerprint, token, user, data })
        const { kind, message } = read(bytes, REQUEST_BYTES)
        expect(kind).toBe('response')
        expect(message).toMatchObject({
          saltLo: 7,
          saltHi: 8,
          suite: 1,
          clientKey: key,
          cookie,
          offered: Uint8Array.of(2, 1),
          sealedAt: at,
        })
        expect(readHello(bytes, at, REQUEST_BYTES - 16)).toEqual({ fingerprint, token, user, data })
        for (const length of [1199, 1201, at]) expect(read(bytes, length).kind).toBe('malformed')
        bytes[REQUEST_BYTES - 17] = 1
        expect(readHello(bytes, at, REQUEST_BYTES - 16), 'padding').toBeUndefined()
      }),
      { seed: 5, numRuns: 30 },
    )
    const bytes = new Uint8Array(1500)
    const at = writeResponse(bytes, 7, 8, 1, key, cookie, Uint8Array.of(1))
    bytes[at + 9] = 2
    expect(readHello(bytes, at, REQUEST_BYTES - 16), 'a token longer than any').toBeUndefined()
    bytes[at + 9] = 0
    bytes[at + 10] = 65
    expect(readHello(bytes, at, REQUEST_BYTES - 16), 'more user bytes than any').toBeUndefined()
    for (let end = at; end <= at + 10; end++) expect(readHello(bytes, at, end), `cut at ${end - at}`).toBeUndefined()
  })

  test('[HS1] a packet without suites, with more than eight, or with suite 0 is not a response', () => {
    const bytes = new Uint8Array(1500)
    writeResponse(bytes, 7, 8, 1, key, cookie, Uint8Array.of(1, 2))
    const spoilt = (at: number, value: number): string =>
      read(
        Uint8Array.from(bytes, (byte, index) => (index === at ? value : byte)),
        1200,
      ).kind
    expect(spoilt(AT + 57, 2)).toBe('response')
    for (const count of [0, 3, 9, 255]) expect(spoilt(AT + 57, count), `${count} suites`).toBe('malformed')
    expect(spoilt(AT + 59, 0), 'suite 0').toBe('malformed')
  })

  test('[HS3] only Accepted and Reset name a connection, and no handshake packet has a sequence', () => {
    const bytes = new Uint8Array(1500)
    const kindAfter = (length: number, at: number, value: number): string => {
      const changed = bytes.slice(0, length)
      changed[at] = value
      return read(changed, length).kind
    }
    const accepted = writeAccepted(bytes, 7, 0, 1, 2, random) + 100
    expect(read(bytes, accepted).kind).toBe('accepted')
    expect(kindAfter(accepted, 5, 0), 'an acceptance without an id').toBe('malformed')
    expect(kindAfter(accepted, 13, 1), 'an epoch').toBe('malformed')
    expect(kindAfter(accepted, 14, 1), 'a sequence').toBe('malformed')
    expect(kindAfter(writeReset(bytes, 7, 0, cookie), 5, 0), 'a reset without an id').toBe('malformed')
    expect(kindAfter(writeRejected(bytes, 1, 2, 4), 12, 1), 'a rejection with an id').toBe('malformed')
    expect(kindAfter(writeRefused(bytes, 1, 2, random) + 17, 12, 1), 'a refusal with an id').toBe('malformed')
    expect(kindAfter(writeChallenge(bytes, 1, 2, 1, key, cookie, signature), 12, 1), 'a challenge with an id').toBe(
      'malformed',
    )
    expect(kindAfter(writeRequest(bytes, 1, 2, key, [1]), 5, 1), 'a request with an id').toBe('malformed')
    writeResponse(bytes, 7, 8, 1, key, cookie, Uint8Array.of(1))
    expect(kindAfter(1200, 5, 1), 'a response with an id').toBe('malformed')
  })

  test('[HS2] no answer is longer than 0.35 of its request', () => {
    const bytes = new Uint8Array(1500)
    expect(writeChallenge(bytes, 1, 2, 1, key, cookie, signature)).toBe(137)
    expect(writeRejected(bytes, 1, 2, 4)).toBe(25)
    expect(writeReset(bytes, 1, 2, cookie)).toBe(32)
    const at = writeAccepted(bytes, 1, 2, 3, 4, random)
    const length = at + writeAcceptance(bytes, at, {
      resetToken: cookie, signature: new Uint8Array(64), datagramBytesMax: 1200, welcome: new Uint8Array(256),
    }) + 16
    expect(length).toBeLessThanOrEqual(REPLY_BYTES_MAX)
    expect(length / REQUEST_BYTES).toBeLessThan(0.35)
  })

  test('[HS3] answers repeat the salt; their plain fields are read back, and a truncated answer is not read', () => {
    const bytes = new Uint8Array(1500)
    const challenge = writeChallenge(bytes, 5, 6, 2, key, cookie, signature)
    expect(read(bytes, challenge).message).toMatchObject({
      saltLo: 5,
      saltHi: 6,
      suite: 2,
      serverKey: key,
      cookie,
      signature,
    })
    for (let cut = 0; cut < challenge; cut++) expect(read(bytes, cut).kind).toBe('malformed')
    const refused = writeRefused(bytes, 5, 6, random)
    expect(read(bytes, refused + 17)).toMatchObject({
      kind: 'refused',
      message: { saltLo: 5, saltHi: 6, random, sealedAt: refused },
    })
    for (let cut = 0; cut < refused + 16; cut++) expect(read(bytes, cut).kind).toBe('malformed')
    const reset = writeReset(bytes, 9, 9, cookie)
    expect(read(bytes, reset)).toMatchObject({ kind: 'reset', message: { resetToken: cookie } })
    expect(read(bytes, reset + 1).kind).toBe('malformed')
  })

  test('[HS3] an acceptance is read back as written, and a body of another length is not read', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 256 }),
        fc.integer({ min: 1200, max: 1500 }),
        (welcome, datagramBytesMax) => {
          const bytes = new Uint8Array(600)
          const acceptance = { resetToken: cookie, signature: new Uint8Array(64).fill(3), datagramBytesMax, welcome }
          const size = writeAcceptance(bytes, 40, acceptance)
          expect(readAcceptance(bytes, 40, 40 + size)).toEqual(acceptance)
          for (const end of [40, 40 + 83, 40 + size - 1, 40 + size + 1])
            expect(readAcceptance(bytes, 40, end)).toBeUndefined()
        },
      ),
      { seed: 11, numRuns: 30 },
    )
  })

  test('[HS5] the salt of a request and a rejection are read in every version, the rest only in this one', () => {
    const bytes = new Uint8Array(1500)
    writeRequest(bytes, 5, 6, key, [1])
    bytes.fill(0xaa, AT + 9, 1200)
    const request = read(bytes, 1200, false)
    expect(request.kind).toBe('request')
    expect(request.message).toMatchObject({ saltLo: 5, saltHi: 6 })
    const rejected = read(bytes, writeRejected(bytes, 5, 6, 4), false)
    expect(rejected).toMatchObject({ kind: 'rejected', message: { saltLo: 5, saltHi: 6, reason: 4 } })
    expect(read(bytes, writeChallenge(bytes, 1, 2, 1, key, cookie, signature), false).kind).toBe('malformed')
    expect(read(bytes, writeAccepted(bytes, 1, 2, 5, 6, random) + 100, false).kind).toBe('malformed')
    expect(read(bytes, writeReset(bytes, 1, 2, cookie), false).kind).toBe('malformed')
  })
})
