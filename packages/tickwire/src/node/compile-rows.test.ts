import fc from 'fast-check'
import { expect, test } from 'vitest'
import { form } from '../../../../test/form.ts'
import { schemaWithValues } from '../../../../test/reference/schema-arbitrary.ts'
import { SHAPES, TICKS_PER_SECOND, voyage, wander } from '../../../../test/reference/moving-rows.ts'
import { drawEntity } from '../../../../test/sim/draw-priors.ts'
import { SchemaEngine } from '../../../../test/reference/schema-engine.ts'
import { Prng } from '../core/base/prng.ts'
import { BitReader } from '../core/bits/bit-reader.ts'
import { BitWriter } from '../core/bits/bit-writer.ts'
import { f32, i16, i32, int, u32, u8, vec2 } from '../core/schema/field-kinds.ts'
import { compileSchema, type Schema } from '../core/schema/schema.ts'
import type { ValueStore } from '../core/schema/values.ts'
import { ValueHeap } from '../core/schema/value-heap.ts'
import { EntropyCoder } from '../core/codec/entropy-coder.ts'
import { fromRuns, toRuns, TrainedTables, type EntityPriors, type Runs } from '../core/codec/priors.ts'
import { RowPair, type FieldSet } from '../core/codec/row-coder.ts'
import { planRow } from '../core/codec/row-plan.ts'
import { train } from '../core/codec/training.ts'
import { compileRows } from './compile-rows.ts'

const SETS: readonly FieldSet[] = [0, 1, 2]

/** Two coders of one schema: one uses the model, the other compiled code. */
function twins(schema: Schema, priors?: EntityPriors): readonly [EntropyCoder, EntropyCoder] {
  const make = (): EntropyCoder =>
    new EntropyCoder(
      schema,
      TICKS_PER_SECOND,
      priors === undefined ? {} : { tables: (plan) => new TrainedTables(plan, priors) },
    )
  const compiled = make()
  compiled.compile((model, sink, source) => {
    const code = compileRows(model, sink, source)
    expect(code === undefined).toBe(model.plan.count > 96)
    return code
  })
  return [make(), compiled]
}

/** The output of a coder for a pair: whether the rows differ, and the bits. */
function said(coder: EntropyCoder, set: FieldSet, pair: RowPair, heap: ValueStore): string {
  const writer = new BitWriter(new Uint8Array(1 << 16))
  // Deltas can begin at any bit of a word.
  writer.writeBits(1, 7)
  const isChanged = coder.write(writer, set, pair, heap)
  const bits = writer.bitLength
  return `${isChanged} ${bits} ${Buffer.from(writer.bytes.subarray(0, writer.finish())).toString('hex')}`
}

/** The result of decoding bytes over the rows of a pair: the end position and the row, or that they were refused. */
function decoded(
  coder: EntropyCoder,
  set: FieldSet,
  pair: RowPair,
  heap: ValueStore,
  laneCount: number,
  bytes: Uint8Array,
): string {
  const reader = new BitReader(bytes)
  reader.readBits(7)
  const { rows, at } = pair
  pair.rows = new Int32Array(laneCount + 1).fill(7)
  pair.at = 1
  coder.read(reader, set, pair, heap)
  const row = pair.rows
  Object.assign(pair, { rows, at })
  return reader.failed ? 'refused' : `${reader.bitPosition} ${row.join()}`
}

function expectSame([model, code]: readonly [EntropyCoder, EntropyCoder], pair: RowPair, heap: ValueStore): void {
  const { laneCount } = model.model.schema
  for (const set of SETS) {
    const saying = said(model, set, pair, heap)
    expect(said(code, set, pair, heap)).toBe(saying)
    // Decodes the bits as written, and with one bit flipped: both coders must refuse the same input.
    const bytes = Uint8Array.from(Buffer.from(`${saying.split(' ')[2]}0000`, 'hex'))
    const place = bytes.reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 7)
    for (const isBent of [false, true]) {
      if (isBent) bytes[(place >>> 3) % bytes.length]! ^= 1 << (place & 7)
      const byModel = decoded(model, set, pair, heap, laneCount, bytes)
      expect(decoded(code, set, pair, heap, laneCount, bytes)).toBe(byModel)
      if (!isBent) expect(byModel).not.toBe('refused')
    }
  }
}

test('[CODEC16] code compiled for an entity writes and reads the same bits, for random definitions and rows', () => {
  const ages = fc.constantFrom(0, 1, 2, 5, 9, 14, 40)
  fc.assert(
    fc.property(schemaWithValues(4), ages, fc.constantFrom(1, 1, 2, 3), ({ schema, samples }, age, olderTicks) => {
      const engine = new SchemaEngine(schema)
      const coders = twins(schema)
      const rows = [schema.initialRow, ...samples.map((values) => engine.row(values))]
      const pair = new RowPair()
      for (const olderAt of [-1, 0])
        for (const [row, base, older] of [
          [1, 2, 3],
          [2, 2, 1],
          [3, 4, 4],
          [4, 0, 2],
          [1, 1, 1],
        ] as const) {
          Object.assign(pair, {
            rows: rows[row],
            at: 0,
            baseRows: rows[base],
            baseAt: 0,
            olderRows: rows[older],
            olderAt,
            age,
            olderTicks,
          })
          expectSame(coders, pair, engine.heap)
        }
    }),
    { seed: 18, numRuns: form(80, 250) },
  )
})

test('[CODEC11, CODEC16] with any tables of priors, rows are read back by compiled code and by the model', () => {
  const ages = fc.constantFrom(0, 1, 2, 5, 9, 14, 40)
  fc.assert(
    fc.property(schemaWithValues(4), ages, fc.nat(1e6), ({ schema, samples }, age, seed) => {
      const engine = new SchemaEngine(schema)
      const dice = new Prng(seed)
      const chances = { word: () => dice.nextInt(0, 0x7fff_ffff), chance: (part: number) => dice.nextFloat() < part }
      const coders = twins(schema, drawEntity(planRow(schema, TICKS_PER_SECOND), TICKS_PER_SECOND, 1, chances))
      const rows = [schema.initialRow, ...samples.map((values) => engine.row(values))]
      const pair = new RowPair()
      for (const olderAt of [-1, 0])
        for (const [row, base, older] of [
          [1, 2, 3],
          [2, 2, 1],
          [3, 4, 4],
          [4, 0, 2],
          [1, 1, 1],
        ] as const) {
          Object.assign(pair, {
            rows: rows[row],
            at: 0,
            baseRows: rows[base],
            baseAt: 0,
            olderRows: rows[older],
            olderAt,
            age,
            olderTicks: 1,
          })
          expectSame(coders, pair, engine.heap)
          expectLossless(coders[0], pair, engine.heap)
        }
    }),
    { seed: 31, numRuns: form(60, 200) },
  )
})

/**
 * A decoded row must encode to the same bits. Values of variable size have different handles, so rows cannot be
 * compared lane by lane.
 */
function expectLossless(coder: EntropyCoder, pair: RowPair, heap: ValueStore): void {
  const { laneCount } = coder.model.schema
  const saying = said(coder, 2, pair, heap)
  const reader = new BitReader(Uint8Array.from(Buffer.from(`${saying.split(' ')[2]}0000`, 'hex')))
  reader.readBits(7)
  const { rows } = pair
  pair.rows = new Int32Array(laneCount)
  coder.read(reader, 2, pair, heap)
  expect(said(coder, 2, pair, heap)).toBe(saying)
  pair.rows = rows
}

/** The same tables with random changes, within what training can produce. */
function shaken(priors: EntityPriors, seed: number): EntityPriors {
  const dice = new Prng(seed)
  const below = (count: number): number => Math.floor(dice.nextFloat() * count)
  const drawn = (runs: Runs, draw: () => number): Runs => toRuns(fromRuns(runs).map(draw))
  return {
    ...priors,
    ages: priors.ages.map(
      (age) =>
        age && {
          ...age,
          weights: drawn(age.weights, () => below(33)),
          bends: drawn(age.bends, () => (below(9) - 4) * 4),
        },
    ),
  }
}

test('[CODEC16] compiled code equals the model for motion, with all kinds, tables and ages', () => {
  for (const [name, shape] of Object.entries(SHAPES)) {
    const schema = compileSchema(name, shape)
    const engine = new SchemaEngine(schema)
    const { heap } = engine
    const rows = ['Racer', 'Body', 'Ship'].includes(name) ? voyage(engine, shape, 300, 3) : wander(schema, 300, 3)
    const priors = train(schema, TICKS_PER_SECOND, 1, (see) => {
      const pair = new RowPair()
      for (const age of [1, 6])
        for (let tick = 10; tick < rows.length; tick++)
          see(
            Object.assign(pair, {
              rows: rows[tick],
              baseRows: rows[tick - age],
              age,
              olderRows: rows[tick - age - 1],
              olderAt: 0,
            }),
          )
    })
    expect(priors.ages[1] && priors.ages[3]).not.toBe(null)
    for (const coders of [twins(schema), twins(schema, priors), twins(schema, shaken(priors, 4))]) {
      const pair = new RowPair()
      for (const age of [1, 2, 6, 40])
        for (const olderTicks of [1, 2])
          for (let tick = 45; tick < 150; tick += form(8, 1)) {
            const olderAt = tick % 5 === 0 ? -1 : 0
            const [baseRows, olderRows] = [rows[tick - age], rows[tick - age - olderTicks]]
            Object.assign(pair, { rows: rows[tick], baseRows, age, olderRows, olderAt, olderTicks })
            expectSame(coders, pair, heap)
          }
    }
  }
})

test('[CODEC16] compiled code reads deltas from any number to any other: lanes that wrap, the lowest int32', () => {
  const schema = compileSchema('Edges', {
    whole: i32,
    count: u32,
    small: i16,
    real: f32,
    bounded: int(-5, 5),
    pair: vec2(-1, 1, 0.5),
  })
  const engine = new SchemaEngine(schema)
  const [low, high] = [-(2 ** 31), 2 ** 31 - 1]
  const edges = [
    [low, 0, -(2 ** 15), -Infinity, -5],
    [high, 2 ** 32 - 1, 2 ** 15 - 1, Infinity, 5],
    [0, 2 ** 31, 0, 0, 0],
    [-1, 1, -1, -1e-45, 1],
    [100, 2 ** 31 - 1, 100, 3.4e38, -1],
  ] as const
  const rows = edges.map(([whole, count, small, real, bounded]) =>
    engine.row({ whole, count, small, real, bounded, pair: { x: bounded / 5, y: -bounded / 5 } }),
  )
  const coders = twins(schema)
  const pair = new RowPair()
  for (const older of [undefined, ...rows])
    for (const base of rows)
      for (const row of rows)
        for (const age of [1, 2, 12]) {
          Object.assign(pair, {
            rows: row,
            at: 0,
            baseRows: base,
            baseAt: 0,
            olderRows: older ?? base,
            olderAt: older === undefined ? -1 : 0,
            age,
          })
          expectSame(coders, pair, engine.heap)
        }
})

test('[CODEC16] a full writer fails by compiled code as by the model, and can be used afterwards', () => {
  const schema = compileSchema('Walker', SHAPES['Walker']!)
  const rows = wander(schema, 40, 5)
  const [, code] = twins(schema)
  const pair = Object.assign(new RowPair(), {
    rows: rows[30],
    baseRows: rows[10],
    age: 20,
    olderRows: rows[9],
    olderAt: 0,
  })
  const heap = new ValueHeap()
  const writer = new BitWriter(new Uint8Array(2))
  code.write(writer, 0, pair, heap)
  expect(writer.failed).toBe(true)
  writer.rewind(0)
  expect(writer.failed).toBe(false)
  expectSame(twins(schema), pair, heap)
  expect(said(code, 0, pair, heap)).toBe(said(twins(schema)[0], 0, pair, heap))
})

test('[CODEC16] where nothing is compiled, and for entities that are too large, the model is used', () => {
  const schema = compileSchema('Walker', SHAPES['Walker']!)
  const rows = wander(schema, 20, 6)
  const [model, refused] = [new EntropyCoder(schema, TICKS_PER_SECOND), new EntropyCoder(schema, TICKS_PER_SECOND)]
  refused.compile(() => undefined)
  const pair = Object.assign(new RowPair(), {
    rows: rows[10],
    baseRows: rows[8],
    age: 2,
    olderRows: rows[7],
    olderAt: 0,
  })
  expect(said(refused, 0, pair, new ValueHeap())).toBe(said(model, 0, pair, new ValueHeap()))
  const large = new EntropyCoder(
    compileSchema('Large', Object.fromEntries(Array.from({ length: 97 }, (_, index) => [`f${index}`, u8]))),
    TICKS_PER_SECOND,
  )
  large.compile(compileRows)
  expect(
    said(
      large,
      0,
      Object.assign(new RowPair(), { rows: large.model.plan.lanes, baseRows: new Int32Array(97), age: 1 }),
      new ValueHeap(),
    ),
  ).toMatch(/^true/)
})
