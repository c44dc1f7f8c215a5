import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { isCanonicalQuat } from '../../packages/tickwire/src/core/bits/quantize.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { TrainedTables } from '../../packages/tickwire/src/core/codec/priors.ts'
import { RowPair, type FieldSet } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { train } from '../../packages/tickwire/src/core/codec/training.ts'
import { LEAF } from '../../packages/tickwire/src/core/schema/leaf.ts'
import { compileSchema, type Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { makeCodecTables } from '../../tools/gen-codec-tables.ts'
import {
  heldLanes, makeCodecVectors, SCENES, TICKS_PER_SECOND, type CodecVector,
} from '../../tools/gen-vectors-codec.ts'
import { bytesToBits } from './bits-reference.ts'
import { decodeEntropy } from './entropy-reference.ts'
import type { PriorsFile } from './entropy-tables.ts'
import { decodePacked } from './packed-reference.ts'
import { parseSchemaText } from './schema-text.ts'

const VECTORS = JSON.parse(
  readFileSync(new URL('../vectors/codec.json', import.meta.url), 'utf8'),
) as readonly CodecVector[]
const PACKED = VECTORS.filter(({ coder }) => coder === 'packed')

function bitsOf({ hex, bits }: CodecVector): string {
  return bytesToBits(Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))).slice(0, bits)
}

/** Lanes of 32 bits may be read signed or not. */
const words = (lanes: readonly number[]): number[] => lanes.map((lane) => lane >>> 0)

/** Decodes a vector by what docs/wire says. */
function decode(vector: CodecVector, bits: string): { readonly row: readonly number[]; readonly taken: number } {
  const shape = parseSchemaText(vector.schema)
  return vector.coder === 'packed'
    ? decodePacked(bits, shape, vector.base, vector.initial, vector.set)
    : decodeEntropy(bits, { ...vector, olderTicks: 1, shape })
}

test.each(['packed', 'entropy'])(
  '[CODEC13] a reader made from the chapter alone decodes the %s vectors',
  (coder) => {
    const vectors = VECTORS.filter((vector) => vector.coder === coder)
    expect(vectors.length).toBeGreaterThan(30)
    for (const vector of vectors) {
      const { row, taken } = decode(vector, bitsOf(vector))
      expect(words(row)).toEqual(words(vector.row))
      expect(taken).toBe(vector.bits)
    }
  },
)

test('[CODEC13] the engine still writes the vectors of both codecs', () => {
  expect(makeCodecVectors()).toEqual(VECTORS)
})

test('[CODEC13] the example of the chapter is one of the vectors', () => {
  const example = VECTORS.find(
    ({ coder, row, age }) => coder === 'entropy' && age === 1 && row.join() === '0,10,502,500,3',
  )
  expect([example?.hex, example?.bits, example?.older?.join(), example?.base.join()]).toEqual([
    'e180',
    12,
    '1,10,500,500,4095',
    '1,10,501,500,0',
  ])
})

test('[CODEC13] the reader finds a wrong bit', () => {
  const [vector] = PACKED
  const bits = bitsOf(vector!)
  const flipped = `${bits.slice(0, -1)}${bits.endsWith('1') ? '0' : '1'}`
  expect(decode(vector!, flipped).row).not.toEqual(vector!.row)
})

test('[CODEC15] docs/wire has the tables that the engine has', () => {
  expect(readFileSync(new URL('../../docs/wire/codec-tables.json', import.meta.url), 'utf8')).toBe(makeCodecTables())
})

/** The number of ticks of a drift. */
const TICKS = 60

/** Rows that drift, rest and jump, as a game's would. */
function drift(schema: Schema, first: readonly number[], dice: Prng): number[][] {
  const rows = [[...first]]
  const speeds = first.map(() => 0)
  for (let tick = 1; tick < TICKS; tick++) {
    const row = rows[tick - 1]!.slice()
    for (const { kind, lane, max, width } of schema.leaves) {
      if (dice.nextFloat() < 0.2) speeds[lane] = Math.floor((dice.nextFloat() - 0.5) * 2 ** (dice.nextFloat() * 9))
      const moved = row[lane]! + speeds[lane]!
      if (kind === LEAF.quat) {
        const [dropped, ...codes] = row.slice(lane, lane + 4)
        const next = [
          dice.nextFloat() < 0.1 ? dice.nextInt(0, 3) : dropped!,
          ...codes.map((code, at) => code + ((speeds[lane]! * (at + 1)) >> 4)),
        ]
        if (isCanonicalQuat(width, next[0]!, next[1]!, next[2]!, next[3]!)) row.splice(lane, 4, ...next)
      } else if (kind === LEAF.float)
        row[lane] = new Int32Array(
          Float32Array.of(
            new Float32Array(Int32Array.of(row[lane]!).buffer)[0]! * (1 + speeds[lane]! / 4096) + speeds[lane]! / 999,
          ).buffer,
        )[0]!
      else if (kind === LEAF.angle) row[lane] = moved & max
      else if (kind <= LEAF.fixed)
        row[lane] =
          max === 1 ? (dice.nextFloat() < 0.1 ? 1 - row[lane]! : row[lane]!) : Math.max(0, Math.min(max, moved))
      else if (kind === LEAF.word && width === 16)
        row[lane] = schema.leaves.find((leaf) => leaf.lane === lane)!.isSigned ? (moved << 16) >> 16 : moved & 0xffff
      else row[lane] = moved | 0
    }
    for (const member of schema.members) {
      if (member.kind !== 'group' || row[member.lane] !== 0) continue
      for (let lane = member.lane + 1; lane < member.lane + member.laneCount; lane++)
        row[lane] = schema.initialRow[lane]!
    }
    rows.push(row)
  }
  return rows
}

/** Writes all rows, and reads the bits with the reader made from the chapter. */
function hearsAll(
  schema: Schema,
  rows: readonly (readonly number[])[],
  coder: EntropyCoder,
  dice: Prng,
  priors: PriorsFile | undefined,
): number {
  const pair = new RowPair()
  const shape = parseSchemaText(schema.text)
  let count = 0
  for (let tick = 8; tick < rows.length; tick++) {
    const age = dice.nextInt(0, 6)
    const set = dice.nextInt(0, 2) as FieldSet
    const base = age === 0 ? [...schema.initialRow] : rows[tick - age]!
    const olderTicks = dice.nextInt(1, 3)
    const older =
      age === 0 || dice.nextInt(0, 3) === 0 || tick < age + olderTicks ? null : rows[tick - age - olderTicks]!
    pair.rows = Int32Array.from(rows[tick]!)
    pair.baseRows = Int32Array.from(base)
    pair.age = age
    pair.olderRows = Int32Array.from(older ?? [])
    pair.olderAt = older === null ? -1 : 0
    pair.olderTicks = olderTicks
    const writer = new BitWriter(new Uint8Array(512))
    if (!coder.write(writer, set, pair, new ValueHeap())) continue
    const bits = bytesToBits(writer.bytes.slice(0, writer.finish())).slice(0, writer.bitLength)
    const held = {
      shape,
      name: schema.name,
      ticksPerSecond: TICKS_PER_SECOND,
      set,
      age,
      base,
      older,
      olderTicks,
      initial: [...schema.initialRow],
      ...(priors === undefined ? {} : { priors }),
    }
    const { row, taken } = decodeEntropy(bits, held)
    expect([taken, ...words(row)]).toEqual([writer.bitLength, ...words(heldLanes(schema, set, rows[tick]!, base))])
    count++
  }
  return count
}

test.each(SCENES.map(([shape, rows], scene) => [scene, shape, rows] as const))(
  '[CODEC15] the chapter and the engine agree on random rows, untrained and trained: scene %i',
  (scene, shape, firsts) => {
    const schema = compileSchema('Thing', shape)
    const dice = new Prng(scene + 1)
    const rows = drift(schema, firsts[0]!, dice)
    expect(hearsAll(schema, rows, new EntropyCoder(schema, TICKS_PER_SECOND), dice, undefined)).toBeGreaterThan(15)
    const priors = train(schema, TICKS_PER_SECOND, 1, (see) => {
      const pair = new RowPair()
      for (let tick = 3; tick < rows.length; tick++) {
        for (const age of [1, 2]) {
          Object.assign(pair, {
            rows: Int32Array.from(rows[tick]!),
            baseRows: Int32Array.from(rows[tick - age]!),
            olderRows: Int32Array.from(rows[tick - age - 1]!),
            olderAt: 0,
            age,
          })
          see(pair)
        }
      }
    })
    const coder = new EntropyCoder(schema, TICKS_PER_SECOND, { tables: (plan) => new TrainedTables(plan, priors) })
    expect(hearsAll(schema, drift(schema, firsts[0]!, dice), coder, dice, priors)).toBeGreaterThan(15)
  },
)
