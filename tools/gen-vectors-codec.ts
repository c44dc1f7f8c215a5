/**
 * Golden vectors of the snapshot codecs: rows, their baselines, and the bits. `npx tsx tools/gen-vectors-codec.ts`
 * writes test/vectors/codec.json; a test compares.
 */

import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../packages/tickwire/src/core/codec/packed-coder.ts'
import { RowPair, type FieldSet } from '../packages/tickwire/src/core/codec/row-coder.ts'
import type { Shape } from '../packages/tickwire/src/core/schema/field.ts'
import {
  angle, bool, deltaStruct, f32, fixed, group, i16, i32, int, oneOf, quat, struct, u16, u32, u8, vec2, vec3,
} from '../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema, type Schema } from '../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../packages/tickwire/src/core/schema/value-heap.ts'

export interface CodecVector {
  readonly coder: 'packed' | 'entropy'
  /** Canonical text of the schema, and lanes of its fresh object. */
  readonly schema: string
  readonly initial: readonly number[]
  readonly ticksPerSecond: number
  /** Whose fields: 0 everyone's, 1 the team's too, 2 the owner's too. */
  readonly set: FieldSet
  readonly age: number
  readonly base: readonly number[]
  readonly older: readonly number[] | null
  readonly row: readonly number[]
  readonly hex: string
  readonly bits: number
}

type Lanes = readonly number[]

const float = (value: number): number => new Int32Array(Float32Array.of(value).buffer)[0]!

/**
 * Schemas, each with rows in order. The baseline of every row is the row before it, with the row before that as the
 * older row. The first row is that of a new object.
 */
export const SCENES: readonly (readonly [Shape, readonly Lanes[]])[] = [
  [
    { alive: bool, hue: u8, at: vec2(0, 100, 0.1), yaw: angle(12) },
    [
      [1, 10, 500, 500, 4095],
      [1, 10, 501, 500, 0],
      [0, 10, 502, 500, 3],
      [0, 200, 900, 20, 2051],
    ],
  ],
  [
    { place: vec3(-100, 100, 0.01).position(), speed: vec3(-20, 20, 0.01).velocity(), mode: oneOf('a', 'b', 'c') },
    [
      [10_000, 10_000, 10_000, 2000, 2000, 2000, 0],
      [10_016, 10_000, 10_000, 3000, 2000, 2000, 0],
      [10_033, 10_001, 9990, 3000, 2100, 1900, 2],
      [10_050, 10_003, 9989, 3000, 2100, 1900, 2],
    ],
  ],
  [
    { turn: quat(9), on: bool },
    [
      [3, 255, 255, 255, 0],
      [3, 255, 260, 255, 0],
      [3, 255, 265, 254, 1],
      [1, 300, 200, 100, 1],
    ],
  ],
  [
    { w: i16, u: u16, big: u32, count: i32, wide: int(0, 3_000_000_000) },
    [
      [-5, 5, 7, -7, 9],
      [-32_768, 65_535, -1, 2_000_000_000, 9],
      [32_767, 0, 0, -2_000_000_000, 2_000_000_000],
    ],
  ],
  [
    {
      shield: group({ hp: fixed(0, 1, 0.01), up: bool }),
      parts: deltaStruct({ a: u8, b: struct({ c: bool, d: u8 }) }),
    },
    [
      [0, 0, 0, 1, 0, 2],
      [1, 50, 1, 1, 1, 2],
      [1, 49, 1, 9, 1, 3],
      [0, 0, 0, 9, 0, 3],
    ],
  ],
  [
    { noise: f32, flight: f32, still: f32, far: group({ away: f32 }) },
    [
      [0.7, 100, 5, 0, 0],
      [0.2, 100.05, 5, 1, -3],
      [-0.9, 100.1, 5, 1, -3.1],
      [0.4, 100.16, 6, 1, 1000],
      [0.1, 100.16, 6, 0, 0],
    ].map((values) => values.map((value, lane) => (lane === 3 ? value : float(value)))),
  ],
  [
    {
      turn: quat(10),
      spin: vec3(-10, 10, 0.01).angularVelocity(),
      pull: vec2(-50, 50, 0.1).acceleration(),
      speed: vec2(-20, 20, 0.01).velocity(),
      at: vec2(-64, 64, 0.01).position(),
    },
    [
      [3, 511, 511, 511, 1000, 1000, 1000, 500, 500, 2000, 2000, 6400, 6400],
      [3, 511, 511, 529, 1000, 1000, 1300, 510, 500, 2002, 2000, 6400, 6400],
      [3, 511, 512, 549, 1000, 1000, 1300, 510, 480, 2004, 1990, 6401, 6399],
      [2, 900, 510, 511, 900, 1200, 1300, 300, 480, 1800, 1700, 6390, 6361],
      [1, 600, 400, 300, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ],
  ],
  [
    {
      a: u8,
      b: u8,
      c: u8.team(),
      d: angle(8),
      e: fixed(0, 10, 0.1),
      f: bool,
      g: int(0, 5),
      h: vec3(0, 9, 0.01),
      i: u16.owner(),
      j: bool,
      k: u8,
      l: i16.position(),
      m: fixed(-100, 100, 0.5).velocity(),
      n: bool.owner(),
      o: struct({ p: u8, q: vec2(0, 10, 0.1), r: bool }),
    },
    [
      [1, 2, 3, 4, 5, 1, 2, 100, 200, 300, 9, 1, 8, -7, 200, 0, 1, 50, 50, 0],
      [1, 3, 3, 254, 6, 1, 2, 101, 203, 300, 9, 0, 8, -6, 202, 1, 1, 51, 49, 1],
      [1, 4, 9, 249, 7, 1, 2, 102, 206, 300, 9, 0, 200, -5, 222, 1, 1, 52, 48, 1],
      [0, 4, 9, 244, 7, 0, 5, 102, 206, 300, 65_000, 0, 200, 30_000, 222, 0, 9, 52, 48, 0],
    ],
  ],
]
const AGES = [1, 6]
export const TICKS_PER_SECOND = 60

/** Makes every vector. */
export function makeCodecVectors(): CodecVector[] {
  return SCENES.flatMap(([shape, rows]) => {
    const schema = compileSchema('Thing', shape)
    const sets: readonly FieldSet[] = schema.members.every(({ audience }) => audience === 'all') ? [0] : [0, 1, 2]
    return (['packed', 'entropy'] as const).flatMap((name) => {
      const coder = name === 'packed' ? new PackedCoder(schema) : new EntropyCoder(schema, TICKS_PER_SECOND)
      return sets.flatMap((set) =>
        rows.flatMap((row, index) =>
          (index === 0 ? [0] : AGES.slice(0, name === 'packed' ? 1 : 2)).flatMap((age): CodecVector[] => {
            const base = age === 0 ? [...schema.initialRow] : rows[index - 1]!
            const older = index < 2 || name === 'packed' ? null : rows[index - 2]!
            const pair = new RowPair()
            pair.rows = Int32Array.from(row)
            pair.baseRows = Int32Array.from(base)
            pair.age = age
            if (older !== null) {
              pair.olderRows = Int32Array.from(older)
              pair.olderAt = 0
            }
            const writer = new BitWriter(new Uint8Array(256))
            if (!coder.write(writer, set, pair, new ValueHeap())) return []
            const bytes = writer.bytes.slice(0, writer.finish())
            const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
            const received = heldLanes(schema, set, row, base)
            return [
              {
                coder: name,
                schema: schema.text,
                initial: [...schema.initialRow],
                ticksPerSecond: TICKS_PER_SECOND,
                set,
                age,
                base,
                older,
                row: received,
                hex,
                bits: writer.bitLength,
              },
            ]
          }),
        ),
      )
    })
  })
}

/** The row of a client with this field set: all other lanes are those of the baseline. */
export function heldLanes(schema: Schema, set: FieldSet, row: readonly number[], base: readonly number[]): number[] {
  const lanes = [...base]
  for (const { lane, laneCount } of schema.masks[set].members)
    for (let each = lane; each < lane + laneCount; each++) lanes[each] = row[each]!
  return lanes
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const lines = makeCodecVectors()
    .map((vector) => `  ${JSON.stringify(vector)}`)
    .join(',\n')
  writeFileSync(new URL('../test/vectors/codec.json', import.meta.url), `[\n${lines}\n]\n`)
}
