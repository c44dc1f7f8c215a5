import { expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { BitBuffer } from './bit-buffer.ts'
import { BitReader } from './bit-reader.ts'
import { BitWriter } from './bit-writer.ts'
import { writeCompressedFloat } from './compressed-float.ts'
import { floatQuant } from './quantize.ts'
import { writeBool } from './byte.ts'
import { writeEnum, writeRangedInt } from './ranged-int.ts'

const ORIGIN = floatQuant(-4096, 4096, 0.01)
const VELOCITY = floatQuant(-512, 512, 0.01)

interface Projectile {
  origin: { x: number; y: number; z: number }
  velocity: { x: number; y: number; z: number }
  charge: number
  piercing: boolean
  kind: number
}

function serialize(buffer: BitBuffer, shot: Projectile): void {
  buffer.vector3(shot.origin, ORIGIN)
  buffer.vector3(shot.velocity, VELOCITY)
  shot.charge = buffer.rangedInt(shot.charge, 0, 1023)
  shot.piercing = buffer.bool(shot.piercing)
  shot.kind = buffer.enum(shot.kind, 5)
}

const SHOT: Projectile = {
  origin: { x: 1.5, y: -2, z: 300 },
  velocity: { x: 0, y: 12.25, z: -9.81 },
  charge: 1000,
  piercing: true,
  kind: 4,
}

test('[BITS23] one function writes the bits of the separate calls, and reads them back', () => {
  const apart = new Uint8Array(32)
  const writer = new BitWriter(apart)
  for (const axis of ['x', 'y', 'z'] as const) writeCompressedFloat(writer, SHOT.origin[axis], ORIGIN)
  for (const axis of ['x', 'y', 'z'] as const) writeCompressedFloat(writer, SHOT.velocity[axis], VELOCITY)
  writeRangedInt(writer, SHOT.charge, 0, 1023)
  writeBool(writer, SHOT.piercing)
  writeEnum(writer, SHOT.kind, 5)
  const size = writer.finish()
  expect(writer.bitLength).toBe(3 * 20 + 3 * 17 + 10 + 1 + 3)

  const joint = new Uint8Array(32)
  const buffer = new BitBuffer().overWriter(new BitWriter(joint))
  expect(buffer.isWriting).toBe(true)
  const other = new BitWriter(joint)
  serialize(buffer.overWriter(other), structuredClone(SHOT))
  expect(other.finish()).toBe(size)
  expect(joint).toEqual(apart)

  const back: Projectile = {
    origin: { x: 0, y: 0, z: 0 },
    velocity: { x: 0, y: 0, z: 0 },
    charge: 0,
    piercing: false,
    kind: 0,
  }
  serialize(buffer.overReader(new BitReader(joint)), back)
  expect(buffer.isWriting).toBe(false)
  expect(buffer.failed).toBe(false)
  expect(back.charge).toBe(1000)
  expect(back.origin.z).toBeCloseTo(300, 9)
  expect(back.velocity.z).toBeCloseTo(-9.81, 9)
  expect([back.piercing, back.kind]).toEqual([true, 4])
})

test('[BITS23] a BitBuffer fails when its reader or writer fails; only a reader can refuse a value', () => {
  const buffer = new BitBuffer()
  expect(() => buffer.byte(0)).toThrow(InvariantError)
  const reader = new BitReader(Uint8Array.of(1, 2))
  buffer.overReader(reader).refuse()
  expect([buffer.failed, reader.failed, buffer.byte(7)]).toEqual([true, true, 0])
  buffer.overWriter(new BitWriter(new Uint8Array(1)))
  expect(() => buffer.refuse()).toThrow(InvariantError)
  buffer.u16(1)
  expect(buffer.failed).toBe(true)
})
