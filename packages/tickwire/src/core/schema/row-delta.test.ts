import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { schemaWithValues } from '../../../../../test/reference/schema-arbitrary.ts'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import type { Reader } from '../../../../../test/reference/schema-reference.ts'
import type { Shape } from './field.ts'
import {
  bool, deltaStruct, fixed, group, i32, int, list, manual, ref, struct, text, u16, u8, vec3,
} from './field-kinds.ts'
import { diffMask, isDirty } from './mask.ts'
import { compileSchema } from './schema.ts'

const engineOf = (shape: Shape): SchemaEngine => new SchemaEngine(compileSchema('Test', shape))

describe('any delta of any definition', () => {
  const READERS: readonly Reader[] = ['all', 'team', 'owner']

  test('[SCHEMA9] turns the baseline into the row, is zeros only when nothing changed, and reads to its end', () => {
    fc.assert(
      fc.property(schemaWithValues(2), fc.constantFrom(...READERS), ({ schema, samples }, reader) => {
        const engine = new SchemaEngine(schema)
        const mask = schema.masks[READERS.indexOf(reader)]!
        const [row, base] = samples.map((values) => engine.row(values))
        const bits = engine.writeDelta(row!, base!, reader)
        const read = engine.readDelta(bits, base!, reader)!
        for (const { lane, laneCount, audience } of schema.members) {
          const isSent = mask.members.some((member) => member.lane === lane)
          expect(audience === 'local' || audience === 'server' ? isSent : false).toBe(false)
          expect(read.slice(lane, lane + laneCount)).toEqual((isSent ? row! : base!).slice(lane, lane + laneCount))
        }
        const isSame = mask.members.every(
          ({ lane, laneCount }) =>
            row!.slice(lane, lane + laneCount).join() === base!.slice(lane, lane + laneCount).join(),
        )
        expect(bits === '0'.repeat(mask.width)).toBe(isSame)
        expect(engine.writeDelta(base!, base!, reader)).toBe('0'.repeat(mask.width))
      }),
      { numRuns: 200, seed: 1 },
    )
  })

  test('[SCHEMA10] truncated anywhere, is refused', () => {
    fc.assert(fc.property(schemaWithValues(2), ({ schema, samples }) => {
      const engine = new SchemaEngine(schema)
      const [row, base] = samples.map((values) => engine.row(values))
      const bits = engine.writeDelta(row!, base!)
      const lengths = Array.from({ length: bits.length }, (_, length) => length)
      const tried = lengths.length > 400 ? lengths.filter((length) => length % 37 === 0) : lengths
      for (const length of tried) expect(engine.readDelta(bits.slice(0, length), base!)).toBeUndefined()
    }), { numRuns: 60, seed: 2 })
  })

  test('[SCHEMA17] reports which members changed, on either side', () => {
    fc.assert(fc.property(schemaWithValues(2), ({ schema, samples }) => {
      const engine = new SchemaEngine(schema)
      const mask = schema.masks[2]
      const [row, base] = samples.map((values) => engine.row(values))
      const found = (): string => mask.members.map((_, index) => (isDirty(mask, index) ? '1' : '0')).join('')
      const isChanged = diffMask(mask, row!, 0, base!, 0)
      const expected = found()
      expect(isChanged).toBe(expected.includes('1'))
      const bits = engine.writeDelta(row!, base!)
      expect(found()).toBe(expected)
      expect(bits.slice(0, mask.width)).toBe(expected)
      mask.dirty.fill(-1)
      engine.readDelta(bits, base!)
      expect(found()).toBe(expected)
    }), { numRuns: 100, seed: 3 })
  })
})

describe('a delta', () => {
  test('[SCHEMA9] has all four member kinds in order: number, struct, reference, manual', () => {
    const pair = manual<readonly [number, number]>({
      create: () => [0, 0],
      write: (writer, [a, b]) => { writer.writeBits(a, 4); writer.writeBits(b, 4) },
      read: (reader) => [reader.readBits(4), reader.readBits(4)],
    })
    const engine = engineOf({ hp: u8, at: struct({ x: int(0, 15), y: int(0, 15) }), target: ref(), own: pair })
    const values = { hp: 0x11, at: { x: 2, y: 3 }, target: 0x44, own: [5, 6] }
    const bits = engine.writeDelta(engine.row(values), engine.schema.initialRow)
    expect(parseInt(bits.slice(4), 2).toString(16)).toBe('11234456')
    expect(engine.values(engine.readDelta(bits, engine.schema.initialRow)!)).toEqual(values)
    expect(engine.writeDelta(engine.row({ ...values, target: null }), engine.row(values))).toBe('0010' + '00000000')
  })

  test('[SCHEMA10] with a mask bit for an unchanged member is refused, at every level', () => {
    const engine = engineOf({
      n: u8,
      v: vec3(0, 7, 1),
      d: deltaStruct({ a: bool, b: u8 }),
      g: group({ c: u8 }),
      t: text(4),
    })
    const base = engine.row({ n: 5, v: { x: 1, y: 1, z: 1 }, g: { c: 3 }, t: 'x' })
    const refuses = (bits: string): void => expect(engine.readDelta(bits, base)).toBeUndefined()
    refuses('10000' + '00000101')
    refuses('01000' + '001001001')
    refuses('00100' + '00')
    refuses('00100' + '01' + '00000000')
    refuses('00010' + '1' + '0')
    refuses('00010' + '1' + '1' + '00000011')
    refuses('00001' + '00000001' + '01111000')
    expect(engine.readDelta('00001' + '00000001' + '01111001', base)).toBeDefined()
    expect(engine.readDelta('00100' + '10', base)).toBeDefined()
  })

  test('[SCHEMA10] with a number above its range is refused, on the fast path and inside structs', () => {
    const engine = engineOf({ n: int(0, 5), s: struct({ m: int(0, 5) }), f: fixed(0, 10, 0.1) })
    const base = engine.schema.initialRow
    expect(engine.readDelta('100' + '101', base)).toBeDefined()
    expect(engine.readDelta('100' + '110', base)).toBeUndefined()
    expect(engine.readDelta('010' + '110', base)).toBeUndefined()
    expect(engine.readDelta('001' + '1100100', base)).toBeDefined()
    expect(engine.readDelta('001' + '1100101', base)).toBeUndefined()
  })

  test('[SCHEMA16] has as many members as there are: 31, 32, 33, 64, 65, 200', () => {
    for (const count of [31, 32, 33, 64, 65, 200]) {
      const kinds = [u8, bool, struct({ a: u16 }), i32] as const
      const shape = Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, kinds[index % 4]!]))
      const engine = engineOf(shape)
      const values = Object.fromEntries(
        Object.keys(shape).map((name, index) => [name, [index, true, { a: index }, -index - 1][index % 4]]),
      )
      for (const changed of [
        [0],
        [count - 1],
        [30, 31, 32].filter((index) => index < count),
        Object.keys(shape).map((_, index) => index),
      ]) {
        const row = engine.row(Object.fromEntries(changed.map((index) => [`f${index}`, values[`f${index}`]])))
        const bits = engine.writeDelta(row, engine.schema.initialRow)
        expect(engine.readDelta(bits, engine.schema.initialRow)).toEqual(row)
        expect(bits.slice(0, count)).toHaveLength(count)
      }
    }
  })

  test('[SCHEMA9] of a list inside a list, with text in it, is read back', () => {
    const engine = engineOf({ l: list(list(struct({ name: text(8), n: i32 }), 3), 3) })
    const values = { l: [[{ name: 'a', n: 1 }, { name: 'bee', n: -2 }], [], [{ name: '', n: 0 }]] }
    const bits = engine.writeDelta(engine.row(values), engine.schema.initialRow)
    expect(engine.values(engine.readDelta(bits, engine.schema.initialRow)!)).toEqual(values)
  })
})
