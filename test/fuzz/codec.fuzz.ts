/**
 * Hostile bits for the snapshot codecs: deltas against a used baseline, with and without an older row, at several ages,
 * and range-coded blocks. A row that is accepted must be one that can be written again.
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import { RansCoder } from '../../packages/tickwire/src/core/codec/rans-coder.ts'
import { RansSink, RansSource } from '../../packages/tickwire/src/core/codec/rans-stream.ts'
import { RowPair, type RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import {
  angle, bool, deltaStruct, f32, f64, fixed, group, i16, i32, int, list, oneOf, quat, ref, struct, text, u16, u32, u8,
  vec2, vec3,
} from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { SchemaEngine } from '../reference/schema-engine.ts'
import type { FuzzTarget } from './target.ts'

const Thing = compileSchema('Thing', {
  at: vec3(-100, 100, 0.01).position(),
  speed: vec3(-50, 50, 0.1).velocity(),
  turn: quat(9),
  spin: vec3(-9, 9, 0.01).angularVelocity('turn'),
  yaw: angle(10),
  hp: int(0, 100),
  wide: int(0, 3_000_000_000),
  word: i16,
  free: u16,
  big: u32,
  count: i32,
  real: f32,
  double: f64,
  mode: oneOf('a', 'b', 'c'),
  isOn: bool,
  whom: ref(),
  name: text(8),
  bag: list(u8, 3),
  shield: group({ hp: fixed(0, 1, 0.01), isUp: bool }),
  parts: deltaStruct({ a: u8, b: struct({ c: bool, d: vec2(0, 9, 1) }) }),
  secret: u8.owner(),
})
const engine = new SchemaEngine(Thing)
const OLDER = engine.row({
  at: { x: 1, y: 2, z: 3 },
  speed: { x: 5, y: 0, z: 0 },
  hp: 50,
  shield: { hp: 0.5, isUp: true },
  name: 'x',
  real: 1.5,
  word: -7,
})
const BASE = engine.row({
  at: { x: 1.1, y: 2, z: 3 },
  speed: { x: 5, y: 1, z: 0 },
  hp: 50,
  yaw: 3,
  turn: { x: 0.1, y: 0, z: 0, w: 1 },
  shield: { hp: 0.4, isUp: true },
  name: 'y',
  real: 1.6,
  word: -32768,
})
const ROWS = [
  BASE,
  OLDER,
  engine.row({}),
  engine.row({
    at: { x: 1.2, y: 2.1, z: 3 },
    speed: { x: 5, y: 1, z: 0 },
    hp: 43,
    yaw: -3,
    turn: { x: 0.2, y: 0, z: 0, w: 1 },
    wide: 2_999_999_999,
    big: 2 ** 32 - 1,
    shield: null,
    name: 'grüße',
    real: -3e38,
    word: 32767,
    secret: 9,
  }),
]
const AGES = [0, 1, 6, 300]

function aim(row: Int32Array, age: number, hasOlder: boolean): RowPair {
  const pair = new RowPair()
  pair.rows = row
  pair.baseRows = age === 0 ? Thing.initialRow : BASE
  pair.age = age
  pair.olderRows = OLDER
  pair.olderAt = hasOlder && age > 0 ? 0 : -1
  return pair
}

/** The first byte says age, older row and field set; the delta follows. */
function rowTarget(name: string, coder: RowCoder): FuzzTarget {
  const written = (row: Int32Array, head: number): Uint8Array => {
    const writer = new BitWriter(new Uint8Array(4096))
    writer.writeBits(head, 8)
    coder.write(writer, (head >> 4) % 3 as 0 | 1 | 2, aim(row, AGES[head & 3]!, (head & 4) !== 0), engine.heap)
    return writer.bytes.slice(0, writer.finish())
  }
  return {
    name,
    seeds: () => ROWS.flatMap((row) => [0, 1, 5, 6, 0x22, 0x27].map((head) => written(row, head))),
    run(bytes) {
      const reader = new BitReader(bytes)
      const head = reader.readBits(8)
      const set = (head >> 4) % 3 as 0 | 1 | 2
      const got = new Int32Array(Thing.laneCount)
      coder.read(reader, set, aim(got, AGES[head & 3]!, (head & 4) !== 0), engine.heap)
      if (reader.failed) return
      const again = new BitReader(written(got, head))
      again.readBits(8)
      const twice = new Int32Array(Thing.laneCount)
      coder.read(again, set, aim(twice, AGES[head & 3]!, (head & 4) !== 0), engine.heap)
      if (again.failed || twice.some((value, lane) => value !== got[lane]))
        throw new Error('an accepted row cannot be written again')
    },
  }
}

const coder = new EntropyCoder(Thing, 60)
const reader = new BitReader(new Uint8Array(0))
const source = new RansSource(reader)
const blockCoder = new RansCoder(Thing, 60, source)

const blocks: FuzzTarget = {
  name: 'codec-blocks',
  seeds: () =>
    ROWS.flatMap((row) => {
      const writer = new BitWriter(new Uint8Array(8192))
      const sink = new RansSink(writer)
      const twin = new RansCoder(Thing, 60, sink)
      return [
        () => twin.write(writer, 0, aim(row, 6, true), engine.heap),
        () => coder.model.encode(sink.of(coder.bank), 0, aim(row, 6, true), engine.heap),
      ].map((write) => {
        writer.reset(writer.bytes)
        for (const age of [1, 0]) twin.write(writer, 0, aim(row, age, true), engine.heap)
        write()
        sink.finish()
        return writer.bytes.slice(0, writer.finish())
      })
    }),
  run(bytes) {
    reader.reset(bytes)
    const got = new Int32Array(Thing.laneCount)
    source.begin()
    for (const age of [1, 0, 6]) blockCoder.read(reader, 0, aim(got, age, true), engine.heap)
    source.finish()
  },
}

export const targets: readonly FuzzTarget[] = [
  rowTarget('codec-packed', new PackedCoder(Thing)),
  rowTarget('codec-entropy', new EntropyCoder(Thing, 60)),
  blocks,
]
