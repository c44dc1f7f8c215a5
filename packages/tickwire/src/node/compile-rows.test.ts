import fc from 'fast-check'
import { expect, test } from 'vitest'
import { schemaWithValues } from '../../../../test/reference/schema-arbitrary.ts'
import { drawEntity } from '../../../../test/sim/draw-priors.ts'
import { SchemaEngine } from '../../../../test/reference/schema-engine.ts'
import { Prng } from '../core/base/prng.ts'
import { BitReader } from '../core/bits/bit-reader.ts'
import { BitWriter } from '../core/bits/bit-writer.ts'
import { angle, bool, f32, fixed, group, i16, i32, int, quat, text, u16, u32, u8, vec2, vec3 } from '../core/schema/field-kinds.ts'
import type { Shape } from '../core/schema/field.ts'
import { compileSchema, type Schema } from '../core/schema/schema.ts'
import type { ValueStore } from '../core/schema/values.ts'
import { ValueHeap } from '../core/schema/value-heap.ts'
import { EntropyCoder } from '../core/codec/entropy-coder.ts'
import { fromRuns, toRuns, TrainedTables, type EntityPriors, type Runs } from '../core/codec/priors.ts'
import { RowPair, type FieldSet } from '../core/codec/row-coder.ts'
import { planRow } from '../core/codec/row-plan.ts'
import { train } from '../core/codec/training.ts'
import { compileRows } from './compile-rows.ts'

const TICKS_PER_SECOND = 60
const SETS: readonly FieldSet[] = [0, 1, 2]

/** Two coders of one schema: one asks the model, the other has code made. */
function twins(schema: Schema, priors?: EntityPriors): readonly [EntropyCoder, EntropyCoder] {
  const make = (): EntropyCoder => new EntropyCoder(schema, TICKS_PER_SECOND, priors === undefined ? {} : { tables: (plan) => new TrainedTables(plan, priors) })
  const compiled = make()
  compiled.compile((model, sink, source) => {
    const code = compileRows(model, sink, source)
    expect(code === undefined).toBe(model.plan.count > 96)
    return code
  })
  return [make(), compiled]
}

/** What a coder says of a pair: whether it differs, and the bits. */
function said(coder: EntropyCoder, set: FieldSet, pair: RowPair, heap: ValueStore): string {
  const writer = new BitWriter(new Uint8Array(1 << 16))
  // Deltas begin anywhere in a word.
  writer.writeBits(1, 7)
  const isChanged = coder.write(writer, set, pair, heap)
  const bits = writer.bitLength
  return `${isChanged} ${bits} ${Buffer.from(writer.bytes.subarray(0, writer.finish())).toString('hex')}`
}

/** What a coder makes of bytes, over the rows of a pair: how far it came and the row, or that it refused them. */
function heard(coder: EntropyCoder, set: FieldSet, pair: RowPair, heap: ValueStore, laneCount: number, bytes: Uint8Array): string {
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
    // As it was said, and with one bit turned over: what is refused by one is refused by the other.
    const bytes = Uint8Array.from(Buffer.from(`${saying.split(' ')[2]}0000`, 'hex'))
    const place = bytes.reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 7)
    for (const isBent of [false, true]) {
      if (isBent) bytes[(place >>> 3) % bytes.length]! ^= 1 << (place & 7)
      const hearing = heard(model, set, pair, heap, laneCount, bytes)
      expect(heard(code, set, pair, heap, laneCount, bytes)).toBe(hearing)
      if (!isBent) expect(hearing).not.toBe('refused')
    }
  }
}

test('[CODEC16] code made for an entity says and hears the same bits: random definitions, random rows, with and without the older row', () => {
  const ages = fc.constantFrom(0, 1, 2, 5, 9, 14, 40)
  fc.assert(fc.property(schemaWithValues(4), ages, fc.constantFrom(1, 1, 2, 3), ({ schema, samples }, age, olderTicks) => {
    const engine = new SchemaEngine(schema)
    const coders = twins(schema)
    const rows = [schema.initialRow, ...samples.map((values) => engine.row(values))]
    const pair = new RowPair()
    for (const olderAt of [-1, 0]) for (const [row, base, older] of [[1, 2, 3], [2, 2, 1], [3, 4, 4], [4, 0, 2], [1, 1, 1]] as const) {
      Object.assign(pair, { rows: rows[row], at: 0, baseRows: rows[base], baseAt: 0, olderRows: rows[older], olderAt, age, olderTicks })
      expectSame(coders, pair, engine.heap)
    }
  }), { seed: 18, numRuns: 250 })
})

test('[CODEC11, CODEC16] whatever tables priors hold, what is said is heard, by code and by the model alike', () => {
  const ages = fc.constantFrom(0, 1, 2, 5, 9, 14, 40)
  fc.assert(fc.property(schemaWithValues(4), ages, fc.nat(1e6), ({ schema, samples }, age, seed) => {
    const engine = new SchemaEngine(schema)
    const dice = new Prng(seed)
    const chances = { word: () => dice.nextInt(0, 0x7fff_ffff), chance: (part: number) => dice.nextFloat() < part }
    const coders = twins(schema, drawEntity(planRow(schema, TICKS_PER_SECOND), TICKS_PER_SECOND, 1, chances))
    const rows = [schema.initialRow, ...samples.map((values) => engine.row(values))]
    const pair = new RowPair()
    for (const olderAt of [-1, 0]) for (const [row, base, older] of [[1, 2, 3], [2, 2, 1], [3, 4, 4], [4, 0, 2], [1, 1, 1]] as const) {
      Object.assign(pair, { rows: rows[row], at: 0, baseRows: rows[base], baseAt: 0, olderRows: rows[older], olderAt, age, olderTicks: 1 })
      expectSame(coders, pair, engine.heap)
      expectLossless(coders[0], pair, engine.heap)
    }
  }), { seed: 31, numRuns: 200 })
})

/** What is heard would be said in the same bits: values of variable size have other handles, so that rows are not compared lane by lane. */
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

const SHAPES: { readonly [name: string]: Shape } = {
  Walker: { at: vec3(-100, 100, 0.01).position(), speed: vec3(-20, 20, 0.01).velocity(), yaw: angle(12), health: int(0, 100), isUp: bool },
  Racer: { at: vec2(-500, 500, 0.02).position(), speed: vec2(-60, 60, 0.02).velocity(), push: vec2(-30, 30, 0.1).acceleration(), name: text(12), gear: u8 },
  Wheel: { turn: angle(14), spin: fixed(-10, 10, 0.01).angularVelocity(), load: u16, drift: i16, count: i32, stamp: u32, heat: f32 },
  Body: { at: vec3(-64, 64, 0.002).position(), turn: quat(9), velocity: vec3(-30, 30, 0.01).velocity(), spin: vec3(-20, 20, 0.01).angularVelocity('turn'), other: quat(11), isAwake: bool },
  Ship: { place: vec2(-100, 100, 0.01).position(), sails: group({ count: u8, torn: bool, trim: fixed(-1, 1, 0.01), side: quat(7) }), hull: int(0, 999), crew: u8.team(), gold: i32.owner(), drift: vec2(-3, 3, 0.01).velocity() },
  // A step of the rate is a step of the place a tick, exactly.
  Lift: { at: vec2(-60, 60, 1 / 60).position(), speed: vec2(-60, 60, 1).velocity(), door: u8 },
  Fleet: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index}`, vec3(-10, 10, 0.01)])),
}

/** Rows that go on from tick to tick: most lanes by a little, some rest, some jump. */
function wander(schema: Schema, ticks: number, seed: number): Int32Array[] {
  const dice = new Prng(seed)
  const row = Int32Array.from(schema.initialRow)
  const speeds = new Int32Array(schema.laneCount)
  return Array.from({ length: ticks }, () => {
    for (const { lane, laneCount, max, width } of schema.leaves) for (let each = lane; each < lane + laneCount; each++) {
      const chance = dice.nextFloat()
      if (chance < 0.1) speeds[each] = Math.floor(dice.nextFloat() * 9) - 4
      const top = max > 0 ? max : width > 0 && width < 31 ? 2 ** width - 1 : 2 ** 31 - 1
      if (chance > 0.99) row[each] = Math.floor(dice.nextFloat() * (top + 1))
      else if (chance > 0.4) row[each] = Math.min(top, Math.max(0, row[each]! + speeds[each]!))
    }
    return Int32Array.from(row)
  })
}

/** Rows of something that turns, drifts and is hurt, by the engine: rotations, texts and groups are not made lane by lane. */
function voyage(engine: SchemaEngine, shape: Shape, ticks: number, seed: number): Int32Array[] {
  const dice = new Prng(seed)
  let [x, speed, turn] = [0, 1, 0]
  return Array.from({ length: ticks }, (_, tick) => {
    if (dice.nextFloat() < 0.1) speed = dice.nextFloat() * 4 - 2
    x += speed / TICKS_PER_SECOND
    turn += dice.nextFloat() * 0.1
    const along = (size: number): object => ({ x: size, y: -size / 2, z: tick % 50 < 25 ? 0 : size / 3 })
    const rotation = { x: Math.sin(turn) / 2, y: 0.1, z: Math.sin(turn / 2) / 2, w: Math.cos(turn) }
    const values: { readonly [name: string]: unknown } = {
      at: along(x), place: along(x), velocity: along(speed), drift: along(speed), speed: along(speed), spin: { x: 0, y: 0, z: speed }, push: { x: dice.nextFloat(), y: 0 },
      turn: rotation, other: rotation, isAwake: tick % 7 > 2, hull: 999 - (tick >> 3), crew: tick % 13, gold: tick * 1000, name: tick % 20 < 10 ? 'Ann' : 'Bo', gear: tick % 6,
      sails: tick % 30 < 20 ? { count: tick % 5, torn: tick % 11 < 3, trim: Math.sin(tick / 5), side: rotation } : null,
    }
    return engine.row(Object.fromEntries(Object.keys(shape).map((name) => [name, values[name]])))
  })
}

/** The same tables with other habits: whatever training could have found. */
function shaken(priors: EntityPriors, seed: number): EntityPriors {
  const dice = new Prng(seed)
  const below = (count: number): number => Math.floor(dice.nextFloat() * count)
  const drawn = (runs: Runs, draw: () => number): Runs => toRuns(fromRuns(runs).map(draw))
  return { ...priors, ages: priors.ages.map((age) => age && { ...age, weights: drawn(age.weights, () => below(33)), bends: drawn(age.bends, () => (below(9) - 4) * 4) }) }
}

test('[CODEC16] and for things in motion: rates, angles, rotations, groups, several chunks, built-in and trained tables, at every age', () => {
  for (const [name, shape] of Object.entries(SHAPES)) {
    const schema = compileSchema(name, shape)
    const engine = new SchemaEngine(schema)
    const { heap } = engine
    const rows = ['Racer', 'Body', 'Ship'].includes(name) ? voyage(engine, shape, 300, 3) : wander(schema, 300, 3)
    const priors = train(schema, TICKS_PER_SECOND, 1, (see) => {
      const pair = new RowPair()
      for (const age of [1, 6]) for (let tick = 10; tick < rows.length; tick++) see(Object.assign(pair, { rows: rows[tick], baseRows: rows[tick - age], age, olderRows: rows[tick - age - 1], olderAt: 0 }))
    })
    expect(priors.ages[1] && priors.ages[3]).not.toBe(null)
    for (const coders of [twins(schema), twins(schema, priors), twins(schema, shaken(priors, 4))]) {
      const pair = new RowPair()
      for (const age of [1, 2, 6, 40]) for (const olderTicks of [1, 2]) for (let tick = 45; tick < 150; tick++) {
        const olderAt = tick % 5 === 0 ? -1 : 0
        Object.assign(pair, { rows: rows[tick], baseRows: rows[tick - age], age, olderRows: rows[tick - age - olderTicks], olderAt, olderTicks })
        expectSame(coders, pair, heap)
      }
    }
  }
})

test('[CODEC16] from any number to any other: lanes that go round, the lowest number of 32 bits', () => {
  const schema = compileSchema('Edges', { whole: i32, count: u32, small: i16, real: f32, bounded: int(-5, 5), pair: vec2(-1, 1, 0.5) })
  const engine = new SchemaEngine(schema)
  const [low, high] = [-(2 ** 31), 2 ** 31 - 1]
  const edges = [
    [low, 0, -(2 ** 15), -Infinity, -5], [high, 2 ** 32 - 1, 2 ** 15 - 1, Infinity, 5], [0, 2 ** 31, 0, 0, 0], [-1, 1, -1, -1e-45, 1], [100, 2 ** 31 - 1, 100, 3.4e38, -1],
  ] as const
  const rows = edges.map(([whole, count, small, real, bounded]) => engine.row({ whole, count, small, real, bounded, pair: { x: bounded / 5, y: -bounded / 5 } }))
  const coders = twins(schema)
  const pair = new RowPair()
  for (const older of [undefined, ...rows]) for (const base of rows) for (const row of rows) for (const age of [1, 2, 12]) {
    Object.assign(pair, { rows: row, at: 0, baseRows: base, baseAt: 0, olderRows: older ?? base, olderAt: older === undefined ? -1 : 0, age })
    expectSame(coders, pair, engine.heap)
  }
})

test('[CODEC16] a writer that is full fails by code as by the model, and is fit for use after', () => {
  const schema = compileSchema('Walker', SHAPES['Walker']!)
  const rows = wander(schema, 40, 5)
  const [, code] = twins(schema)
  const pair = Object.assign(new RowPair(), { rows: rows[30], baseRows: rows[10], age: 20, olderRows: rows[9], olderAt: 0 })
  const heap = new ValueHeap()
  const writer = new BitWriter(new Uint8Array(2))
  code.write(writer, 0, pair, heap)
  expect(writer.failed).toBe(true)
  writer.rewind(0)
  expect(writer.failed).toBe(false)
  expectSame(twins(schema), pair, heap)
  expect(said(code, 0, pair, heap)).toBe(said(twins(schema)[0], 0, pair, heap))
})

test('[CODEC16] where nothing is compiled, and for what is too large, the model goes on', () => {
  const schema = compileSchema('Walker', SHAPES['Walker']!)
  const rows = wander(schema, 20, 6)
  const [model, refused] = [new EntropyCoder(schema, TICKS_PER_SECOND), new EntropyCoder(schema, TICKS_PER_SECOND)]
  refused.compile(() => undefined)
  const pair = Object.assign(new RowPair(), { rows: rows[10], baseRows: rows[8], age: 2, olderRows: rows[7], olderAt: 0 })
  expect(said(refused, 0, pair, new ValueHeap())).toBe(said(model, 0, pair, new ValueHeap()))
  const large = new EntropyCoder(compileSchema('Large', Object.fromEntries(Array.from({ length: 97 }, (_, index) => [`f${index}`, u8]))), TICKS_PER_SECOND)
  large.compile(compileRows)
  expect(said(large, 0, Object.assign(new RowPair(), { rows: large.model.plan.lanes, baseRows: new Int32Array(97), age: 1 }), new ValueHeap())).toMatch(/^true/)
})
