import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { ACK_BLOCK_BITS_MAX, AckBlock, readAckBlock, writeAckBlock } from './ack-block.ts'

function blockOf(fields: Partial<AckBlock>): AckBlock {
  return Object.assign(new AckBlock(), fields)
}

function written(block: AckBlock): { bytes: Uint8Array; bits: number } {
  const bytes = new Uint8Array(16)
  const writer = new BitWriter(bytes)
  writeAckBlock(block, writer)
  const bits = writer.bitLength
  return { bytes: bytes.slice(0, writer.finish()), bits }
}

describe('ack block', () => {
  test('[ACK1] latest 1042 with vector ...1011 means that 1041, 1040 and 1038 arrived and 1039 did not', () => {
    const { bytes, bits } = written(blockOf({ latest: 1042, delayUnits: 3, lo: 0xffff_fffb }))
    // latest 0x0412, delay 0x0003, gaps 0001, group 0 = 0xfffb
    expect([...bytes]).toEqual([0x04, 0x12, 0x00, 0x03, 0x1f, 0xff, 0xb0])
    expect(bits).toBe(52)
  })

  test('[ACK3] a clean path costs 36 bits, the worst 100', () => {
    expect(written(new AckBlock()).bits).toBe(36)
    expect(written(blockOf({ lo: 0, hi: 0 })).bits).toBe(ACK_BLOCK_BITS_MAX)
    expect(ACK_BLOCK_BITS_MAX).toBe(100)
  })

  test('[ACK3] a block is read back as written, from any bit on', () => {
    const word = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 0xffff_ffff, 0xffff, 0xffff_0000))
    const blocks = fc.record({ latest: fc.nat(0xffff), delayUnits: fc.nat(0xffff), lo: word, hi: word })
    fc.assert(fc.property(blocks, fc.nat(7), (fields, shift) => {
      const bytes = new Uint8Array(16)
      const writer = new BitWriter(bytes)
      writer.writeBits(0, shift)
      writeAckBlock(blockOf(fields), writer)
      const reader = new BitReader(bytes.slice(0, writer.finish()))
      reader.skipBits(shift)
      const out = new AckBlock()
      readAckBlock(reader, out)
      expect(out).toEqual(blockOf(fields))
      expect(reader.finish()).toBe(true)
    }), { seed: 3 })
  })

  test('[ACK3] a group of all ones that was not left out is a second encoding, and refused', () => {
    const bytes = Uint8Array.of(0, 0, 0, 0, 0x1f, 0xff, 0xf0)
    const reader = new BitReader(bytes)
    readAckBlock(reader, new AckBlock())
    expect(reader.failed).toBe(true)
  })

  test('[ACK3] a block cut short anywhere fails and does not throw', () => {
    const { bytes } = written(blockOf({ latest: 9, lo: 5, hi: 6 }))
    for (let length = 0; length < bytes.length; length++) {
      const reader = new BitReader(bytes.subarray(0, length))
      readAckBlock(reader, new AckBlock())
      expect(reader.failed).toBe(true)
    }
  })
})
