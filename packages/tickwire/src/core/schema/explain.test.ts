import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { schemaWithValues } from '../../../../../test/reference/schema-arbitrary.ts'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import { explain } from './explain.ts'
import {
  bool, deltaStruct, f32Any, group, i32, i64, list, manual, oneOf, quat, ref, struct, text, u16, u8, vec3,
} from './field-kinds.ts'
import { compileSchema } from './schema.ts'

describe('explain', () => {
  test('[SCHEMA26] returns the cost of each field when it changed, and of all together', () => {
    const { costs, ...total } = explain(
      compileSchema('Player', {
        at: vec3(-4096, 4096, 0.001),
        alive: bool,
        hp: u16.owner(),
        kind: oneOf('a', 'b', 'c'),
        n: i32,
        id64: i64.team(),
        target: ref(),
        name: text(16),
        secret: u8.server(),
        look: quat(),
        bag: list(struct({ n: u8, k: bool }), 7),
        shield: group({ hp: u8, up: bool }),
        gear: deltaStruct({ a: u8, b: bool, c: i32 }),
        any: f32Any.local(),
      }),
    )
    expect(
      costs.map(({ path, kind, bitsMin, bitsMax, audience }) => `${path} ${kind} ${bitsMin}..${bitsMax} ${audience}`),
    ).toEqual([
      'Player.at vec3 69..69 all',
      'Player.alive bool 0..0 all',
      'Player.hp u16 16..16 owner',
      'Player.kind oneOf 2..2 all',
      'Player.n i32 8..40 all',
      'Player.id64 i64 8..72 team',
      'Player.target ref 8..40 all',
      'Player.name text 8..136 all',
      'Player.secret int 0..0 server',
      'Player.look quat 32..32 all',
      'Player.bag list 3..66 all',
      'Player.shield group 1..11 all',
      'Player.gear deltaStruct 3..51 all',
      'Player.any f32Any 0..0 local',
    ])
    expect(total).toEqual({ maskBits: 12, bitsMin: 12 + 158, bitsMax: 12 + 535 })
  })

  test('[SCHEMA26] bounds every delta of every definition', () => {
    fc.assert(
      fc.property(schemaWithValues(2), ({ schema, samples }) => {
        const engine = new SchemaEngine(schema)
        const { costs, maskBits, bitsMax } = explain(schema)
        const [row, base] = samples.map((values) => engine.row(values))
        const bits = engine.writeDelta(row!, base!)
        const isChanged = schema.masks[2].members.map((_, index) => bits[index] === '1')
        const least = schema.masks[2].members.reduce(
          (sum, { path }, index) => sum + (isChanged[index] ? costs.find((cost) => cost.path === path)!.bitsMin : 0),
          maskBits,
        )
        expect(bits.length).toBeGreaterThanOrEqual(least)
        expect(bits.length).toBeLessThanOrEqual(bitsMax)
      }),
      { numRuns: 150, seed: 1 },
    )
  })

  test('[SCHEMA26] of a manual field only the limit is known', () => {
    const own = manual<number>({
      create: () => 0,
      write: (writer, value) => writer.writeBits(value, 4),
      read: (reader) => reader.readBits(4),
    })
    expect(explain(compileSchema('T', { own })).costs[0]).toMatchObject({
      kind: 'manual',
      bitsMin: 0,
      bitsMax: 131_080,
    })
  })
})
