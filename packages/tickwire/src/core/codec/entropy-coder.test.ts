import fc from 'fast-check'
import { expect, test } from 'vitest'
import { schemaWithValues } from '../../../../../test/reference/schema-arbitrary.ts'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import { ConfigError } from '../base/assert.ts'
import { Prng } from '../base/prng.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { angle, bool, f32, fixed, group, i16, i32, int, quat, u32, u8, vec2, vec3 } from '../schema/field-kinds.ts'
import { compileSchema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { EntropyCoder } from './entropy-coder.ts'
import { PackedBound } from './packed-bound.ts'
import { PackedCoder } from './packed-coder.ts'
import { priorsText, TrainedTables, type EntityPriors } from './priors.ts'
import { RansSink, RansSource } from './rans-stream.ts'
import { RowPair, type RowCoder } from './row-coder.ts'
import { entropy, packed } from './snapshot-codec.ts'
import { train } from './training.ts'

const TICKS_PER_SECOND = 60
const heap = new ValueHeap()
const Boat = compileSchema('Boat', {
  place: vec2(-100, 100, 0.01).position(),
  speed: vec2(-20, 20, 0.01).velocity(),
  heading: angle(12),
  hull: int(0, 100),
  sails: group({ count: u8, torn: bool }),
})

/** A harbour of boats that steer, drift and are hurt, tick by tick. */
function harbour(ticks: number, seed: number): Int32Array[] {
  const engine = new SchemaEngine(Boat)
  const dice = new Prng(seed)
  let [x, y, vx, vy, heading, hull] = [0, 0, 1, 0, 0, 100]
  return Array.from({ length: ticks }, (_, tick) => {
    if (tick % 40 === 0) [vx, vy] = [dice.nextFloat() * 10 - 5, dice.nextFloat() * 10 - 5]
    x += vx / TICKS_PER_SECOND
    y += vy / TICKS_PER_SECOND
    heading += dice.nextFloat() * 0.1 - 0.04
    if (dice.nextFloat() < 0.05) hull = Math.max(0, hull - 3)
    return engine.row({
      place: { x, y },
      speed: { x: vx, y: vy },
      heading,
      hull,
      sails: tick % 100 < 80 ? { count: 3, torn: tick % 100 > 60 } : null,
    })
  })
}

function aim(pair: RowPair, rows: readonly Int32Array[], tick: number, age: number): RowPair {
  pair.rows = rows[tick]!
  pair.at = 0
  pair.baseRows = rows[tick - age]!
  pair.age = age
  pair.olderRows = rows[tick - age - 1]!
  pair.olderAt = 0
  return pair
}

const AGES = [1, 6]

function trained(): EntityPriors {
  const rows = harbour(1500, 1)
  return train(Boat, TICKS_PER_SECOND, 7, (see) => {
    const pair = new RowPair()
    for (const age of AGES) for (let tick = 10; tick < rows.length; tick++) see(aim(pair, rows, tick, age))
  })
}

function bitsOf(coder: RowCoder, rows: readonly Int32Array[], age: number): number {
  const writer = new BitWriter(new Uint8Array(1 << 16))
  const pair = new RowPair()
  for (let tick = 10; tick < rows.length; tick++) coder.write(writer, 0, aim(pair, rows, tick, age), heap)
  const got = new Int32Array(Boat.laneCount)
  writer.finish()
  const reader = new BitReader(writer.bytes)
  for (let tick = 10; tick < rows.length; tick++) {
    aim(pair, rows, tick, age).rows = got
    coder.read(reader, 0, pair, heap)
    expect([...got]).toEqual([...rows[tick]!])
  }
  expect(reader.failed).toBe(false)
  return writer.bitLength
}

const priors = trained()
const withPriors = (given: EntityPriors = priors): EntropyCoder =>
  new EntropyCoder(Boat, TICKS_PER_SECOND, { tables: (plan) => new TrainedTables(plan, given) })

test('[CODEC9] motion is predicted: fewer bits than packed untrained, fewer again when trained on another seed', () => {
  const rows = harbour(400, 2)
  for (const age of AGES) {
    const packed = bitsOf(new PackedCoder(Boat), rows, age)
    const builtIn = bitsOf(new EntropyCoder(Boat, TICKS_PER_SECOND), rows, age)
    expect(builtIn).toBeLessThan(packed * 0.75)
    expect(bitsOf(withPriors(), rows, age)).toBeLessThan(builtIn * 0.9)
  }
})

test('[CODEC9] no delta is longer than the packed one by more than 12 bits', () => {
  fc.assert(fc.property(schemaWithValues(2), fc.constantFrom(0, 1, 9), ({ schema, samples }, age) => {
    const engine = new SchemaEngine(schema)
    const pair = new RowPair()
    pair.rows = engine.row(samples[0]!)
    pair.baseRows = age === 0 ? schema.initialRow : engine.row(samples[1]!)
    pair.age = age
    const sizes = [new PackedCoder(schema), new EntropyCoder(schema, TICKS_PER_SECOND)].map((coder) => {
      const writer = new BitWriter(new Uint8Array(1 << 16))
      coder.write(writer, 2, pair, engine.heap)
      return writer.bitLength
    })
    // Below half the width of all numbers the packed delta is not tried: the delta is short enough.
    const half = schema.leaves.reduce((sum, { width }) => sum + Math.max(width, 1), 0) / 2
    expect(sizes[1]!).toBeLessThanOrEqual(Math.max(sizes[0]! + 12, half))
    // The lower bound of the packed delta is never above its real size.
    expect(new PackedBound(schema).bitsAtLeast(2, pair)).toBeLessThanOrEqual(sizes[0]!)
  }), { seed: 1, numRuns: 150 })
})

test('[CODEC9] a float of noise costs 33 bits untrained, one with steady motion little more than half of that', () => {
  const Probe = compileSchema('Probe', { value: f32, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8 })
  const coder = new EntropyCoder(Probe, TICKS_PER_SECOND)
  const dice = new Prng(6)
  const engine = new SchemaEngine(Probe)
  const still = { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }
  const bitsEach = (valueAt: (tick: number) => number, age: number): number => {
    const rows = Array.from({ length: 300 }, (_, tick) => engine.row({ value: valueAt(tick), ...still }))
    const pair = new RowPair()
    const writer = new BitWriter(new Uint8Array(1 << 14))
    for (let tick = 10; tick < rows.length; tick++) coder.write(writer, 0, aim(pair, rows, tick, age), heap)
    return writer.bitLength / (rows.length - 10)
  }
  for (const age of AGES) {
    // 33 bits, and less than one for the mask, which is always the same.
    expect(bitsEach(() => dice.nextFloat(), age)).toBeLessThan(34)
    expect(bitsEach((tick) => 40 + tick / 60 + (tick * tick) / 5000, age)).toBeLessThan(20)
  }
})

// Found by the match of seed 100832: the lowest number of 32 bits has no negation, and a reader of it after a falling
// value failed.
test('[CODEC1] a delta from any number to any other is read back, whatever the older row is', () => {
  const schema = compileSchema('Edges', { whole: i32, count: u32, small: i16, real: f32, bounded: int(-5, 5) })
  const engine = new SchemaEngine(schema)
  const [low, high] = [-(2 ** 31), 2 ** 31 - 1]
  const edges = [
    [low, 0, -(2 ** 15), -Infinity, -5],
    [high, 2 ** 32 - 1, 2 ** 15 - 1, Infinity, 5],
    [0, 2 ** 31, 0, 0, 0],
    [-1, 1, -1, -1e-45, 1],
    [100, 2 ** 31 - 1, 100, 3.4e38, -1],
  ] as const
  const rows = edges.map(([whole, count, small, real, bounded]) => engine.row({ whole, count, small, real, bounded }))
  const coder = new EntropyCoder(schema, TICKS_PER_SECOND)
  const pair = new RowPair()
  const got = new Int32Array(schema.laneCount)
  for (const older of [undefined, ...rows])
    for (const base of rows)
      for (const row of rows)
        for (const age of [1, 2, 12]) {
          const writer = new BitWriter(new Uint8Array(128))
          Object.assign(pair, {
            rows: row,
            at: 0,
            baseRows: base,
            baseAt: 0,
            olderRows: older ?? base,
            olderAt: older === undefined ? -1 : 0,
            age,
          })
          coder.write(writer, 0, pair, heap)
          const reader = new BitReader(writer.bytes.slice(0, writer.finish()))
          pair.rows = got
          coder.read(reader, 0, pair, heap)
          expect([reader.failed, [...got]]).toEqual([false, [...row]])
        }
})

test('[CODEC10] a value at rest in both rows is predicted to rest; a value with a rate is predicted by it', () => {
  const Ball = compileSchema('Ball', { at: fixed(0, 100, 0.01).position(), speed: fixed(-50, 50, 0.01).velocity() })
  const coder = new EntropyCoder(Ball, 50)
  const engine = new SchemaEngine(Ball)
  const pair = new RowPair()
  pair.age = 5
  pair.olderAt = -1
  const sizeOf = (values: { at: number; speed: number }, base: { at: number; speed: number }): number => {
    const writer = new BitWriter(new Uint8Array(64))
    pair.rows = engine.row(values)
    pair.baseRows = engine.row(base)
    coder.write(writer, 0, pair, heap)
    return writer.bitLength
  }
  // Five ticks of a fiftieth of a second each, at a speed of 10 per second, are a distance of 1.
  expect(sizeOf({ at: 21, speed: 10 }, { at: 20, speed: 10 })).toBeLessThan(
    sizeOf({ at: 20, speed: 10 }, { at: 20, speed: 10 }),
  )
  expect(sizeOf({ at: 21, speed: 10 }, { at: 20, speed: 10 })).toBeLessThanOrEqual(4)
})

test('[CODEC10] a rotation that turns is predicted to turn on, by its last motion and by its angular velocity', () => {
  const Top = compileSchema('Top', { turn: quat(11) })
  const Spun = compileSchema('Spun', { turn: quat(11), spin: vec3(-10, 10, 0.01).angularVelocity() })
  const half = (radians: number): { x: number; y: number; z: number; w: number } => ({
    x: 0,
    y: 0,
    z: Math.sin(radians / 2),
    w: Math.cos(radians / 2),
  })
  const sizes = [Top, Spun].map((schema) => {
    const engine = new SchemaEngine(schema)
    const row = (tick: number): Int32Array =>
      engine.row(schema === Top ? { turn: half(tick * 0.05) } : { turn: half(tick * 0.05), spin: { x: 0, y: 0, z: 3 } })
    const pair = new RowPair()
    pair.rows = row(7)
    pair.baseRows = row(1)
    pair.olderRows = row(0)
    pair.olderAt = schema === Top ? 0 : -1
    pair.age = 6
    const writer = new BitWriter(new Uint8Array(64))
    new EntropyCoder(schema, TICKS_PER_SECOND).write(writer, 0, pair, heap)
    return writer.bitLength
  })
  // A whole rotation takes 33 bits; a turn over six ticks is 150 steps of one code.
  expect(sizes[0]).toBeLessThan(28)
  expect(sizes[1]).toBeLessThan(16)
})

test('[CODEC11] priors are data: through JSON the same bits; damaged ones and ones of other fields are refused', () => {
  const rows = harbour(120, 3)
  const again = JSON.parse(JSON.stringify(priors)) as EntityPriors
  expect(bitsOf(withPriors(again), rows, 6)).toBe(bitsOf(withPriors(), rows, 6))
  expect(priorsText(again)).toBe(priorsText(priors))
  expect(withPriors().version).toBe(7)
  const wrong: readonly unknown[] = [
    null,
    { ...priors, form: 9 },
    { ...priors, version: 0 },
    { ...priors, items: ['Boat.other'] },
    { ...priors, tables: [[1, 2]] },
    { ...priors, ages: priors.ages.map((age) => age && { ...age, tokens: age.tokens.map(() => 999) }) },
    { ...priors, ages: priors.ages.map((age) => age && { ...age, masks: age.masks.slice(1) }) },
  ]
  for (const each of wrong) expect(() => withPriors(each as EntityPriors)).toThrow(ConfigError)
})

test('[CODEC12] the same symbols through a range coder: fewer bits, the same rows', () => {
  const rows = harbour(300, 4)
  const coder = withPriors()
  const prefix = bitsOf(coder, rows, 1)
  const writer = new BitWriter(new Uint8Array(1 << 16))
  const block = new RansSink(writer)
  const sink = block.of(coder.bank)
  const pair = new RowPair()
  for (let tick = 10; tick < rows.length; tick++) coder.model.encode(sink, 0, aim(pair, rows, tick, 1), heap)
  block.finish()
  expect(writer.bitLength).toBeLessThan(prefix)
  const read = new RansSource(new BitReader(writer.bytes.subarray(0, writer.finish())))
  const source = read.of(coder.bank)
  read.begin()
  const got = new Int32Array(Boat.laneCount)
  for (let tick = 10; tick < rows.length; tick++) {
    aim(pair, rows, tick, 1).rows = got
    expect(coder.model.decode(source, 0, pair, heap)).toBe(true)
    expect([...got]).toEqual([...rows[tick]!])
  }
  expect(read.finish()).toBe(true)
})

test('[CODEC11] a codec is a value: priors by entity name, and a text that distinguishes codecs', () => {
  const rows = harbour(60, 5)
  const codec = entropy({ Boat: priors })
  expect(bitsOf(codec.make(Boat, TICKS_PER_SECOND), rows, 6)).toBe(bitsOf(withPriors(), rows, 6))
  expect(bitsOf(entropy({}).make(Boat, TICKS_PER_SECOND), rows, 6)).toBe(
    bitsOf(new EntropyCoder(Boat, TICKS_PER_SECOND), rows, 6),
  )
  expect(bitsOf(packed.make(Boat, TICKS_PER_SECOND), rows, 6)).toBe(bitsOf(new PackedCoder(Boat), rows, 6))
  expect(
    new Set([packed.text, entropy().text, codec.text, entropy({ Boat: { ...priors, version: 8 } }).text]).size,
  ).toBe(4)
})
