/**
 * The examples of docs/wire/CODEC.md, read from the page: how a reader made from the page decodes them, and what the
 * engine writes.
 */

import { readFileSync } from 'node:fs'
import { fixed, group, int, quat, struct } from 'tickwire'
import { expect, test } from 'vitest'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { TrainedTables, type EntityPriors } from '../../packages/tickwire/src/core/codec/priors.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import { SPREADS } from '../../packages/tickwire/src/core/codec/row-contexts.ts'
import { planRow, ROLE, SLOT } from '../../packages/tickwire/src/core/codec/row-plan.ts'
import { compileSchema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { RowPair } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { readGameText } from '../../packages/tickwire/src/core/replay/game-text.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { bytesToBits } from './bits-reference.ts'
import { decodeEntropy } from './entropy-reference.ts'
import type { PriorsFile } from './entropy-tables.ts'
import { decodePacked } from './packed-reference.ts'
import { parseSchemaText } from './schema-text.ts'
import { initialLanes } from './value-lanes.ts'

const PAGE = readFileSync(new URL('../../docs/wire/CODEC.md', import.meta.url), 'utf8')
const TABLES = JSON.parse(readFileSync(new URL('../../docs/wire/codec-tables.json', import.meta.url), 'utf8')) as {
  readonly shapes: readonly (readonly unknown[])[]
}

/** An example, by the words its lines begin with. */
interface Example {
  readonly schema: string
  readonly ticksPerSecond: number
  readonly age: number
  readonly older: readonly number[]
  readonly baseline: readonly number[]
  readonly row: readonly number[]
  readonly bits: string
  readonly bytes: string
  readonly priors: EntityPriors | undefined
}

const EXAMPLES = Array.from(
  PAGE.matchAll(/\*\*([^*\n]+)\.\*\*[^`]*```codec\n([\s\S]*?)```/g),
  ([, name = '', body = '']): readonly [string, Example] => {
    const of = (word: string): string =>
      body
        .split('\n')
        .filter((line) => line.startsWith(`${word} `))
        .map((line) => line.slice(word.length + 1))
        .join('')
    const lanes = (word: string): readonly number[] => of(word).split(' ').map(Number)
    const priors = of('priors')
    return [
      name,
      {
        schema: of('schema'),
        ticksPerSecond: Number(of('ticks a second')),
        age: Number(of('age')),
        older: lanes('older'),
        baseline: lanes('baseline'),
        row: lanes('row'),
        bits: of('bits').replaceAll(' ', ''),
        bytes: of('bytes').replaceAll(' ', ''),
        priors: priors === '' ? undefined : (JSON.parse(priors) as EntityPriors),
      },
    ]
  },
)

test('[CODEC15] the page has worked examples of built-in tables, a carried rotation and trained tables', () => {
  expect(EXAMPLES.map(([name]) => name)).toEqual(['Built-in tables', 'A carried rotation', 'Trained tables'])
})

test.each(EXAMPLES)(
  '[CODEC15] a reader made from the page alone decodes the worked example: %s',
  (_name, { schema, ticksPerSecond, age, older, baseline, row, bits, priors }) => {
    const shape = parseSchemaText(schema)
    const held = {
      shape,
      ticksPerSecond,
      set: 2 as const,
      age,
      base: baseline,
      older,
      olderTicks: 1,
      initial: initialLanes(shape),
      ...(priors && { priors: priors as PriorsFile }),
    }
    expect(decodeEntropy(bits, held)).toEqual({ row, taken: bits.length })
  },
)

test.each(EXAMPLES)(
  '[CODEC15] the worked example is what the engine writes: %s',
  (_name, { schema: text, ticksPerSecond, age, older, baseline, row, bits, bytes, priors }) => {
    const game = readGameText(`tickRate ${ticksPerSecond}\ncodec entropy(2)\ninput {nothing:bool}\nentity 0 ${text}`, [
      'Thing',
    ])
    if (typeof game === 'string') throw new Error(game)
    const { schema } = game.entities[0]!
    const coder = new EntropyCoder(
      schema,
      ticksPerSecond,
      priors === undefined ? {} : { tables: (plan) => new TrainedTables(plan, priors) },
    )
    const pair = Object.assign(new RowPair(), {
      rows: Int32Array.from(row),
      baseRows: Int32Array.from(baseline),
      age,
      olderRows: Int32Array.from(older),
      olderAt: 0,
      olderTicks: 1,
    })
    const writer = new BitWriter(new Uint8Array(64))
    coder.write(writer, 2, pair, new ValueHeap())
    const { bitLength } = writer
    const written = writer.bytes.slice(0, writer.finish())
    expect([bytesToBits(written).slice(0, bitLength), Buffer.from(written).toString('hex')]).toEqual([bits, bytes])
  },
)

/** The rows of the table that has these column heads. */
function tableOf(...heads: readonly string[]): string[][] {
  const body = PAGE.slice(PAGE.indexOf(`| ${heads.join(' | ')} |`)).split('\n\n', 1)[0]!
  return body.split('\n').slice(2).map((line) => line.slice(2, -2).split(' | '))
}

test('[CODEC15] the spread h of a chunk has the four values and the bounds of the page', () => {
  const borders = tableOf('h', 'items counted in the chunk of the item').map(([h, counted = '']) => [
    Number(h),
    ...(counted.match(/\d+/g) ?? []).map(Number),
  ])
  expect(borders).toEqual([
    [0, 0, 2],
    [1, 3, 4],
    [2, 5],
    [3, 6],
  ])
  const spreadOf = (count: number): number => SPREADS[2 ** count - 1]! / 8
  for (const [h, first = 0, last = first] of borders) expect([spreadOf(first), spreadOf(last)]).toEqual([h, h])
  expect(spreadOf(10)).toBe(3)
})

test('[CODEC15] the leaf decides whether an item is a mover, and the page says so', () => {
  const schema = compileSchema('Thing', {
    kit: struct({ count: int(0, 9), depth: fixed(0, 9, 0.1) }),
    bag: group({ count: int(0, 9), depth: fixed(0, 9, 0.1) }),
  })
  const { slots, count } = planRow(schema, 20)
  const roles = Array.from({ length: count }, (_, item) => slots[(item << SLOT.shift) + SLOT.role])
  expect(roles).toEqual([ROLE.other, ROLE.mover, ROLE.other, ROLE.other, ROLE.mover])
  expect(PAGE).toContain('The leaf decides, not the field around it')
})

test('[CODEC15] differences of a packed rotation wrap at 2^bits, as the page says', () => {
  const [, body = ''] = /```packed\n([\s\S]*?)```/.exec(PAGE)!
  const of = (word: string): string =>
    body
      .split('\n')
      .find((line) => line.startsWith(`${word} `))!
      .slice(word.length + 1)
  const [shape, base, row, bits] = [
    parseSchemaText(of('schema')),
    of('baseline').split(' ').map(Number),
    of('row').split(' ').map(Number),
    of('bits').replaceAll(' ', ''),
  ]
  expect(decodePacked(bits, shape, base, initialLanes(shape))).toEqual({ row, taken: bits.length })
  const writer = new BitWriter(new Uint8Array(16))
  new PackedCoder(compileSchema('Thing', { turn: quat(5) })).write(
    writer,
    2,
    Object.assign(new RowPair(), { rows: Int32Array.from(row), baseRows: Int32Array.from(base) }),
    new ValueHeap(),
  )
  const { bitLength } = writer
  const written = writer.bytes.slice(0, writer.finish())
  expect([bytesToBits(written).slice(0, bitLength), Buffer.from(written).toString('hex')]).toEqual([
    bits,
    of('bytes').replaceAll(' ', ''),
  ])
})

test('[CODEC15] the tables beside the page have no shape that the page does not describe', () => {
  expect(new Set(TABLES.shapes.map(([, lopsided]) => lopsided))).toEqual(new Set([0, 1]))
})
