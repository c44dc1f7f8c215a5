import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HEADER_BYTES_MIN, PacketHeader, readHeader } from '../packet/header.ts'
import {
  HandshakeMessage, REQUEST_BYTES, readHandshake, writeAccepted, writeRejected, writeRequest,
} from './handshake.ts'

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
  test('[HS1] a request is 1200 bytes: kind, salt, fingerprint, user bytes, zeros', () => {
    const bytes = new Uint8Array(1500).fill(0xee)
    expect(writeRequest(bytes, 0x11223344, 0x55667788, fingerprint, Uint8Array.of(9, 9))).toBe(1200)
    expect([...bytes.slice(AT, AT + 20)]).toEqual(
      [1, 0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55, 1, 2, 3, 4, 5, 6, 7, 8, 2, 9, 9],
    )
    expect(bytes.slice(AT + 20, 1200).every((byte) => byte === 0)).toBe(true)
    const { kind, message } = read(bytes, 1200)
    expect(kind).toBe('request')
    expect(message).toMatchObject({ saltLo: 0x11223344, saltHi: 0x55667788, fingerprint, bytes: Uint8Array.of(9, 9) })
  })

  test('[HS1] a request of another length, with other padding or too many user bytes is no request', () => {
    const bytes = new Uint8Array(1500)
    writeRequest(bytes, 1, 2, fingerprint, new Uint8Array(64))
    expect(read(bytes, 1200).kind).toBe('request')
    for (const length of [0, AT, AT + 9, 1199, 1201]) expect(read(bytes, length).kind).toBe('malformed')
    const padded = bytes.slice()
    padded[1199] = 1
    expect(read(padded, 1200).kind).toBe('malformed')
    bytes[AT + 17] = 65
    expect(read(bytes, 1200).kind).toBe('malformed')
  })

  test('[HS3] only an acceptance names a connection, and no handshake is numbered or sealed', () => {
    const bytes = new Uint8Array(1500)
    const kindAfter = (length: number, at: number, value: number): string => {
      const changed = bytes.slice(0, length)
      changed[at] = value
      return read(changed, length).kind
    }
    const accepted = writeAccepted(bytes, 7, 0, 1, 2, new Uint8Array(3))
    expect(kindAfter(accepted, 5, 0), 'an acceptance without an id').toBe('malformed')
    expect(kindAfter(accepted, 13, 1), 'an epoch').toBe('malformed')
    expect(kindAfter(accepted, 14, 1), 'a sequence').toBe('malformed')
    expect(kindAfter(writeRejected(bytes, 1, 2, 4), 12, 1), 'a rejection with an id').toBe('malformed')
    expect(kindAfter(writeRequest(bytes, 1, 2, fingerprint, new Uint8Array(3)), 5, 1), 'a request with an id').toBe('malformed')
  })

  test('[HS2] no answer is longer than a third of a request', () => {
    const bytes = new Uint8Array(1500)
    expect(writeAccepted(bytes, 1, 2, 3, 4, new Uint8Array(256)) / REQUEST_BYTES).toBeLessThan(1 / 3)
    expect(writeRejected(bytes, 1, 2, 4)).toBe(25)
  })

  test('[HS3] answers repeat the salt; the id stands in the header', () => {
    fc.assert(fc.property(fc.nat(0xffff_ffff), fc.nat(0xffff_ffff), fc.uint8Array({ maxLength: 256 }), (lo, hi, welcome) => {
      const bytes = new Uint8Array(1500)
      const length = writeAccepted(bytes, 7, 8, lo, hi, welcome)
      const header = new PacketHeader()
      expect(readHeader(bytes, length, header)).toBe('ok')
      expect(header).toMatchObject({ type: 0, idLo: 7, idHi: 8, sequence: 0, epoch: 0 })
      const { kind, message } = read(bytes, length)
      expect(kind).toBe('accepted')
      expect(message).toMatchObject({ saltLo: lo, saltHi: hi, bytes: welcome })
      for (let cut = 0; cut < length; cut++) expect(read(bytes, cut).kind).toBe('malformed')
    }), { seed: 11, numRuns: 30 })
  })

  test('[HS5] salt of a request and all of a rejection are understood in every version, the rest only in ours', () => {
    const bytes = new Uint8Array(1500)
    writeRequest(bytes, 5, 6, fingerprint, new Uint8Array(0))
    bytes.fill(0xaa, AT + 9, 1200)
    const request = read(bytes, 1200, false)
    expect(request.kind).toBe('request')
    expect(request.message).toMatchObject({ saltLo: 5, saltHi: 6 })
    const length = writeRejected(bytes, 5, 6, 4)
    const rejected = read(bytes, length, false)
    expect(rejected.kind).toBe('rejected')
    expect(rejected.message).toMatchObject({ saltLo: 5, saltHi: 6, reason: 4 })
    expect(read(bytes, writeAccepted(bytes, 1, 2, 5, 6, new Uint8Array(3)), false).kind).toBe('malformed')
  })
})
