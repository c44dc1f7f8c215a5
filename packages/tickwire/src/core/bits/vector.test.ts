import { describe, expect, test } from 'vitest'
import { BitReader } from './bit-reader.ts'
import { BitWriter } from './bit-writer.ts'
import { readCompressedFloat, writeCompressedFloat } from './compressed-float.ts'
import { floatQuant } from './quantize.ts'
import { readQuaternion, writeQuaternion } from './quaternion.ts'
import { readVector2, readVector3, readVector4, writeVector2, writeVector3, writeVector4 } from './vector.ts'

const bytes = new Uint8Array(32)
const writer = new BitWriter(bytes)
const POSITION = floatQuant(-4096, 4096, 0.001)
const SPEED = floatQuant(-256, 256, 0.01)
const HEIGHT = floatQuant(0, 640, 0.1)

describe('[BITS17] compressed floats and vectors', () => {
  test('a position at a millimetre is 23 bits an axis, three axes are 69', () => {
    writer.reset(bytes)
    writeVector3(writer, { x: 1, y: -2, z: 3.0004 }, POSITION)
    expect(writer.bitLength).toBe(69)
    writer.finish()
    const out = { x: 0, y: 0, z: 0 }
    readVector3(new BitReader(bytes), out, POSITION)
    expect(out.x).toBeCloseTo(1, 9)
    expect(out.y).toBeCloseTo(-2, 9)
    expect(out.z).toBeCloseTo(3, 9)
  })

  test('bounds per axis give a number of bits per axis, in x, y, z, w order', () => {
    const quant = { x: POSITION, y: SPEED, z: HEIGHT, w: SPEED }
    const value = { x: 5, y: 1.25, z: 7.5, w: -2 }
    writer.reset(bytes)
    writeVector4(writer, value, quant)
    expect(writer.bitLength).toBe(23 + 16 + 13 + 16)
    writer.finish()
    const reader = new BitReader(bytes)
    expect(readCompressedFloat(reader, POSITION)).toBeCloseTo(5, 9)
    expect(readCompressedFloat(reader, SPEED)).toBeCloseTo(1.25, 9)
    expect(readCompressedFloat(reader, HEIGHT)).toBeCloseTo(7.5, 9)
    expect(readCompressedFloat(reader, SPEED)).toBeCloseTo(-2, 9)
    const out = { x: 0, y: 0, z: 0, w: 0 }
    readVector4(new BitReader(bytes), out, quant)
    expect(out.w).toBeCloseTo(-2, 9)
  })

  test('two components', () => {
    writer.reset(bytes)
    writeVector2(writer, { x: 1, y: 600 }, { x: SPEED, y: HEIGHT })
    writer.finish()
    const out = { x: 0, y: 0 }
    readVector2(new BitReader(bytes), out, { x: SPEED, y: HEIGHT })
    expect(out.x).toBeCloseTo(1, 9)
    expect(out.y).toBeCloseTo(600, 9)
  })

  test('a step above the highest is refused', () => {
    writer.reset(bytes)
    writer.writeBits(6401, 13)
    writer.finish()
    const reader = new BitReader(bytes)
    expect(readCompressedFloat(reader, HEIGHT)).toBe(0)
    expect(reader.failed).toBe(true)
  })

  test('a value that is too large becomes the highest step', () => {
    writer.reset(bytes)
    writeCompressedFloat(writer, 1e9, HEIGHT)
    writer.finish()
    expect(readCompressedFloat(new BitReader(bytes), HEIGHT)).toBe(640)
  })
})

describe('[BITS18] quaternions', () => {
  test('are 32 bits, identity in the middle of its range', () => {
    writer.reset(bytes)
    writeQuaternion(writer, { x: 0, y: 0, z: 0, w: 1 })
    expect(writer.bitLength).toBe(32)
    writer.finish()
    const reader = new BitReader(bytes)
    expect([2, 10, 10, 10].map((width) => reader.readBits(width))).toEqual([3, 511, 511, 511])
  })

  test('a row that is not canonical is refused and reads as identity', () => {
    writer.reset(bytes)
    for (const [value, width] of [[1, 2], [1022, 10], [511, 10], [511, 10]] as const) writer.writeBits(value, width)
    writer.finish()
    const reader = new BitReader(bytes)
    const out = { x: 9, y: 9, z: 9, w: 9 }
    readQuaternion(reader, out)
    expect(reader.failed).toBe(true)
    expect(out).toEqual({ x: 0, y: 0, z: 0, w: 1 })
  })
})
