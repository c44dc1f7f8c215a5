/**
 * What every row coder must do, on random definitions, rows, baselines, ages and field sets: it is lossless,
 * self-delimiting, independent of fields outside its set, and safe on any bits.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import {
  RowPair, type FieldSet, type MakeRowCoder, type RowCoder,
} from '../../packages/tickwire/src/core/codec/row-coder.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { form } from '../form.ts'
import { schemaWithValues } from '../reference/schema-arbitrary.ts'
import { SchemaEngine } from '../reference/schema-engine.ts'

const ROOM_BYTES = 1 << 16
const SEED = 1

/** A row, its baseline and how it is coded. */
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
  return fc
    .tuple(
      schemaWithValues(3),
      fc.constantFrom<FieldSet>(0, 1, 2),
      fc.constantFrom(0, 1, 2, 3, 6, 9, 14, 40, 5000),
      fc.constantFrom('none', 'some', 'same'),
      fc.infiniteStream(fc.nat(3)),
    )
    .map(([{ schema, samples }, set, age, older, dice]): Scene => {
      const engine = new SchemaEngine(schema)
      const base = age === 0 ? schema.initialRow : engine.row(samples[1]!)
      // Whole members are copied, so that every row stays one that a game can have.
      const few = (from: Int32Array, to: Int32Array): Int32Array => {
        const mixed = to.slice()
        for (const { lane, laneCount } of schema.members) {
          if (dice.next().value === 0) mixed.set(from.subarray(lane, lane + laneCount), lane)
        }
        return mixed
      }
      const row = dice.next().value === 0 ? engine.row(samples[0]!) : few(engine.row(samples[0]!), base)
      const hasOlder = older !== 'none' && age !== 0
      return {
        engine,
        set,
        age,
        base,
        row,
        older: !hasOlder ? undefined : older === 'same' ? base : few(engine.row(samples[2]!), base),
      }
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
function expectedRow(schema: Schema, { row, base, set }: Scene): number[] {
  const expected = base.slice()
  for (const { lane, laneCount } of schema.masks[set].members) expected.set(row.subarray(lane, lane + laneCount), lane)
  return [...expected]
}

interface Candidate {
  readonly name: string
  readonly make: MakeRowCoder
  /** An accepted row would be written in the same bits. */
  readonly isCanonical: boolean
}

const CODERS: readonly Candidate[] = [
  { name: 'packed', make: (schema) => new PackedCoder(schema), isCanonical: true },
  { name: 'entropy', make: (schema, ticksPerSecond) => new EntropyCoder(schema, ticksPerSecond), isCanonical: false },
]

/** A row with the initial values in all lanes outside of a field set. */
function hiddenRow(schema: Schema, set: FieldSet, row: Int32Array): Int32Array {
  const hidden = row.slice()
  const shown = new Set(schema.masks[set].members)
  for (const member of schema.members) {
    if (!shown.has(member))
      hidden.set(schema.initialRow.subarray(member.lane, member.lane + member.laneCount), member.lane)
  }
  return hidden
}

describe.each(CODERS)('$name', ({ make }) => {
  test('[CODEC1] a row is read back from its delta, whatever its baseline', () => {
    fc.assert(
      fc.property(scenes(), (scene) => {
        const {
          engine: { schema, heap },
          set,
        } = scene
        const coder = make(schema, 60)
        const pair = pairOf(scene)
        const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
        const isChanged = coder.write(writer, set, pair, heap)
        expect(isChanged).toBe(expectedRow(schema, scene).some((value, lane) => value !== scene.base[lane]))
        const got = roundTrip(coder, writer, scene)
        expect([...got]).toEqual(expectedRow(schema, scene))
      }),
      { seed: SEED, numRuns: form(100, 300) },
    )
  })

  test('[CODEC2] a delta ends by itself, and depends on its rows alone', () => {
    fc.assert(
      fc.property(scenes(), fc.integer({ min: 0, max: 31 }), (scene, shift) => {
        const {
          engine: { schema, heap },
          set,
        } = scene
        const alone = bitsOf(make(schema, 60), scene)
        // At another offset of a packet, by a coder that was used before, from rows at other places.
        const coder = make(schema, 60)
        bitsOf(coder, { ...scene, row: scene.base, base: scene.row, age: 1 })
        const pair = pairOf(scene)
        pair.rows = Int32Array.from([7, 7, 7, ...scene.row])
        pair.at = 3
        const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
        writer.writeBits(0, shift)
        coder.write(writer, set, pair, heap)
        expect(bitString(writer).slice(shift)).toBe(alone)
      }),
      { seed: SEED, numRuns: form(50, 150) },
    )
  })

  test('[CODEC3] fields outside the field set do not change a bit', () => {
    fc.assert(
      fc.property(scenes(), (scene) => {
        const {
          engine: { schema },
          set,
        } = scene
        const hide = (row: Int32Array): Int32Array => hiddenRow(schema, set, row)
        const blind: Scene = {
          ...scene,
          row: hide(scene.row),
          base: hide(scene.base),
          older: scene.older && hide(scene.older),
        }
        expect(bitsOf(make(schema, 60), blind)).toBe(bitsOf(make(schema, 60), scene))
      }),
      { seed: SEED, numRuns: form(100, 300) },
    )
  })
})

describe.each(CODERS)('$name with random bits', ({ make, isCanonical }) => {
  test('[CODEC4] any bits are read without a throw, to a row of the schema or to a failure', () => {
    fc.assert(
      fc.property(scenes(), fc.uint8Array({ minLength: 0, maxLength: 60 }), (scene, noise) => {
        const {
          engine: { schema, heap },
          set,
        } = scene
        const coder = make(schema, 60)
        const pair = pairOf(scene)
        const got = new Int32Array(schema.laneCount)
        pair.rows = got
        const reader = new BitReader(noise)
        coder.read(reader, set, pair, heap)
        if (reader.failed) return
        // An accepted row can be written again, and is then read as the same.
        const again = { ...scene, row: got }
        const spelt = bitsOf(coder, again)
        expect([...roundTrip(coder, writerOf(spelt), again)]).toEqual([...got])
        if (isCanonical) expect(spelt).toBe(bytesToText(noise).slice(0, reader.bitPosition))
      }),
      { seed: SEED, numRuns: form(200, 600) },
    )
  })

  test('[CODEC4] a delta cut short is refused', () => {
    fc.assert(
      fc.property(scenes(), fc.nat(), (scene, cut) => {
        const {
          engine: { schema, heap },
          set,
        } = scene
        const bits = bitsOf(make(schema, 60), scene)
        if (bits.length === 0) return
        const pair = pairOf(scene)
        pair.rows = new Int32Array(schema.laneCount)
        const reader = new BitReader(new Uint8Array(0))
        reader.resetBits(writerOf(bits).bytes, 0, cut % bits.length)
        make(schema, 60).read(reader, set, pair, heap)
        expect(reader.failed).toBe(true)
      }),
      { seed: SEED, numRuns: form(100, 300) },
    )
  })
})

function roundTrip(coder: RowCoder, writer: BitWriter, scene: Scene): Int32Array {
  const {
    engine: { schema, heap },
    set,
  } = scene
  const bitCount = writer.bitLength
  // The bits that follow in the packet do not belong to the delta.
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
