import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HEADER_BYTES_MAX, PACKET_TYPE, PacketHeader, readHeader, writeHeader } from './header.ts'

function headerOf(fields: Partial<PacketHeader>): PacketHeader {
  return Object.assign(new PacketHeader(), fields)
}

function written(fields: Partial<PacketHeader>): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES_MAX)
  return bytes.slice(0, writeHeader(headerOf(fields), bytes))
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
}

const sequences = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.maxSafeNat(),
  fc.integer({ min: 0, max: 52 }).map((power) => 2 ** power),
)

describe('header', () => {
  test('[PKT1] every field stands at its offset, little-endian', () => {
    const bytes = written({ type: PACKET_TYPE.payload, idLo: 0x44332211, idHi: 0x88776655, epoch: 9, sequence: 300 })
    expect(hex(bytes)).toBe('54 4b 57 03 01 11 22 33 44 55 66 77 88 09 ac 02')
  })

  test.each([
    [0, 15], [127, 15], [128, 16], [2 ** 14 - 1, 16], [2 ** 14, 17], [2 ** 49, 22], [Number.MAX_SAFE_INTEGER, 22],
  ])('[PKT1] sequence %d makes a header of %d bytes', (sequence, length) => {
    const bytes = written({ sequence })
    expect(bytes.length).toBe(length)
    const out = new PacketHeader()
    expect(readHeader(bytes, bytes.length, out)).toBe('ok')
    expect(out.sequence).toBe(sequence)
    expect(out.byteLength).toBe(length)
  })

  test('[PKT2] a header is read back as written, and written back byte for byte', () => {
    const fields = fc.record({
      version: fc.nat(255), type: fc.nat(5), idLo: fc.nat(0xffff_ffff), idHi: fc.nat(0xffff_ffff), epoch: fc.nat(255),
      sequence: sequences,
    })
    fc.assert(fc.property(fields, (values) => {
      const bytes = written(values)
      const out = new PacketHeader()
      expect(readHeader(bytes, bytes.length, out)).toBe('ok')
      expect(out).toMatchObject(values)
      expect(written(out)).toEqual(bytes)
    }), { seed: 1 })
  })

  test('[PKT2] every accepted header has one encoding', () => {
    const anything = fc.uint8Array({ minLength: 11, maxLength: 24 }).map((tail) => {
      const bytes = Uint8Array.of(0x54, 0x4b, 0x57, 1, ...tail)
      bytes[4]! %= 7
      return bytes
    })
    fc.assert(fc.property(anything, (bytes) => {
      const out = new PacketHeader()
      if (readHeader(bytes, bytes.length, out) === 'ok') expect(written(out)).toEqual(bytes.slice(0, out.byteLength))
    }), { seed: 2, numRuns: 2000 })
  })

  test.each([
    ['over-long 0', [0x80, 0x00]],
    ['over-long 1', [0x81, 0x00]],
    ['2^53', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]],
    ['2^63 in nine bytes', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]],
  ])('[PKT2] sequence %s is refused', (_name, sequence) => {
    const bytes = Uint8Array.of(...written({}).slice(0, 14), ...sequence)
    expect(readHeader(bytes, bytes.length, new PacketHeader())).toBe('sequence')
  })

  test('[PKT3] a datagram that ends inside the header, of another protocol, or of an unknown type is refused', () => {
    const bytes = written({ sequence: 300 })
    for (let length = 0; length < bytes.length; length++) {
      expect(readHeader(bytes, length, new PacketHeader())).toBe('short')
    }
    for (let at = 0; at < 3; at++) {
      const other = bytes.slice()
      other[at]! ^= 1
      expect(readHeader(other, other.length, new PacketHeader())).toBe('magic')
    }
    const type = bytes.slice()
    type[4] = 6
    expect(readHeader(type, type.length, new PacketHeader())).toBe('type')
  })
})
