import fc from 'fast-check'
import { expect, test } from 'vitest'
import { form } from '../../../../../test/form.ts'
import { schemaWithValues } from '../../../../../test/reference/schema-arbitrary.ts'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import { Prng } from '../base/prng.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { f32, u32, vec3 } from '../schema/field-kinds.ts'
import type { Schema } from '../schema/schema.ts'
import { compileSchema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { PackedCoder } from './packed-coder.ts'
import { RansCoder } from './rans-coder.ts'
import { RansSink, RansSource } from './rans-stream.ts'
import { RowPair, type FieldSet } from './row-coder.ts'

const TICKS_PER_SECOND = 60
const SETS = [0, 1, 2] as const
const ROOM_BYTES = 1 << 17

function aim(rows: Int32Array, base: Int32Array, older: Int32Array | undefined, age: number): RowPair {
  const pair = new RowPair()
  pair.rows = rows
  pair.baseRows = base
  pair.age = age
  pair.olderRows = older ?? pair.olderRows
  pair.olderAt = older === undefined ? -1 : 0
  return pair
}

/** A row as it is after a delta: lanes outside the field set are the baseline's. */
function held(schema: Schema, set: FieldSet, row: Int32Array, base: Int32Array): number[] {
  const lanes = [...base]
  for (const { lane, laneCount } of schema.masks[set].members)
    for (let each = lane; each < lane + laneCount; each++) lanes[each] = row[each]!
  return lanes
}

test('[CODEC12] rows of several entities, field sets and ages are read back from one block', () => {
  fc.assert(
    fc.property(schemaWithValues(4), schemaWithValues(4), (first, second) => {
      const games = [first, second].map(({ schema, samples }) => {
        const engine = new SchemaEngine(schema)
        return { schema, heap: engine.heap, rows: samples.map((values) => engine.row(values)) }
      })
      const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
      const sink = new RansSink(writer)
      const coders = games.map(({ schema }) => new RansCoder(schema, TICKS_PER_SECOND, sink))
      const each = (
        see: (
          at: number,
          set: FieldSet,
          row: Int32Array,
          base: Int32Array,
          older: Int32Array | undefined,
          age: number,
        ) => void,
      ): void => {
        for (const set of SETS) {
          for (const [
            at,
            {
              schema,
              rows: [a, b, c, d],
            },
          ] of games.entries()) {
            see(at, set, a!, schema.initialRow, undefined, 0)
            see(at, set, b!, a!, undefined, 1)
            see(at, set, c!, b!, a!, 1)
            see(at, set, c!, c!, c!, 1)
            see(at, set, d!, c!, b!, 5)
          }
        }
      }
      each((at, set, row, base, older, age) => {
        const isChanged = coders[at]!.write(writer, set, aim(row, base, older, age), games[at]!.heap)
        expect(isChanged).toBe(held(games[at]!.schema, set, row, base).some((lane, place) => lane !== base[place]))
      })
      sink.finish()
      const reader = new BitReader(writer.bytes.slice(0, writer.finish()))
      const source = new RansSource(reader)
      const readers = games.map(({ schema }) => new RansCoder(schema, TICKS_PER_SECOND, source))
      source.begin()
      each((at, set, row, base, older, age) => {
        const { schema, heap } = games[at]!
        const got = new Int32Array(schema.laneCount)
        readers[at]!.read(reader, set, aim(got, base, older, age), heap)
        expect([...got]).toEqual(held(schema, set, row, base))
      })
      expect(source.finish()).toBe(true)
    }),
    { seed: 1, numRuns: form(20, 60) },
  )
})

test('[CODEC12] no row of a block is much longer than its packed delta, which is used where it is shorter', () => {
  const Noise = compileSchema('Noise', { a: f32, b: vec3(-1000, 1000, 0.01), c: u32 })
  const heap = new ValueHeap()
  const dice = new Prng(1)
  const rows = Array.from({ length: 300 }, () =>
    Int32Array.from({ length: Noise.laneCount }, (_, lane) =>
      dice.nextInt(0, lane === 0 || lane === 4 ? 2 ** 30 : 200_000),
    ),
  )
  const packed = new PackedCoder(Noise)
  const plain = new BitWriter(new Uint8Array(ROOM_BYTES))
  const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  const sink = new RansSink(writer)
  const coder = new RansCoder(Noise, TICKS_PER_SECOND, sink)
  let alone = 0
  for (let at = 2; at < rows.length; at++) {
    const pair = aim(rows[at]!, rows[at - 1]!, rows[at - 2]!, 1)
    const { count } = sink
    packed.write(plain, 0, pair, heap)
    coder.write(writer, 0, pair, heap)
    if (sink.count === count + 1) alone++
  }
  sink.finish()
  expect(alone).toBeGreaterThan(100)
  expect(writer.bitLength).toBeLessThan(plain.bitLength + rows.length * 14)
  const reader = new BitReader(writer.bytes.slice(0, writer.finish()))
  const source = new RansSource(reader)
  const twin = new RansCoder(Noise, TICKS_PER_SECOND, source)
  source.begin()
  for (let at = 2; at < rows.length; at++) {
    const got = new Int32Array(Noise.laneCount)
    twin.read(reader, 0, aim(got, rows[at - 1]!, rows[at - 2]!, 1), heap)
    expect([...got]).toEqual([...rows[at]!])
  }
  expect(source.finish()).toBe(true)
})
