import { describe, expect, test } from 'vitest'
import { bool, deltaStruct, fixed, list, struct, text, u8, vec3 } from './field-kinds.ts'
import { lintSchema } from './lint.ts'
import { compileSchema } from './schema.ts'

describe('lint', () => {
  test('[SCHEMA27] reports nothing for a sound definition', () => {
    expect(
      lintSchema(
        compileSchema('T', {
          at: vec3(-4096, 4096, 0.001).position(),
          v: vec3(-256, 256, 0.01).velocity(),
          alive: bool,
          s: deltaStruct({ a: u8, b: u8 }),
        }),
      ),
    ).toEqual([])
  })

  test('[SCHEMA27] reports a range whose top cannot be read back', () => {
    expect(
      lintSchema(
        compileSchema('T', {
          a: fixed(0, 1024, 1),
          b: vec3(
            { min: 0, max: 8, precision: 0.5 },
            { min: 0, max: 9, precision: 0.5 },
            { min: 0, max: 1, precision: 0.3703 },
          ),
        }),
      ),
    ).toEqual([
      'T.a: 1024 is read back as 1023. End the range at 1023, or begin it at -1 for one bit more.',
      'T.b.x: 8 is read back as 7.5. End the range at 7.5, or begin it at -0.5 for one bit more.',
      'T.b.z: 1 is read back as 0.7406. Make the range a whole number of steps.',
    ])
    for (const field of [fixed(0, 1023, 1), fixed(-1, 1024, 1)])
      expect(lintSchema(compileSchema('T', { field }))).toEqual([])
  })

  test('[SCHEMA27] reports values of variable size in state that is sent every tick, and not in messages', () => {
    const schema = compileSchema('T', { name: text(16), bag: list(u8, 4), s: struct({ deep: text(4) }) })
    expect(lintSchema(schema).map((note) => note.split(':')[0])).toEqual(['T.name', 'T.bag', 'T.s.deep'])
    expect(lintSchema(schema, 'message')).toEqual([])
    expect(lintSchema(compileSchema('T', { a: fixed(0, 1024, 1) }), 'message')).toHaveLength(1)
  })

  test('[SCHEMA27] reports a useless mask, and a rate with a smaller audience than the field it moves', () => {
    expect(lintSchema(compileSchema('T', { d: deltaStruct({ a: u8 }) }))).toEqual([
      'T.d: the mask of a deltaStruct with one member is useless. Fix: make it a struct.',
    ])
    const [note] = lintSchema(
      compileSchema('T', { p: fixed(0, 9, 0.1).position(), v: fixed(0, 9, 0.1).velocity().owner() }),
    )
    expect(note).toMatch(/^T\.v: smaller audience than T\.p \(owner, not all\)/)
    expect(
      lintSchema(compileSchema('T', { p: fixed(0, 9, 0.1).position().owner(), v: fixed(0, 9, 0.1).velocity() })),
    ).toEqual([])
  })
})
