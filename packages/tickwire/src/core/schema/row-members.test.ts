import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import { bool, deltaStruct, group, i32, list, oneOf, struct, text, u16, u8, vec2 } from './field-kinds.ts'
import { compileSchema } from './schema.ts'

describe('a group', () => {
  const engine = new SchemaEngine(compileSchema('Player', {
    shield: group({ hp: u8.initially(100), hit: bool, owner: text(8), at: struct({ x: u8, y: u8 }) }),
  }))
  const absent = engine.row({ shield: null })
  const whole = { hp: 100, hit: false, owner: '', at: { x: 0, y: 0 } }
  const here = (change: Partial<typeof whole>): Int32Array => engine.row({ shield: { ...whole, ...change } })

  test('[SCHEMA13] costs its bit in the mask while it is absent or unchanged', () => {
    expect(engine.writeDelta(absent, absent)).toBe('0')
    expect(engine.writeDelta(here({}), here({}))).toBe('0')
  })

  test('[SCHEMA13] is sent with the fields that differ from a fresh one, and removed with one bit', () => {
    expect(engine.writeDelta(here({}), absent)).toBe('1' + '1' + '0000')
    expect(engine.writeDelta(here({ hp: 3, hit: true }), absent)).toBe('1' + '1' + '1100' + '00000011')
    expect(engine.writeDelta(absent, here({ hp: 3 }))).toBe('1' + '0')
    expect(engine.writeDelta(here({ hp: 4 }), here({ hp: 3 }))).toBe('1' + '1' + '1000' + '00000100')
  })

  test('[SCHEMA13] that was removed and set again starts fresh', () => {
    const first = here({ hp: 3, owner: 'ann', at: { x: 1, y: 2 } })
    const gone = engine.readDelta(engine.writeDelta(absent, first), first)!
    expect(gone).toEqual(absent)
    const back = engine.readDelta(engine.writeDelta(here({ hit: true }), gone), gone)!
    expect(engine.values(back)).toEqual({ shield: { ...whole, hit: true } })
  })

  test('[SCHEMA13] that is absent in both rows cannot be marked as changed', () => {
    expect(engine.readDelta('1' + '0', absent)).toBeUndefined()
    expect(engine.readDelta('1' + '0', here({}))).toEqual(absent)
  })

  test('[SCHEMA13] assigned null or a value in any order, is on both sides what was assigned last', () => {
    const step = fc.option(
      fc.record({
        hp: fc.nat(255),
        hit: fc.boolean(),
        owner: fc.constantFrom('', 'a', 'b'),
        at: fc.record({ x: fc.nat(255), y: fc.nat(255) }),
      }),
    )
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 8 }), (steps) => {
        let held = engine.schema.initialRow
        let base = engine.schema.initialRow
        for (const shield of steps) {
          const row = engine.row({ shield })
          held = engine.readDelta(engine.writeDelta(row, base), held)!
          expect(engine.values(held)).toEqual({ shield })
          base = row
        }
      }),
      { numRuns: 200, seed: 1 },
    )
  })
})

describe('a deltaStruct', () => {
  test('[SCHEMA12] has masks inside masks', () => {
    const engine = new SchemaEngine(compileSchema('T', {
      a: u8, d: deltaStruct({ b: u8, e: deltaStruct({ c: bool, f: u8, l: list(u8, 3) }), v: vec2(0, 15, 1) }),
    }))
    const base = engine.schema.initialRow
    const row = engine.row({ d: { b: 0, e: { c: true, f: 7, l: [] }, v: { x: 0, y: 0 } } })
    expect(engine.writeDelta(row, base)).toBe('01' + '010' + '110' + '00000111')
    expect(engine.readDelta('01' + '010' + '110' + '00000111', base)).toEqual(row)
  })

  test('[SCHEMA16] has more members than a word of its mask', () => {
    const shape = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, u8]))
    const engine = new SchemaEngine(compileSchema('T', { d: deltaStruct(shape) }))
    const values = Object.fromEntries(
      Object.keys(shape).map((name, index) => [name, index === 39 || index === 3 ? 9 : 0]),
    )
    const bits = engine.writeDelta(engine.row({ d: values }), engine.schema.initialRow)
    expect(bits).toBe('1' + '0001' + '0'.repeat(35) + '1' + '00001001'.repeat(2))
    expect(engine.values(engine.readDelta(bits, engine.schema.initialRow)!)).toEqual({ d: values })
  })
})

describe('audiences', () => {
  const engine = new SchemaEngine(
    compileSchema('Player', {
      x: u8,
      plan: u8.team(),
      ammo: u8.owner(),
      spin: u8.local().initially(5),
      seed: u16.server(),
      bag: group({ n: u8 }).owner(),
    }),
  )
  const row = engine.row({ x: 1, plan: 2, ammo: 3, spin: 9, seed: 9, bag: { n: 4 } })

  test("[SCHEMA14] the team's set includes everyone's, the owner's the team's; local and server are in none", () => {
    expect(engine.schema.masks.map(({ members }) => members.map(({ name }) => name))).toEqual([
      ['x'],
      ['x', 'plan'],
      ['x', 'plan', 'ammo', 'bag'],
    ])
  })

  test('[SCHEMA14] each reader receives its fields, and keeps the others as they were', () => {
    const read = (reader: 'all' | 'team' | 'owner'): unknown =>
      engine.values(
        engine.readDelta(engine.writeDelta(row, engine.schema.initialRow, reader), engine.schema.initialRow, reader)!,
      )
    const fresh = { x: 0, plan: 0, ammo: 0, spin: 5, seed: 0, bag: null }
    expect(read('all')).toEqual({ ...fresh, x: 1 })
    expect(read('team')).toEqual({ ...fresh, x: 1, plan: 2 })
    expect(read('owner')).toEqual({ ...fresh, x: 1, plan: 2, ammo: 3, bag: { n: 4 } })
  })

  test('[SCHEMA14] fields that a reader may not know leave no trace in its bits', () => {
    const other = engine.row({ x: 1, plan: 200, ammo: 201, spin: 202, seed: 203, bag: { n: 204 } })
    expect(engine.writeDelta(other, engine.schema.initialRow, 'all')).toBe(
      engine.writeDelta(row, engine.schema.initialRow, 'all'),
    )
    expect(engine.writeDelta(other, row, 'all')).toBe('0')
  })

  test('[SCHEMA14] an object without sent fields has a mask of no bits', () => {
    const hidden = new SchemaEngine(compileSchema('T', { a: u8.server(), b: u8.local() }))
    expect(hidden.writeDelta(hidden.row({ a: 1 }), hidden.schema.initialRow)).toBe('')
    expect(hidden.readDelta('', hidden.row({ a: 1 }))).toEqual(hidden.row({ a: 1 }))
  })
})

describe('a whole row', () => {
  const engine = new SchemaEngine(
    compileSchema('Hit', {
      by: oneOf('a', 'b', 'c'),
      g: group({ n: u8.initially(9), t: text(4) }),
      crit: bool,
      h: group({ m: u8 }),
      n: i32,
    }),
  )

  test('[SCHEMA15] has no mask; a group is one bit, and its leaves if it is there', () => {
    expect(engine.writeRow(engine.row({ by: 'b', g: null, crit: true, h: { m: 3 }, n: 1 }))).toBe(
      '01' + '0' + '1' + '1' + '00000011' + '00000010',
    )
    expect(engine.writeRow(engine.row({ by: 'c', g: { n: 1, t: 'z' }, crit: false, h: null, n: 0 }))).toBe(
      '10' + '1' + '00000001' + '00000001' + '01111010' + '0' + '0' + '00000000',
    )
  })

  test('[SCHEMA15] read from bits has the lanes of a fresh object where a group is absent', () => {
    const row = engine.readRow('01' + '0' + '1' + '1' + '00000011' + '00000010')!
    expect(row).toEqual(engine.row({ by: 'b', g: null, crit: true, h: { m: 3 }, n: 1 }))
    expect(engine.readRow('11' + '0' + '1' + '0' + '00000010')).toBeUndefined()
    expect(engine.readRow('01' + '0' + '1' + '1' + '00000011' + '0000001')).toBeUndefined()
  })
})
