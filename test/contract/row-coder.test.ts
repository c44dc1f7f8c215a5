/**
 * What every row coder must do, on random definitions, rows, baselines, ages and field sets: lossless, self-delimiting,
 * blind to what is not its field set, and calm on any bits.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import { RowPair, type FieldSet, type MakeRowCoder, type RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { schemaWithValues } from '../reference/schema-arbitrary.ts'
import { SchemaEngine } from '../reference/schema-engine.ts'

const ROOM_BYTES = 1 << 16
const SEED = 1

/** Rows and what they are told against. */
interface Scene {
  readonly engine: SchemaEngine
  readonly set: FieldSet
  readonly row: Int32Array
  readonly base: Int32Array
  readonly older: Int32Array | undefined
  readonly age: number
}

/** Rows of one object: random ones, equal ones, and ones that differ in a few fields, as they do in games. */
function scenes(): fc.Arbitrary<Scene> {
  return fc.tuple(
    schemaWithValues(3), fc.constantFrom<FieldSet>(0, 1, 2), fc.constantFrom(0, 1, 2, 3, 6, 9, 14, 40, 5000),
    fc.constantFrom('none', 'some', 'same'), fc.infiniteStream(fc.nat(3)),
  ).map(([{ schema, samples }, set, age, older, dice]): Scene => {
    const engine = new SchemaEngine(schema)
    const base = age === 0 ? schema.initialRow : engine.row(samples[1]!)
    // Whole members are taken over, so that every row stays one that a game can have.
    const few = (from: Int32Array, to: Int32Array): Int32Array => {
      const mixed = to.slice()
      for (const { lane, laneCount } of schema.members) {
        if (dice.next().value === 0) mixed.set(from.subarray(lane, lane + laneCount), lane)
      }
      return mixed
    }
    const row = dice.next().value === 0 ? engine.row(samples[0]!) : few(engine.row(samples[0]!), base)
    const hasOlder = older !== 'none' && age !== 0
    return { engine, set, age, base, row, older: !hasOlder ? undefined : older === 'same' ? base : few(engine.row(samples[2]!), base) }
  })
}

function pairOf({ row, base, older, age }: Scene): RowPair {
  const pair = new RowPair()
  pair.rows = row
  pair.baseRows = base
  pair.age = age
  if (older !== undefined) {
    pair.olderRows = older
    pair.olderAt = 0
  }
  return pair
}

/** The baseline, with the lanes of the field set taken from the row. */
function told(schema: Schema, { row, base, set }: Scene): number[] {
  const expected = base.slice()
  for (const { lane, laneCount } of schema.masks[set].members) expected.set(row.subarray(lane, lane + laneCount), lane)
  return [...expected]
}

interface Candidate {
  readonly name: string
  readonly make: MakeRowCoder
  /** Whatever is accepted would be written in the very same bits. */
  readonly isCanonical: boolean
}

const CODERS: readonly Candidate[] = [
  { name: 'packed', make: (schema) => new PackedCoder(schema), isCanonical: true },
  { name: 'entropy', make: (schema, ticksPerSecond) => new EntropyCoder(schema, ticksPerSecond), isCanonical: false },
]

describe.each(CODERS)('$name', ({ make }) => {
  test('[CODEC1] a row is read back from its delta, whatever it is told against', () => {
    fc.assert(fc.property(scenes(), (scene) => {
      const { engine: { schema, heap }, set } = scene
      const coder = make(schema, 60)
      const pair = pairOf(scene)
      const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
      const isChanged = coder.write(writer, set, pair, heap)
      expect(isChanged).toBe(told(schema, scene).some((value, lane) => value !== scene.base[lane]))
      const got = roundTrip(coder, writer, scene)
      expect([...got]).toEqual(told(schema, scene))
    }), { seed: SEED, numRuns: 300 })
  })

  test('[CODEC2] a delta ends by itself, and depends on its rows alone', () => {
    fc.assert(fc.property(scenes(), fc.integer({ min: 0, max: 31 }), (scene, shift) => {
      const { engine: { schema, heap }, set } = scene
      const alone = bitsOf(make(schema, 60), scene)
      // Somewhere else in a packet, by a coder that has worked before, from rows that lie elsewhere.
      const coder = make(schema, 60)
      bitsOf(coder, { ...scene, row: scene.base, base: scene.row, age: 1 })
      const pair = pairOf(scene)
      pair.rows = Int32Array.from([7, 7, 7, ...scene.row])
      pair.at = 3
      const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
      writer.writeBits(0, shift)
      coder.write(writer, set, pair, heap)
      expect(bitString(writer).slice(shift)).toBe(alone)
    }), { seed: SEED, numRuns: 150 })
  })

  test('[CODEC3] what lies outside the field set changes not a bit', () => {
    fc.assert(fc.property(scenes(), (scene) => {
      const { engine: { schema }, set } = scene
      const secret = scene.row.slice()
      const shown = new Set(schema.masks[set].members)
      const hide = (row: Int32Array): Int32Array => {
        const hidden = row.slice()
        for (const member of schema.members) {
          if (!shown.has(member)) hidden.set(schema.initialRow.subarray(member.lane, member.lane + member.laneCount), member.lane)
        }
        return hidden
      }
      const blind: Scene = { ...scene, row: hide(secret), base: hide(scene.base), older: scene.older && hide(scene.older) }
      expect(bitsOf(make(schema, 60), blind)).toBe(bitsOf(make(schema, 60), scene))
    }), { seed: SEED, numRuns: 300 })
  })
})

describe.each(CODERS)('$name under fire', ({ make, isCanonical }) => {
  test('[CODEC4] any bits are read without a throw, to a row of the schema or to a failure', () => {
    fc.assert(fc.property(scenes(), fc.uint8Array({ minLength: 0, maxLength: 60 }), (scene, noise) => {
      const { engine: { schema, heap }, set } = scene
      const coder = make(schema, 60)
      const pair = pairOf(scene)
      const got = new Int32Array(schema.laneCount)
      pair.rows = got
      const reader = new BitReader(noise)
      coder.read(reader, set, pair, heap)
      if (reader.failed) return
      // What was accepted is a row that can be told again, and is then read as the same.
      const again = { ...scene, row: got }
      const spelt = bitsOf(coder, again)
      expect([...roundTrip(coder, writerOf(spelt), again)]).toEqual([...got])
      if (isCanonical) expect(spelt).toBe(bytesToText(noise).slice(0, reader.bitPosition))
    }), { seed: SEED, numRuns: 600 })
  })

  test('[CODEC4] a delta cut short is refused', () => {
    fc.assert(fc.property(scenes(), fc.nat(), (scene, cut) => {
      const { engine: { schema, heap }, set } = scene
      const bits = bitsOf(make(schema, 60), scene)
      if (bits.length === 0) return
      const pair = pairOf(scene)
      pair.rows = new Int32Array(schema.laneCount)
      const reader = new BitReader(new Uint8Array(0))
      reader.resetBits(writerOf(bits).bytes, 0, cut % bits.length)
      make(schema, 60).read(reader, set, pair, heap)
      expect(reader.failed).toBe(true)
    }), { seed: SEED, numRuns: 300 })
  })
})

function roundTrip(coder: RowCoder, writer: BitWriter, scene: Scene): Int32Array {
  const { engine: { schema, heap }, set } = scene
  const bitCount = writer.bitLength
  // What follows in the packet is not the delta's business.
  writer.writeBits(0x5a5a, 16)
  writer.finish()
  const pair = pairOf(scene)
  const got = new Int32Array(schema.laneCount)
  pair.rows = got
  const reader = new BitReader(writer.bytes)
  coder.read(reader, set, pair, heap)
  expect(reader.failed).toBe(false)
  expect(reader.bitPosition).toBe(bitCount)
  return got
}

function bitsOf(coder: RowCoder, scene: Scene): string {
  const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  coder.write(writer, scene.set, pairOf(scene), scene.engine.heap)
  expect(writer.failed).toBe(false)
  return bitString(writer)
}

function bitString(writer: BitWriter): string {
  writer.finish()
  return bytesToText(writer.bytes.subarray(0, (writer.bitLength + 7) >>> 3)).slice(0, writer.bitLength)
}

function writerOf(bits: string): BitWriter {
  const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  for (const bit of bits) writer.writeBits(Number(bit), 1)
  writer.finish()
  return writer
}

function bytesToText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
}
