/**
 * Hostile bits for everything that decodes a row: deltas against a fresh and against a used baseline, whole rows, and
 * in them groups, masks inside masks, lists of lists, text, references and manual codecs. Accepted bits must be written
 * again as the same bits; all others must be refused without a throw.
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { dequantizeRow, quantizeCells } from '../../packages/tickwire/src/core/schema/cells.ts'
import type { Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import {
  angle, bool, bytes, deltaStruct, f32, f32Any, f64Any, fixed, fixedText, group, i16, i32, i64, i64Word, int, list,
  long, manual, oneOf, quat, ref, struct, text, u16, u32, u8, vec2, vec3,
} from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { readRow, writeRow } from '../../packages/tickwire/src/core/schema/row-codec.ts'
import { readDelta, writeDelta } from '../../packages/tickwire/src/core/schema/row-delta.ts'
import { compileSchema, type Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { loadValues, storeValues } from '../../packages/tickwire/src/core/schema/values.ts'
import { runs } from '../reference/schema-arbitrary.ts'
import type { FuzzTarget } from './target.ts'

type Values = { readonly [name: string]: unknown }

/** Reads a varint by hand and throws on invalid values, as games do. */
const grumpy = manual<number>({
  create: () => 0,
  serialize(buffer, value) {
    const read = buffer.varint(value)
    if (read > 1000) throw new Error('grumpy')
    return read
  },
})

/** Schemas, each with objects of it: the first is the used baseline. */
const KINDS: { readonly [name: string]: readonly [Shape, Values, ...Values[]] } = {
  numbers: [
    {
      a: u8,
      b: u16,
      c: i16,
      d: u32,
      e: i32,
      f: i64,
      g: i64Word,
      h: long(-5n, 2n ** 40n),
      i: int(0, 5),
      j: f32,
      k: f32Any,
      l: f64Any,
      m: fixed(0, 10, 0.1),
      n: angle(),
      o: quat(5),
      p: vec3(-4096, 4096, 0.001),
      q: oneOf('a', 'b', 'c'),
      r: bool,
      s: ref(),
      t: u8.owner(),
      v: u8.server(),
    },
    {
      a: 1,
      b: 2,
      c: -3,
      d: 4,
      e: -5,
      f: 6n,
      g: -7n,
      h: 8n,
      i: 5,
      j: 0.5,
      k: NaN,
      l: -Infinity,
      m: 9,
      n: 1,
      o: { x: 1, y: 1, z: 0, w: 0 },
      p: { x: 1, y: 2, z: 3 },
      q: 'c',
      r: true,
      s: 900,
    },
    { a: 200, e: 2 ** 30, f: -(2n ** 62n), o: { x: 0, y: 0, z: 1, w: 1 }, s: 2 ** 32 - 1 },
  ],
  groups: [
    {
      g: group({ a: u8.initially(7), b: bool, t: text(6), s: struct({ x: i32, y: bool }) }),
      h: group({ d: deltaStruct({ a: u8, b: u8 }) }).initially({ d: { a: 1, b: 2 } }),
      n: bool,
    },
    { g: { a: 9, b: true, t: 'yo', s: { x: -1, y: true } }, h: null, n: true },
    { g: null, h: { d: { a: 1, b: 9 } } },
    { g: { a: 7, b: false, t: '', s: { x: 0, y: false } } },
  ],
  masks: [
    {
      d: deltaStruct({
        a: u8,
        e: deltaStruct({ b: bool, c: i32, f: deltaStruct({ v: vec2(0, 9, 0.5) }) }),
        s: struct({ m: bool, n: bool }),
      }),
      x: int(0, 2),
    },
    { d: { a: 1, e: { b: true, c: 3, f: { v: { x: 1, y: 2 } } }, s: { m: true, n: false } }, x: 2 },
    { d: { a: 0, e: { b: false, c: 0, f: { v: { x: 9, y: 9 } } }, s: { m: false, n: true } } },
  ],
  lists: [
    {
      l: list(list(text(9), 3), 300),
      m: list(struct({ k: oneOf('x', 'y', 'z'), t: fixedText(5), v: vec2(0, 3, 1), z: list(bool, 1) }), 7),
      b: bytes(300),
      t: text(300),
      e: list(list(list(bool, 9), 900), 900),
    },
    {
      l: [['a', 'bc'], [], ['héé']],
      m: [{ k: 'z', t: 'abc', v: { x: 1, y: 2 }, z: [true] }],
      b: Uint8Array.of(1, 2, 3),
      t: 'grüße',
      e: [[[true]], []],
    },
    {
      l: Array.from({ length: 40 }, () => ['x']),
      t: 'y'.repeat(200),
      b: new Uint8Array(200).fill(3),
      e: Array.from({ length: 60 }, () => []),
    },
  ],
  manual: [
    { r: manual(runs), g: grumpy, s: struct({ n: u8, inner: grumpy }), l: list(manual(runs), 3) },
    { r: [1, 31], g: 900, s: { n: 1, inner: 200 }, l: [[1], [], [3, 4]] }, { r: [5, 5, 5, 5, 5, 5], g: 1 },
  ],
  wide: [
    Object.fromEntries(
      Array.from({ length: 77 }, (_, index) => [`f${index}`, [bool, u8, struct({ a: int(0, 4) }), i32][index % 4]!]),
    ),
    { f0: true, f1: 3, f2: { a: 4 }, f76: true, f33: 9 },
    { f4: true, f35: -7, f75: 1000 },
  ],
}

const ROOM_BYTES = 1 << 15

/** One schema and one way of reading it. */
class Attacked {
  readonly #schema: Schema
  readonly #objects: readonly Values[]
  readonly #isUsed: boolean
  readonly #isWhole: boolean
  readonly #writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  readonly #reader = new BitReader(new Uint8Array(0))

  constructor(name: string, form: 'fresh' | 'used' | 'whole') {
    const [shape, ...objects] = KINDS[name]!
    this.#schema = compileSchema(name, shape)
    this.#objects = objects
    this.#isUsed = form === 'used'
    this.#isWhole = form === 'whole'
  }

  seeds(): Uint8Array[] {
    return [{}, ...this.#objects].map((values) => {
      const heap = new ValueHeap()
      const base = this.#base(heap)
      this.#write(this.#row(values, heap), base, heap)
      return this.#writer.bytes.slice(0, this.#writer.finish())
    })
  }

  run(bytes: Uint8Array): void {
    const heap = new ValueHeap()
    const schema = this.#schema
    const base = this.#base(heap)
    const row = new Int32Array(schema.laneCount)
    const reader = this.#reader
    reader.reset(bytes)
    if (this.#isWhole) readRow(reader, schema, row, 0, heap)
    else readDelta(reader, schema, schema.masks[2], row, 0, base, 0, heap)
    if (reader.failed) return
    const cells = new Float64Array(schema.cellCount)
    dequantizeRow(schema, row, 0, cells, 0)
    loadValues(schema, cells, 0, heap)
    const again = new Int32Array(schema.laneCount)
    quantizeCells(schema, cells, 0, again, 0)
    if (again.some((lane, index) => lane !== row[index])) throw new Error('a row that its cells do not give again')
    this.#write(row, base, heap)
    this.#checkBits(bytes, reader.bitPosition)
  }

  #base(heap: ValueHeap): Int32Array {
    return this.#isUsed ? this.#row(this.#objects[0]!, heap) : this.#schema.initialRow
  }

  #row(values: Values, heap: ValueHeap): Int32Array {
    const cells = this.#schema.initialCells.slice()
    const row = new Int32Array(this.#schema.laneCount)
    storeValues(this.#schema, values, cells, 0, heap)
    quantizeCells(this.#schema, cells, 0, row, 0)
    return row
  }

  #write(row: Int32Array, base: Int32Array, heap: ValueHeap): void {
    const writer = this.#writer
    writer.reset(writer.bytes)
    if (this.#isWhole) writeRow(writer, this.#schema, row, 0, heap)
    else writeDelta(writer, this.#schema, this.#schema.masks[2], row, 0, base, 0, heap)
  }

  #checkBits(bytes: Uint8Array, bitCount: number): void {
    const writer = this.#writer
    if (writer.failed || writer.bitLength !== bitCount)
      throw new Error(`${bitCount} bits are written again as ${writer.bitLength}`)
    writer.finish()
    for (let bit = 0; bit < bitCount; bit++) {
      const at = bit >>> 3
      if ((((bytes[at] ?? 0) ^ (writer.bytes[at] ?? 0)) << (bit & 7)) & 0x80)
        throw new Error(`bit ${bit} is written again differently`)
    }
  }
}

export const targets: readonly FuzzTarget[] = Object.keys(KINDS).flatMap((name) =>
  (['fresh', 'used', 'whole'] as const).map((form): FuzzTarget => {
    const attacked = new Attacked(name, form)
    return { name: `schema/${name}-${form}`, seeds: () => attacked.seeds(), run: (bytes) => attacked.run(bytes) }
  }))
