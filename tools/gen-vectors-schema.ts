/**
 * Makes test/vectors/schema.json: schemas as text, the baseline of a reader, the bytes, and the resulting row, as the
 * engine writes them; and bits that a reader must refuse.
 *
 * `node --conditions=tickwire-source --import tsx tools/gen-vectors-schema.ts` writes the file. A test compares the
 * file with this list, and an independent checker compares it with the rules. A change of either changes the wire.
 */

import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Shape } from '../packages/tickwire/src/core/schema/field.ts'
import {
  angle, bool, bytes, deltaStruct, f32, f32Any, f64, f64Any, fixed, fixedText, group, i16, i32, i32Word, i64, i64Word,
  i8, int, list, long, oneOf, quat, ref, struct, text, u16, u32, u8, vec2, vec3, vec4,
} from '../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema } from '../packages/tickwire/src/core/schema/schema.ts'
import { toJson } from '../test/reference/bits-checker.ts'
import { bitsToBytes } from '../test/reference/bits-reference.ts'
import type { SchemaVector } from '../test/reference/schema-checker.ts'
import { SchemaEngine } from '../test/reference/schema-engine.ts'
import type { Reader, Values } from '../test/reference/schema-reference.ts'

/** `base` undefined: a fresh object. */
type Case = readonly [rule: string, shape: Shape, reader: Reader | 'whole', base: Values | undefined, values: Values]
type Refusal = readonly [
  rule: string,
  shape: Shape,
  reader: Reader | 'whole',
  base: Values | undefined,
  why: string,
  bits: string,
]

const PLAYER: Shape = {
  position: vec3(-4096, 4096, 0.001).position(),
  rotation: quat(10),
  velocity: vec3(-256, 256, 0.01).velocity(),
  health: int(0, 1023).initially(100),
  flags: int(0, 15),
}
const STATE = {
  position: { x: 1.5, y: -2, z: 4096 },
  rotation: { x: 0, y: Math.SQRT1_2, z: 0, w: Math.SQRT1_2 },
  velocity: { x: 3, y: 0, z: -3 },
  health: 87,
  flags: 5,
}
const WHOLE_NUMBERS: Shape = {
  a: u8,
  b: i8,
  c: u16,
  d: i16,
  e: u32,
  f: i32,
  g: i32Word,
  h: i64,
  i: i64Word,
  j: int(-5, 1000),
  k: long(-(2n ** 40n), 9n),
}
const REAL_NUMBERS: Shape = { a: f32, b: f64, c: f32Any, d: f64Any, e: fixed(0, 1024, 1), f: angle(12), g: angle(5) }
const OTHERS: Shape = {
  a: oneOf('red', 'green', 'b"lue'),
  b: text(40),
  c: fixedText(8),
  d: bytes(9),
  e: ref(),
  f: list(int(0, 9), 5),
}
const NESTED: Shape = {
  s: struct({ on: bool, at: vec2(0, 10, 0.5), in: struct({ n: i32 }) }),
  d: deltaStruct({ on: bool, n: u8, e: deltaStruct({ m: u8, t: text(4) }) }),
}
const SHIELD: Shape = {
  n: u8,
  shield: group({ hp: u8.initially(50), up: bool, by: ref() }),
  flag: group({ team: oneOf('a', 'b') }).initially({ team: 'b' }),
}
const SECRETS: Shape = {
  x: u8,
  plan: u8.team(),
  ammo: int(0, 63).owner(),
  spin: f32.local(),
  seed: u32.server(),
  alive: bool.initially(true),
}
const BAG: Shape = { bag: list(struct({ item: oneOf('ore', 'wood'), label: text(8), marks: list(bool, 3) }), 4) }
const FLAGS: Shape = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => [name, bool]))
const WIDE: Shape = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => [`f${index}`, index % 5 === 0 ? bool : int(0, 7)]),
)
const wide = (...ones: readonly number[]): Values =>
  Object.fromEntries(
    Object.keys(WIDE).map((name, index) => [
      name,
      index % 5 === 0 ? ones.includes(index) : ones.includes(index) ? 5 : 0,
    ]),
  )

const CASES: readonly Case[] = [
  ['SCHEMA28', PLAYER, 'all', undefined, STATE],
  ['SCHEMA9', PLAYER, 'all', STATE, STATE],
  ['SCHEMA9', PLAYER, 'all', STATE, { ...STATE, health: 86 }],
  ['SCHEMA9', PLAYER, 'all', STATE, { ...STATE, position: { ...STATE.position, y: -1.999 }, flags: 0 }],
  [
    'SCHEMA5',
    WHOLE_NUMBERS,
    'whole',
    undefined,
    { a: 255, b: -128, c: 0x1234, d: -2, e: 0xdead_beef, f: -300, g: -1, h: 2n ** 62n, i: -2n, j: 1000, k: 9n },
  ],
  [
    'SCHEMA5',
    WHOLE_NUMBERS,
    'all',
    undefined,
    { a: 1, b: 0, c: 0, d: 0, e: 0, f: 63, g: 0, h: -1n, i: 0n, j: 0, k: -(2n ** 40n) },
  ],
  [
    'SCHEMA5',
    REAL_NUMBERS,
    'whole',
    undefined,
    { a: 0.1, b: 0.1, c: NaN, d: -Infinity, e: 1023, f: Math.PI / 2, g: -Math.PI },
  ],
  ['SCHEMA3', REAL_NUMBERS, 'all', undefined, { a: -0, b: 5e-324, c: Infinity, d: NaN, e: 1024, f: 7, g: 0 }],
  [
    'SCHEMA5',
    {
      q: vec4(
        { min: 0, max: 1, precision: 0.25 },
        { min: 0, max: 1, precision: 0.1 },
        { min: -1, max: 0, precision: 0.01 },
        { min: 0, max: 9, precision: 3 },
      ),
    },
    'whole',
    undefined,
    { q: { x: 0.75, y: 1, z: -0.5, w: 9 } },
  ],
  [
    'SCHEMA5',
    OTHERS,
    'whole',
    undefined,
    { a: 'b"lue', b: 'naïve 😀', c: 'abc', d: Uint8Array.of(1, 2, 255), e: 300, f: [1, 9, 0] },
  ],
  ['SCHEMA18', OTHERS, 'all', undefined, { a: 'red', b: '', c: '', d: new Uint8Array(0), e: null, f: [0, 0, 0, 0, 0] }],
  [
    'SCHEMA18',
    BAG,
    'all',
    undefined,
    {
      bag: [
        { item: 'wood', label: 'é', marks: [true, false] },
        { item: 'ore', label: '', marks: [] },
      ],
    },
  ],
  ['SCHEMA18', BAG, 'all', { bag: [{ item: 'wood', label: 'é', marks: [true] }] }, { bag: [] }],
  [
    'SCHEMA11',
    FLAGS,
    'all',
    undefined,
    { a: true, b: false, c: false, d: true, e: false, f: false, g: false, h: true },
  ],
  [
    'SCHEMA12',
    NESTED,
    'all',
    undefined,
    { s: { on: true, at: { x: 0, y: 0 }, in: { n: 0 } }, d: { on: true, n: 0, e: { m: 3, t: '' } } },
  ],
  [
    'SCHEMA12',
    NESTED,
    'all',
    { s: { on: true, at: { x: 1, y: 2 }, in: { n: 5 } }, d: { on: true, n: 9, e: { m: 3, t: 'ab' } } },
    { s: { on: true, at: { x: 1, y: 2 }, in: { n: 5 } }, d: { on: true, n: 9, e: { m: 3, t: '' } } },
  ],
  [
    'SCHEMA8',
    NESTED,
    'whole',
    undefined,
    { s: { on: true, at: { x: 9.5, y: 10 }, in: { n: -1 } }, d: { on: false, n: 1, e: { m: 2, t: 'x' } } },
  ],
  ['SCHEMA13', SHIELD, 'all', undefined, { n: 0, shield: { hp: 50, up: true, by: null }, flag: { team: 'b' } }],
  [
    'SCHEMA13',
    SHIELD,
    'all',
    { n: 0, shield: { hp: 3, up: true, by: 7 }, flag: { team: 'a' } },
    { n: 0, shield: null, flag: null },
  ],
  [
    'SCHEMA13',
    SHIELD,
    'all',
    { n: 0, shield: null, flag: null },
    { n: 1, shield: { hp: 51, up: false, by: null }, flag: { team: 'b' } },
  ],
  ['SCHEMA15', SHIELD, 'whole', undefined, { n: 1, shield: null, flag: { team: 'a' } }],
  ['SCHEMA15', SHIELD, 'whole', undefined, { n: 1, shield: { hp: 1, up: true, by: 2 }, flag: null }],
  ['SCHEMA14', SECRETS, 'all', undefined, { x: 1, plan: 2, ammo: 3, spin: 4, seed: 5, alive: false }],
  ['SCHEMA14', SECRETS, 'team', undefined, { x: 1, plan: 2, ammo: 3, spin: 4, seed: 5, alive: true }],
  ['SCHEMA14', SECRETS, 'owner', undefined, { x: 1, plan: 2, ammo: 3, spin: 4, seed: 5, alive: true }],
  ['SCHEMA16', WIDE, 'all', undefined, wide(0, 1, 31, 32, 35, 39)], ['SCHEMA16', WIDE, 'all', wide(1, 35), wide(1, 30)],
]

const REFUSALS: readonly Refusal[] = [
  ['SCHEMA10', { n: u8, b: bool }, 'all', { n: 5, b: false }, 'a bit set for nothing', '10' + '00000101'],
  [
    'SCHEMA10',
    { s: struct({ a: u8, b: u8 }) },
    'all',
    { s: { a: 1, b: 2 } },
    'a bit set for nothing',
    '1' + '00000001' + '00000010',
  ],
  ['SCHEMA10', { d: deltaStruct({ a: u8, b: bool }) }, 'all', undefined, 'an empty mask inside', '1' + '00'],
  [
    'SCHEMA10',
    { d: deltaStruct({ a: u8, b: bool }) },
    'all',
    undefined,
    'a bit set for nothing inside',
    '1' + '10' + '00000000',
  ],
  ['SCHEMA13', { g: group({ a: u8 }) }, 'all', undefined, 'absent as before', '1' + '0'],
  ['SCHEMA13', { g: group({ a: u8 }) }, 'all', { g: { a: 1 } }, 'here as before', '1' + '1' + '0'],
  ['SCHEMA10', { n: int(0, 5) }, 'all', undefined, 'above its range', '1' + '110'],
  ['SCHEMA10', { n: long(0n, 2n ** 40n) }, 'all', undefined, 'above its range', '1' + '1'.repeat(41)],
  ['SCHEMA10', { n: oneOf('a', 'b', 'c') }, 'all', undefined, 'no such name', '1' + '11'],
  ['SCHEMA10', { n: fixed(0, 10, 0.1) }, 'all', undefined, 'above its steps', '1' + '1111111'],
  ['SCHEMA10', { n: i32 }, 'all', undefined, 'over-long', '1' + '10000001' + '00000000'],
  ['SCHEMA21', { n: ref() }, 'all', undefined, 'an id of 33 bits', '1' + '11111111'.repeat(4) + '00011111'],
  ['SCHEMA10', { n: f32 }, 'all', undefined, 'not finite', '1' + '00000000' + '00000000' + '10000000' + '01111111'],
  ['SCHEMA10', { n: f32Any }, 'all', undefined, 'another NaN', '1' + '00000001' + '00000000' + '11000000' + '01111111'],
  ['SCHEMA10', { q: quat(3) }, 'all', undefined, 'not the largest dropped', '1' + '00' + '110' + '110' + '110'],
  ['SCHEMA18', { l: list(u8, 2) }, 'all', undefined, 'three of at most two', '1' + '11' + '00000001'.repeat(3)],
  ['SCHEMA18', { t: text(3) }, 'all', undefined, 'four of at most three', '1' + '00000100' + '01100001'.repeat(4)],
  ['SCHEMA10', { n: u8, m: u8 }, 'all', undefined, 'cut', '11' + '00000001' + '0000001'],
  ['SCHEMA15', { g: group({ a: u8 }), n: int(0, 2) }, 'whole', undefined, 'above its range', '0' + '11'],
]

/** What the file should hold. Values are those that every peer holds: on their steps. */
export function makeSchemaVectors(): SchemaVector[] {
  const cases = CASES.map(([rule, shape, reader, base, values]): SchemaVector => {
    const engine = new SchemaEngine(compileSchema('Vector', shape))
    const row = engine.row(values)
    const before = base === undefined ? engine.schema.initialRow : engine.row(base)
    const bits = reader === 'whole' ? engine.writeRow(row) : engine.writeDelta(row, before, reader)
    const after = reader === 'whole' ? engine.readRow(bits) : engine.readDelta(bits, before, reader)
    if (after === undefined) throw new Error(`${rule} ${engine.schema.text}: the engine does not read what it wrote`)
    return {
      rule,
      schema: engine.schema.text,
      reader,
      ...heldBefore(engine, base, before),
      values: toJson(engine.values(after)),
      ...inHex(bits),
    }
  })
  const refusals = REFUSALS.map(([rule, shape, reader, base, refused, bits]): SchemaVector => {
    const engine = new SchemaEngine(compileSchema('Vector', shape))
    const before = base === undefined ? engine.schema.initialRow : engine.row(base)
    const after = reader === 'whole' ? engine.readRow(bits) : engine.readDelta(bits, before, reader)
    if (after !== undefined)
      throw new Error(`${rule} ${engine.schema.text}: the engine accepts what it should refuse (${refused})`)
    return { rule, schema: engine.schema.text, reader, ...heldBefore(engine, base, before), refused, ...inHex(bits) }
  })
  return [...cases, ...refusals]
}

function heldBefore(engine: SchemaEngine, base: Values | undefined, row: Int32Array): { base?: unknown } {
  return base === undefined ? {} : { base: toJson(engine.values(row)) }
}

function inHex(bits: string): { hex: string; bits: number } {
  return { hex: Buffer.from(bitsToBytes(bits)).toString('hex'), bits: bits.length }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const lines = makeSchemaVectors().map((vector) => `  ${JSON.stringify(vector)}`)
  writeFileSync(fileURLToPath(new URL('../test/vectors/schema.json', import.meta.url)), `[\n${lines.join(',\n')}\n]\n`)
}
