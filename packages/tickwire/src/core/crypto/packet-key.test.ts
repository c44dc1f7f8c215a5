import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConfigError, InvariantError } from '../base/assert.ts'
import { PacketHeader, writeHeader } from '../packet/header.ts'
import { OpeningKey, SealingKey } from './packet-key.ts'
import { SUITE } from './provider.ts'
import { pureProvider } from './pure-provider.ts'
import { createSuite, keyMaterialBytes } from './suite.ts'

const suites = Object.values(SUITE).map((id) => createSuite(id, pureProvider))
const [chacha, aes] = suites as [(typeof suites)[0], (typeof suites)[0]]
const materialOf = (suite: (typeof suites)[0]): Uint8Array => new Uint8Array(keyMaterialBytes(suite)).fill(0x5a)

function nonceOf(suite: (typeof suites)[0], epoch: number, sequence: number): number[] {
  const nonce = new Uint8Array(12).fill(0xff)
  suite.writeNonce(nonce, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), epoch, sequence)
  return [...nonce]
}

describe('nonces', () => {
  test('[CRYPTO3] suite 1: epoch * 2^88 + sequence, low byte first', () => {
    expect(nonceOf(chacha, 0, 1)).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    expect(nonceOf(chacha, 3, 0x1f_2e3d_4c5b_6a79)).toEqual([0x79, 0x6a, 0x5b, 0x4c, 0x3d, 0x2e, 0x1f, 0, 0, 0, 0, 3])
    expect(nonceOf(chacha, 255, 2 ** 32)).toEqual([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 255])
    expect(nonceOf(chacha, 257, 2 ** 53 - 1)).toEqual([255, 255, 255, 255, 255, 255, 31, 0, 0, 0, 0, 1])
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(255), (sequence, epoch) => {
        const value = nonceOf(chacha, epoch, sequence).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
        expect(value).toBe((BigInt(epoch) << 88n) + BigInt(sequence))
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  test('[CRYPTO4] suite 2: salt, then 32 bits that count, low byte first', () => {
    expect(nonceOf(aes, 9, 0x0102_0304)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 4, 3, 2, 1])
    expect(nonceOf(aes, 9, 2 ** 32 + 7)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 7, 0, 0, 0])
  })

  test('[CRYPTO3] [CRYPTO4] there are no other suites', () => {
    for (const id of [0, 3, 255, NaN, 1.5]) expect(() => createSuite(id, pureProvider)).toThrow(ConfigError)
    expect(suites.map(({ id, name }) => [id, name])).toEqual([
      [1, 'ChaCha20-Poly1305 by noble 2.4.0'],
      [2, 'AES-256-GCM by noble 2.4.0'],
    ])
  })
})

for (const suite of suites)
  describe(suite.name, () => {
    const pair = (): { sealing: SealingKey; opening: OpeningKey } => ({
      sealing: new SealingKey(suite, 2, materialOf(suite)),
      opening: new OpeningKey(suite, 2, materialOf(suite)),
    })

    /** A packet as the connection writes it, with 3 bytes of body. */
    function packet(sequence: number): { bytes: Uint8Array; headerLength: number } {
      const header = new PacketHeader()
      Object.assign(header, { type: 1, idLo: 0x0bad_f00d, idHi: 0x1234_5678, epoch: 2, sequence })
      const bytes = new Uint8Array(64)
      const headerLength = writeHeader(header, bytes)
      bytes.set([10, 20, 30], headerLength)
      return { bytes, headerLength }
    }

    test('[CRYPTO5] a packet is sealed in place behind its header, and opened by the other end', () => {
      const { sealing, opening } = pair()
      for (const sequence of [1, 2, 127, 128, 2 ** 14, 2 ** 31, 2 ** 32 - 1]) {
        const { bytes, headerLength } = packet(sequence)
        const head = bytes.slice(0, headerLength)
        const length = sealing.seal(sequence, bytes, headerLength, 3)
        expect(length).toBe(headerLength + 3 + 16)
        expect(bytes.slice(0, headerLength)).toEqual(head)
        expect(bytes.slice(headerLength, headerLength + 3)).not.toEqual(Uint8Array.of(10, 20, 30))
        expect(opening.open(sequence, bytes, headerLength, length)).toBe(true)
        expect([...bytes.slice(headerLength, headerLength + 3)]).toEqual([10, 20, 30])
      }
      expect(sealing).toMatchObject({ packetsSealed: 7, bytesSealed: 21 })
      expect(opening).toMatchObject({ packetsOpened: 7, bytesOpened: 21 })
    })

    test('[CRYPTO5] each bit of header, body and tag counts; so do the sequence, the epoch and the length', () => {
      const { sealing, opening } = pair()
      const { bytes, headerLength } = packet(300)
      const length = sealing.seal(300, bytes, headerLength, 3)
      for (let bit = 0; bit < length * 8; bit++) {
        const forged = bytes.slice()
        forged[bit >> 3]! ^= 1 << (bit & 7)
        expect(opening.open(300, forged, headerLength, length), `bit ${bit}`).toBe(false)
      }
      for (let cut = 0; cut < length; cut++) expect(opening.open(300, bytes.slice(), headerLength, cut)).toBe(false)
      for (let more = length + 1; more <= 64; more++)
        expect(opening.open(300, bytes.slice(), headerLength, more)).toBe(false)
      expect(opening.open(300, bytes.slice(0, length), headerLength, length + 1)).toBe(false)
      expect(opening.open(301, bytes.slice(), headerLength, length)).toBe(false)
      if (suite === chacha)
        expect(new OpeningKey(suite, 3, materialOf(suite)).open(300, bytes.slice(), headerLength, length)).toBe(false)
      expect(opening.open(300, bytes, headerLength, length)).toBe(true)
    })

    test('[CRYPTO6] a sequence that does not rise is refused for good, and seals nothing', () => {
      const { sealing } = pair()
      const { bytes, headerLength } = packet(5)
      sealing.seal(5, bytes, headerLength, 3)
      const before = bytes.slice()
      for (const sequence of [5, 4, 0, -1, 5.5, NaN, Infinity, 2 ** 53]) {
        expect(() => sealing.seal(sequence, bytes, headerLength, 3), `${sequence}`).toThrow(InvariantError)
      }
      expect(bytes).toEqual(before)
      sealing.seal(6, packet(6).bytes, headerLength, 3)
    })

    test('[CRYPTO6] no two packets of one key share a nonce, whatever order is tried', () => {
      fc.assert(
        fc.property(fc.array(fc.nat(60), { maxLength: 40 }), (sequences) => {
          const nonces = new Set<string>()
          const real = suite.importKey
          const spied = {
            ...suite,
            importKey: (key: Uint8Array) => {
              const aead = real(key)
              return {
                ...aead,
                open: () => false,
                wipe: () => {},
                seal: (nonce: Uint8Array) => {
                  expect(nonces.has(nonce.join())).toBe(false)
                  nonces.add(nonce.join())
                },
              }
            },
          }
          const key = new SealingKey(spied, 1, materialOf(suite))
          let sealed = 0
          for (const sequence of sequences) {
            try {
              key.seal(sequence, new Uint8Array(40), 15, 0)
              sealed++
            } catch (error) {
              expect(error).toBeInstanceOf(InvariantError)
            }
          }
          expect(nonces.size).toBe(sealed)
        }),
        { seed: 2, numRuns: 200 },
      )
    })

    test('[CRYPTO6] a key ends before its nonces do, at the limit of every counter', () => {
      const { packetsMax } = suite
      for (const first of [0, 1, 2 ** 32 - 2, 2 ** 48 - 2]) {
        const key = new SealingKey(suite, 0, materialOf(suite))
        const bytes = new Uint8Array(64)
        expect([key.sequencesLeft, key.isSpent]).toEqual([packetsMax, false])
        key.seal(first, bytes, 22, 1)
        key.seal(first + packetsMax - 1, bytes, 22, 1)
        expect([key.sequencesLeft, key.isSpent]).toEqual([0, true])
        expect(() => key.seal(first + packetsMax, bytes, 22, 1)).toThrow(InvariantError)
      }
      expect(aes.packetsMax).toBe(2 ** 32)
    })

    test('[CRYPTO6] a wiped key, a key of the wrong size, and a buffer without room for the tag are errors', () => {
      const { sealing, opening } = pair()
      const { bytes, headerLength } = packet(1)
      expect(() => sealing.seal(1, bytes.subarray(0, headerLength + 18), headerLength, 3)).toThrow(InvariantError)
      expect(() => sealing.seal(1, new Uint8Array(2000), headerLength, 1500)).toThrow(InvariantError)
      expect(() => new SealingKey(suite, 0, new Uint8Array(31))).toThrow(InvariantError)
      sealing.wipe()
      opening.wipe()
      expect(() => sealing.seal(2, bytes, headerLength, 3)).toThrow('wiped')
      expect(() => opening.open(2, bytes, headerLength, 40)).toThrow('wiped')
    })
  })
