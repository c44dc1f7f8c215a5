/**
 * Golden vectors of the snapshot codecs: rows, what they are told against, and the bits. `npx tsx tools/gen-vectors-codec.ts` writes
 * test/vectors/codec.json; a test compares.
 */

import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../packages/tickwire/src/core/codec/packed-coder.ts'
import { RowPair } from '../packages/tickwire/src/core/codec/row-coder.ts'
import type { Shape } from '../packages/tickwire/src/core/schema/field.ts'
import { angle, bool, deltaStruct, fixed, group, i16, i32, int, oneOf, quat, struct, u16, u32, u8, vec2, vec3 } from '../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema } from '../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../packages/tickwire/src/core/schema/value-heap.ts'

export interface CodecVector {
  readonly coder: 'packed' | 'entropy'
  /** Canonical text of the schema, and lanes of its fresh object. */
  readonly schema: string
  readonly initial: readonly number[]
  readonly ticksPerSecond: number
  readonly age: number
  readonly base: readonly number[]
  readonly older: readonly number[] | null
  readonly row: readonly number[]
  readonly hex: string
  readonly bits: number
}

type Lanes = readonly number[]

/** Schemas, each with rows in the order they came: every row is told against the one before, and what lies before that. */
const SCENES: readonly (readonly [Shape, readonly Lanes[]])[] = [
  [{ alive: bool, hue: u8, at: vec2(0, 100, 0.1), yaw: angle(12) }, [[1, 10, 500, 500, 4095], [1, 10, 501, 500, 0], [0, 10, 502, 500, 3], [0, 200, 900, 20, 2051]]],
  [
    { place: vec3(-100, 100, 0.01).position(), speed: vec3(-20, 20, 0.01).velocity(), mode: oneOf('a', 'b', 'c') },
    [[10_000, 10_000, 10_000, 2000, 2000, 2000, 0], [10_016, 10_000, 10_000, 3000, 2000, 2000, 0], [10_033, 10_001, 9990, 3000, 2100, 1900, 2], [10_050, 10_003, 9989, 3000, 2100, 1900, 2]],
  ],
  [{ turn: quat(9), on: bool }, [[3, 255, 255, 255, 0], [3, 255, 260, 255, 0], [3, 255, 265, 254, 1], [1, 300, 200, 100, 1]]],
  [{ w: i16, u: u16, big: u32, count: i32, wide: int(0, 3_000_000_000) }, [[-5, 5, 7, -7, 9], [-32_768, 65_535, -1, 2_000_000_000, 9], [32_767, 0, 0, -2_000_000_000, 2_000_000_000]]],
  [{ shield: group({ hp: fixed(0, 1, 0.01), up: bool }), parts: deltaStruct({ a: u8, b: struct({ c: bool, d: u8 }) }) }, [[0, 0, 0, 1, 0, 2], [1, 50, 1, 1, 1, 2], [1, 49, 1, 9, 1, 3], [0, 0, 0, 9, 0, 3]]],
]
const AGES = [1, 6]
const TICKS_PER_SECOND = 60

/** Every vector, made anew. */
export function makeCodecVectors(): CodecVector[] {
  return SCENES.flatMap(([shape, rows]) => {
    const schema = compileSchema('Thing', shape)
    return (['packed', 'entropy'] as const).flatMap((name) => {
      const coder = name === 'packed' ? new PackedCoder(schema) : new EntropyCoder(schema, TICKS_PER_SECOND)
      return rows.slice(1).flatMap((row, index) => AGES.slice(0, name === 'packed' ? 1 : 2).map((age): CodecVector => {
        const older = index === 0 || name === 'packed' ? null : rows[index - 1]!
        const pair = new RowPair()
        pair.rows = Int32Array.from(row)
        pair.baseRows = Int32Array.from(rows[index]!)
        pair.age = age
        if (older !== null) {
          pair.olderRows = Int32Array.from(older)
          pair.olderAt = 0
        }
        const writer = new BitWriter(new Uint8Array(256))
        coder.write(writer, 0, pair, new ValueHeap())
        const bytes = writer.bytes.slice(0, writer.finish())
        const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
        return { coder: name, schema: schema.text, initial: [...schema.initialRow], ticksPerSecond: TICKS_PER_SECOND, age, base: rows[index]!, older, row, hex, bits: writer.bitLength }
      }))
    })
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const lines = makeCodecVectors().map((vector) => `  ${JSON.stringify(vector)}`).join(',\n')
  writeFileSync(new URL('../test/vectors/codec.json', import.meta.url), `[\n${lines}\n]\n`)
}
